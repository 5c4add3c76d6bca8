package org.tamanoir.transport;

import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Makes UDP sockets, and says which kind works here and why. */
public final class UdpSockets {
    /** Whose structures and numbers {@link LibC} and {@link MessageArray} state, as Java names them. */
    private static final Set<String> ARCHITECTURES = Set.of("amd64", "x86_64", "aarch64");

    /** Looked for once, when first asked: loading native libraries takes some tens of milliseconds. */
    private static final class Detection {
        static final String OBSTACLE = obstacle();
    }

    private UdpSockets() {}

    /**
     * Binds a socket.
     *
     * @param local port 0 stands for any free one
     */
    public static UdpSocket bind(TransportKind kind, InetSocketAddress local) throws IOException {
        if (local.isUnresolved()) {
            throw bindFailure(local, "the name " + local.getHostString() + " does not resolve");
        }
        if (kind == TransportKind.NATIVE && !Detection.OBSTACLE.isEmpty()) {
            throw bindFailure(local, explain(kind));
        }
        return resolve(kind) == TransportKind.NATIVE ? NativeUdpSocket.bind(local) : NioUdpSocket.bind(local);
    }

    /** Makes one on a free port that sends to this address, and receives from there, alone. */
    static UdpSocket connect(TransportKind kind, InetSocketAddress to) throws IOException {
        return resolve(kind) == TransportKind.NATIVE ? NativeUdpSocket.connect(to) : NioUdpSocket.connect(to);
    }

    /** Returns the kind that {@link #bind} uses: AUTO becomes NATIVE or NIO; NATIVE stays, and fails where it does not work. */
    public static TransportKind resolve(TransportKind wanted) {
        if (wanted != TransportKind.AUTO) {
            return wanted;
        }
        return Detection.OBSTACLE.isEmpty() ? TransportKind.NATIVE : TransportKind.NIO;
    }

    /** Returns one line for a log: which kind is used, and why it is not the native one. */
    public static String explain(TransportKind wanted) {
        if (wanted == TransportKind.NIO) {
            return "NIO, as configured";
        }
        if (Detection.OBSTACLE.isEmpty()) {
            return "native: epoll, recvmmsg and sendmmsg";
        }
        return wanted == TransportKind.AUTO
                ? "NIO, since the native transport does not work here: " + Detection.OBSTACLE
                : "the native transport does not work here: " + Detection.OBSTACLE + "; or use AUTO or NIO";
    }

    private static String obstacle() {
        String os = System.getProperty("os.name", "unknown");
        String arch = System.getProperty("os.arch", "unknown").toLowerCase(Locale.ROOT);
        if (!os.equals("Linux")) {
            return "it needs Linux, this is " + os;
        }
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN || !ARCHITECTURES.contains(arch)) {
            return "it needs a little-endian processor, one of " + new TreeSet<>(ARCHITECTURES) + ", this is " + arch;
        }
        if (!Epoll.isAvailable()) {
            return "Netty's epoll does not load (" + firstLine(Epoll.unavailabilityCause())
                    + "); if the temporary folder is mounted noexec, name another with -Dio.netty.native.workdir";
        }
        try {
            LibC.strerror(0);
            return "";
        } catch (LinkageError | RuntimeException e) {
            return "JNA does not load (" + firstLine(e)
                    + "); if the temporary folder is mounted noexec, name another with -Djna.tmpdir";
        }
    }

    private static String firstLine(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String message = cause.getMessage();
        return cause.getClass().getSimpleName()
                + (message == null ? "" : ": " + message.lines().findFirst().orElse(""));
    }

    static IOException connectFailure(InetSocketAddress to, String reason) {
        return new IOException("cannot connect to UDP " + UdpAddress.text(to) + ": " + reason);
    }

    static IOException bindFailure(InetSocketAddress local, String reason) {
        return new IOException(BindFailure.line("cannot bind UDP", local, reason));
    }
}

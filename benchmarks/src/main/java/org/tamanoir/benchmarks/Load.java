package org.tamanoir.benchmarks;

import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.tamanoir.anep.PacketBuilder;

/** The packets that all loads are made of: to 127.0.0.1, for the Monitor service. */
public final class Load {
    /** What one write of a flooding sender takes, in bytes. */
    public static final int BATCH_BYTES = 256 * 1024;

    /** Whom packets ask for. */
    public static final String SERVICE = "org.tamanoir.services.Monitor";

    private static final int HOP_BUDGET = 16;
    private static final int FIRST_PORT = 21_000;
    private static final int PORTS = 11_000;

    /** Begins at another port in each process; the factor, a prime, keeps processes of neighbouring numbers apart. */
    private static final AtomicInteger NEXT_PORT =
            new AtomicInteger(Math.floorMod((int) ProcessHandle.current().pid() * 7919, PORTS));

    private Load() {}

    /** 127.0.0.1 and this port. */
    public static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(loopback(), port);
    }

    private static InetAddress loopback() {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 bytes are an address", e);
        }
    }

    /**
     * Returns a port of 127.0.0.1 that is free for TCP and UDP, below those that Linux gives to
     * a socket that names none (32768 to 60999, {@code ip_local_port_range} of ip(7)), so that no connection takes it before
     * it is used; the same again after 11,000.
     *
     * @throws BindException when none is free
     */
    public static int freePort() throws IOException {
        for (int tries = 0; tries < PORTS; tries++) {
            int port = FIRST_PORT + Math.floorMod(NEXT_PORT.getAndIncrement(), PORTS);
            try (ServerSocket tcp = new ServerSocket(port, 1, loopback());
                    DatagramSocket udp = new DatagramSocket(tcp.getLocalPort(), loopback())) {
                return udp.getLocalPort();
            } catch (BindException e) {
                // Somebody else's: take the next.
            }
        }
        throw new BindException("none of the " + PORTS + " ports from " + FIRST_PORT + " is free");
    }

    /** An IPv4 address and a port. */
    public static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }

    /** Returns a stream that sends at once. */
    public static SocketChannel connect(InetSocketAddress to) throws IOException {
        return SocketChannel.open(to).setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    /** Takes connections until the socket closes, each on a thread of its own. */
    public static void accept(ServerSocketChannel server, Consumer<SocketChannel> taken) {
        Threads.start("accept", () -> {
            try {
                while (true) {
                    SocketChannel channel = server.accept();
                    Threads.start("read", () -> taken.accept(channel));
                }
            } catch (ClosedChannelException e) {
                // It was closed.
            }
        });
    }

    /** Writes all that is left. */
    public static void write(WritableByteChannel to, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            to.write(bytes);
        }
    }

    /** Ends this side of a stream and waits until the other has taken everything and ended too. */
    public static void drain(SocketChannel channel, int timeoutMs) throws IOException {
        channel.shutdownOutput();
        channel.socket().setSoTimeout(timeoutMs);
        channel.socket().getInputStream().transferTo(OutputStream.nullOutputStream());
    }

    /** Writes a batch again and again, until this side closes the stream. */
    public static void flood(WritableByteChannel to, ByteBuffer batch) throws IOException {
        try {
            while (true) {
                write(to, batch.rewind());
            }
        } catch (ClosedChannelException e) {
            // The flood is over.
        }
    }

    /** Destination, service key, class of service, stream and sequence, hop budget: 64 bytes. */
    static PacketBuilder header(int streamId) {
        return header(loopback(), streamId);
    }

    /** The same to another address. */
    public static PacketBuilder header(InetAddress destination, int streamId) {
        return new PacketBuilder()
                .destination(destination).service(SERVICE).classOfService(0, 0).stream(streamId)
                        .hopBudget(HOP_BUDGET);
    }

    /**
     * The payload that makes a packet of {@code packetBytes} with this header.
     *
     * @throws IllegalArgumentException if the header alone is larger
     */
    public static ByteBuffer payload(PacketBuilder header, int packetBytes) {
        if (packetBytes < header.headerLength() || packetBytes > 65_535) {
            throw new IllegalArgumentException("packets of " + packetBytes + " bytes: " + header.headerLength()
                    + " to 65535 are possible with the options of this load");
        }
        ByteBuffer payload = ByteBuffer.allocate(packetBytes - header.headerLength());
        for (int i = 0; i < payload.capacity(); i++) {
            payload.put(i, (byte) i);
        }
        return payload;
    }

    /** As many packets as fit {@code maxBytes}, at most {@code maxPackets}, back to back in one direct buffer. */
    public static ByteBuffer batch(int streamId, int packetBytes, int maxBytes, int maxPackets) {
        PacketBuilder header = header(streamId);
        ByteBuffer payload = payload(header, packetBytes);
        int packets = Math.max(1, Math.min(maxPackets, maxBytes / packetBytes));
        ByteBuffer batch = ByteBuffer.allocateDirect(packets * packetBytes);
        for (int i = 0; i < packets; i++) {
            header.write(batch, payload);
        }
        return batch.flip();
    }
}

package org.tamanoir.transport;

import com.sun.jna.Native;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A UNIX stream socket between two processes of this host, over which lines go and descriptors of open files. Each line
 * and each descriptor has its time. Linux alone.
 *
 * <p>Thread contract: one thread; {@link #close} of a listener from any.
 */
public final class LocalSocket implements AutoCloseable {
    private static final int BACKLOG = 16;
    private static final Duration NEVER = Duration.ofDays(365);
    private static final int MAX_LINE_BYTES = 16 * 1024;
    private static final int MAX_PATH_BYTES = 107;

    private final Socket socket;
    private final SharedFd fd;
    private final ByteBuffer pollMemory = MessageArray.allocate(8);
    private final ByteBuffer octet = ByteBuffer.allocateDirect(1);
    private final Duration patience;

    private LocalSocket(Socket socket, Duration patience) {
        this.socket = socket;
        this.fd = new SharedFd(socket.intValue());
        this.patience = patience;
    }

    /** Listens at a path where no file is. */
    public static LocalSocket listen(Path path) throws IOException {
        Socket socket = Socket.newSocketDomain();
        try {
            socket.bind(new DomainSocketAddress(path.toString()));
            socket.listen(BACKLOG);
            return new LocalSocket(socket, Duration.ZERO);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Connects to who listens there.
     *
     * @param patience for each line and each descriptor
     * @throws ConnectException if a socket is there, and nobody listens
     */
    public static LocalSocket connect(Path path, Duration patience) throws IOException {
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        if (name.length > MAX_PATH_BYTES) {
            throw new IOException("a path of " + name.length + " bytes: a socket's has " + MAX_PATH_BYTES + " at most");
        }
        NativeMemory address = new NativeMemory(2 + MAX_PATH_BYTES + 1); // struct sockaddr_un: family, path, and a 0
        address.bytes.putShort(0, (short) LibC.AF_UNIX).put(2, name);
        Socket socket = Socket.newSocketDomain();
        if (LibC.connect(socket.intValue(), address.address, address.bytes.capacity()) != 0) {
            int errno = Native.getLastError();
            socket.close();
            throw errno == LibC.ECONNREFUSED
                    ? new ConnectException(LibC.strerror(errno))
                    : new IOException(LibC.strerror(errno));
        }
        return new LocalSocket(socket, patience);
    }

    /**
     * Waits for a connection.
     *
     * @param patience for each line and each descriptor of the connection
     * @throws IOException also when this listener is closed
     */
    public LocalSocket accept(Duration patience) throws IOException {
        if (!fd.acquire()) {
            throw closed();
        }
        try {
            while (true) {
                await(LibC.POLLIN, deadlineNs(NEVER), NEVER);
                int accepted = socket.accept(new byte[128]);
                if (accepted >= 0) {
                    return new LocalSocket(new Socket(accepted), patience);
                }
            }
        } finally {
            fd.release();
        }
    }

    /** Returns the user that the other process ran as when it connected or listened. */
    public int peerUser() throws IOException {
        NativeMemory memory = new NativeMemory(16); // struct ucred: pid, uid, gid; then its length
        long address = memory.address;
        memory.bytes.putInt(12, 12);
        if (LibC.getsockopt(socket.intValue(), LibC.SOL_SOCKET, LibC.SO_PEERCRED, address, address + 12) != 0) {
            throw new IOException("no credentials: " + LibC.strerror(Native.getLastError()));
        }
        return memory.bytes.getInt(4);
    }

    /** Sends a line. */
    public void send(String line) throws IOException {
        byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length);
        buffer.put(bytes);
        long deadlineNs = deadlineNs(patience);
        int sent = 0;
        while (sent < bytes.length) {
            sent += socket.write(buffer, sent, bytes.length);
            if (sent < bytes.length) {
                await(LibC.POLLOUT, deadlineNs, patience);
            }
        }
    }

    /** Waits for a line. */
    public String line() throws IOException {
        return line(patience);
    }

    /**
     * Waits so long for a line; one octet at a time, since a descriptor may come behind it.
     *
     * @throws SocketTimeoutException if it has not come whole by then
     */
    public String line(Duration wait) throws IOException {
        byte[] bytes = new byte[MAX_LINE_BYTES];
        long deadlineNs = deadlineNs(wait);
        for (int length = 0; length < bytes.length; ) {
            int read = socket.read(octet, 0, 1);
            if (read < 0) {
                throw new IOException("the other process has ended the connection");
            }
            if (read == 0) {
                await(LibC.POLLIN, deadlineNs, wait);
            } else if (octet.get(0) == '\n') {
                return new String(bytes, 0, length, StandardCharsets.UTF_8);
            } else {
                bytes[length++] = octet.get(0);
            }
        }
        throw new IOException("a line of more than " + MAX_LINE_BYTES + " bytes");
    }

    /** Sends a descriptor: the other process gets one of its own of the same open file. */
    public void sendDescriptor(int descriptor) throws IOException {
        long deadlineNs = deadlineNs(patience);
        while (socket.sendFd(descriptor) == 0) {
            await(LibC.POLLOUT, deadlineNs, patience);
        }
    }

    /** Waits for a descriptor, which is the caller's. */
    public int receiveDescriptor() throws IOException {
        long deadlineNs = deadlineNs(patience);
        while (true) {
            int descriptor = socket.recvFd();
            if (descriptor > 0) {
                return descriptor;
            }
            if (descriptor < 0) {
                throw new IOException("the other process has ended the connection");
            }
            await(LibC.POLLIN, deadlineNs, patience);
        }
    }

    private static long deadlineNs(Duration wait) {
        return System.nanoTime() + Poll.toNanos(wait);
    }

    private void await(short events, long deadlineNs, Duration wait) throws IOException {
        if (!fd.acquire()) {
            throw closed();
        }
        try {
            if (!Poll.await(fd, pollMemory, MessageArray.addressOf(pollMemory), events, deadlineNs)) {
                throw new SocketTimeoutException("the other process takes more than " + wait.toSeconds() + " s");
            }
        } finally {
            fd.release();
        }
        if (fd.isClosed()) {
            throw closed();
        }
    }

    private static IOException closed() {
        return new IOException("closed");
    }

    @Override
    public void close() {
        fd.close();
    }
}

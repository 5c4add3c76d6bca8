package org.tamanoir.transport;

import com.sun.jna.Native;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A UNIX stream socket between two processes of this host, over which lines go and descriptors of open files. Each wait
 * is bounded. Linux alone.
 *
 * <p>Thread contract: one thread; {@link #close} of a listener from any.
 */
public final class LocalSocket implements AutoCloseable {
    private static final int SO_PEERCRED = 17;
    private static final int BACKLOG = 4;
    private static final int MAX_LINE_BYTES = 16 * 1024;

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

    /** Connects to who listens there. */
    public static LocalSocket connect(Path path, Duration patience) throws IOException {
        Socket socket = Socket.newSocketDomain();
        try {
            socket.connect(new DomainSocketAddress(path.toString()));
            return new LocalSocket(socket, patience);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Waits for a connection.
     *
     * @param each for how long each wait of the connection may last
     * @throws IOException also when this listener is closed
     */
    public LocalSocket accept(Duration each) throws IOException {
        while (true) {
            await(LibC.POLLIN, Duration.ofDays(365));
            int accepted = socket.accept(new byte[128]);
            if (accepted >= 0) {
                return new LocalSocket(new Socket(accepted), each);
            }
        }
    }

    /** Returns the user that the other process ran as when it connected or listened. */
    public int peerUser() throws IOException {
        ByteBuffer memory = MessageArray.allocate(16); // struct ucred: pid, uid, gid; then its length
        long address = MessageArray.addressOf(memory);
        memory.putInt(12, 12);
        if (LibC.getsockopt(socket.intValue(), LibC.SOL_SOCKET, SO_PEERCRED, address, address + 12) != 0) {
            throw new IOException("no credentials: " + LibC.strerror(Native.getLastError()));
        }
        return memory.getInt(4);
    }

    /** Sends a line. */
    public void send(String line) throws IOException {
        byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length);
        buffer.put(bytes);
        int sent = 0;
        while (sent < bytes.length) {
            sent += socket.write(buffer, sent, bytes.length);
            if (sent < bytes.length) {
                await(LibC.POLLOUT, patience);
            }
        }
    }

    /** Waits for a line; one octet at a time, since a descriptor may come behind it. */
    public String line() throws IOException {
        return line(patience);
    }

    /** Waits so long for a line. */
    public String line(Duration wait) throws IOException {
        byte[] bytes = new byte[MAX_LINE_BYTES];
        for (int length = 0; length < bytes.length; ) {
            int read = socket.read(octet, 0, 1);
            if (read < 0) {
                throw new IOException("the other process has ended the connection");
            }
            if (read == 0) {
                await(LibC.POLLIN, wait);
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
        while (socket.sendFd(descriptor) == 0) {
            await(LibC.POLLOUT, patience);
        }
    }

    /** Waits for a descriptor, which is the caller's. */
    public int receiveDescriptor() throws IOException {
        while (true) {
            int descriptor = socket.recvFd();
            if (descriptor > 0) {
                return descriptor;
            }
            if (descriptor < 0) {
                throw new IOException("the other process has ended the connection");
            }
            await(LibC.POLLIN, patience);
        }
    }

    private void await(short events, Duration wait) throws IOException {
        if (!fd.acquire()) {
            throw new IOException("closed");
        }
        try {
            long deadlineNs = System.nanoTime() + Poll.toNanos(wait);
            if (!Poll.await(fd, pollMemory, MessageArray.addressOf(pollMemory), events, deadlineNs)) {
                throw new IOException("the other process says nothing for " + wait);
            }
        } finally {
            fd.release();
        }
        if (fd.isClosed()) {
            throw new IOException("closed");
        }
    }

    @Override
    public void close() {
        fd.close();
    }
}

package org.tamanoir.transport;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The datagram socket on which a service manager hears how a process is, sd_notify(3). Java 17 has stream sockets alone
 * in this family.
 *
 * <pre>
 *  struct sockaddr_un, unix(7):
 *       +--------+----------------------------------------------------------+
 *       | family | path, at most 107 bytes; an abstract name has a 0 before it |
 *       +--------+----------------------------------------------------------+
 * </pre>
 *
 * <p>Thread contract: any thread.
 */
public final class NotifySocket {
    private static final int FAMILY_BYTES = 2;
    private static final int MAX_NAME_BYTES = 107;
    /** A manager that is at work takes what it is told at once; one that hangs must not hang the node. */
    private static final long PATIENCE_SECONDS = 5;

    private static final int TIMEVAL_BYTES = 16;

    private final String name;
    private final byte[] address;

    /**
     * Names a socket; opens nothing.
     *
     * @param name an absolute path, or an abstract name behind an {@code @}
     * @throws IllegalArgumentException in one line, if it is neither
     */
    public NotifySocket(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (!name.matches("[/@].+") || bytes.length > MAX_NAME_BYTES) {
            throw new IllegalArgumentException("'" + name + "' is no socket to notify: a path that begins with / is "
                    + "wanted, or an abstract name behind an @, of 2 to " + MAX_NAME_BYTES + " bytes");
        }
        if (name.startsWith("@")) {
            bytes[0] = 0;
        }
        this.name = name;
        this.address = ByteBuffer.allocate(FAMILY_BYTES + bytes.length)
                .order(ByteOrder.nativeOrder())
                .putShort((short) LibC.AF_UNIX)
                .put(bytes)
                .array();
    }

    /**
     * Sends a state, whole or not at all; waits some seconds for a manager that takes nothing.
     *
     * @param state lines of the form {@code NAME=value}
     * @throws IOException in one line, if nobody can be told
     */
    public void send(String state) throws IOException {
        if (!Platform.isLinux()) {
            throw new IOException("cannot notify " + name + ": it takes Linux");
        }
        try {
            int fd = LibC.socket(LibC.AF_UNIX, LibC.SOCK_DGRAM | LibC.SOCK_CLOEXEC, 0);
            if (fd < 0) {
                throw failure();
            }
            try {
                sendBy(fd, state.getBytes(StandardCharsets.UTF_8));
            } finally {
                LibC.close(fd);
            }
        } catch (LinkageError e) {
            throw new IOException("cannot notify " + name + ": no native calls here: " + e.getMessage(), e);
        }
    }

    private void sendBy(int fd, byte[] state) throws IOException {
        NativeMemory patience = new NativeMemory(TIMEVAL_BYTES);
        patience.bytes.putLong(0, PATIENCE_SECONDS);
        boolean isSent = LibC.setsockopt(fd, LibC.SOL_SOCKET, LibC.SO_SNDTIMEO, patience.address, TIMEVAL_BYTES) == 0
                && LibC.sendto(fd, state, state.length, LibC.MSG_NOSIGNAL, address, address.length) == state.length;
        if (!isSent) {
            throw failure();
        }
    }

    private IOException failure() {
        return new IOException("cannot notify " + name + ": " + LibC.strerror(Native.getLastError()));
    }
}

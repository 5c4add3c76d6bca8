package org.tamanoir.transport;

import com.sun.jna.Native;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A socket's descriptor that several threads use and one closes. The kernel gives the number of a closed descriptor
 * to the next socket; so it is closed only when nobody is inside a call on it: every use stands between
 * {@link #acquire} and {@link #release}, and the last of the users and the closer closes it.
 *
 * <p>Thread contract: any thread.
 */
final class SharedFd {
    /** Sign bit: closing. The other bits count the users. */
    private static final int CLOSING = Integer.MIN_VALUE;

    private final int fd;
    private final AtomicInteger state = new AtomicInteger();
    private volatile boolean isShared;

    SharedFd(int fd) {
        this(fd, false);
    }

    /** @param isShared whether another process has the socket too, and would see it shut down */
    SharedFd(int fd, boolean isShared) {
        this.fd = fd;
        this.isShared = isShared;
    }

    /** Returns the descriptor; only between acquire and release. */
    int number() {
        return fd;
    }

    /** Acquires the descriptor; false when it is closed, else release() must follow. */
    boolean acquire() {
        int seen;
        do {
            seen = state.get();
            if (seen < 0) {
                return false;
            }
        } while (!state.compareAndSet(seen, seen + 1));
        return true;
    }

    void release() {
        if (state.decrementAndGet() == CLOSING) {
            LibC.close(fd);
        }
    }

    /**
     * Returns whether the kernel still has something that was sent through the socket: in the socket's queue, a queueing
     * discipline's or a device's. False where it cannot say.
     */
    boolean hasUnsent() {
        int[] bytes = new int[1];
        if (!acquire()) {
            return false;
        }
        try {
            return LibC.ioctl(fd, LibC.SIOCOUTQ, bytes) == 0 && bytes[0] > 0;
        } finally {
            release();
        }
    }

    boolean isClosed() {
        return state.get() < 0;
    }

    /**
     * Returns another descriptor of the socket, which is the caller's, for another process. From now on a close here
     * leaves the socket as it is.
     */
    int share() throws IOException {
        isShared = true; // Before acquire: a close that begins behind it sees this.
        if (!acquire()) {
            throw new IOException("closed");
        }
        try {
            return duplicate(fd);
        } finally {
            release();
        }
    }

    /** Returns another descriptor of an open file, which is the caller's. */
    static int duplicate(int fd) throws IOException {
        int copy = LibC.fcntl(fd, LibC.F_DUPFD_CLOEXEC, 0);
        if (copy < 0) {
            throw new IOException(LibC.strerror(Native.getLastError()));
        }
        return copy;
    }

    /** Wakes whoever waits on the descriptor, unless another process has it; it goes when the last user is out. */
    void close() {
        int seen;
        do {
            seen = state.get();
            if (seen < 0) {
                return;
            }
        } while (!state.compareAndSet(seen, seen + 1 | CLOSING));
        if (!isShared) {
            // On an unconnected UDP socket this answers ENOTCONN, and wakes poll and epoll all the same: inet_shutdown.
            LibC.shutdown(fd, LibC.SHUT_RDWR);
        }
        release();
    }
}

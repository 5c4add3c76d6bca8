package org.tamanoir.transport;

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
        this.fd = fd;
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

    boolean isClosed() {
        return state.get() < 0;
    }

    /** Leaves the socket as it is at the close: another process has it too, and would see it shut down. */
    void share() {
        isShared = true;
    }

    /** Wakes whoever waits on the descriptor, unless it is {@linkplain #share shared}; it goes when the last user is out. */
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

package org.tamanoir.transport;

import com.sun.jna.Native;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** poll(2) on one descriptor. struct pollfd (8 bytes): fd i32, events i16, revents i16. */
final class Poll {
    /** poll takes the time as an int of milliseconds; a longer wait is made of several. */
    private static final long LIMIT_MS = 1 << 30;
    /** 146 years: System.nanoTime() + this cannot overflow the comparison of two times. */
    private static final long LIMIT_NS = Long.MAX_VALUE / 2;

    private Poll() {}

    static long toNanos(Duration timeout) {
        return timeout.compareTo(Duration.ofNanos(LIMIT_NS)) < 0 ? Math.max(0, timeout.toNanos()) : LIMIT_NS;
    }

    /**
     * Waits for the events, or an error or hang-up of the socket; false when the time is up.
     *
     * @param fd acquired by the caller
     * @param memory 8 bytes, the caller's own
     * @param deadlineNs by System.nanoTime()
     */
    static boolean await(SharedFd fd, ByteBuffer memory, long address, short events, long deadlineNs)
            throws IOException {
        memory.putInt(0, fd.number());
        memory.putShort(4, events);
        for (; ; ) {
            long leftNs = Math.max(0, deadlineNs - System.nanoTime());
            // Rounded up: rounded down, the last millisecond would be a busy loop.
            long leftMs = TimeUnit.NANOSECONDS.toMillis(leftNs + 999_999);
            int ready = LibC.poll(address, 1, (int) Math.min(leftMs, LIMIT_MS));
            if (ready > 0) {
                return true;
            }
            if (ready < 0 && Native.getLastError() != LibC.EINTR) {
                throw new IOException("poll on a UDP socket failed: " + LibC.strerror(Native.getLastError()));
            }
            if (leftNs == 0 || deadlineNs - System.nanoTime() <= 0) {
                return false;
            }
        }
    }
}

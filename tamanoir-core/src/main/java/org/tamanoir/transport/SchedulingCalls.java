package org.tamanoir.transport;

import com.sun.jna.Platform;

/**
 * How the calling thread is scheduled, by sched_setattr(2) and prctl(2).
 *
 * <pre>
 *  struct sched_attr, SCHED_ATTR_SIZE_VER0:
 *       +----------------+----------------+
 *     0 | size           | policy         |
 *       +----------------+----------------+
 *     8 | flags                           |
 *       +----------------+----------------+
 *    16 | nice           | priority       |
 *       +----------------+----------------+
 *    24 | runtime in ns: of SCHED_OTHER the slice, 0 = the usual one; Linux 6.12 and later
 *       +---------------------------------+
 *    32 | deadline       40 | period      |   of SCHED_DEADLINE alone
 *       +---------------------------------+
 * </pre>
 *
 * <p>Thread contract: any thread; each call is about the calling one.
 */
final class SchedulingCalls {
    private static final int BYTES = 48;
    private static final int SCHED_OTHER = 0;
    private static final int SCHED_RR = 2;
    /** Threads that this one starts are SCHED_OTHER, with nice 0 or higher, and the usual slice. */
    private static final long SCHED_FLAG_RESET_ON_FORK = 1;

    private static final int PR_SET_TIMERSLACK = 29;

    /** Made once, since threads begin also where there is no memory left. Guarded by the class. */
    private static final NativeMemory ATTRIBUTES = new NativeMemory(BYTES);

    private SchedulingCalls() {}

    /**
     * Makes it SCHED_OTHER with this nice value and slice; false when that is not permitted.
     *
     * @param sliceNs 0 = the usual one; before Linux 6.12 it is always that
     * @param alone whether threads that it starts get nothing of this
     */
    static boolean nice(int nice, long sliceNs, boolean alone) {
        return set(SCHED_OTHER, nice, 0, sliceNs, alone);
    }

    /** Makes it SCHED_RR of this priority; false when that is not permitted. */
    static boolean roundRobin(int priority, boolean alone) {
        return set(SCHED_RR, 0, priority, 0, alone);
    }

    private static synchronized boolean set(int policy, int nice, int priority, long sliceNs, boolean alone) {
        ATTRIBUTES
                .bytes
                .putInt(0, BYTES)
                .putInt(4, policy)
                .putLong(8, alone ? SCHED_FLAG_RESET_ON_FORK : 0)
                .putInt(16, nice)
                .putInt(20, priority)
                .putLong(24, sliceNs);
        return call(Platform.isARM() ? 274 : 314, 0);
    }

    /** Returns its slice in ns; 0 where the kernel does not tell. */
    static synchronized long sliceNs() {
        return call(Platform.isARM() ? 275 : 315, BYTES) ? ATTRIBUTES.bytes.getLong(24) : 0;
    }

    /** Calls sched_setattr or sched_getattr, for which old C libraries have no function, of the calling thread, 0. */
    private static boolean call(long number, long third) {
        return is64Bit() && LibC.syscall(number, 0, ATTRIBUTES.address, third, 0) == 0;
    }

    /** Whether the numbers are those of x86-64 and aarch64. */
    private static boolean is64Bit() {
        return Platform.is64Bit() && (Platform.isIntel() || Platform.isARM());
    }

    /** Sets by how many ns its timers may be late, so that wake-ups fall together; Linux begins with 50,000. */
    static void timerSlack(long ns) {
        int ignored = LibC.prctl(PR_SET_TIMERSLACK, ns, 0, 0, 0);
    }
}

package org.tamanoir.benchmarks;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;

/**
 * Processor time that another process has used: clock_gettime on its CPU clock, which counts in nanoseconds and
 * includes threads that have ended (the sums in /proc count in ticks of 10 ms, or leave those threads out).
 */
public final class CpuClock {
    /** Linux, MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED). */
    private static final int CPUCLOCK_SCHED = 2;

    static {
        Native.register(CpuClock.class, "c");
    }

    private CpuClock() {}

    private static native int clock_gettime(int clock, long[] secondsAndNs) throws LastErrorException;

    /** User and system time of the process and of all that it started and that still runs, in ns. */
    public static long ns(ProcessHandle process) {
        return own(process) + process.descendants().mapToLong(CpuClock::own).sum();
    }

    private static long own(ProcessHandle process) {
        long[] time = new long[2];
        clock_gettime(~(int) process.pid() << 3 | CPUCLOCK_SCHED, time);
        return time[0] * 1_000_000_000L + time[1];
    }
}

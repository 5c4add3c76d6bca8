package org.tamanoir.benchmarks;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import java.util.stream.Stream;

/**
 * Processor time that another process has used: clock_gettime on its CPU clock, which counts in nanoseconds and
 * includes threads that have ended (the sums in /proc count in ticks of 10 ms, or leave those threads out).
 */
public final class CpuClock {
    /** Linux, MAKE_PROCESS_CPUCLOCK(pid, …): user and system time, user time, both by the kernel's ticks. */
    private static final int CPUCLOCK_PROF = 0;

    private static final int CPUCLOCK_VIRT = 1;
    /** User and system time in nanoseconds, as the scheduler counts it. */
    private static final int CPUCLOCK_SCHED = 2;

    static {
        Native.register(CpuClock.class, "c");
    }

    private CpuClock() {}

    private static native int clock_gettime(int clock, long[] secondsAndNs) throws LastErrorException;

    /** User and system time of the process and of all that it started and that still runs, in ns. */
    public static long ns(ProcessHandle process) {
        return ns(process, CPUCLOCK_SCHED);
    }

    /** Returns the same time with the ticks that divide it into user and system time. */
    static Used used(ProcessHandle process) {
        return new Used(ns(process), ns(process, CPUCLOCK_VIRT), ns(process, CPUCLOCK_PROF));
    }

    private static long ns(ProcessHandle process, int clock) {
        return Stream.concat(Stream.of(process), process.descendants())
                .mapToLong(each -> own(each, clock))
                .sum();
    }

    private static long own(ProcessHandle process, int clock) {
        long[] time = new long[2];
        clock_gettime(~(int) process.pid() << 3 | clock, time);
        return time[0] * 1_000_000_000L + time[1];
    }

    /**
     * Processor time that was used.
     *
     * @param ns user and system time
     * @param userTicksNs user time: a whole tick is the user's or the system's, as the processor was found at its end
     * @param ticksNs both by ticks
     */
    record Used(long ns, long userTicksNs, long ticksNs) {
        static final Used NOTHING = new Used(0, 0, 0);

        Used since(Used before) {
            return new Used(ns - before.ns, userTicksNs - before.userTicksNs, ticksNs - before.ticksNs);
        }

        double seconds() {
            return ns / 1e9;
        }

        /** Returns the user's part of the time, divided as the ticks are; 0 before the first tick. */
        double userNs() {
            return ticksNs == 0 ? 0 : (double) ns * userTicksNs / ticksNs;
        }
    }
}

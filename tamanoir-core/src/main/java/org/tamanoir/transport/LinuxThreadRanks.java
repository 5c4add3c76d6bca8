package org.tamanoir.transport;

import com.sun.jna.Platform;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.tamanoir.platform.ThreadPriorities;
import org.tamanoir.platform.ThreadRank;
import org.tamanoir.platform.ThreadRanks;

/**
 * Ranks by what Linux has for single threads: nice values, slices (sched_setattr(2)), SCHED_RR, and timers that are not
 * late on purpose (PR_SET_TIMERSLACK). What is permitted is found out by trying it on a thread that then ends.
 *
 * <p>Threads inherit all of it from the one that starts them. {@link ThreadRank#CONTROL} and {@link ThreadRank#CHANGE}
 * end that by SCHED_FLAG_RESET_ON_FORK, but for the slack: the reception's makers of services start services' threads.
 * These begin with nice 0, also in a process that was started with more.
 *
 * <p>Thread contract: any thread.
 */
public final class LinuxThreadRanks implements ThreadRanks {
    /** setpriority(2): each step is worth about a quarter of processor time. */
    static final int CONTROL_NICE = -10;

    static final int CHANGE_NICE = -5;
    static final int SERVICE_NICE = 19;
    /** The shortest that the scheduler takes, Linux 6.12 and later. Raised without it a thread still waits for theirs. */
    static final long SLICE_NS = 100_000;
    /** The lowest real-time priority. */
    static final int REALTIME = 1;
    /** Instead of 50 µs. */
    private static final long SLACK_NS = 1;

    private static final long PROBE_MS = 5_000;

    /** What the node's own threads may be given. */
    private enum Raise {
        NONE,
        NICE,
        NICE_AND_SLICE,
        REALTIME
    }

    private final ThreadPriorities wanted;
    private final Raise raise;

    private LinuxThreadRanks(ThreadPriorities wanted, Raise raise) {
        this.wanted = wanted;
        this.raise = raise;
    }

    /** Returns what can be had of that here. Starts a thread and waits for it, bounded. */
    public static ThreadRanks of(ThreadPriorities wanted) {
        if (wanted == ThreadPriorities.OFF) {
            return NONE;
        }
        if (!Platform.isLinux()) {
            return unavailable(System.getProperty("os.name"));
        }
        FutureTask<ThreadRanks> probing = new FutureTask<>(() -> probe(wanted));
        Thread probe = new Thread(probing, "priorities");
        probe.setDaemon(true);
        probe.start();
        try {
            return probing.get(PROBE_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return unavailable("no answer of the operating system: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return unavailable("interrupted");
        }
    }

    /** Tries on the calling thread what is permitted; the thread has to end then. */
    private static ThreadRanks probe(ThreadPriorities wanted) {
        try {
            Raise raise = Raise.NONE;
            if (SchedulingCalls.nice(CONTROL_NICE, SLICE_NS, true)) {
                raise = SchedulingCalls.sliceNs() == SLICE_NS ? Raise.NICE_AND_SLICE : Raise.NICE;
            }
            if (wanted == ThreadPriorities.REALTIME && SchedulingCalls.roundRobin(REALTIME, true)) {
                raise = Raise.REALTIME;
            }
            return new LinuxThreadRanks(wanted, raise);
        } catch (LinkageError e) {
            return unavailable("no native calls: " + e);
        }
    }

    private static ThreadRanks unavailable(String why) {
        return new ThreadRanks() {
            @Override
            public void take(ThreadRank rank) {}

            @Override
            public String text() {
                return "all threads alike: " + why;
            }
        };
    }

    @Override
    public void take(ThreadRank rank) {
        switch (rank) {
            case CONTROL, SERVER -> {
                SchedulingCalls.timerSlack(SLACK_NS);
                raise(rank == ThreadRank.CONTROL);
            }
            case CHANGE -> {
                if (raise != Raise.NONE && !SchedulingCalls.nice(CHANGE_NICE, 0, true)) {
                    leaveRealtime(true);
                }
            }
            case SERVICE -> {
                if (isLowering()) {
                    SchedulingCalls.nice(SERVICE_NICE, 0, false);
                } else if (raise == Raise.REALTIME) {
                    leaveRealtime(false);
                }
            }
        }
    }

    /** Gives up a real-time class that the thread has inherited, which is always permitted; a lower nice value is not. */
    private static void leaveRealtime(boolean alone) {
        if (!SchedulingCalls.nice(0, 0, alone)) {
            SchedulingCalls.nice(SERVICE_NICE, 0, alone);
        }
    }

    private void raise(boolean alone) {
        switch (raise) {
            case NONE -> {}
            case NICE, NICE_AND_SLICE -> SchedulingCalls.nice(CONTROL_NICE, SLICE_NS, alone);
            case REALTIME -> SchedulingCalls.roundRobin(REALTIME, alone);
        }
    }

    private boolean isLowering() {
        return wanted == ThreadPriorities.LOWER && raise == Raise.NONE;
    }

    @Override
    public String text() {
        return switch (raise) {
            case REALTIME -> "the node's own threads have SCHED_RR " + REALTIME + ", services' none";
            case NICE_AND_SLICE ->
                "the node's own threads have nice " + CONTROL_NICE + " and slices of 0.1 ms" + noRealtime();
            case NICE ->
                "the node's own threads have nice " + CONTROL_NICE + "; slices of 0.1 ms need Linux 6.12"
                        + noRealtime();
            case NONE ->
                (isLowering() ? "services' threads have nice " + SERVICE_NICE : "all threads alike")
                        + "; with CAP_SYS_NICE or "
                        + (wanted == ThreadPriorities.REALTIME ? "RLIMIT_RTPRIO 1" : "RLIMIT_NICE 30")
                        + " the node's own would go before services'";
        };
    }

    private String noRealtime() {
        return wanted == ThreadPriorities.REALTIME ? "; SCHED_RR needs CAP_SYS_NICE or RLIMIT_RTPRIO 1" : "";
    }
}

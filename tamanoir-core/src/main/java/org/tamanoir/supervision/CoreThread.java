package org.tamanoir.supervision;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.ThreadRank;

/**
 * A thread that the node cannot do without: it runs rounds of bounded time until it is stopped.
 *
 * <p>A round that throws, whatever it throws, is counted, and the next one begins after a pause: what it was about is
 * lost, the thread is not. The thread is given up when the code of the node itself can no longer run
 * ({@link LinkageError}, a fault inside the JVM), or when no round has succeeded for {@link CoreThreads#patience}, as
 * without free memory. {@link CoreThreads} is told then, and says so to whoever asks for the node's health; so it does
 * of a thread whose round lasts longer than the limit of {@link CoreThreads}.
 *
 * <p>Interrupts are ignored and counted: the node interrupts none of these threads, but services of the same JVM can.
 *
 * <p>Thread contract: any thread, but for {@link #park}, which is its own.
 */
public final class CoreThread {
    /** After each failure in a row, this much longer than after the one before. */
    private static final long PAUSE_NS = 10_000_000;

    private static final long LONGEST_PAUSE_NS = 100_000_000;

    /** What the thread does again and again. It must return, or call {@link #park}, twice a second or more often. */
    public interface Round {
        void run() throws Exception;
    }

    /** Looked at once, so that all classes that a failure is compared with are there. */
    private static final Throwable FIRST = new OutOfMemoryError();

    private final String name;
    /** Made beforehand: where it is needed there may be no memory for it. */
    private final String label;

    private final CoreThreads group;
    private final Platform platform;
    private final Round round;
    private final Runnable end;
    private final Thread thread;
    // Of the thread alone.
    private boolean failing;
    private long failingSinceNs;
    private int inARow;

    private volatile boolean started;
    private volatile boolean stopped;
    private volatile long cameRoundNs;
    private volatile long failures;
    private volatile long interrupts;
    private volatile @Nullable Class<?> endedBy;

    /**
     * A thread that is not started.
     *
     * @param end what is to be done when the thread was stopped; not when it is given up
     */
    public CoreThread(String name, CoreThreads group, Round round, Runnable end) {
        this.name = name;
        this.label = "core thread " + name;
        this.group = group;
        this.platform = group.platform();
        this.round = round;
        this.end = end;
        this.thread = platform.newThread(name, this::body);
        // A class is looked up where it is used first, and that takes memory.
        boolean ignored = isBeyondHelp(FIRST);
        platform.park(this, 1);
    }

    public void start() {
        cameRoundNs = platform.nanoTime();
        started = true;
        group.add(this);
        thread.start();
    }

    private void body() {
        try {
            group.ranks().take(ThreadRank.CONTROL);
        } catch (Throwable e) {
            failures = failures + 1; // For want of memory: without its rank it does what it is there for.
        }
        while (!stopped) {
            try {
                if (!goRound()) {
                    return;
                }
            } catch (Throwable e) {
                // Not even what is done about a failure could be done, for want of memory mostly. Nothing is done here
                // that could fail in the same way: the next round finds that the failure lasts.
                failures = failures + 1;
            }
        }
        try {
            end.run();
        } catch (Throwable e) {
            group.survived(label, failures, e);
        } finally {
            group.remove(this);
        }
    }

    /** Returns false when the thread has been given up. */
    private boolean goRound() {
        cameRoundNs = platform.nanoTime();
        ignoreInterrupt();
        try {
            round.run();
            failing = false;
            inARow = 0;
        } catch (Throwable e) {
            long nowNs = platform.nanoTime();
            failingSinceNs = failing ? failingSinceNs : nowNs;
            failing = true;
            inARow++;
            failures = failures + 1;
            platform.park(this, Math.min(LONGEST_PAUSE_NS, inARow * PAUSE_NS));
            if (isBeyondHelp(e) || nowNs - failingSinceNs > group.patience()) {
                endedBy = e.getClass();
                group.lost(this, e);
                return false;
            }
            group.survived(label, failures, e);
        }
        return true;
    }

    /** A class that could not be initialised stays so, and a JVM that is broken too; memory and stack come back. */
    private static boolean isBeyondHelp(Throwable e) {
        return e instanceof LinkageError
                || (e instanceof VirtualMachineError
                        && !(e instanceof OutOfMemoryError)
                        && !(e instanceof StackOverflowError));
    }

    private void ignoreInterrupt() {
        if (Thread.interrupted()) {
            interrupts = interrupts + 1;
        }
    }

    /** Waits inside a round, at most for this time; {@link #unpark} ends it. */
    public void park(long ns) {
        cameRoundNs = platform.nanoTime();
        platform.park(this, ns);
        ignoreInterrupt(); // With its interrupt pending a thread would not wait again.
    }

    public void unpark() {
        platform.unpark(thread);
    }

    /** Counts a failure that ended one task of a round, and not the round; tells of it as of any other. */
    public void survived(Throwable e) {
        failures = failures + 1;
        group.survived(label, failures, e);
    }

    /** Ends the thread after its round; does not wait. */
    public void stop() {
        stopped = true;
        unpark();
    }

    /** Waits until the thread has ended, at most so many ms. */
    public void join(long ms) {
        platform.join(thread, TimeUnit.MILLISECONDS.toNanos(ms));
    }

    String name() {
        return name;
    }

    /** Returns how many of its rounds or tasks failed. */
    long failures() {
        return failures;
    }

    /** Returns how often somebody interrupted it. */
    long interrupts() {
        return interrupts;
    }

    /** Returns in one line why the node is not whole; null while the thread does its work. */
    @Nullable
    String problem(long nowNs, long roundLimitNs) {
        Class<?> error = endedBy;
        if (error != null) {
            return "core thread " + name + " has ended: " + error.getName();
        }
        if (!started || stopped) {
            return null;
        }
        if (!thread.isAlive()) {
            return "core thread " + name + " has ended";
        }
        long ageNs = nowNs - cameRoundNs;
        return ageNs <= roundLimitNs
                ? null
                : "core thread " + name + " has not come round for " + ageNs / 1_000_000 + " ms; at most "
                        + roundLimitNs / 1_000_000 + " ms are right";
    }
}

package org.tamanoir.ee;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A thread that asks for turns. It may wait for several, of different classes, but has one at a time: it cannot use two
 * processors.
 *
 * <p>Thread contract: {@link #running} any thread, all else inside the scheduler's lock.
 */
final class TurnOwner {
    /** Turns that were granted while it had another: they are asked for again when that one ends. */
    final ArrayDeque<Turn> behind = new ArrayDeque<>();
    /** Wakes the thread when a turn is granted. */
    final Runnable wake;

    private final @Nullable Thread thread;
    private volatile @Nullable Turn running;
    /** It has ended, or was given up: it gets no turn any more. */
    private boolean gone;

    /**
     * @param thread null = nothing is known of it
     */
    TurnOwner(Runnable wake, @Nullable Thread thread) {
        this.wake = wake;
        this.thread = thread;
    }

    /** Whether the thread is able to run, so that it is its processor time that counts. */
    boolean isRunnable() {
        return thread != null && Meter.THREADS != null && thread.getState() == Thread.State.RUNNABLE;
    }

    /** What the thread has used of a processor; after {@link #isRunnable}. */
    long processorNs() {
        return thread == null || Meter.THREADS == null ? 0 : Meter.THREADS.getThreadCpuTime(thread.getId());
    }

    /** The turn that it has. */
    @Nullable
    Turn running() {
        return running;
    }

    void runs(@Nullable Turn turn) {
        running = turn;
    }

    boolean isGone() {
        return gone;
    }

    void leaveForGood() {
        gone = true;
    }
}

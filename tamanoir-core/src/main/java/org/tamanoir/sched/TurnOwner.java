package org.tamanoir.sched;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A thread that asks for turns. It may wait for several, of different classes, but has one at a time: it cannot use two
 * processors.
 *
 * <p>Thread contract: {@link #running} any thread, all else inside the scheduler's lock.
 */
public final class TurnOwner {
    /** All that it has asked for, at any time: each once. */
    final List<CpuGrant> turns = new ArrayList<>();
    /** Turns that were granted while it had another: they are asked for again when that one ends. */
    final ArrayDeque<CpuGrant> deferred = new ArrayDeque<>();
    /** Wakes the thread when a turn is granted. */
    final Runnable wake;

    private final ProcessorUse use;
    private volatile @Nullable CpuGrant running;
    /** The turn that was given back in the midst of a packet, until it is granted again: no other is of use meanwhile. */
    private @Nullable CpuGrant inMidst;
    /** When its turns may be asked again to give way: it came to no checkpoint when one was, the last time. */
    long deafUntilNs = Long.MIN_VALUE;
    /** It has ended, or was given up: it gets no turn any more. */
    private boolean gone;

    public TurnOwner(Runnable wake, ProcessorUse use) {
        this.wake = wake;
        this.use = use;
    }

    ProcessorUse use() {
        return use;
    }

    /** The turn that it has. */
    @Nullable
    public CpuGrant running() {
        return running;
    }

    void runs(@Nullable CpuGrant turn) {
        running = turn;
        if (turn != null) {
            inMidst = null;
        }
    }

    /** Returns whether it could use this turn now. */
    boolean mayRun(CpuGrant turn) {
        return running == null && (inMidst == null || inMidst == turn);
    }

    void inMidstOf(@Nullable CpuGrant turn) {
        inMidst = turn;
    }

    boolean isInMidst() {
        return inMidst != null;
    }

    boolean isGone() {
        return gone;
    }

    void leaveForGood() {
        gone = true;
    }
}

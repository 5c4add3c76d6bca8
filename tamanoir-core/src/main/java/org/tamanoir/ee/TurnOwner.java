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

    private volatile @Nullable Turn running;
    /** It has ended, or was given up: it gets no turn any more. */
    private boolean gone;

    TurnOwner(Runnable wake) {
        this.wake = wake;
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

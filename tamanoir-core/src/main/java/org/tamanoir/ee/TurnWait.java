package org.tamanoir.ee;

import org.tamanoir.platform.Platform;
import org.tamanoir.sched.CpuGrant;
import org.tamanoir.sched.TurnOwner;
import org.tamanoir.supervision.ThreadUse;

/**
 * The wait of a service's thread, in the midst of a packet, for the turn that it has given back. It is short, so that
 * nothing is attended meanwhile: the thread parks, and neither reads nor sends.
 *
 * <p>Thread contract: the service's thread, but for what wakes it: any thread.
 */
final class TurnWait {
    private final ServiceThread thread;
    private final NextHops nextHops;
    private final Platform platform;
    private volatile boolean waits;

    TurnWait(ServiceThread thread, NextHops nextHops) {
        this.thread = thread;
        this.nextHops = nextHops;
        this.platform = thread.context().platform();
    }

    /** Makes what asks for turns in the name of the thread. */
    TurnOwner newOwner() {
        return new TurnOwner(this::wake, ThreadUse.of(thread.supervision().thread()));
    }

    private void wake() {
        thread.wake();
        if (waits) {
            platform.unpark(thread.supervision().thread());
        }
    }

    /** Gives this turn back if it is over and others wait; what was processed before leaves first. */
    void giveWay(CpuGrant turn) {
        if (!turn.isOver() || thread.isSuspected() || !StackRoom.isThere()) {
            return;
        }
        nextHops.flush();
        if (turn.giveWay()) {
            return;
        }
        waits = true;
        boolean isInterrupted = false;
        try {
            long beganNs = platform.nanoTime();
            long leftNs = turn.patienceNs();
            while (!turn.isAnswered() && leftNs > 0 && !thread.isCut() && !thread.isSuspected()) {
                isInterrupted |= Thread.interrupted(); // Else it would not park.
                thread.supervision().waitInMidst(leftNs);
                leftNs = turn.patienceNs() - (platform.nanoTime() - beganNs);
            }
        } finally {
            waits = false;
            turn.resume();
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}

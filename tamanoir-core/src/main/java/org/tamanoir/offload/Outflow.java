package org.tamanoir.offload;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.transport.Backlogs;

/**
 * Whether packets are out of the host's own queues, which a packet that goes another way could pass there: those of the
 * sockets that a thread has sent through, and the backlogs of the processors behind them.
 *
 * <p>Bounded by a second: a queue that is longer, or never empty since others fill it, holds up no service. A wait that
 * follows such a one within a second ends at once, else each would take a second for as long as that queue is not empty.
 * What waits in a device that has several queues is seen in neither once its driver has taken it over.
 *
 * <p>Thread contract: one thread.
 */
public final class Outflow {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(1);
    /** How long a service's thread rests for the backlogs, at most, which are empty within microseconds but on a busy host. */
    private static final long REST_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final BooleanSupplier isUnsent;
    private final LongSupplier nanoTime;
    private final Backlogs backlogs;
    private boolean isWaiting;
    private boolean areSocketsEmpty;
    /** When the wait began, or the first of those that took too long. */
    private long beganNs;

    private boolean wasLate;
    private long endedNs;

    /**
     * Makes one.
     *
     * @param isUnsent whether something of what the thread has sent may still be in its sockets' queues
     */
    public Outflow(BooleanSupplier isUnsent, LongSupplier nanoTime, Backlogs backlogs) {
        this.isUnsent = isUnsent;
        this.nanoTime = nanoTime;
        this.backlogs = backlogs;
    }

    /** Looks whether what has been sent until now has left the sockets; true as well when that took too long. */
    boolean hasLeftSockets() {
        long nowNs = nanoTime.getAsLong();
        if (!isWaiting) {
            isWaiting = true;
            if (!wasLate || nowNs - endedNs >= PATIENCE_NS) {
                beganNs = nowNs;
            }
        }
        areSocketsEmpty = !isUnsent.getAsBoolean();
        if (!areSocketsEmpty && !isLate(nowNs)) {
            return false;
        }
        backlogs.begin(); // What was in the sockets' queues may be there now.
        return true;
    }

    /** Looks whether what had left the sockets when {@link #hasLeftSockets} said so is out; true as well when late. */
    boolean isOut() {
        long nowNs = nanoTime.getAsLong();
        boolean isThrough = backlogs.areThrough();
        if (!isThrough && !isLate(nowNs)) {
            return false;
        }
        isWaiting = false;
        wasLate = !isThrough || !areSocketsEmpty;
        endedNs = nowNs;
        return true;
    }

    /**
     * Returns what says, whenever it is asked, whether all is out that had been flushed when it was asked first. Nothing else
     * is waited for meanwhile.
     */
    BooleanSupplier awaitOut() {
        return new BooleanSupplier() {
            private boolean hasLeft;

            @Override
            public boolean getAsBoolean() {
                hasLeft = hasLeft || hasLeftSockets();
                return hasLeft && isOut();
            }
        };
    }

    private boolean isLate(long nowNs) {
        return nowNs - beganNs >= PATIENCE_NS;
    }

    /** Has the thread rest, bounded, until what levels have handled is out, so that what came up since may follow. */
    static void rest(NodeOs levels) {
        levels.awaitPassed();
        levels.awaitLeft();
        new Backlogs().await(REST_NS);
    }
}

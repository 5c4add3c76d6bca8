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
 * <p>Bounded by a second: a queue that is longer, or never empty since others fill it, holds up no service. What waits in
 * a device that has several queues is seen in neither once its driver has taken it over.
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
    private boolean areSocketsEmpty;
    private long beganNs;

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

    /** Waits from now on for what has been sent until now. */
    void begin() {
        areSocketsEmpty = false;
        beganNs = nanoTime.getAsLong();
    }

    /** Looks whether that is out, as far as it can be seen; true as well when it took too long. */
    boolean isOut() {
        boolean isLate = nanoTime.getAsLong() - beganNs >= PATIENCE_NS;
        if (!areSocketsEmpty) {
            if (isUnsent.getAsBoolean() && !isLate) {
                return false;
            }
            areSocketsEmpty = true;
            backlogs.begin(); // What was in the sockets' queues may be there now.
        }
        return backlogs.areThrough() || isLate;
    }

    /** Has the thread rest, bounded, until what levels have handled is out, so that what came up since may follow. */
    static void rest(NodeOs levels) {
        levels.awaitPassed();
        levels.awaitLeft();
        new Backlogs().await(REST_NS);
    }
}

package org.tamanoir.ee;

/**
 * Holds a service to its limits of processor time and allocation: a token bucket for each, from which is taken what
 * was used. While one of them is overdrawn the service pauses, so that over about a second its rate comes to the limit.
 *
 * <p>Thread contract: any thread; the watchdogs of environments that share a service take turns.
 */
final class Throttle {
    /** What may be saved up for a burst, in seconds at the limit. */
    private static final double BURST_SECONDS = 1;
    /** No debt is longer than this, in seconds at the limit, and so no pause. */
    private static final double DEBT_SECONDS = 10;
    /** How long it may go on over its limit while it should pause: longer than a batch ought to take. */
    private static final long PAUSE_PATIENCE_NS = 1_000_000_000;
    /** What the node itself may need on the threads of a service that pauses: a twentieth, and a megabyte a second. */
    private static final double NODE_PROCESSORS = 0.05;

    private static final double NODE_OCTETS_PER_SECOND = 1 << 20;

    /** What has changed. */
    enum Change {
        NONE,
        PAUSES,
        GOES_ON,
        /** It should pause, and did not. */
        OVERRUN
    }

    private final Bucket processors;
    private final Bucket allocation;
    private boolean begun;
    private boolean paused;
    private long lastNs;
    private long overrunNs;

    /** Limits as those of {@link ServiceLife}; 0 = none. */
    Throttle(double processors, double allocationOctetsPerSecond) {
        this.processors = new Bucket(processors, NODE_PROCESSORS);
        this.allocation = new Bucket(allocationOctetsPerSecond, NODE_OCTETS_PER_SECOND);
    }

    /**
     * Takes a measurement of what has been used in total.
     *
     * @param nowNs by a clock that does not go back
     */
    synchronized Change measure(long nowNs, long processorNs, long allocatedOctets) {
        double elapsedSeconds = begun ? Math.max(0, (nowNs - lastNs) / 1e9) : 0;
        long elapsedNs = begun ? nowNs - lastNs : 0;
        lastNs = nowNs;
        boolean busy = processors.take(processorNs / 1e9, elapsedSeconds);
        busy |= allocation.take(allocatedOctets, elapsedSeconds);
        begun = true;
        boolean over = processors.isOverdrawn() || allocation.isOverdrawn();
        if (over && !paused) {
            paused = true;
            overrunNs = 0;
            return Change.PAUSES;
        }
        if (!over && paused) {
            paused = false;
            return Change.GOES_ON;
        }
        overrunNs = paused && busy ? overrunNs + elapsedNs : 0;
        if (overrunNs >= PAUSE_PATIENCE_NS) {
            overrunNs = 0;
            return Change.OVERRUN;
        }
        return Change.NONE;
    }

    private static final class Bucket {
        private final double perSecond;
        private final double tolerated;
        private double credit;
        private double lastTotal;

        Bucket(double perSecond, double nodeShare) {
            this.perSecond = perSecond;
            this.tolerated = Math.max(perSecond, nodeShare);
            this.credit = perSecond * BURST_SECONDS;
        }

        /** Whether more was used than somebody who pauses may. */
        boolean take(double total, double elapsedSeconds) {
            double used = total - lastTotal;
            lastTotal = total;
            if (perSecond == 0) {
                return false;
            }
            credit = Math.min(perSecond * BURST_SECONDS, credit + perSecond * elapsedSeconds - used);
            credit = Math.max(credit, -perSecond * DEBT_SECONDS);
            return used > tolerated * elapsedSeconds;
        }

        boolean isOverdrawn() {
            return perSecond > 0 && credit < 0;
        }
    }
}

package org.tamanoir.catalog;

/**
 * Holds a service to its limits of processor time and allocation: a token bucket for each, from which is taken what
 * was used. While one of them is overdrawn the service pauses, so that over about a second its rate comes to the limit.
 * What it used before the first measurement of a pause it may have used before it was told, and is not held against it.
 *
 * <p>Thread contract: any thread; the watchdogs of environments that share a service take turns.
 */
public final class Throttle {
    /** What may be saved up for a burst, in seconds at the limit. */
    private static final double BURST_SECONDS = 1;
    /** No debt is longer than this, in seconds at the limit, and so no pause. */
    private static final double DEBT_SECONDS = 10;
    /** Processor seconds that it may use while it should pause: more than a packet ought to take. */
    private static final double TOLERATED_SECONDS = 1;
    /** The same for bytes on the heap. */
    private static final double TOLERATED_BYTES = 1 << 20;

    /** What has changed. */
    public enum Change {
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
    /** Whether the pause has been measured once. */
    private boolean told;

    private long lastNs;

    /** Limits as those of {@link ServiceHealth}; 0 = none. */
    Throttle(double processors, double allocationBytesPerSecond) {
        this.processors = new Bucket(processors, TOLERATED_SECONDS);
        this.allocation = new Bucket(allocationBytesPerSecond, TOLERATED_BYTES);
    }

    /** Returns the limit of processor time, in seconds a second; 0 = none. */
    public double processors() {
        return processors.perSecond;
    }

    /** Returns whether one of the limits is of allocation. */
    public boolean limitsAllocation() {
        return allocation.perSecond > 0;
    }

    /**
     * Takes a measurement of what has been used in total.
     *
     * @param nowNs by a clock that does not go back
     */
    public synchronized Change measure(long nowNs, long processorNs, long allocatedBytes) {
        double elapsedSeconds = begun ? Math.max(0, (nowNs - lastNs) / 1e9) : 0;
        begun = true;
        lastNs = nowNs;
        processors.take(processorNs / 1e9, elapsedSeconds);
        allocation.take(allocatedBytes, elapsedSeconds);
        boolean over = processors.isOverdrawn() || allocation.isOverdrawn();
        if (over != paused) {
            paused = over;
            told = false;
            return over ? Change.PAUSES : Change.GOES_ON;
        }
        boolean overrun = paused && told && (processors.isOverrun() || allocation.isOverrun());
        if (overrun || !told) {
            told = true;
            processors.forget();
            allocation.forget();
        }
        return overrun ? Change.OVERRUN : Change.NONE;
    }

    private static final class Bucket {
        private final double perSecond;
        private final double tolerated;
        private double credit;
        private double lastTotal;
        /** Since it knows that it is to pause. */
        private double used;

        Bucket(double perSecond, double tolerated) {
            this.perSecond = perSecond;
            this.tolerated = Math.max(perSecond, tolerated);
            this.credit = perSecond * BURST_SECONDS;
        }

        void take(double total, double elapsedSeconds) {
            double now = total - lastTotal;
            lastTotal = total;
            used += now;
            credit = Math.min(perSecond * BURST_SECONDS, credit + perSecond * elapsedSeconds - now);
            credit = Math.max(credit, -perSecond * DEBT_SECONDS);
        }

        boolean isOverdrawn() {
            return perSecond > 0 && credit < 0;
        }

        boolean isOverrun() {
            return perSecond > 0 && used > tolerated;
        }

        void forget() {
            used = 0;
        }
    }
}

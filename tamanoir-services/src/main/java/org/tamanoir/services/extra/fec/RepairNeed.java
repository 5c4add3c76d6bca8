package org.tamanoir.services.extra.fec;

/**
 * How many repairs a block needs by what receivers report. A block of n = k + m packets of which each is lost with
 * probability p loses n·p on average, with a deviation of √(n·p·(1 − p)); m is the least number that is three
 * deviations above:
 *
 * <pre>
 *   m ≥ n·p + 3·√(n·p·(1 − p)),   least ≤ m ≤ most
 * </pre>
 *
 * <p>p is smoothed over reports, a quarter of the newest each time. Losses in bursts need more than this; the least
 * number is there for them.
 *
 * <p>Thread contract: one thread.
 */
final class RepairNeed {
    private static final double WEIGHT = 0.25;
    private static final int DEVIATIONS = 3;

    private final int least;
    private final int most;
    private double loss;
    private long expected;
    private long received;

    RepairNeed(int least, int most) {
        this.least = least;
        this.most = most;
    }

    /**
     * Takes the totals of a report.
     *
     * @return false if they cannot be, or tell nothing new
     */
    boolean report(long expectedTotal, long receivedTotal) {
        long moreExpected = expectedTotal - expected;
        long moreReceived = receivedTotal - received;
        if (moreExpected <= 0 || moreReceived < 0 || moreReceived > moreExpected || receivedTotal < 0) {
            // The receiver began anew: its totals are all that there is.
            boolean anew = expectedTotal > 0
                    && expectedTotal < expected
                    && receivedTotal >= 0
                    && receivedTotal <= expectedTotal;
            if (anew) {
                expected = expectedTotal;
                received = receivedTotal;
            }
            return anew;
        }
        expected = expectedTotal;
        received = receivedTotal;
        loss += WEIGHT * (1 - (double) moreReceived / moreExpected - loss);
        return true;
    }

    /** Returns the smoothed share of packets that are lost. */
    double loss() {
        return loss;
    }

    /** Returns m for a block of k. */
    int repairs(int k) {
        int m = least;
        while (m < most && m < (k + m) * loss + DEVIATIONS * Math.sqrt((k + m) * loss * (1 - loss))) {
            m++;
        }
        return m;
    }
}

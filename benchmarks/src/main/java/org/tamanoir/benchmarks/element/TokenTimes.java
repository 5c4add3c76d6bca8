package org.tamanoir.benchmarks.element;

import org.HdrHistogram.Histogram;

/** How long a token takes from unit to unit, and once around. Thread contract: any; there is one token. */
final class TokenTimes {
    private static final long MOST_NS = 10_000_000_000L;
    private static final int DIGITS = 3;

    private final Histogram hops = new Histogram(MOST_NS, DIGITS);
    private final Histogram turns = new Histogram(MOST_NS, DIGITS);
    private long cameNs;
    private long turnedNs;

    synchronized void came(boolean atMaster) {
        long nowNs = System.nanoTime();
        if (cameNs != 0) {
            hops.recordValue(Math.min(MOST_NS, nowNs - cameNs));
        }
        cameNs = nowNs;
        if (atMaster) {
            if (turnedNs != 0) {
                turns.recordValue(Math.min(MOST_NS, nowNs - turnedNs));
            }
            turnedNs = nowNs;
        }
    }

    /** Forgets what was before, as a warm-up. */
    synchronized void reset() {
        hops.reset();
        turns.reset();
    }

    synchronized Histogram hops() {
        return hops.copy();
    }

    synchronized Histogram turns() {
        return turns.copy();
    }
}

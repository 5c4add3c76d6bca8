package org.tamanoir.benchmarks.emulate;

import java.util.SplittableRandom;

/**
 * A source that sends at five times its mean rate for a while and then is silent for a while, both Pareto-distributed
 * with α = 1.5: many of them together are self-similar. (Taqqu, Willinger, Sherman 1997.) One thread.
 */
final class OnOff {
    private static final double ALPHA = 1.5;
    private static final int PEAK = 5;
    /** Mean packets of a period in which it sends. */
    private static final int MEAN_PACKETS = 20;

    private final double gapNs;
    private final double leastOnNs;
    private final double leastOffNs;
    private final SplittableRandom random;
    private double ns;
    private double endNs;

    OnOff(double meanGapNs, SplittableRandom random) {
        this.random = random;
        gapNs = meanGapNs / PEAK;
        // The mean of a Pareto distribution is its least value times α / (α − 1).
        leastOnNs = MEAN_PACKETS * gapNs * (ALPHA - 1) / ALPHA;
        leastOffNs = leastOnNs * (PEAK - 1);
        ns = pareto(leastOffNs);
        endNs = ns + pareto(leastOnNs);
    }

    private double pareto(double least) {
        return least / Math.pow(1 - random.nextDouble(), 1 / ALPHA);
    }

    /** Returns when its next packet comes. */
    double ns() {
        return ns;
    }

    /** Goes on to the packet behind that. */
    void advance() {
        ns += gapNs;
        if (ns >= endNs) {
            ns = endNs + pareto(leastOffNs);
            endNs = ns + pareto(leastOnNs);
        }
    }
}

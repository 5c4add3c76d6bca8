package org.tamanoir.benchmarks.emulate;

import org.HdrHistogram.Histogram;

/**
 * What came of a schedule.
 *
 * @param came packets of the schedule
 * @param lost of those, for want of room in the port
 * @param ns from the first to the end of the last
 * @param busy share of that in which the node's thread used its processor
 * @param batches in which the node read them
 * @param longestQueue packets that waited in the port
 * @param waits from coming to being processed, in ns, for each service
 * @param stays from coming to leaving
 * @param counts the node's
 */
record Outcome(
        long came,
        long lost,
        long ns,
        double busy,
        long batches,
        long longestQueue,
        Histogram[] waits,
        Histogram stays,
        EmulatedNode.Counts counts) {
    double packetsPerBatch() {
        return counts.in() / (double) Math.max(1, batches);
    }

    static String us(Histogram times) {
        return times.getTotalCount() == 0
                ? "– | – | –"
                : "%.2f | %.2f | %.2f"
                        .formatted(
                                times.getValueAtPercentile(50) / 1e3,
                                times.getValueAtPercentile(99) / 1e3,
                                times.getMaxValue() / 1e3);
    }
}

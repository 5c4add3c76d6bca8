package org.tamanoir.sched;

/**
 * The sum of what was added in the last ten spans, the one that runs included.
 *
 * <p>Thread contract: inside the point's lock.
 */
final class RecentSum {
    private static final int SPANS = 10;

    private final long[] spans = new long[SPANS];
    private int current;
    private long sum;

    void add(long value) {
        spans[current] += value;
        sum += value;
    }

    /** Begins so many spans. */
    void advance(long begun) {
        for (long i = Math.min(begun, SPANS); i > 0; i--) {
            current = (current + 1) % SPANS;
            sum -= spans[current];
            spans[current] = 0;
        }
    }

    long sum() {
        return sum;
    }
}

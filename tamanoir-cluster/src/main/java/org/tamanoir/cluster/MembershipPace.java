package org.tamanoir.cluster;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * When a director is asked next: in its interval while it answers, after a pause that doubles with each failure while it
 * does not. Both are cut by up to a fifth at random, so that the nodes of a cluster do not ask in step. One thread.
 */
final class MembershipPace {
    static final long MIN_BACK_OFF_NS = Duration.ofMillis(250).toNanos();
    private static final double JITTER = 0.2;

    private final long maxBackOffNs;
    private final RandomGenerator random;
    private long backOffNs;
    private long dueNs;

    /** Due at once. */
    MembershipPace(Duration maxBackOff, long nowNs, RandomGenerator random) {
        this.maxBackOffNs = maxBackOff.toNanos();
        this.random = random;
        dueNs = nowNs;
    }

    void succeeded(long nowNs, long intervalNs) {
        backOffNs = 0;
        dueNs = nowNs + cut(intervalNs);
    }

    void failed(long nowNs) {
        backOffNs = Math.min(maxBackOffNs, Math.max(MIN_BACK_OFF_NS, backOffNs * 2));
        dueNs = nowNs + cut(backOffNs);
    }

    /** There is news to tell. */
    void hurry(long nowNs) {
        dueNs = nowNs;
    }

    /** Nanoseconds until it is due, 0 = it is. */
    long leftNs(long nowNs) {
        return Math.max(0, dueNs - nowNs);
    }

    private long cut(long ns) {
        return ns - (long) (ns * JITTER * random.nextDouble());
    }
}

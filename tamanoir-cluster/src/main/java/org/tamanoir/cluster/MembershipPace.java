package org.tamanoir.cluster;

import java.time.Duration;
import java.util.random.RandomGenerator;
import org.tamanoir.deploy.BackOff;

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

    /** Makes a pace that is due at once. */
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
        backOffNs = BackOff.doubled(backOffNs, MIN_BACK_OFF_NS, maxBackOffNs);
        dueNs = nowNs + cut(backOffNs);
    }

    /** Makes it due at once, as there is news to tell. */
    void hurry(long nowNs) {
        dueNs = nowNs;
    }

    /** Returns the nanoseconds until it is due, 0 = it is. */
    long leftNs(long nowNs) {
        return Math.max(0, dueNs - nowNs);
    }

    private long cut(long ns) {
        return ns - (long) (ns * JITTER * random.nextDouble());
    }
}

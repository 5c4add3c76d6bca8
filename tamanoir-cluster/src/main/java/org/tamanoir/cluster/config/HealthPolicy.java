package org.tamanoir.cluster.config;

import java.time.Duration;

/**
 * When a back-end counts as dead, and when as alive again.
 *
 * @param interval between two questions to each back-end
 * @param timeout of one question
 * @param failures in a row after which it is out: at the latest after {@link #outAfter}
 * @param successes in a row after which it is in again
 * @param flapLimit a back-end that went out so often within 5 minutes stays out for 2 minutes;
 *     0 = no damping
 */
public record HealthPolicy(Duration interval, Duration timeout, int failures, int successes, int flapLimit) {
    public static final HealthPolicy DEFAULT = new HealthPolicy(Duration.ofSeconds(1), Duration.ofSeconds(1), 3, 2, 3);

    /** Returns the longest that a dead back-end stays in the table: the stated time. */
    public Duration outAfter() {
        return interval.plus(timeout).multipliedBy(failures);
    }
}

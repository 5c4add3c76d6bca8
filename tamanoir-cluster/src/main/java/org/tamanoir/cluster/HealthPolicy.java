package org.tamanoir.cluster;

import java.time.Duration;

/**
 * When a back-end counts as dead, and when as alive again.
 *
 * @param interval between two questions to each back-end
 * @param timeout of one question
 * @param failures in a row after which it is out: at the latest after {@link #outAfter}
 * @param successes in a row after which it is in again
 * @param flapWindow a back-end that went out {@code flapLimit} times within it stays out for {@code flapHold}
 * @param flapLimit 0 = no damping
 */
public record HealthPolicy(
        Duration interval,
        Duration timeout,
        int failures,
        int successes,
        Duration flapWindow,
        int flapLimit,
        Duration flapHold) {
    public static final HealthPolicy DEFAULT = new HealthPolicy(
            Duration.ofSeconds(1), Duration.ofSeconds(1), 3, 2, Duration.ofMinutes(5), 3, Duration.ofMinutes(2));

    /** The longest that a dead back-end stays in the table: the stated time. */
    public Duration outAfter() {
        return interval.plus(timeout).multipliedBy(failures);
    }
}

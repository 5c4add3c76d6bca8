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
    private static final Duration LEAST = Duration.ofMillis(50);
    private static final Duration MOST = Duration.ofHours(1);
    private static final int MOST_TIMES = 100;

    public static final HealthPolicy DEFAULT = new HealthPolicy(
            Duration.ofSeconds(1), Duration.ofSeconds(1), 3, 2, Duration.ofMinutes(5), 3, Duration.ofMinutes(2));

    public HealthPolicy {
        Bounds.check("health.interval", interval, LEAST, MOST);
        Bounds.check("health.timeout", timeout, LEAST, MOST);
        Bounds.check("health.failures", failures, 1, MOST_TIMES);
        Bounds.check("health.successes", successes, 1, MOST_TIMES);
        Bounds.check("health.flap-window", flapWindow, LEAST, Duration.ofDays(1));
        Bounds.check("health.flap-limit", flapLimit, 0, MOST_TIMES);
        Bounds.check("health.flap-hold", flapHold, LEAST, Duration.ofDays(1));
    }

    /** The longest that a dead back-end stays in the table: the stated time. */
    public Duration outAfter() {
        return interval.plus(timeout).multipliedBy(failures);
    }
}

package org.tamanoir.kernel;

import java.util.List;
import java.util.Set;
import org.tamanoir.plain.PlainRules;

/**
 * What an operator wants of plain IP.
 *
 * @param interfaces that datagrams come in through, as {@code ip link} names them
 * @param alertsPerSecond datagrams with Router Alert that may come up in a second, in the long run
 */
public record PlainConfig(PlainRules rules, List<String> interfaces, int alertsPerSecond) {
    public static final int DEFAULT_ALERTS = 1_000;
    public static final int MAX_ALERTS = 1_000_000;

    /** Nothing is wanted. */
    public static final PlainConfig OFF = new PlainConfig(PlainRules.NONE, List.of(), DEFAULT_ALERTS);

    /** Checks names and bounds. */
    public PlainConfig {
        interfaces = new KernelConfig(Set.of(), interfaces, true).interfaces();
        if (alertsPerSecond < 1 || alertsPerSecond > MAX_ALERTS) {
            throw new IllegalArgumentException(alertsPerSecond + " Router Alerts a second: must be 1 to " + MAX_ALERTS);
        }
    }
}

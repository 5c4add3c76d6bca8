package org.tamanoir.sapf;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/**
 * What a node does in SAPF.
 *
 * @param accepts whether it issues selectors to those who ask
 * @param nextHops whom it asks for selectors, and sends packets so
 * @param lifetime the longest that a selector lives without being asked for anew, 1 s to 1 h
 */
public record SapfSettings(boolean accepts, List<InetSocketAddress> nextHops, Duration lifetime) {
    public static final Duration MIN_LIFETIME = Duration.ofSeconds(1);
    public static final Duration MAX_LIFETIME = Duration.ofHours(1);

    /** Nothing is issued and nobody asked. */
    public static final SapfSettings OFF = new SapfSettings(false, List.of(), Duration.ofSeconds(60));

    public SapfSettings {
        nextHops = List.copyOf(nextHops);
        if (lifetime.compareTo(MIN_LIFETIME) < 0 || lifetime.compareTo(MAX_LIFETIME) > 0) {
            throw new IllegalArgumentException("lifetime of selectors " + lifetime + ": must be PT1S to PT1H");
        }
        for (InetSocketAddress nextHop : nextHops) {
            if (nextHop.isUnresolved()) {
                throw new IllegalArgumentException(
                        "next hop " + nextHop.getHostString() + ": the name does not resolve");
            }
        }
    }

    /** Returns whether anything is done. */
    public boolean isOn() {
        return accepts || !nextHops.isEmpty();
    }
}

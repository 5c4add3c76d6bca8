package org.tamanoir.routing;

/**
 * Packets to this prefix go to this next hop.
 *
 * @param prefix destinations
 * @param nextHop where they go
 * @param isFed whether it came by the {@link RouteFeed}, not from an operator or a file
 */
public record Route(Prefix prefix, NextHop nextHop, boolean isFed) {
    /** Makes a route of an operator or a file. */
    public Route(Prefix prefix, NextHop nextHop) {
        this(prefix, nextHop, false);
    }
}

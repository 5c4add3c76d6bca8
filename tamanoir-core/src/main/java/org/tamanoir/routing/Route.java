package org.tamanoir.routing;

/**
 * Packets to this prefix go to this next hop.
 *
 * @param prefix destinations
 * @param nextHop where they go
 */
public record Route(Prefix prefix, NextHop nextHop) {}

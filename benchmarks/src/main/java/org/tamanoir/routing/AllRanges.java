package org.tamanoir.routing;

/**
 * All routes as ranges with a binary search between buckets, as tables of any size were looked up once, and small ones
 * are still.
 *
 * <p>Immutable: any thread may call.
 */
public final class AllRanges {
    private final AddressRanges ipv4;
    private final AddressRanges ipv6;

    /** Makes the ranges of these routes. */
    public AllRanges(RouteSet routes) {
        ipv4 = new AddressRanges(routes.ipv4);
        ipv6 = new AddressRanges(routes.ipv6);
    }

    /** Looks up IPv4 addresses. */
    public void lookup4(int[] addresses, char[] hops, int count) {
        ipv4.hops(addresses, hops, count);
    }

    /** Looks up IPv6 addresses. */
    public void lookup6(long[] highs, long[] lows, char[] hops, int count) {
        ipv6.hops(highs, lows, hops, count);
    }
}

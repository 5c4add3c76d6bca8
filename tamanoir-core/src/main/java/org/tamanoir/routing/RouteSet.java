package org.tamanoir.routing;

import org.jspecify.annotations.Nullable;

/**
 * Routes, each prefix once, in 16 to 32 bytes an IPv4 prefix and 28 to 56 an IPv6 one; at most 32,767 different next
 * hops.
 *
 * <p>Thread contract: one thread at a time. Who has given it to a {@link RoutingTable} leaves it alone.
 */
public final class RouteSet {
    /** Takes one route of many; returns false to be given no more. */
    public interface Visitor {
        /** Takes a route. */
        boolean visit(Route route);
    }

    final Rib ipv4 = new Rib(32);
    final Rib ipv6 = new Rib(128);
    final HopTable hops = new HopTable();
    /** Prefixes of the file that it was read from. */
    int leftOut;
    /** Prefixes of that file beside those. */
    int withoutNextHop;

    /** Makes an empty set. */
    public RouteSet() {}

    /** Returns how many routes there are. */
    public int size() {
        return ipv4.size() + ipv6.size();
    }

    /** Returns how many prefixes of its file were left out: IPv6's in ::ffff:0:0/96, where IPv4 addresses stand. */
    public int leftOut() {
        return leftOut;
    }

    /** Returns how many other prefixes of its file were left out: no entry has a next hop, and the reader got none. */
    public int withoutNextHop() {
        return withoutNextHop;
    }

    /**
     * Puts a route in place of one with the same prefix; returns whether the set is another one now.
     *
     * @throws IllegalArgumentException in one line, if there are too many next hops; nothing is changed then
     */
    public boolean put(Prefix prefix, NextHop nextHop) {
        return put(prefix, nextHop, false);
    }

    boolean put(Prefix prefix, NextHop nextHop, boolean isFed) {
        int hop = hops.put(nextHop, isFed);
        if (hop == 0) {
            throw new IllegalArgumentException(prefix + ": its next hop is the " + (HopTable.MAX + 1)
                    + "th different one, and a table has " + HopTable.MAX + "; let routes share next hops");
        }
        return rib(prefix).put(left(prefix), leftLow(prefix), leftLength(prefix), hop) != hop;
    }

    /** Removes the route of exactly this prefix; false when there is none. */
    boolean remove(Prefix prefix) {
        return rib(prefix).remove(left(prefix), leftLow(prefix), leftLength(prefix)) != 0;
    }

    /** Returns the route of exactly this prefix, null = there is none. */
    @Nullable
    Route get(Prefix prefix) {
        int hop = rib(prefix).get(left(prefix), leftLow(prefix), leftLength(prefix));
        return hop == 0 ? null : route(prefix, hop);
    }

    /** Returns the route whose prefix decides about an address, null = none. */
    @Nullable
    Route deciding(long high, long low) {
        boolean isIpv4 = Prefix.isIpv4(high, low);
        Rib rib = isIpv4 ? ipv4 : ipv6;
        long leftHigh = isIpv4 ? low << 32 : high;
        long leftLow = isIpv4 ? 0 : low;
        int length = rib.longest(leftHigh, leftLow);
        if (length < 0) {
            return null;
        }
        leftHigh &= Prefix.highMask(length);
        leftLow &= Prefix.lowMask(length);
        return route(isIpv4, leftHigh, leftLow, length, rib.get(leftHigh, leftLow, length));
    }

    /** Visits routes as {@link RoutingTable#walk} says. */
    void walk(@Nullable Prefix within, @Nullable Prefix after, Visitor visitor) {
        boolean[] goesOn = {true};
        if ((within == null || within.isIpv4()) && (after == null || after.isIpv4())) {
            Prefix in = within == null ? Prefix.IPV4 : within;
            ipv4.walk(left(in), 0, leftLength(in), position(after), (high, low, length, hop) -> {
                goesOn[0] = visitor.visit(route(true, high, low, length, hop));
                return goesOn[0];
            });
        }
        if (goesOn[0] && (within == null || !within.isIpv4())) {
            Prefix in = within == null ? new Prefix(0, 0, 0) : within;
            Rib.Position from = after != null && after.isIpv4() ? Rib.Position.START : position(after);
            ipv6.walk(
                    in.high(),
                    in.low(),
                    in.length(),
                    from,
                    (high, low, length, hop) -> visitor.visit(route(false, high, low, length, hop)));
        }
    }

    private static Rib.Position position(@Nullable Prefix prefix) {
        return prefix == null
                ? Rib.Position.START
                : new Rib.Position(left(prefix), leftLow(prefix), leftLength(prefix));
    }

    private Route route(boolean isIpv4, long high, long low, int length, int hop) {
        return route(prefix(isIpv4, high, low, length), hop);
    }

    private Route route(Prefix prefix, int hop) {
        return new Route(prefix, hops.get(hop), hops.isFed(hop));
    }

    Rib rib(Prefix prefix) {
        return prefix.isIpv4() ? ipv4 : ipv6;
    }

    /** Returns the prefix that a trie has from the left. */
    static Prefix prefix(boolean isIpv4, long high, long low, int length) {
        return isIpv4
                ? new Prefix(0, Prefix.IPV4.low() | high >>> 32, length + Prefix.IPV4.length())
                : new Prefix(high, low, length);
    }

    /** Returns the first 64 bits as tries have them: IPv4 stands in the first 32. */
    static long left(Prefix prefix) {
        return prefix.isIpv4() ? prefix.low() << 32 : prefix.high();
    }

    static long leftLow(Prefix prefix) {
        return prefix.isIpv4() ? 0 : prefix.low();
    }

    static int leftLength(Prefix prefix) {
        return prefix.length() - (prefix.isIpv4() ? Prefix.IPV4.length() : 0);
    }
}

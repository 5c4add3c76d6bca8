package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Fib;
import org.tamanoir.routing.NextHop;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.StreamGateway;

/**
 * Where packets go, by their destination, as one thread remembers it: of the packet before, of {@value #REMEMBERED}
 * destinations, and of each next hop that was asked for. Whoever has it says when routes, or links, have changed.
 *
 * <p>Thread contract: the service's thread.
 */
final class RouteCache {
    /** Destinations whose next hop is remembered; a power of two. */
    private static final int REMEMBERED = 64;
    /** Ports of next hops that have none of their own; a power of two. */
    private static final int WAYS_BY_PORT = 1024;

    private static final RouteCacheEntry NOWHERE =
            new RouteCacheEntry(null, DropReason.NO_ROUTE, null, false, false, false, 0, 0, 0);

    private final NextHopResolver forwarder;
    final LookAhead ahead;
    private final StreamInfo.Transport transport;
    /** What its stream came by, which leads to a place that routes are not asked for; null of almost all. */
    private final @Nullable StreamGateway gateway;

    private final UnaryOperator<RouteCacheEntry> overItsLink;
    private final @Nullable Remembered[] destinations = new @Nullable Remembered[REMEMBERED];
    /** Ways by the index of the next hop, of those that have an address; as many as there are indexes at most. */
    private @Nullable RouteCacheEntry[] ways = new @Nullable RouteCacheEntry[0];
    /** Ways to next hops without a port, by index and port; empty while there are none. */
    private @Nullable RouteCacheEntry[] waysByPort = new @Nullable RouteCacheEntry[0];

    /** Of the packet before, which is mostly alike: here, not in an object of its own, since each packet reads them. */
    private long lastHigh;

    private long lastLow;
    /** -1 = none. */
    private int lastPort = -1;

    private RouteCacheEntry lastHop = NOWHERE;

    /** Where packets to one destination go, until the routes change. */
    private static final class Remembered {
        private long high;
        private long low;
        /** -1 = none. */
        private int port = -1;

        private RouteCacheEntry hop = NOWHERE;

        boolean isFor(long high, long low, int port) {
            return this.low == low && this.high == high && this.port == port;
        }
    }

    /** @param overItsLink has a new entry go over the link that leads to its address */
    RouteCache(
            NextHopResolver forwarder,
            LookAhead ahead,
            StreamInfo.Transport transport,
            @Nullable StreamGateway gateway,
            UnaryOperator<RouteCacheEntry> overItsLink) {
        this.forwarder = forwarder;
        this.ahead = ahead;
        this.transport = transport;
        this.gateway = gateway;
        this.overItsLink = overItsLink;
    }

    /** Returns where packets to this destination go. */
    RouteCacheEntry hop(long high, long low, int port) {
        return lastLow == low && lastHigh == high && lastPort == port ? lastHop : another(high, low, port);
    }

    private RouteCacheEntry another(long high, long low, int port) {
        int slot = (int) ((low ^ high ^ port) * 0x9E37_79B9_7F4A_7C15L >>> 58) & (REMEMBERED - 1);
        Remembered remembered = destinations[slot];
        if (remembered == null) {
            remembered = new Remembered();
            destinations[slot] = remembered;
        }
        if (!remembered.isFor(high, low, port)) {
            remembered.hop = lookUp(high, low, port);
            remembered.high = high;
            remembered.low = low;
            remembered.port = port;
        }
        lastHigh = high;
        lastLow = low;
        lastPort = port;
        lastHop = remembered.hop;
        return remembered.hop;
    }

    /** Asks the routes; makes nothing for a destination whose next hop, with an address, has been asked for before. */
    private RouteCacheEntry lookUp(long high, long low, int port) {
        if (gateway != null && isFor(gateway.to(), high, low, port)) {
            return overItsLink.apply(forwarder.resolve(gateway));
        }
        Fib fib = forwarder.fib();
        int index = ahead.lookup(fib, high, low);
        NextHop next = fib.hop(index);
        if (next == null) {
            return NOWHERE;
        }
        if (next.address() == null) {
            return overItsLink.apply(forwarder.resolve(next, high, low, port, transport));
        }
        boolean hasPort = next.port() != 0;
        if (hasPort && index >= ways.length) {
            ways = Arrays.copyOf(ways, Integer.highestOneBit(index) << 1);
        } else if (!hasPort && waysByPort.length == 0) {
            waysByPort = new @Nullable RouteCacheEntry[WAYS_BY_PORT];
        }
        @Nullable RouteCacheEntry[] known = hasPort ? ways : waysByPort;
        int at = hasPort ? index : (index * 0x9E37_79B1 >>> 16) + port & WAYS_BY_PORT - 1;
        RouteCacheEntry way = known[at];
        if (way == null || !way.leadsTo(next, NextHopResolver.port(next, port))) {
            way = overItsLink.apply(forwarder.resolve(next, high, low, port, transport));
            known[at] = way;
        }
        return way;
    }

    private static boolean isFor(InetSocketAddress to, long high, long low, int port) {
        return port == to.getPort() && low == Addresses.low(to.getAddress()) && high == Addresses.high(to.getAddress());
    }

    /** Forgets where destinations lead, but not the ways to next hops. */
    void forgetDestinations() {
        forgetLast();
        for (Remembered remembered : destinations) {
            if (remembered != null) {
                remembered.port = -1;
                remembered.hop = NOWHERE;
            }
        }
    }

    /** Forgets the ways to next hops. */
    void forgetWays() {
        Arrays.fill(ways, null);
        Arrays.fill(waysByPort, null);
    }

    /** Forgets ways whose index means another next hop now, so that a table put in place of another leaves nothing. */
    void forgetWaysOfOthers() {
        Fib fib = forwarder.fib();
        for (int i = 0; i < ways.length; i++) {
            RouteCacheEntry way = ways[i];
            if (way != null && !way.isFor(fib.hop(i))) {
                ways[i] = null;
            }
        }
    }

    /** Returns how many ways to next hops with a port are kept; for tests. */
    int waysKept() {
        return (int) Arrays.stream(ways).filter(Objects::nonNull).count();
    }

    /** Forgets the packet before, so that {@link #lastHop} tells of those from now on. */
    void forgetLast() {
        lastPort = -1;
        lastHop = NOWHERE;
    }

    /** Returns where the routes sent the last packet since {@link #forgetLast}; null when none has asked them. */
    @Nullable
    RouteCacheEntry lastHop() {
        return lastPort < 0 ? null : lastHop;
    }

    /** Returns the upper 64 bits of the address that {@link #lastHop} leads to. */
    long lastHigh() {
        return lastHigh;
    }

    long lastLow() {
        return lastLow;
    }
}

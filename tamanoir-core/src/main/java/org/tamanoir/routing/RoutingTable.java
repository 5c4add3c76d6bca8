package org.tamanoir.routing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Routes by longest prefix. Look-ups read an immutable table and may run on any thread; changes replace it whole.
 *
 * <p>IPv4 and IPv6 are apart: a prefix shorter than ::ffff:0:0/96, such as the default route ::/0, holds no IPv4
 * address, and 0.0.0.0/0 holds nothing else.
 *
 * <p>Costs with n routes: a look-up is one binary search, O(log n), takes no lock and allocates nothing;
 * {@link #replace} sorts, O(n log n); {@link #add} and {@link #remove} build the table anew, O(n): who changes many
 * routes replaces them together.
 *
 * <p>Thread contract: any thread may call anything; changes wait for one another, look-ups wait for nothing.
 */
public final class RoutingTable {
    /** By first address, the wider prefix first: each prefix stands before those inside it. */
    private static final Comparator<Route> NESTING = (a, b) -> {
        Prefix p = a.prefix();
        Prefix q = b.prefix();
        int order = Long.compareUnsigned(p.high(), q.high());
        order = order != 0 ? order : Long.compareUnsigned(p.low(), q.low());
        return order != 0 ? order : Integer.compare(p.length(), q.length());
    };

    private record Snapshot(Route[] routes, AddressRanges ranges, int generation) {}

    private volatile Snapshot snapshot = new Snapshot(new Route[0], AddressRanges.of(new Route[0]), 0);

    /** Makes an empty table: nothing leaves. */
    public RoutingTable() {}

    /** Makes a table of these routes; of two with the same prefix the later one. */
    public RoutingTable(List<Route> routes) {
        replace(routes);
    }

    /** Returns the next hop of the longest prefix that holds this address, null when there is none. */
    public @Nullable NextHop lookup(long high, long low) {
        return snapshot.ranges.lookup(high, low);
    }

    /**
     * Returns a number that changes with every change of the table: who keeps a look-up's result reads it before the
     * look-up and compares it later.
     */
    public int generation() {
        return snapshot.generation;
    }

    /** Returns all routes, longest prefix first; IPv4 prefixes count with their 96 bits more. */
    public List<Route> routes() {
        Route[] sorted = snapshot.routes.clone();
        Arrays.sort(sorted, Comparator.comparingInt(route -> -route.prefix().length()));
        return List.of(sorted);
    }

    /** Puts these routes in place of all others; of two with the same prefix the later one. */
    public synchronized void replace(List<Route> routes) {
        Route[] sorted = routes.toArray(new Route[0]);
        Arrays.sort(sorted, NESTING);
        int kept = 0;
        for (Route route : sorted) {
            if (kept > 0 && sorted[kept - 1].prefix().equals(route.prefix())) {
                kept--;
            }
            sorted[kept++] = route;
        }
        install(Arrays.copyOf(sorted, kept));
    }

    /** Adds a route, in place of one with the same prefix. */
    public synchronized void add(Route route) {
        List<Route> routes = new ArrayList<>(Arrays.asList(snapshot.routes));
        int at = Arrays.binarySearch(snapshot.routes, route, NESTING);
        if (at >= 0) {
            routes.set(at, route);
        } else {
            routes.add(-at - 1, route);
        }
        install(routes.toArray(new Route[0]));
    }

    /** Removes the route with exactly this prefix; false when there is none. */
    public synchronized boolean remove(Prefix prefix) {
        List<Route> routes = new ArrayList<>(Arrays.asList(snapshot.routes));
        boolean removed = routes.removeIf(route -> route.prefix().equals(prefix));
        if (removed) {
            install(routes.toArray(new Route[0]));
        }
        return removed;
    }

    private void install(Route[] sorted) {
        snapshot = new Snapshot(sorted, AddressRanges.of(sorted), snapshot.generation + 1);
    }
}

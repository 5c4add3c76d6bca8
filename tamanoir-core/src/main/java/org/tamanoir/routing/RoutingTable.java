package org.tamanoir.routing;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Routes by longest prefix. Look-ups read an immutable table and may run on any thread; changes replace it whole.
 */
public final class RoutingTable {
    /** An empty table: nothing leaves. */
    public RoutingTable() {}

    /** A table of these routes. */
    public RoutingTable(List<Route> routes) {
        replace(routes);
    }

    /** The next hop of the longest prefix that holds this address, null when there is none. */
    public @Nullable NextHop lookup(long high, long low) {
        throw new UnsupportedOperationException();
    }

    /** A number that changes with every change of the table: who keeps a look-up's result compares it. */
    public int generation() {
        throw new UnsupportedOperationException();
    }

    /** All routes, longest prefix first. */
    public List<Route> routes() {
        throw new UnsupportedOperationException();
    }

    /** Puts these routes in place of all others. */
    public void replace(List<Route> routes) {
        throw new UnsupportedOperationException();
    }

    /** Adds a route, in place of one with the same prefix. */
    public void add(Route route) {
        throw new UnsupportedOperationException();
    }

    /** Removes the route with exactly this prefix; false when there is none. */
    public boolean remove(Prefix prefix) {
        throw new UnsupportedOperationException();
    }
}

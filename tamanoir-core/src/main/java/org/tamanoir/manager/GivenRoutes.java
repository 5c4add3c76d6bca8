package org.tamanoir.manager;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;

/**
 * Knows which of the routes were given one by one, by the configuration or an operator. Those of files and of a feed,
 * perhaps millions, are counted alone.
 *
 * <p>Thread contract: any thread. What it says during a change may be of before or of behind it.
 */
final class GivenRoutes {
    /** Prefixes, beyond which those that operators put are counted alone, too. */
    private static final int MAX = 4096;

    private final RoutingTable table;
    private final Set<Prefix> prefixes = new LinkedHashSet<>();
    private @Nullable String file;
    private boolean hasMore;

    GivenRoutes(RoutingTable table) {
        this.table = table;
    }

    /** Begins anew with these; the others of operators are of this file, null = there are none. */
    synchronized void replace(Collection<Route> routes, @Nullable String from) {
        prefixes.clear();
        routes.forEach(route -> prefixes.add(route.prefix()));
        file = from;
        hasMore = false;
    }

    synchronized void add(Prefix prefix) {
        if (prefixes.size() < MAX) {
            prefixes.add(prefix);
        } else if (!prefixes.contains(prefix)) {
            hasMore = true;
        }
    }

    /** Forgets a prefix whose route was removed, unless it was put again meanwhile. */
    synchronized void remove(Prefix prefix) {
        Route now = table.get(prefix);
        if (now == null || now.isFed()) {
            prefixes.remove(prefix);
        }
    }

    /** Returns those in force, in the order in which they were given. */
    synchronized List<Route> inForce() {
        List<Route> given = new ArrayList<>();
        for (Prefix prefix : prefixes) {
            Route route = table.get(prefix);
            if (route != null && !route.isFed()) {
                given.add(route);
            }
        }
        return given;
    }

    /** Says how many others there are and from where, in one line; empty = there are none. */
    synchronized String others(boolean hasFeed) {
        int count = table.size() - inForce().size();
        if (count <= 0) {
            return "";
        }
        List<String> from = new ArrayList<>();
        if (file != null) {
            from.add("of " + OneLine.of(file));
        }
        if (hasFeed) {
            from.add("of the feed");
        }
        if (hasMore) {
            from.add("put while the node runs");
        }
        return "besides " + count + " routes" + (from.isEmpty() ? "" : " " + String.join(", ", from))
                + ": GET /v1/routes lists them";
    }
}

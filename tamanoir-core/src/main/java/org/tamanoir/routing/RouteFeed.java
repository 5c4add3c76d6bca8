package org.tamanoir.routing;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Routes that a routing daemon keeps up to date, on their way into a {@link RoutingTable}. A prefix may have several
 * paths; its next hop is that of the first, by metric and gateway, whose gateway has one. Routes of operators and files
 * hide those of the feed with the same prefix, which come back when they go.
 *
 * <p>What is announced and withdrawn changes the table at {@link #apply}, at once. Between {@link #beginReading} and
 * {@link #endReading} all routes are listed anew, and what was announced and withdrawn meanwhile comes once more; the
 * table stays as it was until then, and what differs is changed.
 *
 * <p>Thread contract: {@link #status} any thread; the others one thread, the feed's.
 */
public final class RouteFeed {
    static final int MAX_NAMED = 32;

    /** Changed prefixes that are followed one by one; beyond, the table is made anew. */
    private static final int MAX_CHANGED = 16_384;

    private static final int MAX_PATHS = 256;

    private static final int RATE_SECONDS = 10;

    private final RoutingTable table;
    private final Map<String, NextHop> via;
    private final LongSupplier clockNs;
    private final List<Prefix> changed = new ArrayList<>();
    private final long[] changesBySecond = new long[RATE_SECONDS + 1];
    private final FeedRoutes routes;
    private boolean isReading;
    /** Whether {@code changed} is too short for all that the table lacks. */
    private boolean isAllChanged;

    private int pending;
    private long second;
    private long changes;
    private @Nullable Instant lastChange;
    private long resyncs;
    private long leftOut;
    private String why = "";
    private @Nullable String fault;

    RouteFeed(RoutingTable table, Map<String, NextHop> via) {
        this(table, via, System::nanoTime);
    }

    RouteFeed(RoutingTable table, Map<String, NextHop> via, LongSupplier clockNs) {
        this.table = table;
        this.via = Map.copyOf(via);
        this.clockNs = clockNs;
        routes = new FeedRoutes(this.via);
        second = clockNs.getAsLong() / 1_000_000_000;
    }

    /** Adds a route of the list, at least one path, of one metric. */
    public void list(Prefix prefix, List<FeedPath> paths) {
        add(prefix, paths, false);
    }

    /** Adds a route, at least one path, of one metric. */
    public void announce(Prefix prefix, List<FeedPath> paths) {
        // What comes once more may be in the list.
        add(prefix, paths, isReading);
    }

    private void add(Prefix prefix, List<FeedPath> paths, boolean mayBeKnown) {
        List<FeedPath> now = new ArrayList<>(known(prefix));
        List<FeedPath> before = new ArrayList<>(now);
        before.removeIf(path -> path.metric() != paths.get(0).metric());
        // In IPv6 a path that is added is one more of the same route, which is told with all.
        boolean isSame = (mayBeKnown || !prefix.isIpv4()) && paths.containsAll(before);
        if (!before.isEmpty() && !isSame) {
            routes.noteSeveral(prefix);
        }
        now.removeAll(paths);
        now.addAll(paths);
        put(prefix, now, true);
    }

    /**
     * Puts paths in the place of those of a metric.
     *
     * @param paths none = the route in their place is not of the feed
     * @return false where the prefix had several routes of this metric, one of which went: all have to be read anew then
     */
    public boolean replace(Prefix prefix, long metric, List<FeedPath> paths) {
        List<FeedPath> now = new ArrayList<>(known(prefix));
        now.removeIf(path -> path.metric() == metric);
        now.addAll(paths);
        put(prefix, now, true);
        return !routes.mayHaveSeveral(prefix);
    }

    /**
     * Takes a route from a prefix.
     *
     * @return false where the prefix had another route, or several of its metric: all have to be read anew then
     */
    public boolean withdraw(Prefix prefix, List<FeedPath> paths) {
        List<FeedPath> now = new ArrayList<>(routes.paths(prefix));
        if (now.isEmpty()) {
            return true;
        }
        boolean isKnown = now.removeAll(paths);
        if (isKnown) {
            put(prefix, now, !isReading || routes.isListed(prefix));
        }
        // A list may know already what came behind it.
        return (isKnown || isReading) && !routes.mayHaveSeveral(prefix);
    }

    /** Returns the paths of a prefix; while all are read those of the list alone. */
    private List<FeedPath> known(Prefix prefix) {
        return isReading && !routes.isListed(prefix) ? List.of() : routes.paths(prefix);
    }

    private void put(Prefix prefix, List<FeedPath> paths, boolean isListed) {
        if (paths.size() > MAX_PATHS) {
            leaveOut(prefix + ": more than " + MAX_PATHS + " paths");
            return;
        }
        boolean fits;
        synchronized (table) {
            NextHop before = routes.hop(prefix);
            fits = routes.put(prefix, paths, isListed);
            if (!Objects.equals(before, routes.hop(prefix))) {
                pending++;
                if (changed.size() < MAX_CHANGED) {
                    changed.add(prefix);
                } else {
                    isAllChanged = true;
                }
            }
        }
        if (!fits) {
            leaveOut(prefix + ": too many routes, or too many different sets of gateways");
        }
    }

    /** Counts a route that cannot be one of the node's. */
    public void leaveOut(String reason) {
        synchronized (table) {
            leftOut++;
            why = reason;
        }
    }

    /** Has what was announced and withdrawn count, as one change of the table; while all are read it waits. */
    public void apply() {
        if (!changed.isEmpty() && !isReading) {
            change();
        }
    }

    private void change() {
        synchronized (table) {
            List<Prefix> now = isAllChanged ? null : List.copyOf(changed);
            // Where it fails, the table has to be made anew; what fails once would fail for ever.
            isAllChanged = true;
            changed.clear();
            table.followFeed(now);
            isAllChanged = false;
            count(pending);
            pending = 0;
        }
    }

    /** Begins to list all routes anew. */
    public void beginReading() {
        apply();
        synchronized (table) {
            isReading = true;
            routes.beginReading();
            leftOut = 0;
            why = "";
        }
    }

    /**
     * Ends a reading: what differs from before changes at once, and what was not listed is gone.
     *
     * @param isIpv6Whole false = IPv6 routes that were not listed stay
     * @return how many routes differ
     */
    public int endReading(boolean isIpv6Whole) {
        routes.eachUnlisted(isIpv6Whole, prefix -> put(prefix, List.of(), false));
        isReading = false;
        int count = pending;
        if (isAllChanged || !changed.isEmpty()) {
            change();
        }
        synchronized (table) {
            resyncs++;
            fault = null;
        }
        return count;
    }

    /** Says why the feed is behind; its routes stay. */
    public void failed(String reason) {
        synchronized (table) {
            isReading = false;
            fault = reason;
        }
    }

    private void count(int more) {
        pass();
        changes += more;
        changesBySecond[(int) Math.floorMod(second, (long) changesBySecond.length)] += more;
        lastChange = Instant.now();
    }

    /** Goes on to the second of now, whose place has nothing in it yet. */
    private void pass() {
        long now = clockNs.getAsLong() / 1_000_000_000;
        second = Math.max(second, now - changesBySecond.length);
        while (second < now) {
            second++;
            changesBySecond[(int) Math.floorMod(second, (long) changesBySecond.length)] = 0;
        }
    }

    /** Returns how many routes have no next hop by which gateway. */
    public Map<String, Integer> unmapped() {
        synchronized (table) {
            return routes.unmapped();
        }
    }

    /** Returns how it does. */
    public FeedStatus status() {
        synchronized (table) {
            pass();
            long recent = 0;
            for (long each : changesBySecond) {
                recent += each;
            }
            recent -= changesBySecond[(int) Math.floorMod(second, (long) changesBySecond.length)];
            Map<String, Integer> unmapped = unmapped();
            Map<String, Integer> named = new LinkedHashMap<>();
            unmapped.entrySet().stream().limit(MAX_NAMED).forEach(each -> named.put(each.getKey(), each.getValue()));
            return new FeedStatus(
                    routes.size(),
                    unmapped.values().stream().mapToInt(Integer::intValue).sum(),
                    named,
                    leftOut,
                    why,
                    changes,
                    recent / (double) RATE_SECONDS,
                    lastChange,
                    resyncs,
                    fault);
        }
    }

    /** Returns the next hop of a prefix; called with the table's lock held. */
    @Nullable
    NextHop nextHop(Prefix prefix) {
        return routes.hop(prefix);
    }

    /**
     * Adds all routes where the set has none of the same prefix; called with the table's lock held.
     *
     * @throws IllegalArgumentException in one line, if there are too many next hops; the set has routes of the feed then
     */
    void fill(RouteSet set) {
        for (NextHop hop : via.values()) {
            if (set.hops.put(hop, true) == 0) {
                throw new IllegalArgumentException("too many next hops: with the " + via.size()
                        + " of the feed there are more than " + HopTable.MAX + "; let routes share next hops");
            }
        }
        routes.fill(set);
    }
}

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
 * <p>What is announced and withdrawn changes the table at {@link #apply}, at once; between {@link #beginDump} and {@link
 * #endDump} all routes are told anew, while the table stays as it was, and then what differs is changed.
 *
 * <p>Thread contract: {@link #status} any thread; the others one thread, the feed's.
 */
public final class RouteFeed {
    static final int MAX_NAMED = 32;

    /** Changed prefixes that are followed one by one; beyond, the table is made anew. */
    private static final int MAX_CHANGED = 16_384;
    /** Announced ones that wait for {@link #apply}. */
    private static final int MAX_BATCH = 4_096;

    private static final int RATE_SECONDS = 10;

    private final RoutingTable table;
    private final Map<String, NextHop> via;
    private final LongSupplier clockNs;
    private final List<Prefix> changed = new ArrayList<>();
    private final long[] changesBySecond = new long[RATE_SECONDS + 1];
    private FeedRoutes routes;
    private @Nullable FeedRoutes dump;
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

    /**
     * Adds paths to a prefix.
     *
     * @param paths at least one, of one metric
     * @param isInPlace whether they take the place of those with the same metric
     */
    public void announce(Prefix prefix, List<FeedPath> paths, boolean isInPlace) {
        List<FeedPath> now = new ArrayList<>(current().paths(prefix));
        long metric = paths.get(0).metric();
        now.removeIf(path -> paths.contains(path) || isInPlace && path.metric() == metric);
        now.addAll(paths);
        put(prefix, now);
    }

    /** Takes paths from a prefix; returns false where it had none of them but others: all have to be read anew then. */
    public boolean withdraw(Prefix prefix, List<FeedPath> paths) {
        List<FeedPath> now = new ArrayList<>(current().paths(prefix));
        if (now.isEmpty()) {
            return true;
        }
        boolean isKnown = now.removeAll(paths);
        if (isKnown) {
            put(prefix, now);
        }
        return isKnown;
    }

    private FeedRoutes current() {
        return dump != null ? dump : routes;
    }

    private void put(Prefix prefix, List<FeedPath> paths) {
        boolean fits;
        synchronized (table) {
            FeedRoutes into = current();
            NextHop before = into.hop(prefix);
            fits = into.put(prefix, paths);
            if (dump == null && !Objects.equals(before, into.hop(prefix))) {
                changed.add(prefix);
            }
        }
        if (!fits) {
            leaveOut(prefix + ": too many routes, or too many different sets of gateways");
        }
        if (changed.size() >= MAX_BATCH) {
            apply();
        }
    }

    /** Counts a route that cannot be one of the node's. */
    public void leaveOut(String reason) {
        synchronized (table) {
            leftOut++;
            why = reason;
        }
    }

    /** Has what was announced and withdrawn count, as one change of the table. */
    public void apply() {
        if (changed.isEmpty()) {
            return;
        }
        try {
            synchronized (table) {
                table.followFeed(changed);
                count(changed.size());
            }
        } finally {
            changed.clear(); // what fails once would fail for ever
        }
    }

    /** Begins to tell all routes anew; a dump that was begun before does not count. */
    public void beginDump() {
        apply();
        dump = new FeedRoutes(via);
    }

    /**
     * Ends a dump: what differs from before changes at once.
     *
     * @param isWhole false = it does not count, unless it was the first
     */
    public void endDump(boolean isWhole) {
        synchronized (table) {
            if (!isWhole && resyncs > 0) {
                dump = null;
                return;
            }
            FeedRoutes fresh = Objects.requireNonNull(dump);
            List<Prefix> different = new ArrayList<>();
            int count = fresh.differences(routes, different, MAX_CHANGED);
            dump = null;
            routes = fresh;
            changed.clear();
            resyncs++;
            fault = null;
            if (count > 0) {
                table.followFeed(count > MAX_CHANGED ? null : different);
                count(count);
            }
        }
    }

    /** Says why the feed follows no more; its routes stay. */
    public void failed(String reason) {
        apply();
        synchronized (table) {
            dump = null;
            fault = reason;
        }
    }

    /** Returns whether a route has a path by this device. */
    public boolean uses(String device) {
        return routes.uses(path -> path.device().equals(device));
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

    /** Returns how it does. */
    public FeedStatus status() {
        synchronized (table) {
            pass();
            long recent = 0;
            for (long each : changesBySecond) {
                recent += each;
            }
            recent -= changesBySecond[(int) Math.floorMod(second, (long) changesBySecond.length)];
            Map<String, Integer> unmapped = routes.unmapped();
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

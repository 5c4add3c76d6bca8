package org.tamanoir.routing;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Routes by longest prefix.
 *
 * <p>IPv4 and IPv6 are apart: a prefix shorter than ::ffff:0:0/96, such as the default route ::/0, holds no IPv4
 * address, and 0.0.0.0/0 holds nothing else.
 *
 * <p>A family of up to 2,048 prefixes, which cut it into at most 4,097 ranges, is searched in these, made anew by each
 * change ({@link AddressRanges}). A larger one is changed in place: IPv4 in 32 MiB ({@link Dir24}), or like IPv6 in a
 * trie ({@link Poptrie}) where the table is compact or too many of its prefixes are longer than 24 bits.
 *
 * <p>A {@link RouteFeed} may add routes of its own, which count where the operator's have none of the same prefix.
 *
 * <p>Thread contract: any thread may call anything; changes and {@link #routes} wait for one another, look-ups wait for
 * nothing. A look-up during a change finds what was right before or what is right behind it; {@link #replace} changes
 * all addresses at once.
 */
public final class RoutingTable {
    /** Prefixes of a family beyond which it is changed in place; it falls back at half of that. */
    private static final int SMALL = 2048;

    private static final int DIRECT_BITS_IPV4 = 18;
    private static final int DIRECT_BITS_IPV6 = 20;

    private final boolean isCompact;
    private RouteSet set = new RouteSet();
    private @Nullable RouteFeed feed;
    private volatile Fib fib;
    /** Whether the set has changes that the look-ups may lack, as where one of them ended for lack of memory. */
    private boolean isBehind;

    /** Makes an empty table: nothing leaves. */
    public RoutingTable() {
        this(List.of());
    }

    /** Makes a table of these routes; of two with the same prefix the later one. */
    public RoutingTable(List<Route> routes) {
        this(routes, false);
    }

    /** @param isCompact whether a large table of IPv4 takes some 9 MiB in place of 32, and about the double time */
    public RoutingTable(List<Route> routes, boolean isCompact) {
        this.isCompact = isCompact;
        set = setOf(routes);
        fib = made(set, 0);
    }

    /** Returns the next hop of the longest prefix that holds this address, null when there is none. */
    public @Nullable NextHop lookup(long high, long low) {
        Fib now = fib;
        return now.hop(now.lookup(high, low));
    }

    /** Returns the look-ups of now. */
    public Fib fib() {
        return fib;
    }

    /**
     * Returns a number that changes with every change of the table: who keeps a look-up's result reads it before the
     * look-up and compares it later.
     */
    public int generation() {
        return fib.generation;
    }

    /** Returns how many routes there are. */
    public synchronized int size() {
        return set.size();
    }

    /** Returns all routes in the order of {@link #walk}. */
    public List<Route> routes() {
        List<Route> routes = new ArrayList<>();
        walk(null, null, routes::add);
        return routes;
    }

    /**
     * Visits routes by first address, the wider first, IPv4 before IPv6. Changes wait meanwhile.
     *
     * @param within the prefix that they lie in; null = all of both families
     * @param after begins behind this prefix, whether it is there or not, without a look at those before; null = with
     *     the first
     */
    public synchronized void walk(@Nullable Prefix within, @Nullable Prefix after, RouteSet.Visitor visitor) {
        set.walk(within, after, visitor);
    }

    /** Returns the route of exactly this prefix, null = there is none. */
    public synchronized @Nullable Route get(Prefix prefix) {
        return set.get(prefix);
    }

    /** Returns the route whose prefix decides about an address, null = none. */
    public synchronized @Nullable Route deciding(long high, long low) {
        return set.deciding(high, low);
    }

    /**
     * Puts these routes in place of all others but the feed's; of two with the same prefix the later one.
     *
     * @throws IllegalArgumentException in one line, if there are too many next hops; nothing is changed then
     */
    public void replace(List<Route> routes) {
        replace(setOf(routes));
    }

    /**
     * Puts these routes in place of all others but the feed's; the set is the table's from now on.
     *
     * @throws IllegalArgumentException in one line, if they and the feed have too many next hops; nothing is changed then
     */
    public synchronized void replace(RouteSet routes) {
        if (feed != null) {
            feed.fill(routes);
        }
        Fib made = made(routes, fib.generation + 1);
        set = routes;
        fib = made;
        isBehind = false;
    }

    /**
     * Adds a route, in place of one with the same prefix.
     *
     * @throws IllegalArgumentException in one line, if there are too many next hops; nothing is changed then
     */
    public void add(Route route) {
        change(List.of(route), List.of());
    }

    /** Removes the route with exactly this prefix; false when there is none, or it is the feed's. */
    public synchronized boolean remove(Prefix prefix) {
        Route route = set.get(prefix);
        boolean isThere = route != null && !route.isFed();
        if (isThere || isBehind) {
            change(List.of(), List.of(prefix));
        }
        return isThere;
    }

    /**
     * Removes routes and then puts others, each in place of one with the same prefix, as one change of the look-ups. If
     * it ends for lack of memory some of it may count already; the next change, whatever it is, has all of that count.
     *
     * @param removed prefixes; those that have no route, or one of the feed, are passed over
     * @throws IllegalArgumentException in one line, if there are too many next hops; nothing is changed then
     */
    public synchronized void change(List<Route> put, List<Prefix> removed) {
        for (Route route : put) {
            if (set.hops.put(route.nextHop(), false) == 0) {
                // Some of the numbers may be of next hops that no route has any more, or none but those in their place.
                Set<Prefix> without = new HashSet<>(removed);
                put.forEach(each -> without.add(each.prefix()));
                RouteSet fresh = ownBut(without);
                put.forEach(each -> fresh.put(each.prefix(), each.nextHop()));
                replace(fresh);
                return;
            }
        }
        change(changed -> {
            for (Prefix prefix : removed) {
                Route route = set.get(prefix);
                if (route != null && !route.isFed()) {
                    followFeed(prefix);
                    changed.add(prefix);
                }
            }
            for (Route route : put) {
                if (set.put(route.prefix(), route.nextHop())) {
                    changed.add(route.prefix());
                }
            }
        });
    }

    /** @param changeSet changes the set and adds the prefixes that it has changed */
    private void change(Consumer<List<Prefix>> changeSet) {
        boolean wasBehind = isBehind;
        isBehind = true;
        List<Prefix> changed = new ArrayList<>();
        changeSet.accept(changed);
        if (wasBehind) {
            fib = made(set, fib.generation + 1);
        } else if (!changed.isEmpty()) {
            changed(changed);
        }
        isBehind = false;
    }

    /**
     * Opens the table to a feed, the only one that it will have.
     *
     * @param via next hops by the names of {@link FeedPath}
     * @throws IllegalArgumentException in one line, if the table has too many next hops with these
     */
    public synchronized RouteFeed feed(Map<String, NextHop> via) {
        if (feed != null) {
            throw new IllegalStateException("the table has a feed already");
        }
        RouteFeed made = new RouteFeed(this, via);
        feed = made;
        try {
            replace(ownBut(Set.of()));
        } catch (IllegalArgumentException | OutOfMemoryError e) {
            feed = null;
            throw e;
        }
        return made;
    }

    /**
     * Takes what the feed says now about these prefixes where the operator says nothing, as one change.
     *
     * @param prefixes null = all that there are
     */
    synchronized void followFeed(@Nullable List<Prefix> prefixes) {
        if (prefixes == null) {
            replace(ownBut(Set.of()));
            return;
        }
        change(changed -> {
            for (Prefix prefix : prefixes) {
                Route route = set.get(prefix);
                if ((route == null || route.isFed()) && followFeed(prefix)) {
                    changed.add(prefix);
                }
            }
        });
    }

    private boolean followFeed(Prefix prefix) {
        NextHop hop = feed == null ? null : feed.nextHop(prefix);
        return hop == null ? set.remove(prefix) : set.put(prefix, hop, true);
    }

    /** Returns the routes that are not the feed's, without those of these prefixes. */
    private RouteSet ownBut(Set<Prefix> without) {
        RouteSet own = new RouteSet();
        set.walk(null, null, route -> {
            if (!route.isFed() && !without.contains(route.prefix())) {
                own.put(route.prefix(), route.nextHop());
            }
            return true;
        });
        return own;
    }

    /** Begins with the last, so that next hops of routes that do not count take no number. */
    private static RouteSet setOf(List<Route> routes) {
        RouteSet set = new RouteSet();
        for (int i = routes.size() - 1; i >= 0; i--) {
            Route route = routes.get(i);
            if (set.get(route.prefix()) == null) {
                set.put(route.prefix(), route.nextHop());
            }
        }
        return set;
    }

    private Fib made(RouteSet from, int generation) {
        return fib(from, made(from.ipv4, true), made(from.ipv6, false), generation);
    }

    private static Fib fib(RouteSet of, HopSearch ipv4, HopSearch ipv6, int generation) {
        boolean inPlace = !(ipv4 instanceof AddressRanges && ipv6 instanceof AddressRanges);
        return new Fib(ipv4, ipv6, of.hops.shared(inPlace), generation);
    }

    private HopSearch made(Rib rib, boolean isIpv4) {
        if (rib.size() <= SMALL) {
            return new AddressRanges(rib);
        }
        if (isIpv4 && !isCompact && Dir24.fits(rib)) {
            return Dir24.of(rib);
        }
        return Poptrie.of(rib, isIpv4 ? DIRECT_BITS_IPV4 : DIRECT_BITS_IPV6);
    }

    private void changed(List<Prefix> prefixes) {
        List<Prefix> ordered = prefixes.stream().anyMatch(RoutingTable::isDefault) ? ordered(prefixes) : prefixes;
        Fib before = fib;
        HopSearch ipv4 = changed(before.ipv4, set.ipv4, true, ordered);
        HopSearch ipv6 = changed(before.ipv6, set.ipv6, false, ordered);
        fib = fib(set, ipv4, ipv6, before.generation + 1);
    }

    private static boolean isDefault(Prefix prefix) {
        return RouteSet.leftLength(prefix) == 0;
    }

    /**
     * Returns those that are put, then the default routes, then those that are withdrawn: nobody finds the new default
     * route where another prefix is put in the same change, nor the old one where one is withdrawn.
     */
    private List<Prefix> ordered(List<Prefix> prefixes) {
        Map<Integer, List<Prefix>> byTurn = prefixes.stream()
                .collect(Collectors.groupingBy(
                        prefix -> isDefault(prefix) ? 1 : set.get(prefix) != null ? 0 : 2,
                        TreeMap::new,
                        Collectors.toList()));
        return byTurn.values().stream().flatMap(List::stream).toList();
    }

    /** Returns a search that has followed the changes of the prefixes that are of its family. */
    private HopSearch changed(HopSearch search, Rib rib, boolean isIpv4, List<Prefix> prefixes) {
        for (Prefix prefix : prefixes) {
            if (prefix.isIpv4() == isIpv4
                    && (rib.size() <= SMALL / 2
                            || !search.follow(
                                    rib,
                                    RouteSet.left(prefix),
                                    RouteSet.leftLow(prefix),
                                    RouteSet.leftLength(prefix)))) {
                return made(rib, isIpv4);
            }
        }
        return search;
    }
}

package org.tamanoir.routing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * All routes that a feed has said, whether they count in the table or not: 16 to 32 bytes an IPv4 prefix and 28 to 56 an
 * IPv6 one, for prefixes share the sets of paths that they have.
 *
 * <p>Thread contract: one thread at a time.
 */
final class FeedRoutes {
    private static final int MAX_ROUTES = RouteFile.MAX_ROUTES;
    /** Different sets of paths; a full table has some hundreds. */
    private static final int MAX_SETS = 1 << 16;

    private static final class Paths {
        final List<FeedPath> sorted;
        final int number;
        final @Nullable NextHop hop;
        int routes;

        Paths(List<FeedPath> sorted, int number, @Nullable NextHop hop) {
            this.sorted = sorted;
            this.number = number;
            this.hop = hop;
        }
    }

    private final Map<String, NextHop> via;
    private final Rib ipv4 = new Rib(32);
    private final Rib ipv6 = new Rib(128);
    private final Map<List<FeedPath>, Paths> sets = new HashMap<>();
    private final List<@Nullable Paths> byNumber = new ArrayList<>();
    private final Deque<Integer> free = new ArrayDeque<>();

    FeedRoutes(Map<String, NextHop> via) {
        this.via = via;
        byNumber.add(null); // 0 is no route
    }

    int size() {
        return ipv4.size() + ipv6.size();
    }

    /** Returns the paths of a prefix, empty = it has none. */
    List<FeedPath> paths(Prefix prefix) {
        Paths paths = find(prefix);
        return paths == null ? List.of() : paths.sorted;
    }

    /** Returns the next hop of a prefix, null = it has none, or none of its gateways has one. */
    @Nullable
    NextHop hop(Prefix prefix) {
        Paths paths = find(prefix);
        return paths == null ? null : paths.hop;
    }

    private @Nullable Paths find(Prefix prefix) {
        return byNumber.get(
                rib(prefix).get(RouteSet.left(prefix), RouteSet.leftLow(prefix), RouteSet.leftLength(prefix)));
    }

    /** Gives a prefix these paths, none = removes it; returns false where there is no room for it, and removes it then. */
    boolean put(Prefix prefix, List<FeedPath> paths) {
        Rib rib = rib(prefix);
        Paths now = paths.isEmpty() ? null : intern(paths);
        Paths before = find(prefix);
        boolean fits = paths.isEmpty() || now != null && (before != null || size() < MAX_ROUTES);
        if (fits && now != null) {
            rib.put(RouteSet.left(prefix), RouteSet.leftLow(prefix), RouteSet.leftLength(prefix), now.number);
            now.routes++;
        } else if (before != null) {
            rib.remove(RouteSet.left(prefix), RouteSet.leftLow(prefix), RouteSet.leftLength(prefix));
        }
        if (before != null) {
            before.routes--;
            forgetUnused(before);
        }
        if (now != null) {
            forgetUnused(now);
        }
        return fits;
    }

    /** Returns the set of these paths, null = there are too many of them. */
    private @Nullable Paths intern(List<FeedPath> paths) {
        List<FeedPath> sorted = paths.size() == 1 ? List.copyOf(paths) : List.copyOf(new TreeSet<>(paths));
        Paths known = sets.get(sorted);
        if (known != null || sets.size() >= MAX_SETS) {
            return known;
        }
        Integer number = free.poll();
        Paths made = new Paths(sorted, number == null ? byNumber.size() : number, hop(sorted));
        if (number == null) {
            byNumber.add(made);
        } else {
            byNumber.set(number, made);
        }
        sets.put(sorted, made);
        return made;
    }

    private void forgetUnused(Paths paths) {
        if (paths.routes == 0) {
            sets.remove(paths.sorted);
            byNumber.set(paths.number, null);
            free.add(paths.number);
        }
    }

    /** Returns the next hop of the first path that has one; paths of a higher metric do not count. */
    private @Nullable NextHop hop(List<FeedPath> sorted) {
        for (FeedPath path : sorted) {
            if (path.metric() != sorted.get(0).metric()) {
                break;
            }
            for (String name : path.names()) {
                NextHop hop = via.get(name);
                if (hop != null) {
                    return hop;
                }
            }
        }
        return null;
    }

    /** Puts all routes with a next hop whose prefix the set has not. */
    void fill(RouteSet set) {
        walk((prefix, hop) -> {
            if (hop != null && set.get(prefix) == null) {
                set.put(prefix, hop, true);
            }
        });
    }

    /** Adds prefixes whose next hop differs from the other's; returns how many there are, as many at most are added. */
    int differences(FeedRoutes other, List<Prefix> into, int most) {
        int[] count = {0};
        Visitor add = (prefix, hop) -> {
            if (count[0]++ < most) {
                into.add(prefix);
            }
        };
        walk((prefix, hop) -> {
            NextHop otherHop = other.hop(prefix);
            if (hop == null ? otherHop != null : !hop.equals(otherHop)) {
                add.visit(prefix, hop);
            }
        });
        other.walk((prefix, hop) -> {
            if (hop != null && find(prefix) == null) {
                add.visit(prefix, hop);
            }
        });
        return count[0];
    }

    private interface Visitor {
        void visit(Prefix prefix, @Nullable NextHop hop);
    }

    private void walk(Visitor visitor) {
        for (Rib rib : List.of(ipv4, ipv6)) {
            rib.walk(0, 0, 0, Rib.Position.START, (high, low, length, number) -> {
                Paths paths = byNumber.get(number);
                visitor.visit(RouteSet.prefix(rib == ipv4, high, low, length), paths == null ? null : paths.hop);
                return true;
            });
        }
    }

    /** Returns how many routes have no next hop, by their first gateway. */
    Map<String, Integer> unmapped() {
        Map<String, Integer> counts = new TreeMap<>();
        for (Paths paths : sets.values()) {
            if (paths.hop == null) {
                counts.merge(paths.sorted.get(0).toString(), paths.routes, Integer::sum);
            }
        }
        return counts;
    }

    /** Returns whether some route has such a path. */
    boolean uses(Predicate<FeedPath> path) {
        return sets.values().stream().anyMatch(paths -> paths.sorted.stream().anyMatch(path));
    }

    private Rib rib(Prefix prefix) {
        return prefix.isIpv4() ? ipv4 : ipv6;
    }
}

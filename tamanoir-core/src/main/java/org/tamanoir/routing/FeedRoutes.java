package org.tamanoir.routing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All routes that a feed has said, whether they count in the table or not: 16 to 32 bytes an IPv4 prefix and 28 to 56 an
 * IPv6 one, for prefixes share the sets of paths that they have. A prefix is marked with the reading that listed it:
 *
 * <pre>
 *   value in the trie, 24 bits: | number of the set of paths, 17 | number of the reading, 7 |
 * </pre>
 *
 * <p>Thread contract: one thread at a time.
 */
final class FeedRoutes {
    private static final int MAX_ROUTES = RouteFile.MAX_ROUTES;
    /** Different sets of paths; a full table has some hundreds. */
    private static final int MAX_SETS = 1 << 16;

    private static final int READING_BITS = 7;
    private static final int READING_MASK = (1 << READING_BITS) - 1;
    /** Removed at once. */
    private static final int MAX_BATCH = 16_384;
    /** Prefixes with several routes of one metric; where there are more, any prefix may be one. */
    private static final int MAX_SEVERAL = 1 << 16;

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
    private final Set<Prefix> several = new HashSet<>();
    private int reading;

    FeedRoutes(Map<String, NextHop> via) {
        this.via = via;
        byNumber.add(null); // 0 is no route
    }

    int size() {
        return ipv4.size() + ipv6.size();
    }

    /** Has no prefix be listed. */
    void beginReading() {
        reading = reading + 1 & READING_MASK;
        several.clear();
    }

    /** Returns whether a prefix was put since the last reading began. */
    boolean isListed(Prefix prefix) {
        int value = value(prefix);
        return value != 0 && (value & READING_MASK) == reading;
    }

    /** Takes note that a prefix has several routes of one metric, whose paths stand here as those of one. */
    void noteSeveral(Prefix prefix) {
        if (several.size() < MAX_SEVERAL) {
            several.add(prefix);
        }
    }

    boolean mayHaveSeveral(Prefix prefix) {
        return several.size() >= MAX_SEVERAL || several.contains(prefix);
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
        return byNumber.get(value(prefix) >>> READING_BITS);
    }

    private int value(Prefix prefix) {
        return rib(prefix).get(RouteSet.left(prefix), RouteSet.leftLow(prefix), RouteSet.leftLength(prefix));
    }

    /**
     * Gives a prefix these paths, none = removes it.
     *
     * @param isListed whether that lists it
     * @return false where there is no room for it, and it is removed then
     */
    boolean put(Prefix prefix, List<FeedPath> paths, boolean isListed) {
        Rib rib = rib(prefix);
        Paths before = find(prefix);
        boolean hasPlace = before != null || size() < MAX_ROUTES;
        if (before != null && --before.routes == 0) {
            // First of all: the last place for a set may be its own.
            forget(before);
        }
        Paths now = paths.isEmpty() || !hasPlace ? null : intern(paths);
        if (now != null) {
            now.routes++;
            int mark = isListed ? reading : reading - 1 & READING_MASK;
            int value = now.number << READING_BITS | mark;
            rib.put(RouteSet.left(prefix), RouteSet.leftLow(prefix), RouteSet.leftLength(prefix), value);
        } else if (before != null) {
            rib.remove(RouteSet.left(prefix), RouteSet.leftLow(prefix), RouteSet.leftLength(prefix));
        }
        return now != null || paths.isEmpty();
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

    private void forget(Paths unused) {
        sets.remove(unused.sorted);
        byNumber.set(unused.number, null);
        free.add(unused.number);
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

    /** Visits each prefix that is not listed; the visitor may remove it. */
    void eachUnlisted(boolean withIpv6, Consumer<Prefix> visitor) {
        for (Rib rib : withIpv6 ? List.of(ipv4, ipv6) : List.of(ipv4)) {
            List<Prefix> batch = new ArrayList<>();
            Rib.Position[] at = {Rib.Position.START};
            do {
                batch.clear();
                rib.walk(0, 0, 0, at[0], (high, low, length, value) -> {
                    at[0] = new Rib.Position(high, low, length);
                    if ((value & READING_MASK) != reading) {
                        batch.add(RouteSet.prefix(rib == ipv4, high, low, length));
                    }
                    return batch.size() < MAX_BATCH;
                });
                batch.forEach(visitor);
            } while (!batch.isEmpty());
        }
    }

    private interface Visitor {
        void visit(Prefix prefix, @Nullable NextHop hop);
    }

    private void walk(Visitor visitor) {
        for (Rib rib : List.of(ipv4, ipv6)) {
            rib.walk(0, 0, 0, Rib.Position.START, (high, low, length, value) -> {
                Paths paths = byNumber.get(value >>> READING_BITS);
                visitor.visit(RouteSet.prefix(rib == ipv4, high, low, length), paths == null ? null : paths.hop);
                return true;
            });
        }
    }

    /** Returns how many routes have no next hop, by their first gateway; without those that have none, as blackholes. */
    Map<String, Integer> unmapped() {
        Map<String, Integer> counts = new TreeMap<>();
        for (Paths paths : sets.values()) {
            if (paths.hop == null && !paths.sorted.get(0).device().isEmpty()) {
                counts.merge(paths.sorted.get(0).toString(), paths.routes, Integer::sum);
            }
        }
        return counts;
    }

    private Rib rib(Prefix prefix) {
        return prefix.isIpv4() ? ipv4 : ipv6;
    }
}

package org.tamanoir.cluster.lvs;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Joins three lists of ipvsadm to counters. What one of them does not have, since the table changed, is zero. */
final class Tally {
    /** Weight, persistent, active, inactive. */
    static final int CONNECTION_COLUMNS = 4;

    private static final List<Long> NONE = Collections.nCopies(5, 0L);

    private Tally() {}

    /**
     * Joins them.
     *
     * @param stats of {@code --stats}
     * @param rates of {@code --rate}
     * @param connections of {@code --persistent-conn}
     */
    static LvsCounters of(
            SortedMap<VirtualAddress, Listing.Row> stats,
            SortedMap<VirtualAddress, Listing.Row> rates,
            SortedMap<VirtualAddress, Listing.Row> connections) {
        SortedMap<VirtualAddress, LvsCounters.Service> services = new TreeMap<>();
        stats.forEach((at, row) -> services.put(at, service(row, rates.get(at), connections.get(at))));
        return new LvsCounters(services);
    }

    private static LvsCounters.Service service(
            Listing.Row stats, Listing.@Nullable Row rates, Listing.@Nullable Row connections) {
        Map<String, Counters> servers = new TreeMap<>();
        long[] sums = new long[CONNECTION_COLUMNS];
        for (Map.Entry<String, List<Long>> server : stats.servers().entrySet()) {
            List<Long> now = server(connections, server.getKey());
            for (int i = 0; i < sums.length; i++) {
                sums[i] += now.get(i);
            }
            servers.put(server.getKey(), counters(now, server.getValue(), server(rates, server.getKey())));
        }
        List<Long> now = java.util.Arrays.stream(sums).boxed().toList();
        return new LvsCounters.Service(counters(now, stats.own(), rates == null ? NONE : rates.own()), servers);
    }

    private static List<Long> server(Listing.@Nullable Row row, String endpoint) {
        return row == null ? NONE : row.servers().getOrDefault(endpoint, NONE);
    }

    private static Counters counters(List<Long> now, List<Long> total, List<Long> perSecond) {
        return new Counters(
                count(now.get(2)),
                count(now.get(3)),
                count(now.get(1)),
                total.get(0),
                total.get(1),
                total.get(2),
                total.get(3),
                total.get(4),
                perSecond.get(0),
                perSecond.get(1),
                perSecond.get(2),
                perSecond.get(3),
                perSecond.get(4));
    }

    private static int count(long connections) {
        return (int) Math.min(connections, Integer.MAX_VALUE);
    }
}

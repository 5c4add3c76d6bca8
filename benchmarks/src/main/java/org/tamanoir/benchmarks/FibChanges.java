package org.tamanoir.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.DoubleStream;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;

/** Routes that are withdrawn and announced again with other next hops: one by one, and many at once. */
final class FibChanges {
    private static final double[] PERCENTILES = {50, 75, 90, 95, 99, 99.5, 99.9, 99.99};
    private static final int DEFAULT_CHANGES = 10_000;

    private FibChanges() {}

    /** Chooses prefixes that are changed. */
    private interface Choice {
        Prefix next();
    }

    static void single(FibTable table, Section section) throws IOException {
        section.say("Each prefix is withdrawn, and announced again with a next hop by chance; both are changes.");
        Rows rows = new Rows("prefixes | mean, µs | p50 | p99 | p99.9 | most");
        Series plot = new Series();
        int each = table.changes / 3;
        measure(section, rows, plot, "IPv4 /24 and longer", 10, table, each, () -> anyOf(table, table.ipv4, 24, 32));
        measure(section, rows, plot, "IPv4 /8 to /23", 50, table, each, () -> anyOf(table, table.ipv4, 8, 23));
        measure(section, rows, plot, "IPv6", 50, table, each, () -> anyOf(table, table.ipv6, 0, 64));
        for (String prefix : List.of("0.0.0.0/0", "::/0")) {
            Prefix whole = Prefix.parse(prefix);
            measure(section, rows, plot, prefix, 50, table, Math.min(each, DEFAULT_CHANGES), () -> whole);
        }
        section.table(rows)
                .plot(
                        "",
                        Plot.logarithmic(
                                "Time of a change",
                                "changes that took longer, one of",
                                "µs",
                                DoubleStream.of(PERCENTILES)
                                        .mapToObj(percent -> 100 / (100 - percent))
                                        .toList(),
                                plot,
                                0));
    }

    private static Prefix anyOf(FibTable table, RouteGenerator routes, int shortest, int longest) {
        while (true) {
            int i = table.random.nextInt(routes.count);
            if (routes.lengths[i] >= shortest && routes.lengths[i] <= longest) {
                return routes.prefix(i);
            }
        }
    }

    private static void measure(
            Section section,
            Rows rows,
            Series plot,
            String name,
            int mostUs,
            FibTable table,
            int count,
            Choice choice) {
        RoutingTable routes = table.table;
        double[] us = new double[2 * count];
        for (int i = 0; i < us.length; ) {
            Prefix prefix = choice.next();
            Route route = new Route(prefix, table.anyHop());
            long start = FibTable.processorNs();
            routes.remove(prefix);
            long removed = FibTable.processorNs();
            routes.add(route);
            us[i++] = (removed - start) / 1e3;
            us[i++] = (FibTable.processorNs() - removed) / 1e3;
        }
        double mean = DoubleStream.of(us).average().orElse(0);
        Arrays.sort(us);
        rows.row(
                "%s | %.1f | %.1f | %.1f | %.0f | %,.0f",
                name, mean, at(us, 50), at(us, 99), at(us, 99.9), us[us.length - 1]);
        section.find(
                "a change, " + name + ", p99",
                "at most " + mostUs + " µs",
                "%.1f µs%s",
                at(us, 99),
                FibTable.verdict(at(us, 99) <= mostUs));
        plot.add(
                name,
                DoubleStream.of(PERCENTILES)
                        .mapToObj(percent -> Math.max(0.1, at(us, percent)))
                        .toList());
    }

    static double at(double[] sorted, double percent) {
        return sorted[Math.min(sorted.length - 1, (int) (sorted.length * percent / 100))];
    }

    /** Changes so many prefixes of the table at once, one in four of them withdrawn; then they are put as they were. */
    static void batch(FibTable table, Section section) throws IOException {
        section.say(
                "Changes of different prefixes of the table by chance, one in four a withdrawal; the longest of %d batches, "
                        + "and the routes are put back in between.",
                table.rounds / 3 + 1);
        Rows rows = new Rows("changes in one batch | s | µs a change");
        for (int count : new int[] {table.changes / 100, table.changes / 10, table.changes}) {
            double longest = 0;
            for (int round = 0; round < table.rounds / 3 + 1; round++) {
                List<Route> put = new ArrayList<>();
                List<Prefix> removed = new ArrayList<>();
                Set<Prefix> prefixes = new LinkedHashSet<>();
                while (prefixes.size() < count) {
                    prefixes.add(table.anyPrefix());
                }
                List<Route> back = new ArrayList<>();
                for (Prefix prefix : prefixes) {
                    back.add(
                            table.table.get(prefix) != null
                                    ? table.table.get(prefix)
                                    : new Route(prefix, table.anyHop()));
                    if (table.random.nextInt(4) == 0) {
                        removed.add(prefix);
                    } else {
                        put.add(new Route(prefix, table.anyHop()));
                    }
                }
                longest = Math.max(longest, FibTable.bestNs(1, () -> table.table.change(put, removed)) / 1e9);
                table.table.change(back, List.of());
            }
            rows.row("%,d | %.3f | %.2f", count, longest, longest * 1e6 / count);
            if (count == table.changes) {
                section.find(
                        "%,d changes in one batch".formatted(count),
                        "at most 1 s",
                        "%.2f s%s",
                        longest,
                        FibTable.verdict(longest <= 1));
            }
        }
        section.table(rows);
    }
}

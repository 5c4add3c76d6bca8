package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.tamanoir.benchmarks.qos.Setup.Placement;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Section;

/** Figure 10 of the QoS paper, a table of delays through two nodes; and what one node adds at a steady rate. */
final class DelayTable {
    private static final int[] SIZES = {50, 500, 1000, 1400, 1500, 10_000, 64_000};
    /** Milliseconds, mean, by size: the paper's nodes without and with quality of service. */
    private static final double[] PAPER_OFF_MS = {1.3, 1.8, 2, 2, 2.2, 4, 19.7};

    private static final double[] PAPER_ON_MS = {3.6, 3.9, 4.1, 4.4, 4.6, 8.3, 23.3};
    private static final int PACKETS = 1000;
    private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final int STEADY_OCTETS = 1400;
    private static final int STEADY_PER_SECOND = 5000;
    private static final long STEADY_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1) / STEADY_PER_SECOND;
    private static final int ROUNDS = 5;

    private DelayTable() {}

    static void table10(Settings settings, Section section) throws IOException {
        int packets = settings.scaled(PACKETS, 20);
        section.say(("Delay through two nodes in a chain, over TCP and loopback, all in one process: %,d packets of "
                        + "each size, one every millisecond, through Monitor in both nodes; a stream for each size, whose first packet "
                        + "waits for connections and instances and is told apart. Without quality of service, and with two classes "
                        + "under WFQ before, after, and both, where nothing is congested. Placements take turns within each "
                        + "size. In the paper the standard deviation was 7.4–8.3 ms without and 8.8–17.1 ms with.")
                .formatted(packets));
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        List<Probed> chains = open(settings, 2, opened);
        try {
            for (Probed chain : chains) {
                chain.probe().measure(STEADY_OCTETS, packets, packets, INTERVAL_NS / 10);
            }
            for (int size : SIZES) {
                for (Probed chain : chains) {
                    DelayProbe.Delays seen = chain.probe().measure(size, 1, packets, INTERVAL_NS);
                    chain.firstNs().recordValue(seen.firstNs());
                    chain.ns().add(seen.ns());
                }
            }
        } finally {
            Bed.closeAll(opened);
        }
        describe(section, chains);
    }

    /**
     * @param firstNs delays of streams' first packets
     * @param ns delays of the others, by size or round
     */
    private record Probed(Placement placement, DelayProbe probe, Histogram firstNs, List<Histogram> ns) {}

    private static List<Probed> open(Settings settings, int nodes, Deque<AutoCloseable> opened) throws IOException {
        List<Probed> all = new ArrayList<>();
        for (Placement placement : placements(settings)) {
            DelayProbe probe = new DelayProbe(nodes, placement.uncongested());
            opened.push(probe);
            all.add(new Probed(placement, probe, new Histogram(3), new ArrayList<>()));
        }
        return all;
    }

    private static List<Placement> placements(Settings settings) {
        return settings.off() ? List.of(Placement.off) : List.of(Placement.values());
    }

    private static void describe(Section section, List<Probed> chains) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        StringBuilder csv = new StringBuilder("octets,placement,mean us,deviation us,p50 us,p95 us,p99 us,max us\n");
        Map<String, List<Double>> curves = new LinkedHashMap<>();
        for (int i = 0; i < SIZES.length; i++) {
            for (Probed chain : chains) {
                Placement placement = chain.placement();
                Histogram ns = chain.ns().get(i);
                curves.computeIfAbsent(placement.name(), name -> new ArrayList<>())
                        .add(ns.getMean() / 1e6);
                double paperMs = placement == Placement.off ? PAPER_OFF_MS[i] : PAPER_ON_MS[i];
                rows.add(List.of(
                        String.format(Locale.ROOT, "%,d", SIZES[i]),
                        placement.name(),
                        String.format(Locale.ROOT, "%,.0f", paperMs * 1000),
                        us(ns.getMean()),
                        us(ns.getStdDeviation()),
                        us(ns.getValueAtPercentile(50)),
                        us(ns.getValueAtPercentile(95)),
                        us(ns.getValueAtPercentile(99)),
                        us(ns.getMaxValue())));
                csv.append(String.format(
                        Locale.ROOT,
                        "%d,%s,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f%n",
                        SIZES[i],
                        placement,
                        ns.getMean() / 1e3,
                        ns.getStdDeviation() / 1e3,
                        ns.getValueAtPercentile(50) / 1e3,
                        ns.getValueAtPercentile(95) / 1e3,
                        ns.getValueAtPercentile(99) / 1e3,
                        ns.getMaxValue() / 1e3));
                section.find(
                        String.format(Locale.ROOT, "%,d octets, %s, mean", SIZES[i], placement),
                        String.format(Locale.ROOT, "%.1f ms", paperMs),
                        us(ns.getMean()) + " µs");
            }
        }
        for (Probed chain : chains) {
            section.find(
                    "first packet of a stream, " + chain.placement() + ", median and largest of "
                            + chain.firstNs().getTotalCount(),
                    "more than 50 ms",
                    us(chain.firstNs().getValueAtPercentile(50)) + " and "
                            + us(chain.firstNs().getMaxValue()) + " µs");
        }
        section.table(
                List.of("octets", "placement", "paper's mean, µs", "mean", "deviation", "p50", "p95", "p99", "max"),
                rows);
        curves.put("paper, without", boxed(PAPER_OFF_MS));
        curves.put("paper, with", boxed(PAPER_ON_MS));
        List<Double> sizes = new ArrayList<>();
        for (int size : SIZES) {
            sizes.add((double) size);
        }
        section.plot("", Plot.logarithmic(section.title(), "octets", "mean delay, ms", sizes, curves, 2));
        section.csv("", csv.toString());
    }

    static void steady(Settings settings, Section section) throws IOException {
        section.say(("One node, Monitor, TCP, %,d packets of %,d octets a second, %d rounds in which the placements "
                        + "take turns. Added: the median over the rounds of the difference to the same round without quality of "
                        + "service.")
                .formatted(STEADY_PER_SECOND, STEADY_OCTETS, ROUNDS));
        int packets = settings.scaled(STEADY_PER_SECOND, 100);
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        List<Probed> nodes = open(settings, 1, opened);
        try {
            for (int round = 0; round <= ROUNDS; round++) {
                for (Probed node : nodes) {
                    Histogram ns = node.probe()
                            .measure(STEADY_OCTETS, packets / 4, packets, STEADY_INTERVAL_NS)
                            .ns();
                    // The first round warms up.
                    if (round > 0) {
                        node.ns().add(ns);
                    }
                }
            }
        } finally {
            Bed.closeAll(opened);
        }
        describeSteady(section, nodes);
    }

    private static void describeSteady(Section section, List<Probed> nodes) {
        List<List<String>> rows = new ArrayList<>();
        StringBuilder csv = new StringBuilder("placement,round,p50 us,p99 us\n");
        List<Histogram> off = nodes.get(0).ns();
        for (Probed node : nodes) {
            Placement placement = node.placement();
            List<Histogram> histograms = node.ns();
            Histogram all = new Histogram(3);
            List<Double> added = new ArrayList<>();
            for (int i = 0; i < histograms.size(); i++) {
                Histogram ns = histograms.get(i);
                all.add(ns);
                added.add((double) (ns.getValueAtPercentile(50) - off.get(i).getValueAtPercentile(50)));
                csv.append(String.format(
                        Locale.ROOT,
                        "%s,%d,%.1f,%.1f%n",
                        placement,
                        i + 1,
                        ns.getValueAtPercentile(50) / 1e3,
                        ns.getValueAtPercentile(99) / 1e3));
            }
            rows.add(List.of(
                    placement.name(),
                    us(all.getValueAtPercentile(50)),
                    us(all.getValueAtPercentile(95)),
                    us(all.getValueAtPercentile(99)),
                    us(all.getMean())));
            if (placement != Placement.off) {
                section.find(
                        "added at p50, " + placement,
                        placement == Placement.both ? "≤ 40 µs (paper: 2,300)" : "≤ 20 µs (paper: 2,300)",
                        us(Numbers.median(added)) + " µs");
            }
        }
        section.table(List.of("placement", "p50, µs", "p95", "p99", "mean"), rows);
        section.csv("", csv.toString());
    }

    private static List<Double> boxed(double[] values) {
        List<Double> boxed = new ArrayList<>();
        for (double value : values) {
            boxed.add(value);
        }
        return boxed;
    }

    private static String us(double ns) {
        return String.format(Locale.ROOT, ns >= 100_000 ? "%,.0f" : "%.1f", ns / 1e3);
    }
}

package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import org.tamanoir.benchmarks.Opened;
import org.tamanoir.benchmarks.qos.Setup.Placement;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** Figure 10 of the QoS paper, a table of delays through two nodes; and what one node adds at a steady rate. */
final class DelayTable {
    private static final List<Integer> SIZES = List.of(50, 500, 1000, 1400, 1500, 10_000, 64_000);
    /** Milliseconds, mean, by size: the paper's nodes without and with quality of service. */
    private static final List<Double> PAPER_OFF_MS = List.of(1.3, 1.8, 2.0, 2.0, 2.2, 4.0, 19.7);

    private static final List<Double> PAPER_ON_MS = List.of(3.6, 3.9, 4.1, 4.4, 4.6, 8.3, 23.3);
    private static final int PACKETS = 1000;
    private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final int STEADY_BYTES = 1400;
    private static final int STEADY_PER_SECOND = 5000;
    private static final long STEADY_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1) / STEADY_PER_SECOND;
    private static final int ROUNDS = 5;

    private DelayTable() {}

    static void table10(Settings settings, Section section) throws IOException {
        int packets = settings.scaled(PACKETS, 20);
        section.say(
                "Delay through two nodes in a chain, over TCP and loopback, all in one process: %,d packets of "
                        + "each size, one every millisecond, through Monitor in both nodes; a stream for each size, whose first packet "
                        + "waits for connections and instances and is told apart. Without quality of service, and with two classes "
                        + "under WFQ before, after, and both, where nothing is congested. Placements take turns within each "
                        + "size. In the paper the standard deviation was 7.4–8.3 ms without and 8.8–17.1 ms with.",
                packets);
        List<Probed> chains;
        try (Opened opened = new Opened()) {
            chains = open(settings, 2, opened);
            for (Probed chain : chains) {
                chain.probe().measure(STEADY_BYTES, packets, packets, INTERVAL_NS / 10);
            }
            for (int size : SIZES) {
                for (Probed chain : chains) {
                    DelayProbe.Delays seen = chain.probe().measure(size, 1, packets, INTERVAL_NS);
                    chain.firstNs().recordValue(seen.firstNs());
                    chain.ns().add(seen.ns());
                }
            }
        }
        describe(section, chains);
    }

    /**
     * @param firstNs delays of streams' first packets
     * @param ns delays of the others, by size or round
     */
    private record Probed(Placement placement, DelayProbe probe, Histogram firstNs, List<Histogram> ns) {}

    private static List<Probed> open(Settings settings, int nodes, Opened opened) throws IOException {
        List<Probed> all = new ArrayList<>();
        for (Placement placement : settings.off() ? List.of(Placement.off) : List.of(Placement.values())) {
            DelayProbe probe = opened.add(new DelayProbe(nodes, placement.uncongested()));
            all.add(new Probed(placement, probe, new Histogram(3), new ArrayList<>()));
        }
        return all;
    }

    private static void describe(Section section, List<Probed> chains) throws IOException {
        Rows table = new Rows("bytes | placement | paper's mean, µs | mean | deviation | p50 | p95 | p99 | max");
        Rows csv = new Rows("bytes,placement,mean us,deviation us,p50 us,p95 us,p99 us,max us");
        Series curves = new Series();
        for (int i = 0; i < SIZES.size(); i++) {
            for (Probed chain : chains) {
                int bytes = SIZES.get(i);
                Placement placement = chain.placement();
                Histogram ns = chain.ns().get(i);
                double paperMs = (placement == Placement.off ? PAPER_OFF_MS : PAPER_ON_MS).get(i);
                double[] measures = {
                    ns.getMean(),
                    ns.getStdDeviation(),
                    ns.getValueAtPercentile(50),
                    ns.getValueAtPercentile(95),
                    ns.getValueAtPercentile(99),
                    ns.getMaxValue()
                };
                String cells = Arrays.stream(measures).mapToObj(DelayTable::us).collect(Collectors.joining(" | "));
                table.row("%,d | %s | %,.0f | %s", bytes, placement, paperMs * 1000, cells);
                String data = Arrays.stream(measures)
                        .mapToObj(each -> "%.1f".formatted(each / 1e3))
                        .collect(Collectors.joining(","));
                csv.row("%d,%s,%s", bytes, placement, data);
                curves.add(placement.name(), ns.getMean() / 1e6);
                section.find(
                        "%,d bytes, %s, mean".formatted(bytes, placement),
                        "%.1f ms".formatted(paperMs),
                        us(ns.getMean()) + " µs");
            }
        }
        for (Probed chain : chains) {
            Histogram first = chain.firstNs();
            section.find(
                    "first packet of a stream, %s, median and largest of %d"
                            .formatted(chain.placement(), first.getTotalCount()),
                    "more than 50 ms",
                    "%s and %s µs",
                    us(first.getValueAtPercentile(50)),
                    us(first.getMaxValue()));
        }
        section.table(table);
        curves.add("paper, without", PAPER_OFF_MS).add("paper, with", PAPER_ON_MS);
        section.plot("", Plot.logarithmic(section.title(), "bytes", "mean delay, ms", SIZES, curves, 2));
        section.csv("", csv);
    }

    static void steady(Settings settings, Section section) throws IOException {
        section.say(
                "One node, Monitor, TCP, %,d packets of %,d bytes a second, %d rounds in which the placements "
                        + "take turns. Added: the median over the rounds of the difference to the same round without quality of "
                        + "service.",
                STEADY_PER_SECOND, STEADY_BYTES, ROUNDS);
        int packets = settings.scaled(STEADY_PER_SECOND, 100);
        List<Probed> nodes;
        try (Opened opened = new Opened()) {
            nodes = open(settings, 1, opened);
            for (int round = 0; round <= ROUNDS; round++) {
                for (Probed node : nodes) {
                    Histogram ns = node.probe()
                            .measure(STEADY_BYTES, packets / 4, packets, STEADY_INTERVAL_NS)
                            .ns();
                    // The first round warms up.
                    if (round > 0) {
                        node.ns().add(ns);
                    }
                }
            }
        }
        describeSteady(section, nodes);
    }

    private static void describeSteady(Section section, List<Probed> nodes) {
        Rows table = new Rows("placement | p50, µs | p95 | p99 | mean");
        Rows csv = new Rows("placement,round,p50 us,p99 us");
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
                csv.row(
                        "%s,%d,%.1f,%.1f",
                        placement, i + 1, ns.getValueAtPercentile(50) / 1e3, ns.getValueAtPercentile(99) / 1e3);
            }
            table.row(
                    "%s | %s | %s | %s | %s",
                    placement.name(),
                    us(all.getValueAtPercentile(50)),
                    us(all.getValueAtPercentile(95)),
                    us(all.getValueAtPercentile(99)),
                    us(all.getMean()));
            if (placement != Placement.off) {
                section.find(
                        "added at p50, " + placement,
                        placement == Placement.both ? "≤ 40 µs (paper: 2,300)" : "≤ 20 µs (paper: 2,300)",
                        us(Numbers.median(added)) + " µs");
            }
        }
        section.table(table);
        section.csv("", csv);
    }

    private static String us(double ns) {
        return (ns >= 100_000 ? "%,.0f" : "%.1f").formatted(ns / 1e3);
    }
}

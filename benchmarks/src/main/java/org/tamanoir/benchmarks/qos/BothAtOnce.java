package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.qos.Setup.Placement;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.ee.QosStatus;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;

/** What the paper could not run: both points together, against each alone, where UDP overloads processors and link. */
final class BothAtOnce {
    private static final int PACKET_OCTETS = 1400;
    private static final long OFFERED = 6_000_000;
    private static final long LINK = 4_000_000;
    private static final long BURST_OCTETS = 1 << 15;
    private static final int LIMIT_PACKETS = 100;
    private static final long HEAVY_US = 150;
    private static final long ENRICHING_US = 50;
    private static final double GROWTH = 2;

    private BothAtOnce() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                ("UDP, packets of %,d octets. Flow A (weight 30) asks for a service that burns %d µs a packet, flow "
                                + "C (weight 70) for one that burns %d µs and doubles the packet. Each offers %d MB/s; the "
                                + "link takes %d MB/s of what comes out. Without a scheduling point of its own for the link, "
                                + "the node has a second node behind it that is one FIFO queue under a token bucket. A packet "
                                + "that was processed and then dropped at the link is wasted processor time. WFQ at both points.")
                        .formatted(PACKET_OCTETS, HEAVY_US, ENRICHING_US, OFFERED / 1_000_000, LINK / 1_000_000));
        List<TrafficClass> classes =
                List.of(Setup.trafficClass("a", 0, 30, LIMIT_PACKETS), Setup.trafficClass("c", 1, 70, LIMIT_PACKETS));
        PreProcessing turns = Setup.turns("wfq", 1, PreProcessing.DEFAULT_QUANTUM);
        Link link = Setup.link("wfq", LINK, BURST_OCTETS);
        QosConfig network = Setup.network(LINK, BURST_OCTETS, LIMIT_PACKETS);
        List<Outcome> outcomes = new ArrayList<>();
        outcomes.add(run(settings, Placement.off, QosConfig.OFF, network));
        outcomes.add(run(settings, Placement.pre, Setup.pre(classes, turns), network));
        outcomes.add(run(settings, Placement.post, Setup.post(classes, link), null));
        outcomes.add(run(settings, Placement.both, Setup.both(classes, turns, link), null));
        describe(section, outcomes);
    }

    private record Outcome(Placement placement, Trace trace) {
        long delivered() {
            return trace.delivered()[0] + trace.delivered()[1];
        }

        long wasted() {
            return Math.max(0, trace.invocations()[0] + trace.invocations()[1] - delivered());
        }

        double cpuSeconds() {
            return (trace.invocations()[0] * HEAVY_US + trace.invocations()[1] * ENRICHING_US) / 1e6;
        }

        double usPerDelivered() {
            return cpuSeconds() * 1e6 / delivered();
        }

        /** Packets that a scheduling point of the node dropped. */
        long dropped(boolean beforeProcessing) {
            long packets = 0;
            for (QosStatus.Point point : trace.qos().points()) {
                if (point.name().equals("pre") == beforeProcessing) {
                    packets += point.classes().stream()
                            .flatMap(each -> each.dropped().values().stream())
                            .mapToLong(QosStatus.Dropped::packets)
                            .sum();
                }
            }
            return packets;
        }

        double shareOfA(double seconds) {
            double a = trace.rate(0, seconds / 4, seconds);
            return a / (a + trace.rate(1, seconds / 4, seconds));
        }
    }

    private static Outcome run(Settings settings, Placement placement, QosConfig qos, @Nullable QosConfig network)
            throws IOException {
        Flow a = new Flow("A", 0, Work.burning("org.example.Heavy", HEAVY_US), PACKET_OCTETS, true, OFFERED, 0);
        Flow c = new Flow(
                "C",
                1,
                Work.growing("org.example.Enrich", ENRICHING_US, GROWTH, GROWTH),
                PACKET_OCTETS,
                true,
                OFFERED,
                0);
        Trace trace = new Bed(List.of(a, c), qos, network).run(settings.scaled(6.0), settings.off());
        return new Outcome(placement, trace);
    }

    private static void describe(Section section, List<Outcome> outcomes) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        Map<String, List<Double>> bars = new LinkedHashMap<>();
        bars.put("delivered", new ArrayList<>());
        bars.put("wasted", new ArrayList<>());
        StringBuilder csv = new StringBuilder(
                "placement,invocations A,invocations C,delivered A,delivered C,wasted,service CPU seconds\n");
        for (Outcome outcome : outcomes) {
            Trace trace = outcome.trace();
            double seconds = trace.slots() * FlowSink.SLOT_S;
            long invocations = trace.invocations()[0] + trace.invocations()[1];
            rows.add(List.of(
                    outcome.placement().name(),
                    String.format(Locale.ROOT, "%,d", invocations),
                    String.format(Locale.ROOT, "%,d + %,d", trace.delivered()[0], trace.delivered()[1]),
                    String.format(
                            Locale.ROOT,
                            "%,d (%.1f %%)",
                            outcome.wasted(),
                            100.0 * outcome.wasted() / Math.max(1, invocations)),
                    String.format(Locale.ROOT, "%.0f", outcome.usPerDelivered()),
                    String.format(Locale.ROOT, "%,d", outcome.dropped(true)),
                    String.format(Locale.ROOT, "%,d", outcome.dropped(false)),
                    String.format(
                            Locale.ROOT,
                            "%.1f : %.1f",
                            100 * outcome.shareOfA(seconds),
                            100 - 100 * outcome.shareOfA(seconds))));
            bars.get("delivered").add((double) outcome.delivered());
            bars.get("wasted").add((double) outcome.wasted());
            csv.append(String.format(
                    Locale.ROOT,
                    "%s,%d,%d,%d,%d,%d,%.3f%n",
                    outcome.placement(),
                    trace.invocations()[0],
                    trace.invocations()[1],
                    trace.delivered()[0],
                    trace.delivered()[1],
                    outcome.wasted(),
                    outcome.cpuSeconds()));
            section.find(
                    "wasted invocations, " + outcome.placement(),
                    outcome.placement() == Placement.both ? "0 (not run)" : "–",
                    rows.get(rows.size() - 1).get(3));
            section.find(
                    "processor time of services per delivered packet, " + outcome.placement(),
                    "–",
                    rows.get(rows.size() - 1).get(4) + " µs");
        }
        section.table(
                List.of(
                        "placement",
                        "invocations",
                        "delivered A + C",
                        "wasted",
                        "service CPU µs per delivered packet",
                        "dropped before processing",
                        "dropped at the node's link",
                        "octets A : C, %"),
                rows);
        section.plot(
                "",
                Plot.bars(
                        section.title(),
                        "packets",
                        outcomes.stream().map(each -> each.placement().name()).toList(),
                        bars));
        section.csv("", csv.toString());
    }
}

package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.qos.Setup.Placement;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.sched.QosStatus;

/** What the paper could not run: both points together, against each alone, where UDP overloads processors and link. */
final class BothAtOnce {
    private static final int PACKET_BYTES = 1400;
    private static final long OFFERED = 6_000_000;
    private static final long LINK = 4_000_000;
    private static final long BURST_BYTES = 1 << 15;
    private static final int LIMIT_PACKETS = 100;
    private static final long HEAVY_US = 150;
    private static final long ENRICHING_US = 50;
    private static final double GROWTH = 2;

    private BothAtOnce() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "UDP, packets of %,d bytes. Flow A (weight 30) asks for a service that burns %d µs a packet, flow "
                        + "C (weight 70) for one that burns %d µs and doubles the packet. Each offers %d MB/s; the "
                        + "link takes %d MB/s of what comes out. Without a scheduling point of its own for the link, "
                        + "the node has a second node behind it that is one FIFO queue under a token bucket. A packet "
                        + "that was processed and then dropped at the link is wasted processor time. WFQ at both points.",
                PACKET_BYTES, HEAVY_US, ENRICHING_US, OFFERED / 1_000_000, LINK / 1_000_000);
        List<TrafficClass> classes =
                List.of(Setup.trafficClass("a", 0, 30, LIMIT_PACKETS), Setup.trafficClass("c", 1, 70, LIMIT_PACKETS));
        PreProcessing turns = Setup.turns("wfq", 1, PreProcessing.DEFAULT_QUANTUM);
        Link link = Setup.link("wfq", LINK, BURST_BYTES);
        QosConfig network = Setup.network(LINK, BURST_BYTES, LIMIT_PACKETS);
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
        Flow a = new Flow("A", 0, Work.burning("org.example.Heavy", HEAVY_US), PACKET_BYTES, true, OFFERED, 0);
        Flow c = new Flow(
                "C",
                1,
                Work.growing("org.example.Enrich", ENRICHING_US, GROWTH, GROWTH),
                PACKET_BYTES,
                true,
                OFFERED,
                0);
        Trace trace = new Bed(List.of(a, c), qos, network).run(settings.scaled(6.0), settings.off());
        return new Outcome(placement, trace);
    }

    private static void describe(Section section, List<Outcome> outcomes) throws IOException {
        Rows table =
                new Rows("placement | invocations | delivered A + C | wasted | service CPU µs per delivered packet | "
                        + "dropped before processing | dropped at the node's link | bytes A : C, %");
        Series bars = new Series();
        Rows csv = new Rows("placement,invocations A,invocations C,delivered A,delivered C,wasted,service CPU seconds");
        for (Outcome outcome : outcomes) {
            Placement placement = outcome.placement();
            long[] invoked = outcome.trace().invocations();
            long[] delivered = outcome.trace().delivered();
            double shareOfA = 100 * outcome.shareOfA(outcome.trace().slots() * FlowSink.SLOT_S);
            long invocations = invoked[0] + invoked[1];
            double percent = 100.0 * outcome.wasted() / Math.max(1, invocations);
            String wasted = "%,d (%.1f %%)".formatted(outcome.wasted(), percent);
            String cpu = "%.0f".formatted(outcome.usPerDelivered());
            table.row(
                    "%s | %,d | %,d + %,d | %s | %s | %,d | %,d | %.1f : %.1f",
                    placement,
                    invocations,
                    delivered[0],
                    delivered[1],
                    wasted,
                    cpu,
                    outcome.dropped(true),
                    outcome.dropped(false),
                    shareOfA,
                    100 - shareOfA);
            bars.add("delivered", outcome.delivered()).add("wasted", outcome.wasted());
            csv.row(
                    "%s,%d,%d,%d,%d,%d,%.3f",
                    placement,
                    invoked[0],
                    invoked[1],
                    delivered[0],
                    delivered[1],
                    outcome.wasted(),
                    outcome.cpuSeconds());
            String reference = placement == Placement.both ? "0 (not run)" : "–";
            section.find("wasted invocations, " + placement, reference, "%s", wasted);
            section.find("processor time of services per delivered packet, " + placement, "–", cpu + " µs");
        }
        section.table(table);
        List<String> groups =
                outcomes.stream().map(each -> each.placement().name()).toList();
        section.plot("", Plot.bars(section.title(), "packets", groups, bars));
        section.csv("", csv);
    }
}

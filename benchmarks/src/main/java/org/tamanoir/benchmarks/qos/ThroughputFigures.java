package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.sched.QosStatus;

/**
 * Figures 4 to 9 of the QoS paper: throughput against time. The heavy service A and the light service B burn what the
 * paper's figures tell of its nodes: A alone reached 15 Mb/s (figure 5), and with B, packet by packet, both reached 10
 * (figure 4).
 */
final class ThroughputFigures {
    private static final int PACKET_BYTES = 1400;
    private static final double MEGABIT = 125_000;
    private static final double MEGABYTE = 1_000_000;
    /** 15 Mb/s in packets of 1,400 bytes. */
    private static final long HEAVY_US = 747;
    /** With the above, one packet of each takes 1,120 µs: 10 Mb/s each. */
    private static final long LIGHT_US = 373;
    /** 8 Mb/s, as A reached in figure 7. */
    private static final long SLOW_US = 1400;
    /** More than any service here takes. */
    private static final long OFFERED = Math.round(40 * MEGABIT);

    private static final long NETWORK = Math.round(10 * MEGABIT);
    /** 8 ms of it: a timer may come that late on a busy machine without a loss of rate. */
    private static final long NETWORK_BURST_BYTES = 10_000;

    private static final int LIMIT_PACKETS = 50;
    /** The paper's 70, 21 and 49 MB/s, divided by ten: two processors carry senders, node and sink. */
    private static final double LIMIT_MEGABYTES = 7;
    /** 7 MB/s of packets of 1,400 bytes. */
    private static final long LIMIT_US = 200;

    private static final double LEAST_GROWTH = 1.05;
    private static final double MOST_GROWTH = 1.48;
    /** The time after a start that belongs to neither before nor after. */
    private static final double SETTLING_S = 0.5;

    private static final List<TrafficClass> A_BEFORE_B =
            List.of(Setup.trafficClass("a", 0, 1, LIMIT_PACKETS), Setup.trafficClass("b", 1, 1, LIMIT_PACKETS));
    private static final List<TrafficClass> C_AND_D =
            List.of(Setup.trafficClass("c", 0, 30, 1000), Setup.trafficClass("d", 1, 70, 1000));

    private ThroughputFigures() {}

    static void figure4(Settings settings, Section section) throws IOException {
        section.say(
                "Heavy flow A (%d µs of processor time a packet) and light flow B (%d µs), packets of %,d bytes, "
                        + "FIFO before processing, one processor for turns, each of one packet. B starts first. FIFO "
                        + "alternates, so both lose: A gets as many packets as B, not as much time.",
                HEAVY_US, LIGHT_US, PACKET_BYTES);
        QosConfig fifo = Setup.pre(A_BEFORE_B, Setup.turns("fifo", 1, Setup.ONE_PACKET));
        for (boolean udp : new boolean[] {false, true}) {
            Trace trace = heavyAndLight(settings, fifo, null, udp, HEAVY_US);
            describe(settings, section, udp, trace, "A ≈ B ≈ 10 Mb/s", "A ≈ B ≈ 10 Mb/s");
        }
        monitor(settings, section, fifo, "–");
    }

    static void figure5(Settings settings, Section section) throws IOException {
        section.say("As figure 4, but with strict priority for A: from the moment A starts, B gets nothing. The sum "
                + "falls, since A's packets cost more.");
        QosConfig priority = Setup.pre(A_BEFORE_B, Setup.turns("pq", 1, Setup.ONE_PACKET));
        for (boolean udp : new boolean[] {false, true}) {
            Trace trace = heavyAndLight(settings, priority, null, udp, HEAVY_US);
            describe(settings, section, udp, trace, "15 Mb/s", "0 Mb/s");
        }
        monitor(settings, section, priority, "0");
    }

    static void figure6(Settings settings, Section section) throws IOException {
        section.say("Strict priority for A before processing, and a network of 10 Mb/s behind the node: a second node "
                + "in the same process whose only scheduling is one FIFO queue of %d packets under a token bucket. UDP, %.0f Mb/s offered by each. A could do 15, so it fills the network."
                        .formatted(LIMIT_PACKETS, OFFERED / MEGABIT));
        QosConfig priority = Setup.pre(A_BEFORE_B, Setup.turns("pq", 1, Setup.ONE_PACKET));
        QosConfig network = Setup.network(NETWORK, NETWORK_BURST_BYTES, LIMIT_PACKETS);
        Trace trace = heavyAndLight(settings, priority, network, true, HEAVY_US);
        describe(settings, section, true, trace, "10 Mb/s", "0 Mb/s");
    }

    static void figure7(Settings settings, Section section) throws IOException {
        section.say(
                "Strict priority for A after processing, on a link of 10 Mb/s: the post point's own token bucket. "
                        + "A's service takes %,d µs a packet, 8 Mb/s, so it cannot fill the link, and B gets the rest.",
                SLOW_US);
        QosConfig priority = Setup.post(A_BEFORE_B, Setup.link("pq", NETWORK, NETWORK_BURST_BYTES));
        for (boolean udp : new boolean[] {false, true}) {
            Trace trace = heavyAndLight(settings, priority, null, udp, SLOW_US);
            describe(settings, section, udp, trace, "8 Mb/s", "more than 0");
        }
    }

    static void figure8(Settings settings, Section section) throws IOException {
        section.say(
                "Enriched flow C, whose service makes packets longer by a factor that wanders between %.2f and "
                        + "%.2f, and plain flow D; weights 30 and 70; WFQ before processing, one processor. Both services burn %d µs "
                        + "a packet of 1,400 bytes, so that the processor takes in 7 MB/s: 2.1 of C and 4.9 of D. What C sends out was not known when it was scheduled: it "
                        + "gets more of the network than its share, and wanders. (The paper's \"MBps\" divided by ten.)",
                LEAST_GROWTH, MOST_GROWTH, LIMIT_US);
        QosConfig wfq = Setup.pre(C_AND_D, Setup.turns("wfq", 1, PreProcessing.DEFAULT_QUANTUM));
        enrichedAndPlain(settings, section, wfq, LIMIT_US, "2.2–3.1 where 2.1 was reserved", "–");
    }

    static void figure9(Settings settings, Section section) throws IOException {
        section.say(
                "The same flows, WFQ after processing on a link of 7 MB/s: real sizes are known there, and both get "
                        + "exactly their shares. The services burn a tenth, so that the link is the limit.");
        QosConfig wfq = Setup.post(C_AND_D, Setup.link("wfq", Math.round(LIMIT_MEGABYTES * MEGABYTE), 1 << 16));
        enrichedAndPlain(settings, section, wfq, LIMIT_US / 10, "2.1", "4.9");
    }

    private static double startOfA(Settings settings) {
        return Math.rint(settings.seconds() * 0.35 / FlowSink.SLOT_S) * FlowSink.SLOT_S;
    }

    private static Trace heavyAndLight(
            Settings settings, QosConfig qos, @Nullable QosConfig network, boolean udp, long heavyUs)
            throws IOException {
        long offered = udp ? OFFERED : 0;
        Flow a = new Flow(
                "A", 0, Work.burning("org.example.Heavy", heavyUs), PACKET_BYTES, udp, offered, startOfA(settings));
        Flow b = new Flow("B", 1, Work.burning("org.example.Light", LIGHT_US), PACKET_BYTES, udp, offered, 0);
        return new Bed(List.of(a, b), qos, network).run(settings.seconds(), settings.off());
    }

    private static void describe(
            Settings settings, Section section, boolean udp, Trace trace, String paperA, String paperB)
            throws IOException {
        String over = udp ? "UDP" : "TCP";
        double start = startOfA(settings);
        double settling = Math.min(SETTLING_S, settings.seconds() / 8);
        double before = trace.rate(1, settling, start) / MEGABIT;
        double a = trace.rate(0, start + settling, settings.seconds()) / MEGABIT;
        double b = trace.rate(1, start + settling, settings.seconds()) / MEGABIT;
        section.find("B alone, " + over, "–", text(before, "Mb/s"));
        section.find("A beside B, " + over, paperA, text(a, "Mb/s"));
        section.find("B beside A, " + over, paperB, text(b, "Mb/s"));
        for (QosStatus.Point point : udp ? trace.qos().points() : List.<QosStatus.Point>of()) {
            section.find(
                    "invocations, and packets dropped at point \"" + point.name() + "\", A and B, UDP",
                    "–",
                    "%,d and %,d; %,d and %,d",
                    trace.invocations()[0],
                    trace.invocations()[1],
                    dropped(point, 0),
                    dropped(point, 1));
        }
        plot(section, "-" + over.toLowerCase(Locale.ROOT), section.title() + ", " + over, trace, "Mb/s", MEGABIT, 5);
    }

    private static long dropped(QosStatus.Point point, int trafficClass) {
        return point.classes().get(trafficClass).dropped().values().stream()
                .mapToLong(QosStatus.Dropped::packets)
                .sum();
    }

    /** B as light as it is today: the Monitor service, as much as TCP brings. */
    private static void monitor(Settings settings, Section section, QosConfig qos, String reference)
            throws IOException {
        double start = startOfA(settings);
        Flow a = new Flow("A", 0, Work.burning("org.example.Heavy", HEAVY_US), PACKET_BYTES, false, 0, start);
        Flow b = new Flow("B (Monitor)", 1, Work.monitor(), PACKET_BYTES, false, 0, 0);
        Trace trace = new Bed(List.of(a, b), qos, null).run(settings.seconds(), settings.off());
        double settling = Math.min(SETTLING_S, settings.seconds() / 8);
        section.find("B through Monitor, alone, TCP", "–", text(trace.rate(1, settling, start) / MEGABYTE, "MB/s"));
        section.find(
                "A beside B through Monitor, TCP",
                "–",
                text(trace.rate(0, start + settling, settings.seconds()) / MEGABIT, "Mb/s"));
        section.find(
                "B through Monitor beside A, TCP",
                reference,
                text(trace.rate(1, start + settling, settings.seconds()) / MEGABYTE, "MB/s"));
        section.csv("-monitor", trace.csv());
    }

    private static void enrichedAndPlain(
            Settings settings, Section section, QosConfig qos, long us, String paperC, String paperD)
            throws IOException {
        Flow c = new Flow(
                "C", 0, Work.growing("org.example.Enrich", us, LEAST_GROWTH, MOST_GROWTH), PACKET_BYTES, false, 0, 0);
        Flow d = new Flow("D", 1, Work.burning("org.example.Plain", us), PACKET_BYTES, false, 0, 0);
        Trace trace = new Bed(List.of(c, d), qos, null).run(settings.seconds(), settings.off());
        double from = Math.min(1, settings.seconds() / 4);
        String[] papers = {paperC, paperD};
        for (int flow = 0; flow < 2; flow++) {
            double mean = trace.rate(flow, from, settings.seconds()) / MEGABYTE;
            double[] range = trace.range(flow, from, settings.seconds(), 0.5);
            section.find(
                    trace.flows().get(flow).name() + ", MB/s (least and most in half a second)",
                    papers[flow],
                    "%.2f (%.2f–%.2f)",
                    mean,
                    range[0] / MEGABYTE,
                    range[1] / MEGABYTE);
        }
        double enriched = trace.rate(0, from, settings.seconds());
        double share = 100 * enriched / (enriched + trace.rate(1, from, settings.seconds()));
        section.find("bytes of C and D that left, %", "weights 30 : 70", "%.1f : %.1f", share, 100 - share);
        plot(section, "", section.title(), trace, "MB/s", MEGABYTE, 5);
    }

    private static void plot(
            Section section, String name, String title, Trace trace, String unit, double bytes, int windowSlots)
            throws IOException {
        Series series = new Series();
        for (int flow = 0; flow < trace.flows().size(); flow++) {
            series.add(trace.flows().get(flow).name(), trace.curve(flow, windowSlots, bytes));
        }
        section.plot(name, Plot.lines(title, "seconds", unit, trace.times(), series));
        section.csv(name, trace.csv());
    }

    private static String text(double value, String unit) {
        return (value >= 100 ? "%.0f %s" : "%.1f %s").formatted(value, unit);
    }
}

package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.tamanoir.benchmarks.cluster.FrontEnd.Cost;
import org.tamanoir.benchmarks.cluster.FrontEnd.Way;
import org.tamanoir.benchmarks.cluster.Measurements.OnHost;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** The model of {@link Model}, with costs that were measured a stage at a time, beside what was measured of the whole. */
final class ModelFigures {
    /** Costs are taken with as many streams, so that every thread of a stage shares processors with others. */
    private static final int STREAMS_OF_COSTS = Settings.PAPER_STREAMS;
    /** Of TCP in a frame of 1,500 bytes, with timestamps; and of such a frame on the wire, preamble and gap included. */
    private static final double SEGMENT_BYTES = 1448;

    private static final double WIRE_BYTES = 1538;
    private static final int MACHINES = 16;
    private static final Map<String, Double> LINKS =
            new java.util.TreeMap<>(Map.of("1 Gb/s", 1e9, "10 Gb/s", 10e9, "40 Gb/s", 40e9));

    private ModelFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        OnHost onHost = settings.measurements().onHost();
        int processors = Runtime.getRuntime().availableProcessors();
        section.say(
                "S and R are the processor time of sender and receiver for a packet in runs without nodes, B that of the node in "
                        + "runs with one, all with %d streams. With them, X(s) = min(P / (S + B + R), s / max(S, B, R)) foretells "
                        + "the throughput of s streams through one, two and three nodes on P = %d shared processors. The other "
                        + "prediction has the processors that the stages really had in place of P: it tells how far costs stay "
                        + "what they were. What the kernel does to bring bytes to the next socket is the sender's time.",
                STREAMS_OF_COSTS, processors);
        Rows table = new Rows(
                "service | bytes | streams | nodes | Mb/s | predicted | processors had | predicted with those");
        Rows csv =
                new Rows("service,bytes,streams,back-ends,measured Mb/s,predicted Mb/s,predicted with processors had");
        List<Double> errors = new ArrayList<>();
        List<Double> errorsHad = new ArrayList<>();
        for (Point each : onHost.points()) {
            Model model = model(onHost, each.work(), each.bytes());
            double predicted = megabits(model.shared(processors, each.streams()), each.bytes());
            double had = megabits(model.shared(each.processors(), Integer.MAX_VALUE), each.bytes());
            errors.add(predicted / each.megabits() - 1);
            errorsHad.add(had / each.megabits() - 1);
            table.row(
                    "%s | %,d | %d | %d | %,.0f | %,.0f (%+.0f %%) | %.2f | %,.0f (%+.0f %%)",
                    each.work().label(),
                    each.bytes(),
                    each.streams(),
                    each.backEnds(),
                    each.megabits(),
                    predicted,
                    100 * (predicted / each.megabits() - 1),
                    each.processors(),
                    had,
                    100 * (had / each.megabits() - 1));
            csv.row(
                    "%s,%d,%d,%d,%.0f,%.0f,%.0f",
                    each.work().label(),
                    each.bytes(),
                    each.streams(),
                    each.backEnds(),
                    each.megabits(),
                    predicted,
                    had);
        }
        section.find("prediction of throughput on shared processors, off by: median, largest", "–", off(errors));
        section.find("the same with the processors that the stages had", "–", off(errorsHad));
        stages(section, onHost);
        section.table(table);
        section.csv("", csv);
        plotShared(settings, section, onHost, processors);
        own(settings, section, onHost, processors);
        section.json(onHost);
    }

    /** With costs measured a stage at a time. */
    static Model model(OnHost onHost, Work work, int bytes) throws IOException {
        Point straight = ThroughputFigures.at(onHost.straight(), bytes, STREAMS_OF_COSTS, 0);
        Point one = ThroughputFigures.at(
                onHost.points().stream().filter(each -> each.work() == work).toList(), bytes, STREAMS_OF_COSTS, 1);
        return new Model(straight.senderNsPerPacket(), one.nodeNsPerPacket(), straight.receiverNsPerPacket());
    }

    private static double megabits(double packetsPerSecond, int bytes) {
        return packetsPerSecond * bytes * 8 / 1e6;
    }

    private static String off(List<Double> errors) {
        List<Double> sizes = errors.stream().map(each -> 100 * Math.abs(each)).toList();
        return "%.0f %%, %.0f %% (%d points)"
                .formatted(
                        Numbers.median(sizes),
                        sizes.stream().mapToDouble(each -> each).max().orElse(Double.NaN),
                        sizes.size());
    }

    private static void stages(Section section, OnHost onHost) throws IOException {
        Rows table = new Rows("service | bytes | S, ns a packet | B, ns a packet | R, ns a packet | B, CPU-s per GB");
        for (Work work : Work.values()) {
            for (int bytes : onHost.points().stream()
                    .filter(each -> each.work() == work)
                    .map(Point::bytes)
                    .distinct()
                    .toList()) {
                Model model = model(onHost, work, bytes);
                table.row(
                        "%s | %,d | %,.0f | %,.0f | %,.0f | %.2f",
                        work.label(),
                        bytes,
                        model.senderNs(),
                        model.nodeNs(),
                        model.receiverNs(),
                        model.nodeNs() / bytes);
            }
        }
        section.table(table);
    }

    private static void plotShared(Settings settings, Section section, OnHost onHost, int processors)
            throws IOException {
        List<Integer> streams = Settings.streams(settings.quick());
        for (Work work : Work.values()) {
            List<Point> points =
                    onHost.points().stream().filter(each -> each.work() == work).toList();
            Series series = new Series();
            for (int n = 1; n <= Bed.BACK_ENDS; n++) {
                series.add(n + " nodes", ThroughputFigures.curve(points, Settings.PAPER_BYTES, n, streams));
            }
            Model model = model(onHost, work, Settings.PAPER_BYTES);
            series.add(
                    "model",
                    streams.stream()
                            .map(each -> megabits(model.shared(processors, each), Settings.PAPER_BYTES))
                            .toList());
            section.plot(
                    "-" + work.label().toLowerCase(Locale.ROOT),
                    Plot.lines(
                            work.label() + ", 8 KB, on " + processors + " shared processors",
                            "streams",
                            "Mb/s",
                            ThroughputFigures.doubles(streams),
                            series));
        }
    }

    private static void own(Settings settings, Section section, OnHost onHost, int processors) throws IOException {
        List<Cost> counted = settings.measurements().frontEnd();
        int frame = Measurements.FRAMES.get(Measurements.FRAMES.size() - 1);
        double plain = FrontEndFigures.median(counted, FrontEnd.PLAIN, frame);
        double direct =
                FrontEndFigures.median(counted, new Way(Ipvs.Forwarding.DIRECT.label(), Bed.BACK_ENDS, false), frame);
        double forwardNs = settings.measurements().forwardNs();
        double frameNs = forwardNs * direct / plain;
        double packetNs = frameNs * Settings.PAPER_BYTES / SEGMENT_BYTES;
        section.say(
                "Machines of their own: X(n, s) = min(min(s, n·p) / B, p / F, L), each with p = %d of this host's processors, and "
                        + "enough streams. F: plain forwarding of a frame takes %,.0f ns on this host, direct routing %.2f of "
                        + "plain forwarding's instructions, which makes %,.0f ns; a packet of 8 KB is %.2f frames. L: the link on which "
                        + "the front-end takes packets in; answers do not pass it. B knows no network card: what the kernel "
                        + "does for each frame of a real network comes on top, so nodes reach less than this, and more of them are "
                        + "needed before the front-end bounds them.",
                processors, forwardNs, direct / plain, frameNs, Settings.PAPER_BYTES / SEGMENT_BYTES);
        section.find(
                "front-end alone, direct routing, 8 KB: packets a second; throughput",
                "–",
                "%,.0f; %,.0f Mb/s",
                1e9 * processors / packetNs,
                megabits(1e9 * processors / packetNs, Settings.PAPER_BYTES));
        List<Integer> machines = IntStream.rangeClosed(1, MACHINES).boxed().toList();
        for (Work work : Work.values()) {
            Model model = model(onHost, work, Settings.PAPER_BYTES);
            section.find(
                    work.label() + ": back-ends from which the front-end's processors bound throughput",
                    "–",
                    Integer.toString(model.boundFrom(processors, packetNs, Double.POSITIVE_INFINITY)));
            Series series = new Series();
            series.add("any link", curve(model, machines, processors, packetNs, Double.POSITIVE_INFINITY));
            LINKS.forEach((name, bits) -> {
                double link = bits * SEGMENT_BYTES / WIRE_BYTES / (8.0 * Settings.PAPER_BYTES);
                section.find(
                        work.label() + ": the same where the front-end has a link of " + name,
                        "–",
                        Integer.toString(model.boundFrom(processors, packetNs, link)));
                series.add(name, curve(model, machines, processors, packetNs, link));
            });
            section.plot(
                    "-own-" + work.label().toLowerCase(Locale.ROOT),
                    Plot.lines(
                            work.label() + ", 8 KB, machines of their own: the model",
                            "back-ends",
                            "Mb/s",
                            ThroughputFigures.doubles(machines),
                            series));
        }
    }

    private static List<Double> curve(
            Model model, List<Integer> machines, int processors, double frontEndNs, double link) {
        return machines.stream()
                .map(n -> megabits(model.own(n, Integer.MAX_VALUE, processors, frontEndNs, link), Settings.PAPER_BYTES))
                .toList();
    }
}

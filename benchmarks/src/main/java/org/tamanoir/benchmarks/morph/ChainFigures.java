package org.tamanoir.benchmarks.morph;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** Table 1: chains of handlers that do nothing, in one context and in several, alone and in a node. */
final class ChainFigures {
    private static final int MOST = 5;
    private static final int[] PAPER_MBPS = {980, 981, 980, 978, 978, 978};
    private static final int[] PAPER_CYCLES = {0, 350, 351, 352, 353, 355};
    private static final double PAPER_MHZ = 600;
    private static final int RECORDS = 128;
    private static final int BATCH = 1_000;
    private static final int WARM_BATCHES = 2_000;
    private static final int BATCHES = 2_000;
    private static final int HOPS_WARM = 3_000;
    private static final int HOPS = 3_000;
    private static final double SETTLE_S = 0.3;
    private static final double WARM_S = 3;
    private static final int LATENCY_RATE = 2_000;

    private ChainFigures() {}

    /** Returns a plan of so many handlers, each in a context of its own where it is to be. */
    static String plan(int handlers, boolean contexts) {
        StringBuilder text = new StringBuilder();
        if (contexts && handlers > 0) {
            text.append("contexts: {");
            for (int i = 0; i < handlers; i++) {
                text.append("c").append(i).append(": {ring: 256KiB}, ");
            }
            text.append("}\n");
        }
        text.append("handlers:\n");
        for (int i = 0; i < handlers; i++) {
            text.append("  h%d: {nothing: , context: %s, then: %s}\n"
                    .formatted(i, contexts ? "c" + i : "receive", i + 1 < handlers ? "h" + (i + 1) : "out"));
        }
        if (handlers == 0) {
            text = new StringBuilder();
        }
        return text + "paths: [{enter: " + (handlers == 0 ? "out" : "h0") + "}]\n";
    }

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "Chains of 0 to %d handlers that let all pass. Alone: the plan without a node, the mean of each %,d messages "
                        + "by nanoTime around them, p50 over %,d such; between contexts one message at a time, from its entry until "
                        + "it is back, p50 of %,d. In a node: processes for sender, node and sink, one stream or flow of flights, one "
                        + "service for each chain in the same node, %d rounds of %.1f s in turns, medians. Added latency in a node: "
                        + "%,d messages a second, from writing to reading.",
                MOST, BATCH, BATCHES, HOPS, settings.rounds(), settings.seconds(), LATENCY_RATE);
        double[] within = new double[MOST + 1];
        double[] between = new double[MOST + 1];
        Path folder = Files.createTempDirectory("tamanoir-morph-");
        ByteBuffer[] records = PlanRun.direct(new Flights(1).records(Flights.FLIGHT, RECORDS));
        for (int handlers = 0; handlers <= MOST; handlers++) {
            within[handlers] = alone(folder, handlers, records);
            between[handlers] = handlers == 0 ? 0 : pingPong(folder, handlers, records);
        }
        List<List<Bed.Window>> tcp = throughput(settings, false);
        List<List<Bed.Window>> udp = throughput(settings, true);
        double[] latency = latencies(settings);
        Rows table = new Rows("handlers | alone, ns | contexts, ns | TCP, Mb/s | node's CPU, ns/message | UDP, Mb/s |"
                + " node's CPU, ns/message | end to end p50, µs | paper, Mb/s | paper, cycles");
        Rows csv = new Rows("handlers,alone ns,contexts ns,tcp Mbps,tcp cpu ns,udp Mbps,udp cpu ns,latency us");
        Series plot = new Series();
        for (int n = 0; n <= MOST; n++) {
            double tcpMbps = mbps(tcp.get(n));
            double udpMbps = mbps(udp.get(n));
            table.row(
                    "%d | %.1f | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f | %d | %d",
                    n,
                    within[n],
                    between[n],
                    tcpMbps,
                    cpu(tcp.get(n)),
                    udpMbps,
                    cpu(udp.get(n)),
                    latency[n],
                    PAPER_MBPS[n],
                    PAPER_CYCLES[n]);
            csv.row(
                    "%d,%.2f,%.1f,%.1f,%.1f,%.1f,%.1f,%.2f",
                    n, within[n], between[n], tcpMbps, cpu(tcp.get(n)), udpMbps, cpu(udp.get(n)), latency[n]);
            plot.add("TCP", tcpMbps).add("UDP", udpMbps).add("paper", PAPER_MBPS[n]);
        }
        section.find(
                "a stage within a context, p50",
                "≤ 0.3 µs (paper: %.2f µs)".formatted(PAPER_CYCLES[1] / PAPER_MHZ),
                "%.3f µs",
                (within[MOST] - within[0]) / MOST / 1e3);
        section.find(
                "a stage in a context of its own, p50, one message at a time",
                "≤ 2 µs",
                "%.2f µs",
                (between[MOST] - between[1]) / (MOST - 1) / 1e3);
        section.find(
                "throughput of five handlers to that of none, TCP; UDP",
                "≥ 0.97",
                "%.3f; %.3f",
                mbps(tcp.get(MOST)) / mbps(tcp.get(0)),
                mbps(udp.get(MOST)) / mbps(udp.get(0)));
        section.find(
                "node's processor time of five handlers to that of none, TCP; UDP",
                "–",
                "%.3f; %.3f",
                cpu(tcp.get(MOST)) / cpu(tcp.get(0)),
                cpu(udp.get(MOST)) / cpu(udp.get(0)));
        section.find("added by five handlers end to end, p50", "≤ 1.5 µs", "%.1f µs", latency[MOST] - latency[0]);
        section.table(table)
                .csv("", csv)
                .plot("", Plot.bars("Chains of handlers", "Mb/s", List.of("0", "1", "2", "3", "4", "5"), plot));
    }

    /** Returns what a message costs in a plan, in ns. */
    private static double alone(Path folder, int handlers, ByteBuffer[] records) throws IOException {
        Path plan = Files.writeString(folder.resolve("within" + handlers + ".yaml"), plan(handlers, false));
        Histogram times = new Histogram(3);
        try (PlanRun run = new PlanRun(plan, record -> {})) {
            for (int i = 0; i < WARM_BATCHES + BATCHES; i++) {
                long beginNs = System.nanoTime();
                for (int k = 0; k < BATCH; k++) {
                    run.handle(Flights.FLIGHT, records[k % records.length]);
                }
                if (i >= WARM_BATCHES) {
                    times.recordValue((System.nanoTime() - beginNs) * 100 / BATCH);
                }
            }
        }
        return times.getValueAtPercentile(50) / 100.0;
    }

    /** Returns how long a message takes through so many contexts and back, in ns. */
    private static double pingPong(Path folder, int contexts, ByteBuffer[] records) throws IOException {
        Path plan = Files.writeString(folder.resolve("between" + contexts + ".yaml"), plan(contexts, true));
        Histogram times = new Histogram(3);
        try (PlanRun run = new PlanRun(plan, record -> {})) {
            for (int i = 0; i < HOPS_WARM + HOPS; i++) {
                long before = run.left;
                long beginNs = System.nanoTime();
                run.handle(Flights.FLIGHT, records[i % records.length]);
                while (run.left == before) {
                    if (!run.take()) {
                        Thread.onSpinWait();
                    }
                    if (System.nanoTime() - beginNs > 5_000_000_000L) {
                        throw new IOException("a message has not come back from " + contexts + " contexts in 5 s");
                    }
                }
                if (i >= HOPS_WARM) {
                    times.recordValue(System.nanoTime() - beginNs);
                }
            }
        }
        return times.getValueAtPercentile(50);
    }

    private static List<List<Bed.Window>> throughput(Settings settings, boolean udp) throws IOException {
        List<List<Bed.Window>> windows = new ArrayList<>();
        try (Bed bed = new Bed()) {
            List<Path> plans = new ArrayList<>();
            for (int i = 0; i <= MOST; i++) {
                plans.add(bed.plan("chain" + i, "formats: [flight.ffs]\n" + plan(i, false)));
                windows.add(new ArrayList<>());
            }
            // Bytes at the sink: datagrams are counted whole, so any size divides.
            Child sink = bed.load(udp ? "udp-sink size=1" : "tcp-sink latency=false");
            int port = Load.freePort();
            Child node = bed.node(settings.node(), port, Integer.parseInt(sink.ready()), plans);
            Bed.awaitListening(port, node);
            Child sender = bed.load(
                    "message-sender port=%d udp=%b services=%d kind=flight records=%d rate=0",
                    port, udp, plans.size(), RECORDS);
            for (int i = 0; i <= MOST; i++) {
                sender.ask("to " + i);
                Threads.pause(WARM_S / 2);
            }
            for (int round = 0; round < settings.rounds(); round++) {
                for (int i = 0; i <= MOST; i++) {
                    // Every second round the other way about, so that what drifts favours nobody.
                    int n = round % 2 == 0 ? i : MOST - i;
                    sender.ask("to " + n);
                    Threads.pause(SETTLE_S);
                    windows.get(n).add(Bed.measure(settings.seconds(), sender, sink, node));
                }
            }
        }
        return windows;
    }

    private static double mbps(List<Bed.Window> windows) {
        return Numbers.median(windows.stream()
                .map(each -> each.arrived() * 8 / each.seconds() / 1e6)
                .toList());
    }

    /** Processor time for each message that arrived, in ns. */
    private static double cpu(List<Bed.Window> windows) {
        return Numbers.median(windows.stream()
                .map(each -> each.cpuNs() / each.arrived() * each.packetBytes())
                .toList());
    }

    private static double[] latencies(Settings settings) throws IOException {
        double[] p50 = new double[MOST + 1];
        try (Bed bed = new Bed()) {
            List<Path> plans = new ArrayList<>();
            for (int i = 0; i <= MOST; i++) {
                plans.add(bed.plan("chain" + i, "formats: [flight.ffs]\n" + plan(i, false)));
            }
            Child sink = bed.load("tcp-sink latency=true");
            int port = Load.freePort();
            Child node = bed.node(settings.node(), port, Integer.parseInt(sink.ready()), plans);
            Bed.awaitListening(port, node);
            Child sender = bed.load(
                    "message-sender port=%d udp=false services=%d kind=flight records=%d rate=%d",
                    port, plans.size(), RECORDS, LATENCY_RATE);
            List<List<Double>> all = new ArrayList<>();
            for (int round = 0; round <= settings.rounds(); round++) {
                for (int i = 0; i <= MOST; i++) {
                    sender.ask("to " + i);
                    Threads.pause(SETTLE_S);
                    sink.ask("latency");
                    Threads.pause(settings.seconds());
                    double us = sink.ask("latency")[1] / 1e3;
                    if (round == 0) {
                        all.add(new ArrayList<>()); // To warm up.
                    } else {
                        all.get(i).add(us);
                    }
                }
            }
            for (int i = 0; i <= MOST; i++) {
                p50[i] = Numbers.median(all.get(i));
            }
        }
        return p50;
    }
}

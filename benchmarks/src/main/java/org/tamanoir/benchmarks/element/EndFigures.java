package org.tamanoir.benchmarks.element;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.CpuClock;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Opened;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;

/** What a packet costs distributor and aggregator, beside what it costs a node that forwards it. */
final class EndFigures {
    private static final int PAYLOAD_BYTES = NumberedStream.PAYLOAD_BYTES;
    /** What an element adds: ANEP's header, stream and round. */
    private static final int HEADER_BYTES = 40;

    private static final int PACKET_BYTES = PAYLOAD_BYTES + HEADER_BYTES;
    private static final int ROUNDS = 3;
    private static final double WARM_UP_S = 3;
    private static final String NODE = "node, UDP forwarding";
    private static final String DISTRIBUTE = "distribute, three units";
    private static final String AGGREGATE = "aggregate";
    private static final String EXACT = "aggregate --exact";

    /** Packets a second, and for each second of processor time. */
    private record Cost(double perSecond, double perCpuSecond) {}

    private interface Measurement {
        Cost run(Settings settings, Processes processes, Opened opened) throws IOException;
    }

    private static final Map<String, Measurement> MEASUREMENTS = new LinkedHashMap<>();

    static {
        MEASUREMENTS.put(NODE, EndFigures::node);
        MEASUREMENTS.put(DISTRIBUTE, EndFigures::distributor);
        MEASUREMENTS.put(AGGREGATE, (settings, processes, opened) -> aggregator(settings, processes, opened, false));
        MEASUREMENTS.put(EXACT, (settings, processes, opened) -> aggregator(settings, processes, opened, true));
    }

    private EndFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "Datagrams of %,d bytes, in packets of %,d, as fast as one sender gives them, %.1f s after %.1f s of warm-up, "
                        + "%d rounds in turns, medians. Packets that arrived at the sink count; what the flood is too fast for is "
                        + "lost in sockets before.",
                PAYLOAD_BYTES, PACKET_BYTES, settings.seconds(), WARM_UP_S, ROUNDS);
        Map<String, List<Cost>> costs = new LinkedHashMap<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (Map.Entry<String, Measurement> each : MEASUREMENTS.entrySet()) {
                try (Processes processes = new Processes();
                        Opened opened = new Opened()) {
                    costs.computeIfAbsent(each.getKey(), unused -> new ArrayList<>())
                            .add(each.getValue().run(settings, processes, opened));
                }
            }
        }
        double node = median(costs.getOrDefault(NODE, List.of()));
        Rows csv = new Rows("what,packets per second,packets per cpu second");
        costs.forEach((name, all) -> {
            boolean isNode = name.equals(NODE);
            section.find(
                    name + ": packets per CPU second" + (isNode ? "" : "; to the node's"),
                    isNode ? "–" : "0.8 asked",
                    isNode ? "%,.0f" : "%,.0f; %.2f",
                    median(all),
                    median(all) / node);
            all.forEach(cost -> csv.row("\"%s\",%.0f,%.0f", name, cost.perSecond, cost.perCpuSecond));
        });
        section.csv("", csv);
    }

    private static double median(List<Cost> costs) {
        return Numbers.median(costs.stream().map(Cost::perCpuSecond).toList());
    }

    private static Cost node(Settings settings, Processes processes, Opened opened) throws IOException {
        Child sink = sink(processes, opened, PACKET_BYTES);
        int port = Load.freePort();
        String listen = address(port);
        Child node = opened.add(processes.start(
                "node",
                settings.node()
                        .line("--tcp", listen, "--udp", listen, "--route", "127.0.0.0/8=" + to(sink) + ",host")));
        return measure(settings, processes, opened, node, sink, port, PACKET_BYTES, PACKET_BYTES);
    }

    private static Cost distributor(Settings settings, Processes processes, Opened opened) throws IOException {
        Child sink = sink(processes, opened, PACKET_BYTES);
        int port = Load.freePort();
        Child distributor = distribute(settings.node(), processes, opened, port, to(sink), "round-robin");
        return measure(settings, processes, opened, distributor, sink, port, PAYLOAD_BYTES, PACKET_BYTES);
    }

    private static Cost aggregator(Settings settings, Processes processes, Opened opened, boolean exact)
            throws IOException {
        Child sink = sink(processes, opened, PAYLOAD_BYTES);
        String between = address(Load.freePort());
        List<String> options = new ArrayList<>(List.of("--listen", between, "--to", to(sink)));
        if (exact) {
            options.addAll(List.of("--exact", "--paths", String.valueOf(Element.UNITS)));
        }
        Child aggregator = opened.add(
                processes.start("aggregate", settings.node().command("aggregate", options.toArray(String[]::new))));
        int port = Load.freePort();
        distribute(settings.node(), processes, opened, port, between, exact ? "exact" : "round-robin");
        return measure(settings, processes, opened, aggregator, sink, port, PAYLOAD_BYTES, PAYLOAD_BYTES);
    }

    private static Child distribute(NodeJvm jvm, Processes processes, Opened opened, int port, String unit, String mode)
            throws IOException {
        List<String> options = new ArrayList<>(List.of("--listen", address(port), "--mode", mode));
        for (int i = 0; i < Element.UNITS; i++) {
            options.addAll(List.of("--unit", i + "=" + unit));
        }
        return opened.add(processes.start("distribute", jvm.command("distribute", options.toArray(String[]::new))));
    }

    private static Child sink(Processes processes, Opened opened, int bytes) throws IOException {
        return opened.add(processes.load("udp-sink size=%d", bytes));
    }

    private static String to(Child sink) {
        return address(Integer.parseInt(sink.ready()));
    }

    private static String address(int port) {
        return "127.0.0.1:" + port;
    }

    private static Cost measure(
            Settings settings,
            Processes processes,
            Opened opened,
            Child measured,
            Child sink,
            int port,
            int bytes,
            int bytesAtSink)
            throws IOException {
        opened.add(processes.load("udp-flood size=%d joined=false port=%d", bytes, port));
        long first = sink.ask("sample")[1];
        if (!Threads.await(30, 50, () -> sink.ask("sample")[1] > first)) {
            throw new IOException("nothing arrived at the sink in 30 s");
        }
        Threads.pause(WARM_UP_S);
        long[] before = sink.ask("sample");
        long cpuBefore = CpuClock.ns(measured.handle());
        Threads.pause(settings.seconds());
        long[] after = sink.ask("sample");
        double cpuSeconds = (CpuClock.ns(measured.handle()) - cpuBefore) / 1e9;
        measured.requireAlive();
        double packets = (double) (after[1] - before[1]) / bytesAtSink;
        return new Cost(packets / ((after[0] - before[0]) / 1e9), packets / cpuSeconds);
    }
}

package org.tamanoir.benchmarks.morph;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.Load;
import org.tamanoir.benchmarks.Threads;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** The same filter by a plan and by what a user of Netty would write. */
final class PeerFigures {
    private static final int RECORDS = 500;
    private static final double WARM_S = 4;
    private static final String NODE = "Tamanoir, a plan";
    /** Who is measured: what packets carry, and whether Netty filters. */
    private static final Map<String, String> FORWARDERS = new LinkedHashMap<>();

    static {
        FORWARDERS.put(NODE, "flat");
        FORWARDERS.put("Netty, Jackson CBOR", "cbor");
        FORWARDERS.put("Netty, protobuf", "protobuf");
    }

    private static final String PLAN =
            "formats: [flat.ffs]\nhandlers:\n  f: {filter: 'f0 >= 100 && f1 >= 100 && f2 >= 100"
                    + " && f3 >= 100 && f4 >= 100 && f5 >= 100 && f6 >= 100 && f7 >= 100 && fuel > 1.0 && hub == \"ATL\"', then: out}\n"
                    + "paths: [{enter: f}]\n";

    private PeerFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        section.say(
                "One TCP stream of records of ten fields, one in each packet, as fast as they are taken; each second one passes a "
                        + "filter over all ten. Netty: frame decoder, the payload read by Jackson's CBOR tokens or by protobuf's "
                        + "tags, passing packets written as they came. Processes for sender, forwarder and sink; %d rounds of %.1f s "
                        + "in turns after %.0f s of warm-up each, medians.",
                settings.rounds(), settings.seconds(), WARM_S);
        Map<String, List<Bed.Window>> all = new LinkedHashMap<>();
        for (int round = 0; round < settings.rounds(); round++) {
            for (Map.Entry<String, String> each : FORWARDERS.entrySet()) {
                all.computeIfAbsent(each.getKey(), unused -> new ArrayList<>())
                        .add(measure(settings, each.getKey(), each.getValue()));
            }
        }
        Rows table = new Rows("forwarder | messages/s in | forwarder's CPU, ns/message in | bytes of a packet");
        Rows csv = new Rows("forwarder,messages per second,cpu ns per message");
        Series plot = new Series();
        double node = cpu(all.getOrDefault(NODE, List.of()));
        all.forEach((name, windows) -> {
            table.row(
                    "%s | %,.0f | %.0f | %d",
                    name, rate(windows), cpu(windows), windows.get(0).packetBytes());
            windows.forEach(each ->
                    csv.row("\"%s\",%.0f,%.1f", name, each.sent() / each.seconds(), each.cpuNs() / each.sent()));
            plot.add(name, cpu(windows));
            if (!name.equals(NODE)) {
                section.find(
                        name + ": CPU a message to the plan's; messages/s of the plan to its",
                        "–",
                        "%.1f; %.1f",
                        cpu(windows) / node,
                        rate(all.getOrDefault(NODE, List.of())) / rate(windows));
            }
        });
        section.table(table)
                .csv("", csv)
                .plot("", Plot.bars("The same filter", "CPU, ns/message", List.of("ten fields"), plot));
    }

    private static double cpu(List<Bed.Window> windows) {
        return Numbers.median(
                windows.stream().map(each -> each.cpuNs() / each.sent()).toList());
    }

    private static double rate(List<Bed.Window> windows) {
        return Numbers.median(
                windows.stream().map(each -> each.sent() / each.seconds()).toList());
    }

    private static Bed.Window measure(Settings settings, String name, String kind) throws IOException {
        try (Bed bed = new Bed()) {
            Child sink = bed.load("tcp-sink latency=false");
            int port = Load.freePort();
            Child forwarder = name.equals(NODE)
                    ? bed.node(settings.node(), port, Integer.parseInt(sink.ready()), List.of(bed.plan("filter", PLAN)))
                    : bed.peer("netty-proxy port=%d sink=%s tuned=true filter=%s", port, sink.ready(), kind);
            if (name.equals(NODE)) {
                Bed.awaitListening(port, forwarder);
            }
            Child sender = bed.load(
                    "message-sender port=%d udp=false services=1 kind=%s records=%d rate=0", port, kind, RECORDS);
            Threads.pause(WARM_S);
            Bed.Window window = Bed.measure(settings.seconds(), sender, sink, forwarder);
            double passed = (double) window.arrived() / window.packetBytes() / window.sent();
            if (passed < 0.25 || passed > 0.75) {
                throw new IOException(
                        "%s: %.2f of all messages pass, 0.5 should: %s".formatted(name, passed, forwarder.lastWords()));
            }
            return window;
        }
    }
}

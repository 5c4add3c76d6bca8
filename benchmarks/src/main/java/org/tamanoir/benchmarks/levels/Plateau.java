package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.levels.Crossings.Summary;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** Why small packets took 16 ms over TCP in 2003: Nagle's algorithm in the forwarder waits for delayed acknowledgements. */
final class Plateau {
    private static final List<Integer> SIZES = List.of(64, 200, 1400, 4096, 8192, 32_768);
    private static final int MTU = 1500;
    private static final int PACKETS = 90;
    private static final int PACKETS_PER_SECOND = 100;
    private static final int SKIPPED = 20;
    private static final String ON = "10.77.1.2:" + Network.PORT;

    private Plateau() {}

    /** A way to forward. */
    private record Way(boolean noDelay, boolean oneWrite) {
        String name() {
            return (oneWrite ? "one write" : "two writes") + (noDelay ? ", TCP_NODELAY" : "");
        }
    }

    private static final List<Way> WAYS =
            List.of(new Way(false, false), new Way(false, true), new Way(true, false), new Way(true, true));

    static void run(Settings settings, Section section) throws IOException {
        int packets = settings.scaled(PACKETS, SKIPPED + 10);
        section.say(
                "In place of the node a relay of blocking streams in Java: it reads a packet and writes header and payload, "
                        + "by two writes or by one, with TCP_NODELAY or without. %,d packets of each size, %,d a second; "
                        + "interfaces behind the router have an MTU of %,d. Without TCP_NODELAY a segment that is not full "
                        + "waits until all before it are acknowledged, and a receiver may acknowledge up to 40 ms late; "
                        + "Linux today acknowledges at once what was read from a stream that flows one way, so the "
                        + "sink asks for late ones (TCP_QUICKACK off). The node sets TCP_NODELAY and writes whole packets: see figure 12.",
                packets, PACKETS_PER_SECOND, MTU);
        settings.lab().network.mtuBehindRouter(MTU);
        try {
            measure(settings, section, packets);
        } finally {
            settings.lab().network.mtuBehindRouter(Network.MTU);
        }
    }

    private static void measure(Settings settings, Section section, int packets) throws IOException {
        Series curves = new Series();
        Map<Integer, List<String>> rows = new LinkedHashMap<>();
        SIZES.forEach(bytes -> rows.put(bytes, new ArrayList<>(List.of("%,d".formatted(bytes)))));
        Rows csv = new Rows("bytes,way,packets,p50 us,p95 us,p99 us,max us");
        Lab lab = settings.lab();
        for (Way way : WAYS) {
            try (Child relay = lab.processes.load(
                    lab.network.router,
                    "level-relay on=%s to=%s no-delay=%b one-write=%b",
                    ON,
                    Lab.text(Network.lateSink()),
                    way.noDelay,
                    way.oneWrite)) {
                for (int bytes : SIZES) {
                    Flow flow = Flow.tcp(bytes, packets, PACKETS_PER_SECOND);
                    lab.run(flow, ON);
                    relay.requireAlive();
                    Summary crossing = lab.crossings(flow).skip(SKIPPED).summary();
                    curves.add(way.name(), crossing.p50());
                    rows.getOrDefault(bytes, List.of()).add(crossing.text());
                    csv.row("%d,\"%s\",%s", bytes, way.name(), crossing.csv());
                    if (bytes == 200 || bytes == 4096) {
                        section.find(
                                "%s, %,d bytes, p50".formatted(way.name(), bytes),
                                bytes == 200 ? "≈ 16 ms below 4,096 bytes" : "4.4 ms",
                                "%.2f ms",
                                crossing.p50() / 1e3);
                    }
                }
            }
        }
        Rows table = new Rows(WAYS.stream()
                .map(way -> way.name() + ": p50 · p95 · p99 · max, µs")
                .collect(Collectors.joining(" | ", "bytes | ", "")));
        rows.values().forEach(table::row);
        section.table(table);
        curves.add(
                "paper: JVM",
                SIZES.stream()
                        .map(bytes -> bytes < 4096 ? 16_000.0 : bytes == 4096 ? 4_400.0 : Double.NaN)
                        .toList());
        section.plot("", Plot.logarithmic(section.title(), "bytes", "crossing time, p50, µs", SIZES, curves, 1));
        section.csv("", csv);
    }
}

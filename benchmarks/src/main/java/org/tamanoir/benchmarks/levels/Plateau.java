package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.tamanoir.benchmarks.Child;
import org.tamanoir.benchmarks.levels.Crossings.Summary;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Section;

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
    private record Way(String name, List<String> options) {}

    private static final List<Way> WAYS = List.of(
            new Way("two writes", List.of()),
            new Way("one write", List.of("--one-write")),
            new Way("two writes, TCP_NODELAY", List.of("--no-delay")),
            new Way("one write, TCP_NODELAY", List.of("--no-delay", "--one-write")));

    static void run(Settings settings, Section section) throws IOException {
        int packets = settings.scaled(PACKETS, SKIPPED + 10);
        section.say(
                ("In place of the node a relay of blocking streams in Java: it reads a packet and writes header and payload, "
                                + "by two writes or by one, with TCP_NODELAY or without. %,d packets of each size, %,d a second; "
                                + "interfaces behind the router have an MTU of %,d. Without TCP_NODELAY a segment that is not full "
                                + "waits until all before it are acknowledged, and a receiver may acknowledge up to 40 ms late; "
                                + "Linux today acknowledges at once what was read from a stream that flows one way, so the "
                                + "sink asks for late ones (TCP_QUICKACK off). The node sets TCP_NODELAY and writes whole packets: see figure 12.")
                        .formatted(packets, PACKETS_PER_SECOND, MTU));
        settings.lab().network().mtuBehindRouter(MTU);
        try {
            measure(settings, section, packets);
        } finally {
            settings.lab().network().mtuBehindRouter(Network.MTU);
        }
    }

    private static void measure(Settings settings, Section section, int packets) throws IOException {
        Map<String, List<Double>> curves = new LinkedHashMap<>();
        Map<Integer, List<String>> rows = new LinkedHashMap<>();
        SIZES.forEach(octets -> rows.put(octets, new ArrayList<>(List.of(String.format(Locale.ROOT, "%,d", octets)))));
        StringBuilder csv = new StringBuilder("octets,way,packets,p50 us,p95 us,p99 us,max us\n");
        for (Way way : WAYS) {
            List<String> arguments =
                    new ArrayList<>(List.of("level-relay", "--on", ON, "--to", Lab.text(Network.lateSink())));
            arguments.addAll(way.options);
            List<Double> curve = curves.computeIfAbsent(way.name, name -> new ArrayList<>());
            try (Child relay = settings.lab()
                    .processes()
                    .load(settings.lab().network().router().inside(List.of()), arguments.toArray(String[]::new))) {
                Lab.ready(relay);
                for (int octets : SIZES) {
                    Flow flow = Flow.tcp(octets, packets, PACKETS_PER_SECOND);
                    settings.lab().run(flow, ON);
                    Summary crossing =
                            settings.lab().crossings(flow).skip(SKIPPED).summary();
                    curve.add(crossing.p50());
                    rows.computeIfAbsent(octets, unused -> new ArrayList<>()).add(SizeFigures.text(crossing));
                    csv.append(String.format(
                            Locale.ROOT,
                            "%d,\"%s\",%d,%.1f,%.1f,%.1f,%.1f%n",
                            octets,
                            way.name,
                            crossing.packets(),
                            crossing.p50(),
                            crossing.p95(),
                            crossing.p99(),
                            crossing.max()));
                    if (octets == 200 || octets == 4096) {
                        section.find(
                                String.format(Locale.ROOT, "%s, %,d octets, p50", way.name, octets),
                                octets == 200 ? "≈ 16 ms below 4,096 octets" : "4.4 ms",
                                String.format(Locale.ROOT, "%.2f ms", crossing.p50() / 1e3));
                    }
                }
            }
        }
        List<String> head = new ArrayList<>(List.of("octets"));
        WAYS.forEach(way -> head.add(way.name + ": p50 · p95 · p99 · max, µs"));
        section.table(head, List.copyOf(rows.values()));
        List<Double> sizes = SIZES.stream().map(Integer::doubleValue).toList();
        curves.put(
                "paper: JVM",
                SIZES.stream()
                        .map(octets -> octets < 4096 ? 16_000.0 : octets == 4096 ? 4_400.0 : Double.NaN)
                        .toList());
        section.plot("", Plot.logarithmic(section.title(), "octets", "crossing time, p50, µs", sizes, curves, 1));
        section.csv("", csv.toString());
    }
}

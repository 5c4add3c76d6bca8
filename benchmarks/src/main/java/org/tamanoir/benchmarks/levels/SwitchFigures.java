package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.levels.Lab.Outcome;
import org.tamanoir.benchmarks.levels.NodeFactory.Work;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.nodeos.Level;

/** Flows that the service itself splits between the JVM and a level below, by Monitor's setting {@code offload}. */
final class SwitchFigures {
    private static final int OCTETS = 200;
    private static final int PACKETS = 1000;
    private static final int FIRST = 500;
    private static final int PACKETS_PER_SECOND = 500;

    private SwitchFigures() {}

    static void everySecond(Settings settings, Section section) throws IOException {
        section.say(
                ("Monitor asks, when it starts, that every second packet come up to it (\"offload: every 2\") and a level "
                                + "below handle the others: %,d packets of %d octets, %,d a second. The level's own counters say how "
                                + "many went up; the sequence numbers at the sink say what was lost. Packets that go up are overtaken "
                                + "only if the next comes before they are through.")
                        .formatted(PACKETS, OCTETS, PACKETS_PER_SECOND));
        for (Level level : settings.splitting()) {
            try (RouterNode node = settings.nodes().start(settings.lab(), new Work(level, "every 2"))) {
                Outcome outcome = run(settings.lab(), node, level);
                Crossings crossings = settings.lab().crossings(outcome.flow());
                RouterNode.Counts counts = node.counts(level);
                String name = level.label();
                section.find(
                        name + ": packets, up, handled below",
                        "half up",
                        counts.packets() + ", " + counts.up() + ", " + counts.on());
                section.find(name + ": of " + outcome.sent() + " packets", "–", outcome.faults());
                // Numbers begin at 0: packets 2, 4, 6, ... are those with odd numbers.
                section.find(
                        name + ": crossing time of those that went up: p50 · p95 · p99 · max",
                        "–",
                        SizeFigures.text(crossings.every(2, 1).summary()) + " µs");
                section.find(
                        name + ": of the others",
                        "≈ 7 µs",
                        SizeFigures.text(crossings.every(2, 0).summary()) + " µs");
                Map<String, List<Double>> series = new LinkedHashMap<>();
                series.put("up", values(crossings, 1, 2, PACKETS));
                series.put("handled by " + name, values(crossings, 0, 2, PACKETS));
                show(section, name, series, crossings);
            }
        }
    }

    static void firstUp(Settings settings, Section section) throws IOException {
        section.say(
                ("Monitor asks that the first %d packets come up to it (\"offload: first %1$d\") and a level below handle "
                                + "all later ones; the node has seen one packet before, for which Monitor starts and asks, so its code is cold: %,d packets of %d octets, %,d a "
                                + "second.")
                        .formatted(FIRST, PACKETS, OCTETS, PACKETS_PER_SECOND));
        for (Level level : settings.splitting()) {
            try (RouterNode node = settings.nodes().start(settings.lab(), new Work(level, "first " + FIRST))) {
                Outcome outcome = run(settings.lab(), node, level);
                Crossings crossings = settings.lab().crossings(outcome.flow());
                RouterNode.Counts counts = node.counts(level);
                String name = level.label();
                section.find(
                        name + ": packets, up, handled below",
                        FIRST + " up",
                        counts.packets() + ", " + counts.up() + ", " + counts.on());
                section.find(name + ": of " + outcome.sent() + " packets", "0 lost, 0 out of order", outcome.faults());
                section.find(
                        name + ": crossing time of packets 1 to " + FIRST + ": p50 · p95 · p99 · max",
                        "–",
                        SizeFigures.text(crossings.range(0, FIRST).summary()) + " µs");
                section.find(
                        name + ": of packets " + (FIRST + 1) + " on",
                        "steps down to ≈ 7 µs at packet 501",
                        SizeFigures.text(crossings.range(FIRST, PACKETS).summary()) + " µs");
                section.find(
                        name + ": packets 499 to 503",
                        "–",
                        values(crossings, FIRST - 2, 1, FIRST + 3).stream()
                                        .filter(value -> !value.isNaN())
                                        .map(SizeFigures::us)
                                        .toList()
                                + " µs");
                show(
                        section,
                        name,
                        Map.of("handled by the JVM, then by " + name, values(crossings, 0, 1, PACKETS)),
                        crossings);
            }
        }
    }

    /** One packet, for which Monitor starts and asks for its policy; then the flow. */
    private static Outcome run(Lab lab, RouterNode node, Level level) throws IOException {
        lab.run(Flow.udp(OCTETS, 1, PACKETS_PER_SECOND));
        node.awaitPolicy(level);
        return lab.run(Flow.udp(OCTETS, PACKETS, PACKETS_PER_SECOND));
    }

    /** By sequence number, NaN where none of these; in microseconds. */
    private static List<Double> values(Crossings crossings, int first, int step, int end) {
        List<Double> values = new ArrayList<>();
        for (int i = 0; i < end; i++) {
            boolean isOne = i >= first && (i - first) % step == 0 && crossings.ns()[i] != Crossings.UNSEEN;
            values.add(isOne ? crossings.ns()[i] / 1e3 : Double.NaN);
        }
        return values;
    }

    private static void show(Section section, String level, Map<String, List<Double>> series, Crossings crossings)
            throws IOException {
        section.plot(
                "-" + level,
                Plot.points(section.title() + ", " + level, "packet", "crossing time, µs", PACKETS, series));
        StringBuilder csv = new StringBuilder("packet,crossing time us\n");
        for (int i = 0; i < crossings.ns().length; i++) {
            if (crossings.ns()[i] != Crossings.UNSEEN) {
                csv.append(
                        String.format(Locale.ROOT, "%d,%.2f%n", i + 1, crossings.ns()[i] / 1e3));
            }
        }
        section.csv("-" + level, csv.toString());
    }
}

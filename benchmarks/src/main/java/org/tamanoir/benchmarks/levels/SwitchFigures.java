package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.benchmarks.levels.Crossings.Summary;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.levels.Lab.Outcome;
import org.tamanoir.benchmarks.levels.NodeFactory.Work;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.nodeos.Level;

/** Flows that the service itself splits between the JVM and a level below, by Monitor's setting {@code offload}. */
final class SwitchFigures {
    private static final int BYTES = 200;
    private static final int PACKETS = 1000;
    private static final int FIRST = 500;
    private static final int PACKETS_PER_SECOND = 500;

    private SwitchFigures() {}

    static void everySecond(Settings settings, Section section) throws IOException {
        section.say(
                "Monitor asks, when it starts, that every second packet come up to it (\"offload: every 2\") and a level "
                        + "below handle the others: %,d packets of %d bytes, %,d a second. The level's own counters say how "
                        + "many went up; the sequence numbers at the sink say what was lost. Packets that go up are overtaken "
                        + "only if the next comes before they are through.",
                PACKETS, BYTES, PACKETS_PER_SECOND);
        for (Level level : settings.splitting()) {
            Crossings crossings = cross(settings, section, level, "every 2", "half up", "–");
            String name = level.label();
            // Numbers begin at 0: packets 2, 4, 6, ... are those with odd numbers.
            section.find(
                    name + ": crossing time of those that went up: p50 · p95 · p99 · max",
                    "–",
                    crossings.every(2, 1).summary().text() + " µs");
            section.find(
                    name + ": of the others",
                    "≈ 7 µs",
                    crossings.every(2, 0).summary().text() + " µs");
            Series series = new Series();
            series.add("up", values(crossings, 1, 2, PACKETS));
            series.add("handled by " + name, values(crossings, 0, 2, PACKETS));
            show(section, name, series, crossings);
        }
    }

    static void firstUp(Settings settings, Section section) throws IOException {
        section.say(
                "Monitor asks that the first %d packets come up to it (\"offload: first %1$d\") and a level below handle "
                        + "all later ones; the node has seen one packet before, for which Monitor starts and asks, so its code is cold: %,d packets of %d bytes, %,d a "
                        + "second.",
                FIRST, PACKETS, BYTES, PACKETS_PER_SECOND);
        for (Level level : settings.splitting()) {
            String asked = FIRST + " up";
            Crossings crossings = cross(settings, section, level, "first " + FIRST, asked, "0 lost, 0 out of order");
            String name = level.label();
            section.find(
                    name + ": crossing time of packets 1 to " + FIRST + ": p50 · p95 · p99 · max",
                    "–",
                    crossings.range(0, FIRST).summary().text() + " µs");
            section.find(
                    name + ": of packets " + (FIRST + 1) + " on",
                    "steps down to ≈ 7 µs at packet 501",
                    crossings.range(FIRST, PACKETS).summary().text() + " µs");
            section.find(
                    name + ": packets 499 to 503",
                    "–",
                    values(crossings, FIRST - 2, 1, FIRST + 3).stream()
                                    .filter(value -> !value.isNaN())
                                    .map(Summary::us)
                                    .toList()
                            + " µs");
            String both = "handled by the JVM, then by " + name;
            show(section, name, new Series().add(both, values(crossings, 0, 1, PACKETS)), crossings);
        }
    }

    /** One packet, for which Monitor starts and asks for its policy; then the flow. */
    private static Crossings cross(
            Settings settings, Section section, Level level, String offload, String askedUp, String askedFaults)
            throws IOException {
        Lab lab = settings.lab();
        try (RouterNode node = settings.nodes().start(lab, new Work(level, offload))) {
            lab.run(Flow.udp(BYTES, 1, PACKETS_PER_SECOND));
            node.awaitPolicy(level);
            Outcome outcome = lab.run(Flow.udp(BYTES, PACKETS, PACKETS_PER_SECOND));
            Crossings crossings = lab.crossings(outcome.flow());
            RouterNode.Counts counts = node.counts(level);
            section.find(
                    level.label() + ": packets, up, handled below",
                    askedUp,
                    "%d, %d, %d",
                    counts.packets(),
                    counts.up(),
                    counts.on());
            section.find(level.label() + ": of " + outcome.sent() + " packets", askedFaults, outcome.faults());
            return crossings;
        }
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

    private static void show(Section section, String level, Series series, Crossings crossings) throws IOException {
        section.plot(
                "-" + level,
                Plot.points(section.title() + ", " + level, "packet", "crossing time, µs", PACKETS, series));
        Rows csv = new Rows("packet,crossing time us");
        for (int i = 0; i < crossings.ns().length; i++) {
            if (crossings.ns()[i] != Crossings.UNSEEN) {
                csv.row("%d,%.2f", i + 1, crossings.ns()[i] / 1e3);
            }
        }
        section.csv("-" + level, csv);
    }
}

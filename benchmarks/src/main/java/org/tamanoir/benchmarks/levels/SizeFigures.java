package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.tamanoir.benchmarks.levels.Crossings.Summary;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.levels.Lab.Outcome;
import org.tamanoir.benchmarks.levels.NodeFactory.Work;
import org.tamanoir.benchmarks.levels.SegmentLog.Place;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.nodeos.Level;

/** Crossing time of a packet against its size, at every level and forwarded without a node. */
final class SizeFigures {
    private static final List<Integer> SIZES =
            List.of(64, 200, 512, 1024, 1400, 2048, 4096, 8192, 16_384, 32_768, 65_000);
    private static final String FORWARDED = "no node";
    private static final String PAPER_KERNEL = "paper: kernel";
    private static final double PAPER_KERNEL_US = 7;
    /** Few enough that each packet finds the node idle, as in the paper. */
    private static final int PACKETS_PER_SECOND = 1000;

    private static final int PACKETS = 600;
    private static final int WARM_UP_PACKETS = 20_000;
    private static final int WARM_UP_PER_SECOND = 10_000;
    /** The first packets of a flow find caches and neighbour tables cold. */
    private static final int SKIPPED = 20;

    private SizeFigures() {}

    /** One cell of the table. */
    private record Cell(int octets, String level, Summary crossing, Summary fromSender, Outcome outcome) {}

    static void udp(Settings settings, Section section) throws IOException {
        section.say(
                ("%,d packets of each size, one by one, %,d a second at most; Monitor marks, counts and forwards each at "
                                + "the level named, all in the same run. Crossing time: from a tc program at the router's interface "
                                + "to the client to one at that to the server; a second table begins at the client's interface, since "
                                + "XDP has handled a packet before tc sees it. \"%s\" is the router without any program or node. "
                                + "Interfaces take packets of 65,535 octets, so none is cut.")
                        .formatted(settings.scaled(PACKETS, 60), PACKETS_PER_SECOND, FORWARDED));
        List<Cell> cells = measure(settings, section, false);
        describe(settings, section, cells);
        for (Cell cell : cells) {
            if (cell.level.equals(Level.JVM.label()) && cell.octets <= 1024) {
                find(section, cell, "0.5–1.25 ms for small packets");
            } else if (!cell.level.equals(FORWARDED) && (cell.octets == 64 || cell.octets == 65_000)) {
                find(section, cell, cell.level.equals(Level.JVM.label()) ? "–" : "≈ 7 µs at every size");
            }
        }
        ratios(settings, section, cells, 200, "≈ 286 (7 µs against 2 ms, called \"order of 1000\")");
    }

    static void tcp(Settings settings, Section section) throws IOException {
        section.say(
                ("The same over one TCP connection with TCP_NODELAY. A packet has passed an interface when its last octet "
                                + "has. Levels below steer TCP by connection, when it begins, and pass these on; in the JVM the node "
                                + "ends the connection and makes one of its own. \"%s\" is the router without any program or node.")
                        .formatted(FORWARDED));
        List<Cell> cells = measure(settings, section, true);
        describe(settings, section, cells);
        for (Cell cell : cells) {
            boolean isJvm = cell.level.equals(Level.JVM.label());
            if (isJvm && (cell.octets == 200 || cell.octets == 4096)) {
                find(section, cell, cell.octets == 200 ? "≈ 16 ms below 4,096 octets" : "4.4 ms (GCJ 10.5 ms)");
            } else if (!cell.level.equals(FORWARDED) && cell.octets == 200) {
                find(section, cell, "≈ 7 µs");
            }
        }
        ratios(settings, section, cells, 200, "–");
    }

    private static void find(Section section, Cell cell, String paper) {
        section.find(
                String.format(Locale.ROOT, "%s, %,d octets, p50", cell.level, cell.octets),
                paper,
                us(cell.crossing.p50()) + " µs");
    }

    private static void ratios(Settings settings, Section section, List<Cell> cells, int octets, String paper) {
        double jvm = p50(cells, Level.JVM.label(), octets);
        for (Level level : settings.below()) {
            section.find(
                    String.format(Locale.ROOT, "JVM to %s, %,d octets, ratio of p50", level.label(), octets),
                    paper,
                    String.format(Locale.ROOT, "%.1f", jvm / p50(cells, level.label(), octets)));
        }
    }

    private static double p50(List<Cell> cells, String level, int octets) {
        return cells.stream()
                .filter(cell -> cell.level.equals(level) && cell.octets == octets)
                .mapToDouble(cell -> cell.crossing.p50())
                .findFirst()
                .orElse(Double.NaN);
    }

    private static List<Cell> measure(Settings settings, Section section, boolean tcp) throws IOException {
        List<Cell> cells = new ArrayList<>();
        settings.lab().wakeUp();
        sizes(settings, tcp, FORWARDED, cells);
        for (Level level : settings.levels()) {
            try (RouterNode node = settings.nodes().start(settings.lab(), Work.allAt(level))) {
                if (level == Level.JVM) {
                    warmUp(settings, tcp);
                }
                sizes(settings, tcp, level.label(), cells);
                section.say("Level " + node.detail(level) + ".");
            }
        }
        return cells;
    }

    /** Until the node's code is compiled. */
    static void warmUp(Settings settings, boolean tcp) throws IOException {
        int packets = settings.scaled(WARM_UP_PACKETS, 200);
        settings.lab().run(new Flow(tcp, 200, packets, WARM_UP_PER_SECOND));
    }

    private static void sizes(Settings settings, boolean tcp, String level, List<Cell> cells) throws IOException {
        Lab lab = settings.lab();
        for (int octets : SIZES) {
            int packets = settings.scaled(PACKETS, 60);
            Flow flow = new Flow(tcp, octets, packets, PACKETS_PER_SECOND);
            Outcome outcome = lab.run(flow);
            Summary crossing = lab.crossings(flow).skip(SKIPPED).summary();
            Summary fromSender = lab.crossings(flow, Place.SENT).skip(SKIPPED).summary();
            if (crossing.packets() == 0) {
                throw new IOException(
                        level + ": none of " + outcome.sent() + " packets of " + octets + " octets crossed the router");
            }
            cells.add(new Cell(octets, level, crossing, fromSender, outcome));
        }
    }

    private static void describe(Settings settings, Section section, List<Cell> cells) throws IOException {
        List<String> levels = cells.stream().map(Cell::level).distinct().toList();
        List<String> head = new ArrayList<>(List.of("octets"));
        levels.forEach(level -> head.add(level + ": p50 · p95 · p99 · max, µs"));
        List<String> headFromSender = new ArrayList<>(List.of("octets"));
        levels.forEach(level -> headFromSender.add(level + ", from the client's interface, p50, µs"));
        List<List<String>> rows = new ArrayList<>();
        List<List<String>> rowsFromSender = new ArrayList<>();
        Map<String, List<Double>> curves = new LinkedHashMap<>();
        StringBuilder csv =
                new StringBuilder("octets,level,packets,p50 us,p95 us,p99 us,max us,p50 from client us,lost,late\n");
        for (int octets : SIZES) {
            List<String> row = new ArrayList<>(List.of(String.format(Locale.ROOT, "%,d", octets)));
            List<String> rowFromSender = new ArrayList<>(row);
            for (Cell cell : cells) {
                if (cell.octets == octets) {
                    Summary crossing = cell.crossing;
                    row.add(text(crossing));
                    rowFromSender.add(us(cell.fromSender.p50()));
                    curves.computeIfAbsent(cell.level, unused -> new ArrayList<>())
                            .add(crossing.p50());
                    csv.append(String.format(
                            Locale.ROOT,
                            "%d,%s,%d,%.2f,%.2f,%.2f,%.2f,%.2f,%d,%d%n",
                            octets,
                            cell.level,
                            crossing.packets(),
                            crossing.p50(),
                            crossing.p95(),
                            crossing.p99(),
                            crossing.max(),
                            cell.fromSender.p50(),
                            cell.outcome.lost(),
                            cell.outcome.late()));
                }
            }

            rows.add(row);
            rowsFromSender.add(rowFromSender);
        }
        curves.put(PAPER_KERNEL, Collections.nCopies(SIZES.size(), PAPER_KERNEL_US));
        section.table(head, rows);
        section.table(headFromSender, rowsFromSender);
        List<Double> sizes = SIZES.stream().map(Integer::doubleValue).toList();
        section.plot("", Plot.logarithmic(section.title(), "octets", "crossing time, p50, µs", sizes, curves, 1));
        section.csv("", csv.toString());
        section.find(
                "lost and late packets of "
                        + cells.stream().mapToLong(cell -> cell.outcome.sent()).sum(),
                "–",
                cells.stream().mapToLong(cell -> cell.outcome.lost()).sum() + " and "
                        + cells.stream().mapToLong(cell -> cell.outcome.late()).sum());
    }

    static String text(Summary summary) {
        return us(summary.p50()) + " · " + us(summary.p95()) + " · " + us(summary.p99()) + " · " + us(summary.max());
    }

    static String us(double value) {
        return String.format(Locale.ROOT, value >= 100 ? "%,.0f" : "%.1f", value);
    }
}

package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.tamanoir.benchmarks.levels.Crossings.Summary;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.levels.Lab.Outcome;
import org.tamanoir.benchmarks.levels.NodeFactory.Work;
import org.tamanoir.benchmarks.levels.SegmentLog.Place;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
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
    private record Cell(int bytes, String level, Summary crossing, Summary fromSender, Outcome outcome) {}

    static void udp(Settings settings, Section section) throws IOException {
        section.say(
                "%,d packets of each size, one by one, %,d a second at most; Monitor marks, counts and forwards each at "
                        + "the level named, all in the same run. Crossing time: from a tc program at the router's interface "
                        + "to the client to one at that to the server; a second table begins at the client's interface, since "
                        + "XDP has handled a packet before tc sees it. \"%s\" is the router without any program or node. "
                        + "Interfaces take packets of 65,535 bytes, so none is cut.",
                settings.scaled(PACKETS, 60), PACKETS_PER_SECOND, FORWARDED);
        List<Cell> cells = measure(settings, section, false);
        describe(settings, section, cells);
        for (Cell cell : cells) {
            if (cell.level.equals(Level.JVM.label()) && cell.bytes <= 1024) {
                find(section, cell, "0.5–1.25 ms for small packets");
            } else if (!cell.level.equals(FORWARDED) && (cell.bytes == 64 || cell.bytes == 65_000)) {
                find(section, cell, cell.level.equals(Level.JVM.label()) ? "–" : "≈ 7 µs at every size");
            }
        }
        ratios(settings, section, cells, 200, "≈ 286 (7 µs against 2 ms, called \"order of 1000\")");
    }

    static void tcp(Settings settings, Section section) throws IOException {
        section.say(
                "The same over one TCP connection with TCP_NODELAY. A packet has passed an interface when its last byte "
                        + "has. Levels below steer TCP by connection, when it begins, and pass these on; in the JVM the node "
                        + "ends the connection and makes one of its own. \"%s\" is the router without any program or node.",
                FORWARDED);
        List<Cell> cells = measure(settings, section, true);
        describe(settings, section, cells);
        for (Cell cell : cells) {
            boolean isJvm = cell.level.equals(Level.JVM.label());
            if (isJvm && (cell.bytes == 200 || cell.bytes == 4096)) {
                find(section, cell, cell.bytes == 200 ? "≈ 16 ms below 4,096 bytes" : "4.4 ms (GCJ 10.5 ms)");
            } else if (!cell.level.equals(FORWARDED) && cell.bytes == 200) {
                find(section, cell, "≈ 7 µs");
            }
        }
        ratios(settings, section, cells, 200, "–");
    }

    private static void find(Section section, Cell cell, String paper) {
        section.find(
                "%s, %,d bytes, p50".formatted(cell.level, cell.bytes), paper, Summary.us(cell.crossing.p50()) + " µs");
    }

    private static void ratios(Settings settings, Section section, List<Cell> cells, int bytes, String paper) {
        double jvm = p50(cells, Level.JVM.label(), bytes);
        for (Level level : settings.below()) {
            section.find(
                    "JVM to %s, %,d bytes, ratio of p50".formatted(level.label(), bytes),
                    paper,
                    "%.1f",
                    jvm / p50(cells, level.label(), bytes));
        }
    }

    private static double p50(List<Cell> cells, String level, int bytes) {
        return cells.stream()
                .filter(cell -> cell.level.equals(level) && cell.bytes == bytes)
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
        for (int bytes : SIZES) {
            int packets = settings.scaled(PACKETS, 60);
            Flow flow = new Flow(tcp, bytes, packets, PACKETS_PER_SECOND);
            Outcome outcome = lab.run(flow);
            Summary crossing = lab.crossings(flow).skip(SKIPPED).summary();
            Summary fromSender = lab.crossings(flow, Place.SENT).skip(SKIPPED).summary();
            if (crossing.packets() == 0) {
                throw new IOException(
                        level + ": none of " + outcome.sent() + " packets of " + bytes + " bytes crossed the router");
            }
            cells.add(new Cell(bytes, level, crossing, fromSender, outcome));
        }
    }

    private static void describe(Settings settings, Section section, List<Cell> cells) throws IOException {
        List<String> levels = cells.stream().map(Cell::level).distinct().toList();
        Rows table = new Rows(
                "bytes | " + String.join(": p50 · p95 · p99 · max, µs | ", levels) + ": p50 · p95 · p99 · max, µs");
        Rows fromSender = new Rows("bytes | " + String.join(", from the client's interface, p50, µs | ", levels)
                + ", from the client's interface, p50, µs");
        Series curves = new Series();
        Rows csv = new Rows("bytes,level,packets,p50 us,p95 us,p99 us,max us,p50 from client us,lost,late");
        for (int bytes : SIZES) {
            List<String> row = new ArrayList<>(List.of("%,d".formatted(bytes)));
            List<String> rowFromSender = new ArrayList<>(row);
            for (Cell cell : cells) {
                if (cell.bytes == bytes) {
                    row.add(cell.crossing.text());
                    rowFromSender.add(Summary.us(cell.fromSender.p50()));
                    curves.add(cell.level, cell.crossing.p50());
                    csv.row(
                            "%d,%s,%s,%.2f,%d,%d",
                            bytes,
                            cell.level,
                            cell.crossing.csv(),
                            cell.fromSender.p50(),
                            cell.outcome.lost(),
                            cell.outcome.late());
                }
            }
            table.row(row);
            fromSender.row(rowFromSender);
        }
        curves.add(PAPER_KERNEL, Collections.nCopies(SIZES.size(), PAPER_KERNEL_US));
        section.table(table).table(fromSender);
        section.plot("", Plot.logarithmic(section.title(), "bytes", "crossing time, p50, µs", SIZES, curves, 1));
        section.csv("", csv);
        section.find(
                "lost and late packets of "
                        + cells.stream().mapToLong(cell -> cell.outcome.sent()).sum(),
                "–",
                "%d and %d",
                cells.stream().mapToLong(cell -> cell.outcome.lost()).sum(),
                cells.stream().mapToLong(cell -> cell.outcome.late()).sum());
    }
}

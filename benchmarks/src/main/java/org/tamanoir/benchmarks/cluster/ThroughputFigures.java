package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.List;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** Figures 17 and 18: throughput against the number of streams. */
final class ThroughputFigures {
    private static final String STREAMS = "streams";
    private static final String UNIT = "Mb/s";

    private ThroughputFigures() {}

    /** Figure 17: Monitor. */
    static void monitor(Settings settings, Section section) throws IOException {
        List<Point> host = of(settings.measurements().onHost().points(), Work.MONITOR);
        section.say(
                "Streams of Monitor as fast as they are taken. On the host senders divide streams over one, two or three "
                        + "nodes by themselves; in the virtual machine the Linux Virtual Server does, by round robin over three. "
                        + "All stages share the processors: what one more node could do, they cannot.");
        Point most = at(host, Settings.PAPER_BYTES, Settings.PAPER_STREAMS, Bed.BACK_ENDS);
        Point one = at(host, Settings.PAPER_BYTES, Settings.PAPER_STREAMS, 1);
        section.find("8 KB, 24 streams, three nodes, on the host", "1,100 Mb/s", "%,.0f Mb/s", most.megabits());
        section.find(
                "in sum: one node; the cluster",
                "≈ 500; more than 1,000 Mb/s (ANTS, capsules in Java: about 5)",
                "%,.0f; %,.0f Mb/s",
                one.megabits(),
                most.megabits());
        section.find(
                "the same, three nodes to one",
                "2.2 (1,100 to ≈ 500 Mb/s on machines of their own)",
                "%.2f: the processors are the same",
                most.megabits() / one.megabits());
        Point single = at(host, Settings.PAPER_BYTES, 1, Bed.BACK_ENDS);
        section.find(
                "8 KB, three nodes: one stream, of the most that any number of streams reached",
                "many streams are needed",
                "%.2f",
                single.megabits()
                        / host.stream()
                                .filter(each ->
                                        each.bytes() == Settings.PAPER_BYTES && each.backEnds() == Bed.BACK_ENDS)
                                .mapToDouble(Point::megabits)
                                .max()
                                .orElse(Double.NaN));
        section.find(
                "8 KB, 24 streams, three nodes: Jain's index of packets, while they are forwarded as fast as they go",
                "≥ 0.99 asked",
                "%.4f",
                most.jain());
        plot(section, "", "on the host, without a front-end", host, Settings.streams(settings.quick()));
        section.csv("", Point.csv("host", host));
        List<Point> guest = of(settings.measurements().division().points(), Work.MONITOR);
        Point emulated = at(guest, Settings.PAPER_BYTES, Settings.PAPER_STREAMS, Bed.BACK_ENDS);
        section.find(
                "through the Linux Virtual Server, emulated processors: 8 KB, 24 streams",
                "–",
                "%,.0f Mb/s, Jain's index %.4f",
                emulated.megabits(),
                emulated.jain());
        plot(section, "-lvs", "through LVS, emulated processors", guest, Settings.streamsInGuest(settings.quick()));
        section.csv("-lvs", Point.csv("guest", guest));
    }

    /** Figure 18: light against heavy. */
    static void heavy(Settings settings, Section section) throws IOException {
        section.say(
                "Packets of 8 KB whose payload is text like the sources of a program, through Monitor and through Gzip "
                        + "(level 6). Throughput is that of the packets as they are sent, before they are compressed.");
        both(settings.measurements().onHost().points(), settings, section, "", "on the host", "≈ 240 Mb/s; 4.6");
        both(
                settings.measurements().division().points(),
                settings,
                section,
                "-lvs",
                "through LVS, emulated processors",
                "–");
    }

    private static void both(
            List<Point> points, Settings settings, Section section, String name, String where, String paper)
            throws IOException {
        List<Integer> streams =
                name.isEmpty() ? Settings.streams(settings.quick()) : Settings.streamsInGuest(settings.quick());
        List<Point> paperSize = points.stream()
                .filter(each -> each.bytes() == Settings.PAPER_BYTES)
                .toList();
        Point heavy = at(of(paperSize, Work.GZIP), Settings.PAPER_BYTES, Settings.PAPER_STREAMS, Bed.BACK_ENDS);
        Point light = at(of(paperSize, Work.MONITOR), Settings.PAPER_BYTES, Settings.PAPER_STREAMS, Bed.BACK_ENDS);
        section.find(
                where + ": Gzip, 24 streams, three nodes; Monitor to Gzip",
                paper,
                "%,.0f Mb/s; %.1f",
                heavy.megabits(),
                light.megabits() / heavy.megabits());
        section.find(where + ": Gzip, Jain's index of packets at three nodes", "≥ 0.99 asked", "%.4f", heavy.jain());
        Series series = new Series();
        for (Work work : Work.values()) {
            series.add(work.label(), curve(of(paperSize, work), Settings.PAPER_BYTES, Bed.BACK_ENDS, streams));
        }
        section.plot(
                name,
                Plot.logarithmic("Figure 18: 8 KB, three nodes, " + where, STREAMS, UNIT, doubles(streams), series, 0));
        section.csv(name, Point.csv(name.isEmpty() ? "host" : "guest", of(paperSize, Work.GZIP)));
    }

    private static void plot(Section section, String name, String where, List<Point> points, List<Integer> streams)
            throws IOException {
        Series series = new Series();
        points.stream()
                .map(Point::bytes)
                .distinct()
                .forEach(bytes ->
                        series.add("%,d bytes".formatted(bytes), curve(points, bytes, Bed.BACK_ENDS, streams)));
        section.plot(
                name, Plot.lines("Figure 17: Monitor, three nodes, " + where, STREAMS, UNIT, doubles(streams), series));
        Rows table = new Rows("bytes | streams | nodes | Mb/s | node, ns a packet | Jain's index");
        points.forEach(each -> table.row(
                "%,d | %d | %d | %,.0f | %.0f | %.4f",
                each.bytes(), each.streams(), each.backEnds(), each.megabits(), each.nodeNsPerPacket(), each.jain()));
        section.table(table);
    }

    private static List<Point> of(List<Point> points, Work work) {
        return points.stream().filter(each -> each.work() == work).toList();
    }

    static Point at(List<Point> points, int bytes, int streams, int backEnds) throws IOException {
        return points.stream()
                .filter(each -> each.bytes() == bytes && each.streams() == streams && each.backEnds() == backEnds)
                .findFirst()
                .orElseThrow(() -> new IOException(
                        "not measured: " + bytes + " bytes, " + streams + " streams, " + backEnds + " nodes"));
    }

    /** Mb/s for each number of streams. */
    static List<Double> curve(List<Point> points, int bytes, int backEnds, List<Integer> streams) {
        return streams.stream()
                .map(count -> points.stream()
                        .filter(each -> each.bytes() == bytes && each.backEnds() == backEnds && each.streams() == count)
                        .mapToDouble(Point::megabits)
                        .findFirst()
                        .orElse(Double.NaN))
                .toList();
    }

    static List<Double> doubles(List<Integer> numbers) {
        return numbers.stream().map(Integer::doubleValue).toList();
    }
}

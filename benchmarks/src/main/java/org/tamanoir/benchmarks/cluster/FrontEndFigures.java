package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.tamanoir.benchmarks.cluster.FrontEnd.Cost;
import org.tamanoir.benchmarks.cluster.FrontEnd.Way;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;

/** What a packet costs the front-end. */
final class FrontEndFigures {
    private FrontEndFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        List<Cost> costs = settings.measurements().frontEnd();
        section.say(
                "In the virtual machine with one processor and a clock that counts instructions, a nanosecond each: so what "
                        + "is measured does not depend on what else the host does. Three flows of datagrams through the "
                        + "front-end to the interfaces of one, two or three back-ends, less the way to the front-end; rounds in which all "
                        + "take turns. \"Each scheduled\" is one-packet scheduling: every datagram makes a connection of its own.");
        Rows table = new Rows("way | back-ends | bytes | instructions a packet, median | half range | to plain");
        Rows csv = new Rows("way,back-ends,bytes,round,instructions a packet");
        for (Cost each : costs) {
            double plain = plain(costs, each.bytes());
            double median = Numbers.median(each.ns());
            table.row(
                    "%s | %s | %d | %,.0f | %.1f %% | %.2f",
                    name(each.way()),
                    each.way().backEnds() == 0
                            ? "–"
                            : Integer.toString(each.way().backEnds()),
                    each.bytes(),
                    median,
                    Numbers.spreadPercent(each.ns()),
                    median / plain);
            for (int i = 0; i < each.ns().size(); i++) {
                csv.row(
                        "%s,%d,%d,%d,%.0f",
                        name(each.way()),
                        each.way().backEnds(),
                        each.bytes(),
                        i + 1,
                        each.ns().get(i));
            }
        }
        section.table(table);
        section.csv("", csv);
        section.json(costs);
        int bytes = Measurements.FRAMES.get(Measurements.FRAMES.size() - 1);
        Series bars = new Series();
        section.find(bytes + " bytes, instructions a packet: plain ip_forward", "–", "%,.0f", plain(costs, bytes));
        costs.stream()
                .filter(each -> each.bytes() == bytes && each.way().backEnds() > 0)
                .forEach(each -> bars.add(name(each.way()), Numbers.median(each.ns())));
        bars.values()
                .forEach((name, medians) -> section.find(
                        bytes + " bytes, " + name + ", with 1, 2, 3 back-ends",
                        "flat asked",
                        "%,.0f, %,.0f, %,.0f: %.2f of plain, %.1f %% between least and most",
                        medians.get(0),
                        medians.get(1),
                        medians.get(2),
                        medians.get(2) / plain(costs, bytes),
                        100 * (Collections.max(medians) / Collections.min(medians) - 1)));
        section.plot(
                "",
                Plot.bars(
                        "The front-end's cost of a packet of " + bytes + " bytes",
                        "instructions",
                        IntStream.rangeClosed(1, Bed.BACK_ENDS)
                                .mapToObj(n -> n + " back-ends")
                                .toList(),
                        bars));
    }

    private static String name(Way way) {
        return way.name() + (way.eachScheduled() ? ", each scheduled" : "");
    }

    private static double plain(List<Cost> costs, int bytes) {
        return median(costs, FrontEnd.PLAIN, bytes);
    }

    /** Of all rounds; NaN if it was not measured. */
    static double median(List<Cost> costs, Way way, int bytes) {
        return costs.stream()
                .filter(each -> each.way().equals(way) && each.bytes() == bytes)
                .mapToDouble(each -> Numbers.median(each.ns()))
                .findFirst()
                .orElse(Double.NaN);
    }
}

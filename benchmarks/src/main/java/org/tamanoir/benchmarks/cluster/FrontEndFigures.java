package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.tamanoir.benchmarks.cluster.FrontEnd.Cost;
import org.tamanoir.benchmarks.cluster.FrontEnd.Way;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Section;
import tools.jackson.databind.json.JsonMapper;

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
        List<List<String>> rows = new ArrayList<>();
        StringBuilder csv = new StringBuilder("way,back-ends,octets,round,instructions a packet\n");
        for (Cost each : costs) {
            double plain = plain(costs, each.octets());
            double median = Numbers.median(each.ns());
            rows.add(List.of(
                    name(each.way()),
                    each.way().backEnds() == 0
                            ? "–"
                            : Integer.toString(each.way().backEnds()),
                    Integer.toString(each.octets()),
                    String.format(Locale.ROOT, "%,.0f", median),
                    String.format(Locale.ROOT, "%.1f %%", spreadPercent(each.ns())),
                    String.format(Locale.ROOT, "%.2f", median / plain)));
            for (int i = 0; i < each.ns().size(); i++) {
                csv.append(String.format(
                        Locale.ROOT,
                        "%s,%d,%d,%d,%.0f%n",
                        name(each.way()),
                        each.way().backEnds(),
                        each.octets(),
                        i + 1,
                        each.ns().get(i)));
            }
        }
        section.table(
                List.of("way", "back-ends", "octets", "instructions a packet, median", "half range", "to plain"), rows);
        section.csv("", csv.toString());
        section.json("", JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(costs));
        int octets = Measurements.FRAMES.get(Measurements.FRAMES.size() - 1);
        Map<String, List<Double>> bars = new LinkedHashMap<>();
        section.find(
                octets + " octets, instructions a packet: plain ip_forward",
                "–",
                String.format(Locale.ROOT, "%,.0f", plain(costs, octets)));
        costs.stream()
                .filter(each -> each.octets() == octets && each.way().backEnds() > 0)
                .forEach(each -> bars.computeIfAbsent(name(each.way()), unused -> new ArrayList<>())
                        .add(Numbers.median(each.ns())));
        bars.forEach((name, medians) -> section.find(
                octets + " octets, " + name + ", with 1, 2, 3 back-ends",
                "flat asked",
                String.format(
                        Locale.ROOT,
                        "%,.0f, %,.0f, %,.0f: %.2f of plain, %.1f %% between least and most",
                        medians.get(0),
                        medians.get(1),
                        medians.get(2),
                        medians.get(2) / plain(costs, octets),
                        100
                                * (medians.stream().mapToDouble(x -> x).max().orElse(0)
                                                / medians.stream()
                                                        .mapToDouble(x -> x)
                                                        .min()
                                                        .orElse(1)
                                        - 1))));
        section.plot(
                "",
                Plot.bars(
                        "The front-end's cost of a packet of " + octets + " octets",
                        "instructions",
                        IntStream.rangeClosed(1, Bed.BACK_ENDS)
                                .mapToObj(n -> n + " back-ends")
                                .toList(),
                        bars));
    }

    private static String name(Way way) {
        return way.name() + (way.eachScheduled() ? ", each scheduled" : "");
    }

    private static double plain(List<Cost> costs, int octets) {
        return median(costs, FrontEnd.PLAIN, octets);
    }

    /** Of all rounds; NaN if it was not measured. */
    static double median(List<Cost> costs, Way way, int octets) {
        return costs.stream()
                .filter(each -> each.way().equals(way) && each.octets() == octets)
                .mapToDouble(each -> Numbers.median(each.ns()))
                .findFirst()
                .orElse(Double.NaN);
    }

    private static double spreadPercent(List<Double> values) {
        double least = values.stream().mapToDouble(x -> x).min().orElse(0);
        double most = values.stream().mapToDouble(x -> x).max().orElse(0);
        return 100 * (most - least) / 2 / Numbers.median(values);
    }
}

package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.tamanoir.benchmarks.cluster.Division.Scheduling;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;

/** Figure 16: streams of twelve clients, divided by a Linux Virtual Server over three nodes. */
final class DivisionFigures {
    private static final String EVEN = "≥ 0.99 asked";

    private DivisionFigures() {}

    static void run(Settings settings, Section section) throws IOException {
        Division division = settings.measurements().division();
        section.say(
                "In the virtual machine: twelve clients, one front-end, three nodes, three receivers, each a network "
                        + "namespace on one switch, direct routing. Streams of known length are counted at the nodes by "
                        + "their own counters, at the front-end by the kernel's, and at the receivers.");
        Rows table = new Rows("scheduler | weights | due | units at nodes | packets at nodes | kernel | lost");
        Rows csv = new Rows("scheduler,weights,units,divided,packets,kernel,lost");
        for (Scheduling each : division.schedulings()) {
            String weights = text(each.weights(), ":");
            table.row(
                    "%s | %s | %s | %s | %s | %s | %d",
                    each.name(),
                    weights,
                    text(each.due(), " : "),
                    text(each.divided(), " : "),
                    text(each.packets(), " : "),
                    text(each.kernel(), " : "),
                    each.lost());
            csv.row(
                    "\"%s\",%s,%d,%s,%s,%s,%d",
                    each.name(),
                    weights,
                    each.units(),
                    text(each.divided(), " "),
                    text(each.packets(), " "),
                    text(each.kernel(), " "),
                    each.lost());
            section.find(
                    each.name() + ", weights " + weights + ": " + each.units() + " units at the nodes",
                    "exact asked",
                    text(each.divided(), " : ")
                            + (each.exact() ? ", exact" : ", NOT exact: " + text(each.due(), " : ")));
            section.find(each.name() + ": Jain's index of packets by weight", EVEN, "%.4f", each.jain());
        }
        section.table(table);
        section.csv("", csv);
        section.json(division);
        Measurements.OnHost onHost = settings.measurements().onHost();
        section.find(
                "senders divide by themselves, on the host: Jain's index of packets",
                EVEN,
                "%.4f",
                Numbers.jain(
                        onHost.divided().stream().mapToDouble(Long::doubleValue).toArray()));
        section.find(
                "text through Gzip that inflates to what was sent, bytes: through the front-end; on the host",
                "all asked",
                "all %,d; all %,d",
                division.inflatedBytes(),
                onHost.inflatedBytes());
    }

    private static String text(List<? extends Number> numbers, String between) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(between));
    }
}

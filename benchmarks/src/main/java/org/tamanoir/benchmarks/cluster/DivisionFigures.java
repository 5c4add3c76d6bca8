package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.tamanoir.benchmarks.cluster.Division.Scheduling;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Section;
import tools.jackson.databind.json.JsonMapper;

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
        List<List<String>> rows = new ArrayList<>();
        StringBuilder csv = new StringBuilder("scheduler,weights,units,divided,packets,kernel,lost\n");
        for (Scheduling each : division.schedulings()) {
            String weights = text(each.weights(), ":");
            rows.add(List.of(
                    each.name(),
                    weights,
                    text(each.due(), " : "),
                    text(each.divided(), " : "),
                    text(each.packets(), " : "),
                    text(each.kernel(), " : "),
                    Long.toString(each.lost())));
            csv.append(String.format(
                    Locale.ROOT,
                    "\"%s\",%s,%d,%s,%s,%s,%d%n",
                    each.name(),
                    weights,
                    each.units(),
                    text(each.divided(), " "),
                    text(each.packets(), " "),
                    text(each.kernel(), " "),
                    each.lost()));
            section.find(
                    each.name() + ", weights " + weights + ": " + each.units() + " units at the nodes",
                    "exact asked",
                    text(each.divided(), " : ")
                            + (each.exact() ? ", exact" : ", NOT exact: " + text(each.due(), " : ")));
            section.find(
                    each.name() + ": Jain's index of packets by weight",
                    EVEN,
                    String.format(Locale.ROOT, "%.4f", each.jain()));
        }
        section.table(
                List.of("scheduler", "weights", "due", "units at nodes", "packets at nodes", "kernel", "lost"), rows);
        section.csv("", csv.toString());
        section.json("", JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(division));
        Measurements.OnHost onHost = settings.measurements().onHost();
        section.find(
                "senders divide by themselves, on the host: Jain's index of packets",
                EVEN,
                String.format(
                        Locale.ROOT,
                        "%.4f",
                        Numbers.jain(onHost.divided().stream()
                                .mapToDouble(Long::doubleValue)
                                .toArray())));
        section.find(
                "text through Gzip that inflates to what was sent, octets: through the front-end; on the host",
                "all asked",
                String.format(Locale.ROOT, "all %,d; all %,d", division.inflatedOctets(), onHost.inflatedOctets()));
    }

    private static String text(List<? extends Number> numbers, String between) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(between));
    }
}

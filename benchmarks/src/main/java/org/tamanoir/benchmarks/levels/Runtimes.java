package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.levels.Crossings.Summary;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.levels.Lab.Outcome;
import org.tamanoir.benchmarks.levels.NodeFactory.Work;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.nodeos.Level;

/** The JVM level on several runtimes, as the paper compared SUN's, IBM's and GCJ's. */
final class Runtimes {
    private static final List<Integer> SIZES = List.of(64, 1400, 32_768);
    private static final int PACKETS = 600;
    private static final int PACKETS_PER_SECOND = 500;
    private static final int SKIPPED = 20;

    private Runtimes() {}

    /** A JVM and how it is started. */
    private record Runtime(String name, NodeJvm jvm) {}

    static void run(Settings settings, Section section) throws IOException {
        int packets = settings.scaled(PACKETS, SKIPPED + 40);
        section.say(
                "Monitor in the JVM on several runtimes: %,d UDP packets of each size, %,d a second, after a warm-up; "
                        + "processor time is that of the node's process.",
                packets, PACKETS_PER_SECOND);
        Rows table = new Rows(SIZES.stream()
                .map("%,d bytes: p50 · p95 · p99 · max, µs"::formatted)
                .collect(Collectors.joining(" | ", "runtime | ", " | CPU µs a packet of 1,400 bytes")));
        List<String> names = new ArrayList<>();
        Series bars = new Series();
        Rows csv = new Rows("runtime,bytes,packets,p50 us,p95 us,p99 us,max us,cpu us per packet");
        for (Runtime runtime : runtimes(settings.nodes().jvm())) {
            List<String> row = new ArrayList<>(List.of(runtime.name));
            names.add(runtime.name);
            String cpu = "";
            try (RouterNode node = new NodeFactory(runtime.jvm).start(settings.lab(), Work.allAt(Level.JVM))) {
                SizeFigures.warmUp(settings, false);
                for (int bytes : SIZES) {
                    long beforeNs = node.cpuNs();
                    Flow flow = Flow.udp(bytes, packets, PACKETS_PER_SECOND);
                    Outcome outcome = settings.lab().run(flow);
                    double cpuUs = (node.cpuNs() - beforeNs) / 1e3 / outcome.sent();
                    Summary crossing =
                            settings.lab().crossings(flow).skip(SKIPPED).summary();
                    row.add(crossing.text());
                    bars.add("%,d bytes".formatted(bytes), crossing.p50());
                    csv.row("\"%s\",%d,%s,%.2f", runtime.name, bytes, crossing.csv(), cpuUs);
                    if (bytes == 1400) {
                        cpu = "%.1f".formatted(cpuUs);
                        section.find(
                                runtime.name + ", 1,400 bytes, p50 and CPU a packet",
                                "SUN ≈ IBM; GCJ not better",
                                "%s and %s µs",
                                Summary.us(crossing.p50()),
                                cpu);
                    }
                }
            }
            row.add(cpu);
            table.row(row);
        }
        section.table(table);
        section.plot("", Plot.bars(section.title(), "crossing time, p50, µs", names, bars));
        section.csv("", csv);
    }

    private static List<Runtime> runtimes(NodeJvm jvm) {
        String own = "Java " + java.lang.Runtime.version().feature();
        List<Runtime> all = new ArrayList<>();
        all.add(new Runtime(own + ", C2", jvm));
        all.add(new Runtime(own + ", C1 alone", jvm.with(List.of("-XX:TieredStopAtLevel=1"))));
        all.add(new Runtime(own + ", interpreter", jvm.with(List.of("-Xint"))));
        other().ifPresent(java -> all.add(new Runtime(
                "Java 25, C2", new NodeJvm(java, List.of("--enable-native-access=ALL-UNNAMED"), jvm.jar()))));
        return all;
    }

    /** Java 25, where distributions put it; not the one that runs this. */
    private static Optional<String> other() {
        if (java.lang.Runtime.version().feature() == 25 || !Files.isDirectory(Path.of("/usr/lib/jvm"))) {
            return Optional.empty();
        }
        try (Stream<Path> homes = Files.list(Path.of("/usr/lib/jvm"))) {
            return homes.filter(home -> home.getFileName().toString().contains("25"))
                    .map(home -> home.resolve("bin/java"))
                    .filter(Files::isExecutable)
                    .map(Path::toString)
                    .sorted()
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}

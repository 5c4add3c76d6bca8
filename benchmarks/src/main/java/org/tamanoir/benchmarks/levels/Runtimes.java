package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.tamanoir.benchmarks.levels.Crossings.Summary;
import org.tamanoir.benchmarks.levels.Lab.Flow;
import org.tamanoir.benchmarks.levels.Lab.Outcome;
import org.tamanoir.benchmarks.levels.NodeFactory.Work;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.nodeos.Level;

/** The JVM level on several runtimes, as the paper compared SUN's, IBM's and GCJ's. */
final class Runtimes {
    private static final List<Integer> SIZES = List.of(64, 1400, 32_768);
    private static final int PACKETS = 600;
    private static final int PACKETS_PER_SECOND = 500;
    private static final int SKIPPED = 20;

    private Runtimes() {}

    /** A JVM and how it is started. */
    private record Runtime(String name, String java, List<String> flags) {}

    static void run(Settings settings, Section section) throws IOException {
        int packets = settings.scaled(PACKETS, SKIPPED + 40);
        section.say(
                ("Monitor in the JVM on several runtimes: %,d UDP packets of each size, %,d a second, after a warm-up; "
                                + "processor time is that of the node's process.")
                        .formatted(packets, PACKETS_PER_SECOND));
        List<String> head = new ArrayList<>(List.of("runtime"));
        SIZES.forEach(octets -> head.add(String.format(Locale.ROOT, "%,d octets: p50 · p95 · p99 · max, µs", octets)));
        head.add("CPU µs a packet of 1,400 octets");
        List<List<String>> rows = new ArrayList<>();
        List<String> names = new ArrayList<>();
        Map<String, List<Double>> bars = new LinkedHashMap<>();
        StringBuilder csv = new StringBuilder("runtime,octets,packets,p50 us,p95 us,p99 us,max us,cpu us per packet\n");
        for (Runtime runtime : runtimes(settings.nodes())) {
            NodeFactory nodes = new NodeFactory(runtime.java, settings.nodes().jar());
            List<String> row = new ArrayList<>(List.of(runtime.name));
            names.add(runtime.name);
            String cpu = "";
            try (RouterNode node =
                    nodes.start(settings.lab(), Work.allAt(Level.JVM), runtime.flags.toArray(String[]::new))) {
                SizeFigures.warmUp(settings, false);
                for (int octets : SIZES) {
                    long beforeNs = node.cpuNs();
                    Flow flow = Flow.udp(octets, packets, PACKETS_PER_SECOND);
                    Outcome outcome = settings.lab().run(flow);
                    double cpuUs = (node.cpuNs() - beforeNs) / 1e3 / outcome.sent();
                    Summary crossing =
                            settings.lab().crossings(flow).skip(SKIPPED).summary();
                    row.add(SizeFigures.text(crossing));
                    bars.computeIfAbsent(String.format(Locale.ROOT, "%,d octets", octets), name -> new ArrayList<>())
                            .add(crossing.p50());
                    csv.append(String.format(
                            Locale.ROOT,
                            "\"%s\",%d,%d,%.1f,%.1f,%.1f,%.1f,%.2f%n",
                            runtime.name,
                            octets,
                            crossing.packets(),
                            crossing.p50(),
                            crossing.p95(),
                            crossing.p99(),
                            crossing.max(),
                            cpuUs));
                    if (octets == 1400) {
                        cpu = String.format(Locale.ROOT, "%.1f", cpuUs);
                        section.find(
                                runtime.name + ", 1,400 octets, p50 and CPU a packet",
                                "SUN ≈ IBM; GCJ not better",
                                SizeFigures.us(crossing.p50()) + " and " + cpu + " µs");
                    }
                }
            }
            row.add(cpu);
            rows.add(row);
        }
        section.table(head, rows);
        section.plot("", Plot.bars(section.title(), "crossing time, p50, µs", names, bars));
        section.csv("", csv.toString());
    }

    private static List<Runtime> runtimes(NodeFactory nodes) {
        String own = "Java " + java.lang.Runtime.version().feature();
        List<Runtime> all = new ArrayList<>();
        all.add(new Runtime(own + ", C2", nodes.java(), List.of()));
        all.add(new Runtime(own + ", C1 alone", nodes.java(), List.of("-XX:TieredStopAtLevel=1")));
        all.add(new Runtime(own + ", interpreter", nodes.java(), List.of("-Xint")));
        other().ifPresent(java ->
                all.add(new Runtime("Java 25, C2", java, List.of("--enable-native-access=ALL-UNNAMED"))));
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

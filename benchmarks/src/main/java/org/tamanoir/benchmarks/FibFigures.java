package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.report.Experiment;
import org.tamanoir.benchmarks.report.Experiments;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code benchmarks fib}: a full routing table, looked up, changed and loaded, beside C, DPDK and a TreeMap. */
@Command(
        name = "fib",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Measures a full routing table, made by 'routes': look-ups beside C, DPDK and TreeMap, changes one by one and "
                        + "in a batch, loading, look-ups meanwhile, memory. Writes a page of Markdown with plots (PNG). "
                        + "Exit code 1: an experiment failed.")
final class FibFigures extends CheckedCommand {
    private static final int MEMORY_MIB = 48;

    private static final Experiments<FibTable> ALL = new Experiments<>(
            "A full routing table",
            "fib.md",
            true,
            List.of(
                    new Experiment<>("ipv4", "Look-ups of IPv4", FibLookups::ipv4),
                    new Experiment<>("ipv6", "Look-ups of IPv6", FibLookups::ipv6),
                    new Experiment<>("memory", "Memory", FibFigures::memory),
                    new Experiment<>("changes", "Changes one by one", FibChanges::single),
                    new Experiment<>("batch", "Changes in a batch", FibChanges::batch),
                    new Experiment<>("updates", "Changes as BGP tells them", FibUpdates::run),
                    new Experiment<>("load", "Loading a dump", FibLoad::run),
                    new Experiment<>("meanwhile", "Look-ups during changes", FibMeanwhile::run)));

    @Option(names = "--ipv4", description = "Prefixes of IPv4.")
    private int ipv4 = 1_000_000;

    @Option(names = "--ipv6", description = "Prefixes of IPv6.")
    private int ipv6 = 200_000;

    @Option(names = "--seed", description = "Of the table and of the addresses.")
    private long seed = 1;

    @Option(names = "--rounds", description = "Rounds of 1,048,576 look-ups; the best counts.")
    private int rounds = 15;

    @Option(names = "--changes", description = "Prefixes that are changed.")
    private int changes = 100_000;

    @Option(
            names = "--updates",
            description = "BGP updates to replay (MRT). Default: --changes ones, made as by 'routes --updates'.")
    private @Nullable Path updates;

    @Option(
            names = "--only",
            split = ",",
            description = "Some experiments: ipv4, ipv6, memory, changes, batch, updates, load, meanwhile.")
    private List<String> only = List.of();

    @Option(
            names = {"--output", "--out"},
            description = "Folder for the report.")
    private Path output = Path.of("benchmarks", "results", "fib");

    FibFigures() {}

    @Override
    public Integer call() throws IOException {
        checked(() -> ALL.checked(only));
        // Small families are looked up by another structure.
        require(ipv4 >= 5000 && ipv6 >= 5000, "--ipv4 and --ipv6 must be at least 5000");
        require(
                rounds > 0 && changes >= 100 && changes <= ipv4,
                "--rounds must be at least 1, --changes 100 to --ipv4");
        FibTable table =
                new FibTable(RouteGenerator.ipv4(ipv4, seed), RouteGenerator.ipv6(ipv6, seed), rounds, changes, seed);
        table.updates = updates;
        String note = "%,d IPv4 and %,d IPv6 prefixes, seed %d".formatted(table.ipv4.count, table.ipv6.count, seed);
        System.out.println(note);
        return ALL.run(only, table, note, output) ? 0 : 1;
    }

    private static void memory(FibTable table, Section section) throws IOException {
        double fib = table.table.fib().bytes() / 1048576.0;
        double heap = table.heapBytes() / 1048576.0;
        section.say(
                "What look-ups use, and the heap with the table alone in it, less that without: prefixes are in it, too.");
        section.find("look-ups", "at most 48 MiB", "%.1f MiB%s", fib, FibTable.verdict(fib <= MEMORY_MIB))
                .find(
                        "heap with prefixes",
                        "–",
                        "%.1f MiB, %.1f bytes a prefix beside the look-ups",
                        heap,
                        (heap - fib) * 1048576 / table.table.size());
        section.plot(
                "",
                Plot.bars(
                        "Memory",
                        "MiB",
                        List.of("table"),
                        new Series().add("look-ups", fib).add("prefixes", heap - fib)));
    }
}

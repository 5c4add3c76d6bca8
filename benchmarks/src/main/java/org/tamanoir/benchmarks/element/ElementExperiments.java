package org.tamanoir.benchmarks.element;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.tamanoir.benchmarks.CheckedCommand;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.report.Experiment;
import org.tamanoir.benchmarks.report.Experiments;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** The experiments on the distributed active element, one after another, into one report. */
@Command(
        name = "fct",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Runs the experiments on one stream over several units: order, loss and jitter in virtual time, from "
                        + "a seed; rings of tokens in this process; and real units and ends, each a process of this host. Writes a page of Markdown with plots (PNG), data (CSV) and the paper's figures beside ours. "
                        + "Exit code 1: an experiment failed.")
public final class ElementExperiments extends CheckedCommand {
    private static final int PACKETS = 20_000;
    private static final int QUICK_PACKETS = 4_000;
    private static final int MAX_RATE = 200_000;
    private static final double SECONDS = 4;
    private static final double QUICK_SECONDS = 1;
    /** Those that start no process. */
    private static final Set<String> VIRTUAL = Set.of("tables", "fig7", "fig8", "hop");

    private static final Experiments<Settings> ALL = new Experiments<>(
            "The distributed active element",
            "fct.md",
            false,
            List.of(
                    new Experiment<>(
                            "tables", "Tables 2 to 4: order without tokens, with them, and exact", TableFigures::run),
                    new Experiment<>("fig7", "Figure 7: loss and jitter without synchronisation", RateFigures::figure7),
                    new Experiment<>(
                            "fig8", "Figure 8: loss and jitter with the Fast Circulating Token", RateFigures::figure8),
                    new Experiment<>("hop", "The token from unit to unit", HopFigures::run),
                    new Experiment<>("units", "Real units: order and costs", UnitFigures::run),
                    new Experiment<>("ends", "Distributor and aggregator: packets per CPU second", EndFigures::run)));

    @Option(names = "--output", description = "Folder for the report.")
    private Path output = Path.of("benchmarks", "results", "fct");

    @Option(names = "--quick", description = "Fewer packets in each run, shorter windows.")
    private boolean quick;

    @Option(names = "--seed", description = "Of the runs in virtual time.")
    private long seed = 1;

    @Option(names = "--only", split = ",", description = "Some experiments: tables, fig7, fig8, hop, units, ends.")
    private List<String> only = List.of();

    @Option(names = "--rate", description = "Datagrams a second through real units, 100 to 200000.")
    private int rate = 20_000;

    @Option(names = "--node", description = "Jar of the node, for real units and ends.", paramLabel = "JAR")
    private Path node = NodeJvm.BUILT;

    @Override
    public Integer call() throws IOException {
        require(rate >= 100 && rate <= MAX_RATE, "--rate " + rate + ": 100 to " + MAX_RATE);
        checked(() -> ALL.checked(only));
        String missing = VIRTUAL.containsAll(only) && !only.isEmpty() ? "" : NodeJvm.missing("--node", node);
        if (!missing.isEmpty()) {
            System.err.println("fct: " + missing);
            return ExitCode.SOFTWARE;
        }
        int packets = quick ? QUICK_PACKETS : PACKETS;
        double seconds = quick ? QUICK_SECONDS : SECONDS;
        String note =
                ("tables 2 to 4, figures 7 and 8: virtual time, %,d packets in each run, seed %d; all else: windows of "
                                + "%.1f s, all parts share the processors")
                        .formatted(packets, seed, seconds);
        NodeJvm jvm = new NodeJvm(Processes.ownJava(), List.of(), node.toAbsolutePath());
        return ALL.run(only, new Settings(new Runs(packets, seed), seconds, rate, jvm), note, output) ? 0 : 1;
    }
}

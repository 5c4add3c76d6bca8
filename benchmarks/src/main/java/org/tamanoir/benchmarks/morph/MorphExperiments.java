package org.tamanoir.benchmarks.morph;

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

/** The experiments on data morphing, one after another, into one report. */
@Command(
        name = "morph",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Runs the experiments on data morphing: chains, their order, merging, what receivers save, what handlers "
                        + "cost, and the same filter in Netty. In this process, in JVMs of JMH, and with real processes of this host. "
                        + "Writes a page of Markdown with plots (PNG), data (CSV) and the paper's figures beside ours. "
                        + "Exit code 1: an experiment failed.")
public final class MorphExperiments extends CheckedCommand {
    private static final double SECONDS = 2;
    private static final double QUICK_SECONDS = 0.5;
    private static final int ROUNDS = 3;
    private static final int RECORDS = 50_000;
    private static final int QUICK_RECORDS = 5_000; // some rounds of all records that differ
    /** Those that start no node. */
    private static final Set<String> WITHOUT_NODE = Set.of("fig3", "fig4", "handlers");

    private static final Experiments<Settings> ALL = new Experiments<>(
            "Data morphing",
            "morph.md",
            false,
            List.of(
                    new Experiment<>("table1", "Table 1: chains of handlers", ChainFigures::run),
                    new Experiment<>("fig3", "Figure 3: the order of handlers", OrderFigures::run),
                    new Experiment<>("fig4", "Figure 4: merging streams", MergeFigures::run),
                    new Experiment<>("fig5", "Figure 5: what a receiver saves", ReceiverFigures::run),
                    new Experiment<>("handlers", "What handlers cost", HandlerFigures::run),
                    new Experiment<>("peers", "The same filter in Netty", PeerFigures::run)));

    @Option(names = "--output", description = "Folder for the report.")
    private Path output = Path.of("benchmarks", "results", "morph");

    @Option(names = "--quick", description = "One round, short windows, few records.")
    private boolean quick;

    @Option(names = "--only", split = ",", description = "Some experiments: table1, fig3, fig4, fig5, handlers, peers.")
    private List<String> only = List.of();

    @Option(names = "--node", description = "Jar of the node.", paramLabel = "JAR")
    private Path node = NodeJvm.BUILT;

    @Override
    public Integer call() throws IOException {
        checked(() -> ALL.checked(only));
        String missing = WITHOUT_NODE.containsAll(only) && !only.isEmpty() ? "" : NodeJvm.missing("--node", node);
        if (!missing.isEmpty()) {
            System.err.println("morph: " + missing);
            return ExitCode.SOFTWARE;
        }
        NodeJvm jvm = new NodeJvm(Processes.ownJava(), List.of(), node.toAbsolutePath());
        double seconds = quick ? QUICK_SECONDS : SECONDS;
        int rounds = quick ? 1 : ROUNDS;
        String note = "windows of %.1f s, %d rounds; all parts share the processors".formatted(seconds, rounds);
        return ALL.run(only, new Settings(jvm, seconds, rounds, quick ? QUICK_RECORDS : RECORDS), note, output) ? 0 : 1;
    }
}

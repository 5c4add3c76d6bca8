package org.tamanoir.benchmarks.qos;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.tamanoir.benchmarks.CheckedCommand;
import org.tamanoir.benchmarks.report.Experiment;
import org.tamanoir.benchmarks.report.Experiments;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The experiments of the QoS paper and those that it could not run, one after another, into one report. */
@Command(
        name = "qos",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Runs the experiments on quality of service in this process, over loopback, and writes a page of "
                + "Markdown with plots (PNG), data (CSV) and the paper's figures beside ours. "
                + "Exit code 1: an experiment failed.")
public final class QosExperiments extends CheckedCommand {
    private static final double MAX_SECONDS = 600;
    private static final Experiments<Settings> ALL = new Experiments<>(
            "Quality of service",
            "qos.md",
            true,
            List.of(
                    new Experiment<>("fig4", "Figure 4: FIFO before processing", ThroughputFigures::figure4),
                    new Experiment<>("fig5", "Figure 5: strict priority before processing", ThroughputFigures::figure5),
                    new Experiment<>(
                            "fig6",
                            "Figure 6: strict priority before processing, limited network",
                            ThroughputFigures::figure6),
                    new Experiment<>(
                            "fig7",
                            "Figure 7: strict priority after processing, limited network",
                            ThroughputFigures::figure7),
                    new Experiment<>(
                            "fig8", "Figure 8: WFQ before processing, enriched flow", ThroughputFigures::figure8),
                    new Experiment<>(
                            "fig9", "Figure 9: WFQ after processing, enriched flow", ThroughputFigures::figure9),
                    new Experiment<>("both", "Before and after processing at once", BothAtOnce::run),
                    new Experiment<>("table10", "Figure 10: delay through two nodes", DelayTable::table10),
                    new Experiment<>("delay", "Delay that one node adds", DelayTable::steady),
                    new Experiment<>("throughput", "Throughput that is left", Throughput::run),
                    new Experiment<>("shares", "Shares of links and processors", Shares::run),
                    new Experiment<>("adaptation", "A service that adapts to its allotment", Adaptation::run)));

    @Option(names = "--output", description = "Folder for the report.")
    private Path output = Path.of("benchmarks", "results", "qos");

    @Option(names = "--seconds", description = "Length of a run that shows throughput against time; all else scales.")
    private double seconds = Settings.DEFAULT_SECONDS;

    @Option(
            names = "--only",
            split = ",",
            description = "Some experiments: fig4 to fig9, both, table10, delay, throughput, shares, " + "adaptation.")
    private List<String> only = List.of();

    @Option(names = "--off", description = "The same loads without any quality of service.")
    private boolean off;

    @Override
    public Integer call() throws IOException {
        validate();
        String note = "runs of %.1f s%s; senders, nodes and sink share one process and its processors"
                .formatted(seconds, off ? ", all without quality of service" : "");
        return ALL.run(only, new Settings(seconds, off), note, output) ? 0 : 1;
    }

    private void validate() {
        require(seconds >= 0.5 && seconds <= MAX_SECONDS, "--seconds " + seconds + ": 0.5 to " + MAX_SECONDS);
        checked(() -> ALL.checked(only));
    }
}

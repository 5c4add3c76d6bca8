package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.CheckedCommand;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.netns.Namespace;
import org.tamanoir.benchmarks.report.Experiment;
import org.tamanoir.benchmarks.report.Experiments;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** The experiments of the Tamanoir paper on clusters, one after another, into one report. */
@Command(
        name = "cluster",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Runs the experiments on clusters of nodes: on this host between network namespaces that it makes and "
                        + "removes, and what needs IPVS in a virtual machine that it boots. Writes a page of Markdown with plots (PNG), "
                        + "data (CSV, JSON) and the paper's figures beside ours. Needs Linux, root, iproute2, nftables, ipvsadm and what "
                        + "native/vm/run needs. Exit code 1: an experiment failed or cannot run here.")
public final class ClusterExperiments extends CheckedCommand {
    private static final double DEFAULT_SECONDS = 1;
    private static final double QUICK_SECONDS = 0.5;
    private static final double MAX_SECONDS = 60;
    private static final Path TRAFFIC = Path.of("tamanoir-kernel-bridge", "target", "native", "test", "traffic");
    private static final Experiments<Settings> ALL = new Experiments<>(
            "The cluster level",
            "cluster.md",
            false,
            List.of(
                    new Experiment<>("fig16", "Figure 16: streams divided over three nodes", DivisionFigures::run),
                    new Experiment<>(
                            "fig17", "Figure 17: Monitor, throughput against streams", ThroughputFigures::monitor),
                    new Experiment<>("fig18", "Figure 18: light against heavy", ThroughputFigures::heavy),
                    new Experiment<>("front-end", "The front-end's cost of a packet", FrontEndFigures::run),
                    new Experiment<>("model", "How throughput grows with machines", ModelFigures::run)));

    @Option(names = "--output", description = "Folder for the report.")
    private Path output = Path.of("benchmarks", "results", "cluster");

    @Option(
            names = "--quick",
            description = "Fewer sizes, numbers of streams and rounds, for a look on a busy machine.")
    private boolean quick;

    @Option(
            names = "--seconds",
            description = "For which throughput is measured at each point on the host, with Gzip four times as long. "
                    + "Default: 1, with --quick 0.5.",
            showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER)
    private double seconds;

    @Option(names = "--only", split = ",", description = "Some experiments: fig16, fig17, fig18, front-end, model.")
    private List<String> only = List.of();

    @Option(names = "--node", description = "Jar of the node.", paramLabel = "JAR")
    private Path node = NodeJvm.BUILT;

    @Option(names = "--guest", description = "What boots the virtual machine.", paramLabel = "PROGRAM")
    private Path guest = Path.of("native", "vm", "run");

    @Option(
            names = "--reuse",
            description = "Folder of an earlier report: what its JSON files have is not measured again.",
            paramLabel = "DIR")
    private @Nullable Path reuse;

    @Override
    public Integer call() throws IOException {
        validate();
        String missing = missing();
        if (!missing.isEmpty()) {
            System.err.println("cluster: " + missing);
            return ExitCode.SOFTWARE;
        }
        double window = seconds > 0 ? seconds : quick ? QUICK_SECONDS : DEFAULT_SECONDS;
        String note =
                ("each point on the host: %.1f s after half as long, with Gzip four times that, in the virtual machine %s s; "
                                + "all machines are network namespaces of one host and share its "
                                + "processors; 1-minute load average at the beginning %s")
                        .formatted(
                                window,
                                Measurements.guestSeconds(quick),
                                Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
        Measurements measurements = new Measurements(
                new Guest(guest.toAbsolutePath(), node.toAbsolutePath(), TRAFFIC.toAbsolutePath()),
                new NodeJvm(Processes.ownJava(), List.of(), node.toAbsolutePath()),
                quick,
                window,
                reuse);
        return ALL.run(only, new Settings(quick, window, measurements), note, output) ? 0 : 1;
    }

    private void validate() {
        require(
                seconds == 0 || seconds >= 0.1 && seconds <= MAX_SECONDS,
                "--seconds " + seconds + ": 0.1 to " + MAX_SECONDS);
        checked(() -> ALL.checked(only));
    }

    /** Why this host cannot run them; empty = it can. */
    private String missing() {
        if (!Files.isRegularFile(node)) {
            return "--node " + node + ": no such file: build it with mvn package, or name it";
        }
        return Namespace.missing("ip", "iproute2", "nsenter", "util-linux", "nft", "nftables");
    }
}

package org.tamanoir.benchmarks.levels;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.benchmarks.CheckedCommand;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import org.tamanoir.benchmarks.report.Experiment;
import org.tamanoir.benchmarks.report.Experiments;
import org.tamanoir.nodeos.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** The experiments of the Tamanoir paper on levels below the JVM, one after another, into one report. */
@Command(
        name = "levels",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Runs the experiments on levels below the JVM between network namespaces that it makes and removes, "
                        + "and writes a page of Markdown with plots (PNG), data (CSV) and the paper's figures beside ours. Needs "
                        + "Linux, root, iproute2, ethtool and libbpf. Exit code 1: an experiment failed or cannot run here.")
public final class LevelExperiments extends CheckedCommand {
    private static final double MAX_SECONDS = 600;
    private static final Path MODULE = Path.of("/sys/module/tamanoir");
    private static final Experiments<Settings> ALL = new Experiments<>(
            "Levels below the Java virtual machine",
            "levels.md",
            false,
            List.of(
                    new Experiment<>("fig11", "Figure 11: crossing time over UDP", SizeFigures::udp),
                    new Experiment<>("fig12", "Figure 12: crossing time over TCP", SizeFigures::tcp),
                    new Experiment<>("nagle", "Figure 12: where the plateau comes from", Plateau::run),
                    new Experiment<>("fig13", "Figure 13: every second packet up", SwitchFigures::everySecond),
                    new Experiment<>("fig14", "Figure 14: the first 500 packets up", SwitchFigures::firstUp),
                    new Experiment<>("runtimes", "Java runtimes", Runtimes::run),
                    new Experiment<>("relief", "Processor time that the JVM is relieved of", Relief::run),
                    new Experiment<>("cost", "What a level costs, and what is forwarded", Costs::run),
                    new Experiment<>("plain", "Plain datagrams by rules", PlainFigures::run),
                    new Experiment<>("change", "Changing a policy", Changes::run)));

    @Option(names = "--output", description = "Folder for the report.")
    private Path output = Path.of("benchmarks", "results", "levels");

    @Option(names = "--seconds", description = "Length of what is measured over time; all else scales.")
    private double seconds = Settings.DEFAULT_SECONDS;

    @Option(
            names = "--only",
            split = ",",
            description = "Some experiments: fig11 to fig14, nagle, runtimes, relief, cost, plain, change.")
    private List<String> only = List.of();

    @Option(
            names = "--levels",
            split = ",",
            description =
                    "Levels to compare: module, tc, xdp, jvm. Default: tc, xdp and jvm, and module where it is loaded.")
    private List<String> levels = List.of();

    @Option(names = "--node", description = "Jar of the node.", paramLabel = "JAR")
    private Path node = NodeJvm.BUILT;

    @Override
    public Integer call() throws IOException {
        List<Level> compared = validate();
        String missing = Network.missing().isEmpty() ? LibBpf.missing() : Network.missing();
        if (missing.isEmpty() && !Files.isRegularFile(node)) {
            missing = "--node " + node + ": no such file: build it with mvn package, or name it";
        }
        if (!missing.isEmpty()) {
            System.err.println("levels: " + missing);
            return ExitCode.SOFTWARE;
        }
        String note =
                ("what is measured over time: %.1f s; client, router and server are network namespaces of one host and share "
                                + "its processors; 1-minute load average at the beginning %s")
                        .formatted(
                                seconds,
                                Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
        try (Lab lab = new Lab()) {
            NodeFactory nodes = new NodeFactory(new NodeJvm(Processes.ownJava(), List.of(), node.toAbsolutePath()));
            return ALL.run(only, new Settings(lab, nodes, compared, seconds), note, output) ? 0 : 1;
        } catch (IOException e) {
            System.err.println("levels: " + e.getMessage());
            return ExitCode.SOFTWARE;
        }
    }

    private List<Level> validate() {
        require(seconds >= 0.1 && seconds <= MAX_SECONDS, "--seconds " + seconds + ": 0.1 to " + MAX_SECONDS);
        checked(() -> ALL.checked(only));
        if (!levels.isEmpty()) {
            return checked(() -> levels.stream().map(Level::of).distinct().toList());
        }
        List<Level> compared = new ArrayList<>(List.of(Level.XDP, Level.TC));
        if (Files.exists(MODULE)) {
            compared.add(Level.MODULE);
        }
        compared.add(Level.JVM);
        return compared;
    }
}

package org.tamanoir.benchmarks.soak;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.CheckedCommand;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** The soak's command line. */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Runs a node with mixed traffic for minutes, changes it meanwhile, and verifies each byte behind "
                + "it. Exit code 1: something was lost, altered, or left over; its --seed and the first difference are "
                + "printed. Needs Linux.")
public final class Soak extends CheckedCommand {
    private static final double MIN_MINUTES = 0.05;
    private static final double MAX_MINUTES = 24 * 60;
    private static final int MAX_STREAMS = 256;

    /**
     * A fixed heap, so that the resident memory shows what is not heap; and memory that is given back is overwritten,
     * so that far ends see what leaves too late.
     */
    private static final List<String> FLAGS = List.of(
            "-Xms256m",
            "-Xmx256m",
            "-XX:+AlwaysPreTouch",
            "-XX:MaxDirectMemorySize=512m",
            "-Dtamanoir.poisonBuffers=true");

    @Option(names = "--minutes", description = "For how long, 0.05 to 1440; a fifth of it, 30 s at most, is warm-up.")
    private double minutes = 3;

    @Option(names = "--seed", description = "Of everything that is chosen by chance; without: another each time.")
    private @Nullable Long seed;

    @Option(names = "--streams", description = "TCP streams that last, 1 to 256.")
    private int streams = 16;

    @Option(names = "--out", description = "Folder for plots (PNG), data (CSV), and the node's log when it fails.")
    private @Nullable Path out;

    @Option(names = "--java", description = "Launcher of the JVM for the node.")
    private String java = Processes.ownJava();

    @Option(names = "--jvm", description = "A flag for the node's JVM beside a heap of 256 MiB; repeat it for more.")
    private List<String> jvmFlags = List.of();

    @Option(names = "--node-jar", description = "The node's jar.")
    private Path nodeJar = NodeJvm.BUILT;

    @Override
    public Integer call() throws Exception {
        require(minutes >= MIN_MINUTES && minutes <= MAX_MINUTES, "--minutes " + minutes + ": 0.05 to 1440");
        require(streams >= 1 && streams <= MAX_STREAMS, "--streams " + streams + ": 1 to " + MAX_STREAMS);
        require(
                Files.isRegularFile(nodeJar),
                "--node-jar " + nodeJar + ": no such file; build it with mvn package, or name it");
        long chosen = seed == null ? ThreadLocalRandom.current().nextLong(Integer.MAX_VALUE) : seed;
        List<String> flags = new ArrayList<>(FLAGS);
        flags.addAll(jvmFlags);
        System.out.println("seed " + chosen);
        NodeJvm jvm = new NodeJvm(java, flags, nodeJar.toAbsolutePath());
        Verdict verdict = new Run(chosen, minutes, streams, jvm, out).run();
        verdict.lines().forEach(System.out::println);
        System.out.println("%s: soak --minutes %s --streams %d --seed %d"
                .formatted(verdict.holds() ? "passed" : "FAILED", minutes, streams, chosen));
        return verdict.holds() ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}

package org.tamanoir.benchmarks.fuzz;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.tamanoir.benchmarks.NodeJvm;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Throws random inputs at what strangers can reach, and compares what becomes of them with a reference. */
@Command(
        name = "fuzz",
        mixinStandardHelpOptions = true,
        description = {
            "Sends random inputs to live nodes and compares what becomes of each with a reference.",
            "Ends with 1 at the first difference, and says how to see it again."
        })
public final class Fuzz implements Callable<Integer> {
    private static final List<String> TARGETS = List.of("anep-codec", "anep-udp", "anep-tcp", "manifest", "http");

    @Option(names = "--seconds", description = "How long, for each target (default: ${DEFAULT-VALUE}).")
    private int seconds = 60;

    @Option(names = "--seed", description = "To see a run again: the seed that it printed.")
    private long seed = System.nanoTime();

    @Option(
            names = "--only",
            split = ",",
            description = "Some of anep-codec, anep-udp, anep-tcp, manifest, http (default: all).")
    private List<String> only = TARGETS;

    @Option(names = "--node-jar", description = "The node's jar, for http (default: ${DEFAULT-VALUE}).")
    private Path nodeJar = NodeJvm.BUILT;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        for (String name : only) {
            if (!TARGETS.contains(name)) {
                spec.commandLine().getErr().println("--only " + name + ": must be of " + String.join(", ", TARGETS));
                return 2;
            }
        }
        for (String name : only) {
            try (FuzzTarget target = open(name)) {
                if (!run(target, seed, TimeUnit.SECONDS.toNanos(seconds), Long.MAX_VALUE, out)) {
                    return 1;
                }
            }
        }
        return 0;
    }

    private FuzzTarget open(String name) throws Exception {
        return switch (name) {
            case "anep-codec" -> new AnepCodecFuzz();
            case "anep-udp" -> new AnepUdpFuzz();
            case "anep-tcp" -> new AnepTcpFuzz();
            case "manifest" -> new ManifestFuzz();
            default -> HttpFuzz.ofJar(nodeJar);
        };
    }

    /**
     * Runs one target until it has had its time or its rounds. Each round begins from a seed of its own, so that a fault
     * can be seen again in the first round: {@code --seed} of what is printed.
     *
     * @return whether all was as the reference said
     */
    static boolean run(FuzzTarget target, long seed, long durationNs, long rounds, PrintWriter out) {
        long inputs = 0;
        long start = System.nanoTime();
        long now = start;
        SplittableRandom seeds = new SplittableRandom(seed);
        long roundSeed = seed;
        for (long round = 0; round < rounds && now - start < durationNs; round++) {
            try {
                inputs += target.round(new SplittableRandom(roundSeed));
            } catch (Exception e) {
                out.println(target.name() + ": fault in round " + round + ", after " + inputs + " inputs; see it again:"
                        + " fuzz --only " + target.name() + " --seed " + roundSeed + "; " + e);
                if (!(e instanceof FuzzFault) || e.getCause() != null) {
                    e.printStackTrace(out);
                }
                out.flush();
                return false;
            }
            roundSeed = seeds.nextLong();
            now = System.nanoTime();
        }
        out.println("%s: %d inputs in %.1f s from seed %d, all as the reference says"
                .formatted(target.name(), inputs, (now - start) / 1e9, seed));
        out.flush();
        return true;
    }
}

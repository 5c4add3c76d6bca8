package org.tamanoir.benchmarks.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.tamanoir.benchmarks.NodeJvm;
import org.tamanoir.benchmarks.Processes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/** The parts of the experiments that need IPVS in the kernel; their results as JSON. */
@Command(
        name = "cluster-in-guest",
        hidden = true,
        description = "Runs a part of the experiments on clusters here; needs IPVS, root, ipvsadm and iproute2.")
public final class ClusterInGuest implements Callable<Integer> {
    /** Parts that there are. */
    enum Part {
        DIVISION,
        FRONT_END
    }

    /** Code that is compiled once, by C1: an emulator has no time for more. */
    private static final List<String> JVM = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m");

    @Option(names = "--part", required = true)
    private Part part = Part.DIVISION;

    @Option(names = "--output", required = true, description = "File of the results.")
    private Path output = Path.of("results.json");

    @Option(names = "--node", required = true)
    private Path node = Path.of("tamanoir-node.jar");

    @Option(names = "--traffic", required = true)
    private Path traffic = Path.of("traffic");

    @Option(names = "--streams", split = ",")
    private List<Integer> streams = List.of(24);

    @Option(names = "--sizes", split = ",")
    private List<Integer> sizes = List.of(1400);

    @Option(names = "--seconds")
    private double seconds = 1;

    @Option(names = "--rounds")
    private int rounds = 3;

    @Option(names = "--packets")
    private int packets = 3000;

    @Override
    public Integer call() throws IOException {
        Object results;
        if (part == Part.DIVISION) {
            NodeJvm jvm = new NodeJvm(Processes.ownJava(), JVM, node);
            results = Division.run(jvm, streams, sizes, seconds, ClusterInGuest::say);
        } else {
            try (FrontEnd frontEnd = new FrontEnd(traffic, FrontEnd.ways(), false)) {
                int[] round = {0};
                results = frontEnd.measure(sizes, rounds, packets, () -> say("round " + round[0]++ + " of " + rounds));
            }
        }
        Files.writeString(output, JsonMapper.shared().writeValueAsString(results));
        return 0;
    }

    private static void say(String what) {
        System.out.println(what);
    }
}

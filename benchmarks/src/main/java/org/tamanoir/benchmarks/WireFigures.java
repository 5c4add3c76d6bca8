package org.tamanoir.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code benchmarks wire}: packets that a node takes, serves and sends on for each second of its processor time, as ANEP
 * with options for source, destination and service key, and as SAPF; turn by turn, a new node each time. The sender is
 * the same: a node that does not accept SAPF gets ANEP from it.
 */
@Command(
        name = "wire",
        mixinStandardHelpOptions = true,
        description = "Measures packets in SAPF beside the same in ANEP, through a node over UDP.")
final class WireFigures extends CheckedCommand {
    /** Wolf, Decasper, Tschudin: Tags for High Performance Active Networks, OPENARCH 2000. */
    private static final String PUBLISHED = "1.43 (TAGS: 30 % less time a packet, in the kernel)";

    @Option(names = "--payload", description = "Octets, 0 to 1400. Default: ${DEFAULT-VALUE}.")
    private int payload = 64;

    @Option(names = "--rounds", description = "1 to 100. Default: ${DEFAULT-VALUE}.")
    private int rounds = 5;

    @Option(names = "--warm-up", description = "Seconds, 1 to 60. Default: ${DEFAULT-VALUE}.")
    private int warmUpS = 4;

    @Option(names = "--window", description = "Seconds, 1 to 60. Default: ${DEFAULT-VALUE}.")
    private int windowS = 4;

    @Option(names = "--java", paramLabel = "JAVA", description = "Launcher of the node. Default: this Java.")
    private String java = Processes.ownJava();

    @Option(names = "--node-jar", paramLabel = "JAR", description = "Jar of the node. Default: ${DEFAULT-VALUE}.")
    private Path jar = NodeJvm.BUILT;

    @Override
    public Integer call() throws Exception {
        require(payload >= 0 && payload <= 1_400, "--payload " + payload + ": 0 to 1400");
        require(rounds >= 1 && rounds <= 100, "--rounds " + rounds + ": 1 to 100");
        require(warmUpS >= 1 && warmUpS <= 60, "--warm-up " + warmUpS + ": 1 to 60");
        require(windowS >= 1 && windowS <= 60, "--window " + windowS + ": 1 to 60");
        String missing = NodeJvm.missing("--node-jar", jar);
        require(missing.isEmpty(), missing);
        int bytes = WireFlood.header().headerLength() + payload;
        System.out.println("packets for each second of the node's processor time, payload of " + payload
                + " octets, median (least to most) of " + rounds + " rounds of " + windowS + " s");
        List<Double> anep = new ArrayList<>();
        List<Double> sapf = new ArrayList<>();
        try (Processes processes = new Processes()) {
            for (int round = 0; round < rounds; round++) {
                anep.add(rate(processes, bytes));
                sapf.add(rate(processes, bytes, "--sapf"));
            }
        }
        System.out.printf("ANEP  %s%nSAPF  %s%n", text(anep), text(sapf));
        System.out.printf("ratio %.2f, published %s%n", median(sapf) / median(anep), PUBLISHED);
        return 0;
    }

    private double rate(Processes processes, int bytes, String... options) throws Exception {
        NodeCommand node = new NodeCommand(new NodeJvm(java, List.of(), jar), 4_096, List.of(options));
        Forwarder forwarder =
                new Forwarder("node" + String.join("", options), EnumSet.of(Transport.UDP), "", null, node);
        try (Child sink = processes.load("udp-sink size=%d", bytes);
                RunningForwarder running =
                        RunningForwarder.start(processes, forwarder, Transport.UDP, Integer.parseInt(sink.ready()));
                Child flood = processes.load("wire-flood port=%d size=%d", running.port(), bytes)) {
            Threads.pause(warmUpS);
            long before = sink.ask("count")[1];
            CpuClock.Used used = running.cpu();
            Threads.pause(windowS);
            long after = sink.ask("count")[1];
            double seconds = running.cpu().since(used).seconds();
            running.requireAlive();
            flood.requireAlive();
            return (after - before) / (double) bytes / seconds;
        }
    }

    private static String text(List<Double> rates) {
        List<Double> sorted = rates.stream().sorted().toList();
        return String.format("%,.0f (%,.0f to %,.0f)", median(rates), sorted.get(0), sorted.get(sorted.size() - 1));
    }

    private static double median(List<Double> rates) {
        List<Double> sorted = rates.stream().sorted().toList();
        return (sorted.get((sorted.size() - 1) / 2) + sorted.get(sorted.size() / 2)) / 2;
    }
}

package org.tamanoir.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code benchmarks wire}: packets that a node takes, serves and sends on for each second of its processor time, as ANEP
 * with options for source, destination and service key, and as SAPF, which ends at the node or goes on to the next hop;
 * turn by turn, a new node each time. Sender and next hop are the same: a node that does not accept SAPF gets ANEP, and one
 * that does not ask for selectors sends it.
 */
@Command(
        name = "wire",
        mixinStandardHelpOptions = true,
        description = "Measures packets in SAPF beside the same in ANEP, through a node over UDP.")
final class WireFigures extends CheckedCommand {
    /** Wolf, Decasper, Tschudin: Tags for High Performance Active Networks, OPENARCH 2000. */
    private static final String PUBLISHED = "1.43 (TAGS: 30 % less time a packet, in the kernel)";

    /** A node has always more to do when this many times what it sends on is sent to it. */
    private static final double FLOODED = 1.02;

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
        List<Double> ending = new ArrayList<>();
        List<Double> sapf = new ArrayList<>();
        try (Processes processes = new Processes()) {
            for (int round = 0; round < rounds; round++) {
                anep.add(rate(processes, bytes, false, false));
                ending.add(rate(processes, bytes, true, false));
                sapf.add(rate(processes, bytes, true, true));
            }
        }
        System.out.printf("ANEP               %s%n", text(anep));
        System.out.printf("SAPF to the node   %s, ratio %.2f%n", text(ending), median(ending) / median(anep));
        System.out.printf(
                "SAPF to the end    %s, ratio %.2f, published %s%n",
                text(sapf), median(sapf) / median(anep), PUBLISHED);
        return 0;
    }

    private double rate(Processes processes, int bytes, boolean comes, boolean goes) throws Exception {
        try (Child sink = processes.load("wire-sink size=%d", bytes)) {
            String port = sink.ready();
            List<String> options = new ArrayList<>();
            if (comes) {
                options.add("--sapf");
            }
            if (goes) {
                options.addAll(List.of("--sapf-to", "127.0.0.1:" + port));
            }
            NodeCommand node = new NodeCommand(new NodeJvm(java, List.of(), jar), 4_096, options);
            String name = "node" + String.join("", options).replace(":", "-");
            return rate(processes, name, new Forwarder(name, EnumSet.of(Transport.UDP), "", null, node), bytes, sink);
        }
    }

    private double rate(Processes processes, String name, Forwarder forwarder, int bytes, Child sink) throws Exception {
        try (RunningForwarder running =
                        RunningForwarder.start(processes, forwarder, Transport.UDP, Integer.parseInt(sink.ready()));
                // Compiled in full: it asks the node for selectors, and a node that waits for packets takes fewer at a
                // time.
                Child flood = processes.measured("wire-flood port=%d size=%d", running.port(), bytes)) {
            Threads.pause(warmUpS);
            long sentBefore = flood.ask("count")[1];
            long before = sink.ask("count")[1];
            CpuClock.Used used = running.cpu();
            Threads.pause(windowS);
            long after = sink.ask("count")[1];
            double seconds = running.cpu().since(used).seconds();
            long sent = flood.ask("count")[1] - sentBefore;
            running.requireAlive();
            flood.requireAlive();
            double packets = (after - before) / (double) bytes;
            if (sent < FLOODED * packets) {
                System.out.printf("  %s: only %,d packets were sent, and %,.0f came: it waited%n", name, sent, packets);
            }
            return packets / seconds;
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

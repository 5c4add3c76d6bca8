package org.tamanoir.benchmarks;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The comparison: our node and its peers one after another, in alternating rounds, under the same load. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Compares the node with HAProxy, a forwarder in C, nginx, socat and a plain Netty proxy on 127.0.0.1. "
                        + "Exit code 1: a measurement failed; 130: interrupted, the report says where.")
final class Compare extends CheckedCommand {
    /** What is loaded. */
    enum Scenario {
        tcp,
        udp,
        latency,
        bursts,
        streams,
        life,
        startup
    }

    private static final int MODERATE_UDP_RATE = 30_000;
    private static final int SPARE_STREAMS = 100;
    private static final int INTERRUPTED = 130;
    /** A Ctrl-C ends what this program has started, too, perhaps before this program hears of it. */
    private static final long HEARD_MS = 2000;

    @Option(names = "--quick", description = "One round, short windows, 200 and 32768 bytes on one stream.")
    private boolean quick;

    @Option(names = "--only", split = ",", description = "Scenarios: ${COMPLETION-CANDIDATES}.")
    private Set<Scenario> only = EnumSet.allOf(Scenario.class);

    @Option(names = "--forwarders", split = ",", description = "Those whose name starts like this; without: all.")
    private List<String> names = List.of();

    @Option(names = "--sizes", split = ",", description = "Bytes of a packet, TCP flood.")
    private List<Integer> sizes = List.of(64, 200, 1400, 32_768, 65_000);

    @Option(names = "--streams", split = ",", description = "Streams at once, TCP flood.")
    private List<Integer> streams = List.of(1, 2, 10);

    @Option(names = "--udp-sizes", split = ",", description = "Bytes of a packet, UDP.")
    private List<Integer> udpSizes = List.of(200, 1400);

    @Option(names = "--many-streams", description = "Streams at once, scenario bursts.")
    private int manyStreams = 2000;

    @Option(names = "--rounds", description = "Rounds over all forwarders, 1 to 100.")
    private int rounds = 3;

    @Option(names = "--warm-up", description = "Seconds of load before the window.")
    private double warmUpSeconds = 3;

    @Option(names = "--window", description = "Seconds of the measured window.")
    private double windowSeconds = 4;

    @Option(names = "--java", description = "Launcher of the JVM for the node and the Netty proxy.")
    private String java = Processes.ownJava();

    @Option(names = "--jvm", description = "A flag for the node's JVM; repeat it for more.")
    private List<String> jvmFlags = List.of();

    @Option(names = "--node-jar", description = "The node's jar.")
    private Path nodeJar = NodeJvm.BUILT;

    @Option(names = "--output", description = "Folder for the reports.")
    private Path output = Path.of("benchmarks", "results");

    private final Results results = new Results();
    private final boolean terminal = System.console() != null;
    private String doing = "the preparations";

    @Override
    public Integer call() throws Exception {
        validate();
        ZonedDateTime started = ZonedDateTime.now();
        try (Processes processes = new Processes()) {
            Map<String, String> versions = new LinkedHashMap<>();
            Report report = new Report(started, Host.facts(), versions, settings(), results);
            try {
                List<Case> cases = cases(processes, available(processes.folder()));
                cases.forEach(c -> c.forwarders().forEach(f -> versions.put(f.name(), f.version())));
                run(cases, report);
            } catch (InterruptedException | ClosedByInterruptException e) {
                Thread.interrupted(); // So that the report can be written.
                results.interrupt(doing);
            }
            System.out.println();
            System.out.print(report.markdown());
            System.out.println("\nwritten to " + report.write(output) + " (and .csv, .json)");
        }
        if (!results.interrupted().isEmpty()) {
            return INTERRUPTED;
        }
        return results.failures().isEmpty() ? 0 : 1;
    }

    private String settings() {
        return ("medians (least–most) of %d rounds; warm-up %.1f s, window %.1f s; sender, forwarder and sink "
                        + "share the processors")
                .formatted(rounds, warmUpSeconds, windowSeconds);
    }

    private void validate() {
        if (quick) {
            rounds = 1;
            warmUpSeconds = 1.5;
            windowSeconds = 2;
            sizes = List.of(200, 32_768);
            streams = List.of(1);
        }
        require(rounds >= 1 && rounds <= 100, "--rounds " + rounds + ": 1 to 100");
        require(warmUpSeconds >= 0 && warmUpSeconds <= 600, "--warm-up " + warmUpSeconds + ": 0 to 600 s");
        require(windowSeconds >= 0.1 && windowSeconds <= 600, "--window " + windowSeconds + ": 0.1 to 600 s");
        require(manyStreams >= 1 && manyStreams <= 20_000, "--many-streams " + manyStreams + ": 1 to 20000");
        sizes.forEach(size -> require(size >= 64 && size <= 65_535, "--sizes " + size + ": 64 to 65535"));
        udpSizes.forEach(size -> require(size >= 84 && size <= 65_507, "--udp-sizes " + size + ": 84 to 65507"));
        streams.forEach(n -> require(n >= 1 && n <= 1000, "--streams " + n + ": 1 to 1000"));
    }

    private NodeCommand node() {
        return new NodeCommand(new NodeJvm(java, jvmFlags, nodeJar), maxStreams(), List.of());
    }

    private int maxStreams() {
        return Math.max(manyStreams, Lives.MANY_STREAMS) + SPARE_STREAMS;
    }

    private List<Forwarder> available(Path folder) {
        List<Forwarder> found = new ArrayList<>();
        for (Forwarder forwarder : Peers.all(node(), maxStreams(), folder)) {
            boolean wanted = names.isEmpty()
                    || names.stream()
                            .anyMatch(name -> forwarder
                                    .name()
                                    .toLowerCase(Locale.ROOT)
                                    .startsWith(name.toLowerCase(Locale.ROOT)));
            if (wanted && forwarder.missing() != null) {
                System.out.println("skipped: " + forwarder.name() + ": " + forwarder.missing());
            } else if (wanted) {
                found.add(forwarder);
            }
        }
        return found;
    }

    private List<Case> cases(Processes processes, List<Forwarder> all) throws Exception {
        List<Forwarder> anyTcp = carrying(all, Transport.TCP);
        // Where there are few streams it makes no difference, unless somebody wants to know.
        List<Forwarder> tcp = anyTcp.stream()
                .filter(f -> !names.isEmpty() || !f.name().equals(Peers.VIRTUAL))
                .toList();
        List<Forwarder> udp = carrying(all, Transport.UDP);
        Duration window = Duration.ofMillis(Math.round(windowSeconds * 1000));
        Duration warmUp = Duration.ofMillis(Math.round(warmUpSeconds * 1000));
        SteadyLoad steady = new SteadyLoad(processes, warmUp, window);
        List<Case> cases = new ArrayList<>();
        if (only.contains(Scenario.tcp)) {
            for (int size : sizes) {
                for (int n : streams) {
                    cases.add(Case.single("TCP flood", size + " B × " + n, tcp, f -> steady.tcpFlood(f, n, size)));
                }
            }
        }
        if (only.contains(Scenario.udp)) {
            for (int size : udpSizes) {
                cases.add(Case.single("UDP, one flow", size + " B, flood", udp, f -> steady.udpFlood(f, size, false)));
                cases.add(Case.single(
                        "UDP, one flow", size + " B, flood, joined", udp, f -> steady.udpFlood(f, size, true)));
                cases.add(Case.single(
                        "UDP, one flow", size + " B, 30,000/s", udp, f -> steady.udpPaced(f, size, MODERATE_UDP_RATE)));
            }
        }
        if (only.contains(Scenario.latency)) {
            String load = "%d B, %,d/s".formatted(Latency.PACKET_BYTES, Latency.PACKETS_PER_SECOND);
            Latency latency = new Latency(processes, warmUp, window);
            cases.add(new Case("Latency over TCP", load, andRehearsed(tcp), latency::measure));
        }
        if (only.contains(Scenario.bursts)) {
            ManyStreams many = new ManyStreams(processes, warmUp, window, manyStreams);
            String load = manyStreams + " streams, " + ManyStreams.BURST_PACKETS + " × 200 B each per second";
            cases.add(Case.single("Bursts over many TCP streams", load, anyTcp, many::measure));
        }
        Lives lives = new Lives(processes);
        if (only.contains(Scenario.streams)) {
            String load =
                    "%,d streams of %d × %d B".formatted(Lives.MANY_STREAMS, Lives.MANY_PACKETS, Lives.PACKET_BYTES);
            cases.add(new Case("Many TCP streams", load, anyTcp, lives::streams));
        }
        if (only.contains(Scenario.life)) {
            for (int n : Lives.AT_ONCE) {
                String load = n + " at once";
                cases.add(new Case("Life of a short TCP stream", load, andRehearsed(anyTcp), f -> lives.life(f, n)));
            }
        }
        if (only.contains(Scenario.startup)) {
            Startup startup = new Startup(processes);
            cases.add(Case.single("Start", "exec to first packet", startupVariants(startup, tcp), startup::measure));
        }
        return cases;
    }

    /** Adds the node that has rehearsed, behind the one that has not: for what fresh processes are asked. */
    private List<Forwarder> andRehearsed(List<Forwarder> forwarders) {
        List<Forwarder> all = new ArrayList<>(forwarders);
        if (!all.isEmpty() && all.get(0).name().equals(Peers.NODE)) {
            all.add(1, Peers.rehearsed(node()));
        }
        return all;
    }

    private List<Forwarder> startupVariants(Startup startup, List<Forwarder> tcp) throws InterruptedException {
        List<Forwarder> variants = new ArrayList<>(tcp);
        variants.removeIf(Forwarder::isDirect);
        if (variants.removeIf(f -> f.name().equals(Peers.NODE))) {
            variants.add(0, Peers.node(Peers.NODE, node()));
            try {
                variants.addAll(1, startup.withArchives(node()));
            } catch (Exception e) {
                fail("Start, archives", e);
            }
        }
        return variants;
    }

    private static List<Forwarder> carrying(List<Forwarder> all, Transport transport) {
        return all.stream().filter(f -> f.carries().contains(transport)).toList();
    }

    private void run(List<Case> cases, Report report) throws IOException, InterruptedException {
        int total = rounds * cases.stream().mapToInt(c -> c.forwarders().size()).sum();
        int done = 0;
        long startNs = System.nanoTime();
        for (Case one : cases) {
            for (int round = 1; round <= rounds; round++) {
                for (Forwarder forwarder : one.forwarders()) {
                    done++;
                    long leftS = done == 1
                            ? 0
                            : (System.nanoTime() - startNs) / (done - 1) * (total - done + 1) / 1_000_000_000;
                    doing = "[%d/%d] %s, %s, round %d, %s"
                            .formatted(done, total, one.scenario(), one.load(), round, forwarder.name());
                    if (terminal) {
                        System.out.printf("\r\033[K%s … (%d:%02d left)", doing, leftS / 60, leftS % 60);
                        System.out.flush();
                    }
                    measure(one, round, forwarder);
                }
            }
            // A long comparison that is interrupted keeps what it has.
            report.write(output);
        }
    }

    private void measure(Case one, int round, Forwarder forwarder) throws InterruptedException {
        String clear = terminal ? "\r\033[K" : "";
        try {
            one.measurement().of(forwarder).forEach((phase, figures) -> {
                results.add(new Results.Row(one.scenario(), one.row(phase), forwarder.name(), round, figures));
                System.out.println(clear + doing + (phase.isEmpty() ? "" : ", " + phase) + ": "
                        + figures.entrySet().stream()
                                .map(e -> e.getKey().format(e.getValue()) + " "
                                        + e.getKey().unit())
                                .collect(Collectors.joining(" · ")));
            });
        } catch (Exception e) {
            System.out.print(clear);
            fail(doing, e);
        }
    }

    /** Says what failed, unless it did because the program is interrupted. */
    private void fail(String what, Exception e) throws InterruptedException {
        if (e instanceof InterruptedException interrupt) {
            throw interrupt;
        }
        if (e instanceof InterruptedIOException && !(e instanceof SocketTimeoutException)) {
            throw new InterruptedException(e.getMessage());
        }
        Thread.sleep(HEARD_MS);
        results.fail(what + ": " + e.getMessage());
        System.out.println("FAILED " + what + ": " + e.getMessage());
    }
}

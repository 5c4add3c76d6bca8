package org.tamanoir.benchmarks.emulate;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.CheckedCommand;
import org.tamanoir.benchmarks.GeneratedTable;
import org.tamanoir.benchmarks.report.Experiment;
import org.tamanoir.benchmarks.report.Experiments;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What the node alone costs: arrivals that go into its reception without sockets. */
@Command(
        name = "emulate",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Puts arrivals into a node's reception without sockets, through a full routing table, so that only the "
                        + "node's cost is measured. Without --source all experiments, into a page of Markdown with plots (PNG), data "
                        + "(CSV) and the paper's figures beside ours; with it one trace or model, whose outcome is printed. "
                        + "Exit code 1: it failed.")
public final class EmulateExperiments extends CheckedCommand {
    private static final double MAX_SECONDS = 600;
    /** With {@link #MAX_PACKETS} and {@link #MAX_NS} what keeps virtual time within 64 bits of ns. */
    private static final double MIN_GBPS = 0.001;

    private static final double MAX_GBPS = 1000;
    private static final long MAX_PACKETS = 1_000_000_000;
    private static final long MAX_NS = 1_000_000_000;
    private static final Experiments<Settings> ALL = new Experiments<>(
            "Emulated arrivals",
            "emulate.md",
            true,
            List.of(
                    new Experiment<>("virtual", "Waits in virtual time", WaitFigures::virtual),
                    new Experiment<>("overhead", "Overhead a packet", OverheadFigures::run),
                    new Experiment<>("rate", "2 Gb/s with the full table", ThroughputFigures::large),
                    new Experiment<>("throughput", "One and two processors", ThroughputFigures::small),
                    new Experiment<>("beside", "Short packets beside long ones", WaitFigures::beside),
                    new Experiment<>("injection", "The real clock", ThroughputFigures::injection)));

    /** What time a replay runs in. */
    private enum Clock {
        VIRTUAL,
        REAL
    }

    @Option(names = "--out", description = "Folder for the report; with --source for its outcome, if given.")
    private @Nullable Path out;

    @Option(
            names = "--only",
            split = ",",
            description = "Some experiments: virtual, overhead, rate, throughput, beside, injection.")
    private List<String> only = List.of();

    @Option(names = "--seconds", description = "Of a measurement, the half of which warms up.")
    private double seconds = 2;

    @Option(names = "--ipv4", description = "Prefixes of IPv4 in the table.")
    private int ipv4 = 1_000_000;

    @Option(names = "--ipv6", description = "Prefixes of IPv6 in the table.")
    private int ipv6 = 200_000;

    @Option(names = "--seed", description = "Of table, destinations and models.")
    private long seed = 1;

    @Option(
            names = "--source",
            description =
                    "constant, poisson or pareto (on and off, superposed), or a file: pcap, pcapng, or *.csv with "
                            + "ns,bytes,destination,class,service.")
    private String source = "";

    @Option(names = "--clock", description = "virtual: time goes on by stated costs, the same each time; or real.")
    private Clock clock = Clock.VIRTUAL;

    @Option(names = "--bytes", description = "Of a model's packets, 60 to 9000; 0 for IMIX (64, 594, 1,518 as 7:4:1).")
    private int bytes = 64;

    @Option(names = "--gbps", description = "Of a model's line, 20 bytes for each packet included.")
    private double gbps = 1;

    @Option(
            names = "--destinations",
            description = "Of a model, among announced prefixes: uniform, zipf, or one of them.")
    private Destinations.Kind destinations = Destinations.Kind.UNIFORM;

    @Option(names = "--packets", description = "At most so many.")
    private long packets = 1_000_000;

    @Option(
            names = "--load",
            split = ",",
            description =
                    "Processor time of each service's packets in µs, as in short=1,long=1000; packets of models and "
                            + "captures are the first's. Default: work=0.")
    private Map<String, Double> loads = new TreeMap<>(Map.of("work", 0.0));

    @Option(names = "--packet-ns", description = "Stated for the node in virtual time, each packet.")
    private long packetNs = Replay.PACKET_NS;

    @Option(names = "--batch-ns", description = "Stated for the node in virtual time, each batch.")
    private long batchNs = Replay.BATCH_NS;

    @Option(names = "--moderation-us", description = "In real time: the node is woken at most this often.")
    private long moderationUs = 50;

    @Override
    public Integer call() throws IOException {
        validate();
        if (!source.isEmpty()) {
            return replay();
        }
        checked(() -> ALL.checked(only));
        GeneratedTable table = new GeneratedTable(ipv4, ipv6, seed);
        String note = "%,d routes, seed %d, measurements of %.1f s; no sockets: the network is in this process"
                .formatted(table.routes(), seed, seconds);
        Path folder = out == null ? Path.of("benchmarks", "results", "emulate") : out;
        return ALL.run(only, new Settings(table, seed, seconds), note, folder) ? 0 : 1;
    }

    private void validate() {
        require(seconds >= 0.1 && seconds <= MAX_SECONDS, "--seconds " + seconds + ": 0.1 to " + MAX_SECONDS);
        require(ipv4 >= 1000 && ipv4 <= 4_000_000, "--ipv4 " + ipv4 + ": 1000 to 4000000");
        require(ipv6 >= 0 && ipv6 <= 4_000_000, "--ipv6 " + ipv6 + ": 0 to 4000000");
        require(
                bytes == 0 || bytes >= PacketWriter.LEAST_BYTES && bytes <= 9000,
                "--bytes " + bytes + ": 0, or " + PacketWriter.LEAST_BYTES + " to 9000");
        require(gbps >= MIN_GBPS && gbps <= MAX_GBPS, "--gbps " + gbps + ": " + MIN_GBPS + " to " + MAX_GBPS);
        require(packets >= 1 && packets <= MAX_PACKETS, "--packets " + packets + ": 1 to " + MAX_PACKETS);
        require(packetNs >= 0 && packetNs <= MAX_NS, "--packet-ns " + packetNs + ": 0 to " + MAX_NS);
        require(batchNs >= 0 && batchNs <= MAX_NS, "--batch-ns " + batchNs + ": 0 to " + MAX_NS);
        require(moderationUs >= 0 && moderationUs <= 1_000_000, "--moderation-us " + moderationUs + ": 0 to 1000000");
        require(loads.size() <= 16, "--load: at most 16 services");
        require(!loads.containsKey(""), "--load: a service has no name, as in short=1");
        loads.forEach(
                (name, us) -> require(us >= 0 && us <= 1_000_000, "--load " + name + "=" + us + ": 0 to 1000000 µs"));
    }

    private Integer replay() throws IOException {
        List<String> names = new ArrayList<>(loads.keySet());
        long[] loadNs =
                loads.values().stream().mapToLong(us -> Math.round(us * 1000)).toArray();
        GeneratedTable table = new GeneratedTable(ipv4, ipv6, seed);
        String text;
        Model.Law law = law();
        if (law != null) {
            Model model = new Model(law, bytes, gbps, Destinations.of(destinations, table, seed), seed);
            text = "source %s, %s bytes, %.3f Gb/s, destinations %s, seed %d, %,d routes\n"
                            .formatted(
                                    source,
                                    bytes == 0 ? "IMIX" : String.valueOf(bytes),
                                    gbps,
                                    destinations.name().toLowerCase(Locale.ROOT),
                                    seed,
                                    table.routes())
                    + outcome(table, new Replay(names, loadNs, packets), model);
        } else {
            try (Trace trace = Trace.open(Path.of(source), names)) {
                text = "source %s, seed %d, %,d routes\n"
                                .formatted(Path.of(source).getFileName(), seed, table.routes())
                        + outcome(table, new Replay(names, loadNs, packets), trace);
            } catch (IOException e) {
                boolean isOfFile = e instanceof FileSystemException;
                System.err.println("emulate: " + (isOfFile ? source + " cannot be read: " + e : e.getMessage()));
                return 1;
            }
        }
        System.out.print(text);
        if (out != null) {
            Files.createDirectories(out);
            Files.writeString(out.resolve("replay.txt"), text);
        }
        return 0;
    }

    private Model.@Nullable Law law() {
        for (Model.Law each : Model.Law.values()) {
            if (each.name().equalsIgnoreCase(source)) {
                return each;
            }
        }
        return null;
    }

    private String outcome(GeneratedTable table, Replay replay, Arrivals arrivals) throws IOException {
        return clock == Clock.VIRTUAL
                ? replay.inVirtualTime(table, arrivals, batchNs, packetNs)
                : replay.inRealTime(table, arrivals, moderationUs * 1000);
    }
}

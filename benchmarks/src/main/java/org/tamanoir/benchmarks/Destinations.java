package org.tamanoir.benchmarks;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.tamanoir.benchmarks.report.Experiment;
import org.tamanoir.benchmarks.report.Experiments;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** UDP to one and to a million destinations by a full routing table, as real processes over loopback. */
@Command(
        name = "destinations",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Measures how many UDP packets a node with a full routing table forwards for a second of its processor "
                        + "time, when they are for one destination and when they are for a million; beside it nginx, which has "
                        + "no table, and the kernel's forwarding. Writes a page of Markdown with plots and data. Needs Linux; "
                        + "root for the kernel's. Exit code 1: it failed.")
final class Destinations extends CheckedCommand {
    private static final Experiments<Destinations> ALL = new Experiments<>(
            "Many destinations",
            "destinations.md",
            false,
            List.of(
                    new Experiment<>("one", "One next hop", (settings, section) -> settings.measure(1, section)),
                    new Experiment<>("four", "Four next hops", (settings, section) -> settings.measure(4, section)),
                    new Experiment<>(
                            "kernel", "The kernel's forwarding, four next hops", Destinations::measureKernel)));
    /** What is left of the rate with the most destinations. */
    private static final double ASKED = 2 / 3.0;

    @Option(names = "--out", description = "Folder for the report.")
    private Path out = Path.of("benchmarks", "results", "destinations");

    @Option(names = "--destinations", split = ",", description = "Numbers of destinations.")
    private List<Integer> destinations = List.of(1, 1_000, 1_000_000);

    @Option(names = "--ipv4", description = "Prefixes of IPv4.")
    private int ipv4 = 1_000_000;

    @Option(names = "--ipv6", description = "Prefixes of IPv6.")
    private int ipv6 = 200_000;

    @Option(names = "--seed", description = "Of the table and of the destinations.")
    private long seed = 1;

    @Option(names = "--size", description = "Bytes of a packet.")
    private int size = 200;

    @Option(names = "--seconds", description = "Of each measurement, after 2 s without one.")
    private double seconds = 3;

    @Option(names = "--rounds", description = "In which all take turns; the table shows medians.")
    private int rounds = 3;

    @Option(names = "--only", split = ",", description = "Some experiments: one, four, kernel.")
    private List<String> only = List.of();

    @Option(names = "--node-jar", description = "Jar of the node.", paramLabel = "JAR")
    private Path jar = NodeJvm.BUILT;

    private static final double WARM_UP_S = 2;
    /** For the first load of a process. */
    private static final double FIRST_WARM_UP_S = 6;

    @Override
    public Integer call() throws IOException {
        require(seconds >= 0.1 && seconds <= 600, "--seconds " + seconds + ": 0.1 to 600");
        require(rounds >= 1 && rounds <= 100, "--rounds " + rounds + ": 1 to 100");
        require(size >= 100 && size <= 1400, "--size " + size + ": 100 to 1400");
        require(ipv4 >= 1000 && ipv4 <= 2_000_000, "--ipv4 " + ipv4 + ": 1000 to 2000000");
        require(ipv6 >= 1000 && ipv6 <= 2_000_000, "--ipv6 " + ipv6 + ": 1000 to 2000000");
        destinations.forEach(
                each -> require(each >= 1 && each <= 10_000_000, "--destinations " + each + ": 1 to 10000000"));
        checked(() -> ALL.checked(only));
        String missing = NodeJvm.missing("--node-jar", jar);
        require(missing.isEmpty(), missing);
        String note =
                ("%d rounds of %.1f s; packets of %d bytes, single datagrams, as many as one sender can send; about %,d "
                                + "routes of IPv4 and %,d of IPv6, seed %d")
                        .formatted(rounds, seconds, size, ipv4, ipv6, seed);
        return ALL.run(only, this, note, out) ? 0 : 1;
    }

    /** What one load did: packets for a second of processor time, and a second. */
    private record Result(double perCpuSecond, double perSecond) {}

    private void measure(int nextHops, Section section) throws IOException {
        Map<String, Map<Integer, List<Result>>> all = new LinkedHashMap<>();
        try (Processes processes = new Processes()) {
            DestinationTable table = table(processes, nextHops);
            Forwarder nginx = Nginx.forwarder(1);
            int fewest = destinations.get(0);
            for (int round = 0; round < rounds; round++) {
                try (Child sink = processes.load("destination-sink size=%d sinks=%d", size, nextHops)) {
                    measureNode(processes, table, sink, round % 2 == 1, all);
                    if (nextHops == 1 && nginx.missing() == null) {
                        try (RunningForwarder running = RunningForwarder.start(
                                processes, nginx, Transport.UDP, Integer.parseInt(sink.ready()))) {
                            add(
                                    all,
                                    nginx.name(),
                                    fewest,
                                    measure(processes, sink, running, true, fewest, FIRST_WARM_UP_S));
                        }
                    }
                }
            }
            if (nextHops == 1) {
                section.say(
                        "nginx has no table: it sends what comes to one server, whatever packets are for. %s",
                        nginx.missing() == null ? nginx.version() : nginx.missing());
            }
        }
        show(all, section);
    }

    /** Makes the table, and files of destinations. */
    private DestinationTable table(Processes processes, int nextHops) throws IOException {
        DestinationTable table = new DestinationTable(ipv4, ipv6, seed, nextHops);
        int most = destinations.stream().mapToInt(Integer::intValue).max().orElseThrow();
        for (boolean isIpv4 : new boolean[] {true, false}) {
            table.writeDestinations(file(processes, isIpv4), isIpv4, most);
        }
        return table;
    }

    private static void measureKernel(Destinations settings, Section section) throws IOException {
        String missing = KernelForwarding.missing();
        section.say(
                "A router in a network namespace has the same routes, put by ip -batch. Who sends does its work: counted is "
                        + "the processor time of the sender and of ksoftirqd, less what it is when the router drops what it "
                        + "gets, so that of the look-up, of sending on over a virtual interface, and of dropping at the other "
                        + "end. No packet crosses a socket behind the router, or is looked at: compare how it falls. What the queue of "
                        + "a virtual interface loses is not counted as forwarded. %s",
                missing);
        if (missing.isEmpty()) {
            Map<String, Map<Integer, List<Result>>> all = new LinkedHashMap<>();
            try (Processes processes = new Processes();
                    KernelForwarding kernel = new KernelForwarding(settings.table(processes, 4))) {
                for (int round = 0; round < settings.rounds; round++) {
                    for (int i = 0; i < 2 * settings.destinations.size(); i++) {
                        boolean isIpv4 = i % 2 == 0;
                        int count = settings.destinations.get(i / 2);
                        add(
                                all,
                                "kernel, " + family(isIpv4),
                                count,
                                settings.measure(processes, kernel, isIpv4, count));
                    }
                }
            }
            settings.show(all, section);
        }
    }

    private static String family(boolean isIpv4) {
        return isIpv4 ? "IPv4" : "IPv6";
    }

    private Result measure(Processes processes, KernelForwarding kernel, boolean isIpv4, int count) throws IOException {
        try (Child flood = processes.load(
                kernel.client(),
                "destination-flood size=%d ipv4=%b destinations=%d file=%s",
                size,
                isIpv4,
                count,
                file(processes, isIpv4))) {
            double[] crossing = window(kernel, flood, WARM_UP_S);
            kernel.drop(true);
            double[] dropped = window(kernel, flood, 0);
            kernel.drop(false);
            if (crossing[1] < 0.1 || dropped[1] > 0.01) {
                throw new IOException("of 100 packets %.0f arrived, and %.0f while all were to be dropped"
                        .formatted(100 * crossing[1], 100 * dropped[1]));
            }
            return new Result(1e9 * crossing[1] / Math.max(1, crossing[0] - dropped[0]), crossing[1] * crossing[2]);
        }
    }

    /** Returns processor time for a packet in ns, the share that arrived, and packets a second. */
    private double[] window(KernelForwarding kernel, Child flood, double warmUpS) throws IOException {
        Threads.pause(warmUpS);
        long cpuNs = CpuClock.ns(flood.handle()) + KernelForwarding.interruptNs();
        long[] before = flood.ask("sample");
        long arrived = kernel.arrived();
        Threads.pause(seconds);
        arrived = kernel.arrived() - arrived;
        long[] after = flood.ask("sample");
        double used = CpuClock.ns(flood.handle()) + KernelForwarding.interruptNs() - cpuNs;
        double sent = after[1] - before[1];
        return new double[] {used / sent, arrived / sent, sent * 1e9 / (after[0] - before[0])};
    }

    private static Path file(Processes processes, boolean isIpv4) {
        return processes.folder().resolve(isIpv4 ? "ipv4" : "ipv6");
    }

    private void measureNode(
            Processes processes,
            DestinationTable table,
            Child sink,
            boolean isBackwards,
            Map<String, Map<Integer, List<Result>>> all)
            throws IOException {
        Path routes = processes.folder().resolve("routes");
        List<String> ports = Stream.of(sink.ready().split(" ")).toList();
        try (BufferedWriter out = Files.newBufferedWriter(routes)) {
            for (boolean isIpv4 : new boolean[] {true, false}) {
                table.writeRoutes(out, "", isIpv4, hop -> "=127.0.0.1:" + ports.get(hop) + ",host");
            }
        }
        Forwarder node = new Forwarder(
                "node",
                EnumSet.of(Transport.UDP),
                "",
                null,
                (port, sinkPort, transport, folder) -> new NodeJvm(Processes.ownJava(), List.of(), jar)
                        .line("--udp", "127.0.0.1:" + port, "--admin", "off", "--routes", routes.toString()));
        try (RunningForwarder running = RunningForwarder.start(processes, node, Transport.UDP, 0)) {
            double warmUpS = FIRST_WARM_UP_S;
            for (int i = 0; i < 2 * destinations.size(); i++) {
                int at = isBackwards ? 2 * destinations.size() - 1 - i : i;
                boolean isIpv4 = at % 2 == 0;
                int count = destinations.get(at / 2);
                add(all, "node, " + family(isIpv4), count, measure(processes, sink, running, isIpv4, count, warmUpS));
                warmUpS = WARM_UP_S;
            }
        }
    }

    private static void add(Map<String, Map<Integer, List<Result>>> all, String name, int destinations, Result result) {
        System.out.printf(
                "    %s, %,d destinations: %,.0f packets per CPU second, %,.0f a second%n",
                name, destinations, result.perCpuSecond, result.perSecond);
        all.computeIfAbsent(name, any -> new LinkedHashMap<>())
                .computeIfAbsent(destinations, any -> new ArrayList<>())
                .add(result);
    }

    @SuppressWarnings("try") // The flood lasts until it is closed.
    private Result measure(
            Processes processes, Child sink, RunningForwarder running, boolean isIpv4, int count, double warmUpS)
            throws IOException {
        try (Child flood = processes.load(
                "destination-flood port=%d size=%d ipv4=%b destinations=%d file=%s",
                running.port(), size, isIpv4, count, file(processes, isIpv4))) {
            Threads.pause(warmUpS);
            CpuClock.Used cpu = running.cpu();
            long[] before = sink.ask("sample");
            Threads.pause(seconds);
            running.requireAlive();
            double used = running.cpu().since(cpu).seconds();
            long[] after = sink.ask("sample");
            double packets = after[1] - before[1];
            if (packets == 0 || after[2] != 0) {
                throw new IOException("%.0f packets arrived, %d at another next hop".formatted(packets, after[2]));
            }
            return new Result(packets / used, packets * 1e9 / (after[0] - before[0]));
        }
    }

    private void show(Map<String, Map<Integer, List<Result>>> all, Section section) throws IOException {
        Rows rows = new Rows("what | destinations | packets per CPU second | of those for the fewest | packets/s");
        Series series = new Series();
        List<Map<String, Object>> data = new ArrayList<>();
        all.forEach((name, byCount) -> {
            double fewest = rate(byCount, destinations.get(0));
            destinations.forEach(count -> {
                List<Result> results = byCount.getOrDefault(count, List.of());
                if (!results.isEmpty()) {
                    double rate = rate(byCount, count);
                    rows.row(
                            "%s | %,d | %,.0f | %.2f | %,.0f",
                            name,
                            count,
                            rate,
                            rate / fewest,
                            Numbers.median(
                                    results.stream().map(Result::perSecond).toList()));
                    data.add(Map.of("what", name, "destinations", count, "results", results));
                }
            });
            if (byCount.size() == destinations.size()) {
                destinations.forEach(count -> series.add(name, rate(byCount, count)));
                int most = destinations.get(destinations.size() - 1);
                section.find(
                        "%s: packets per CPU second with %,d destinations to those with %,d"
                                .formatted(name, most, destinations.get(0)),
                        name.startsWith("node") ? "≥ %.2f".formatted(ASKED) : "–",
                        "%.2f",
                        rate(byCount, most) / fewest);
            }
        });
        section.table(rows).csv("", rows).json(data);
        if (destinations.size() > 1 && !series.values().isEmpty()) {
            section.plot(
                    "",
                    Plot.logarithmic(
                            section.title(), "destinations", "packets per CPU second", destinations, series, 0));
        }
    }

    private static double rate(Map<Integer, List<Result>> byCount, int count) {
        return Numbers.median(byCount.getOrDefault(count, List.of()).stream()
                .map(Result::perCpuSecond)
                .toList());
    }
}

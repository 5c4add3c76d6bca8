package org.tamanoir.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.report.Experiment;
import org.tamanoir.benchmarks.report.Experiments;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The reflector beside others, as real processes over loopback. */
@Command(
        name = "reflect",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Measures how many copies of datagrams a reflector makes for a second of its processor time, beside a loop "
                        + "of recvfrom and sendto in C, and beside others that are installed. All take turns. Writes a page of "
                        + "Markdown with a plot and data. Needs Linux; gcc for the loop. Exit code 1: it failed.")
final class Reflect extends CheckedCommand {
    private static final Experiments<Reflect> ALL = new Experiments<>(
            "The reflector",
            "reflect.md",
            false,
            List.of(
                    new Experiment<>(
                            "plain",
                            "Receivers that take one datagram a call",
                            (settings, section) -> settings.measure(false, section)),
                    new Experiment<>(
                            "joined",
                            "Receivers that take datagrams joined (UDP_GRO), as Tamanoir's do",
                            (settings, section) -> settings.measure(true, section))));
    private static final int PAYLOAD_BYTES = 1472;
    private static final double WARM_UP_S = 4;
    /** Columns of /proc/net/udp. */
    private static final int LOCAL_ADDRESS = 1;

    private static final int DROPS = 12;
    private static final String OURS = "Tamanoir";
    private static final String LOOP = "C loop";

    @Option(names = "--output", description = "Folder for the report.")
    private Path output = Path.of("benchmarks", "results", "reflect");

    @Option(names = "--receivers", split = ",", description = "Numbers of receivers.")
    private List<Integer> receivers = List.of(1, 4, 16, 64);

    @Option(names = "--seconds", description = "Of each measurement, after 4 s without one.")
    private double seconds = 3;

    @Option(names = "--rounds", description = "In which all take turns; the table shows medians.")
    private int rounds = 3;

    @Option(names = "--only", split = ",", description = "Some kinds of receivers: plain, joined.")
    private List<String> only = List.of();

    @Option(names = "--node-jar", description = "Jar of the node.", paramLabel = "JAR")
    private Path jar = NodeJvm.BUILT;

    /** The compiled loop, and why there is none. */
    private String loop = "";

    private @Nullable String loopMissing;

    @Override
    public Integer call() throws IOException {
        require(seconds >= 0.1 && seconds <= 600, "--seconds " + seconds + ": 0.1 to 600");
        require(rounds >= 1 && rounds <= 100, "--rounds " + rounds + ": 1 to 100");
        receivers.forEach(each -> require(each >= 1 && each <= 1024, "--receivers " + each + ": 1 to 1024"));
        checked(() -> ALL.checked(only));
        String missing = NodeJvm.missing("--node-jar", jar);
        require(missing.isEmpty(), missing);
        String note =
                ("%d rounds of %.1f s; datagrams of %d bytes, as many as one sender can send (sendmmsg). Copies are "
                                + "datagrams that came to the receivers' sockets, read or not")
                        .formatted(rounds, seconds, PAYLOAD_BYTES);
        return ALL.run(only, this, note, output) ? 0 : 1;
    }

    /** What one process did in one measurement. */
    private record Result(double copiesPerCpuSecond, double copiesPerSecond, double residentMiB) {}

    private void measure(boolean joined, Section section) throws IOException {
        try (Processes processes = new Processes()) {
            measure(processes, joined, section);
        }
    }

    private void measure(Processes processes, boolean joined, Section section) throws IOException {
        try {
            loop = InPlace.compileSource("reflect-loop.c", processes.folder()).toString();
        } catch (IOException e) {
            loopMissing = e.getMessage();
        }
        Map<String, Map<Integer, List<Result>>> all = new LinkedHashMap<>();
        for (int count : receivers) {
            for (int round = 0; round < rounds; round++) {
                for (Forwarder each : forwarders(count, List.of())) {
                    if (each.missing() == null) {
                        all.computeIfAbsent(each.name(), name -> new LinkedHashMap<>())
                                .computeIfAbsent(count, any -> new ArrayList<>())
                                .add(measure(processes, each.name(), count, joined));
                    }
                }
            }
        }
        for (Forwarder each : forwarders(1, List.of())) {
            section.say("%s: %s", each.name(), each.missing() == null ? each.version() : "not here: " + each.missing());
        }
        show(all, section);
    }

    private void show(Map<String, Map<Integer, List<Result>>> all, Section section) throws IOException {
        Rows rows = new Rows("receivers | what | copies per CPU second | to the C loop | copies/s | RSS MiB");
        Series series = new Series();
        List<Map<String, Object>> data = new ArrayList<>();
        all.forEach((name, byCount) -> byCount.forEach((count, results) -> {
            double rate = median(results, Result::copiesPerCpuSecond);
            Map<Integer, List<Result>> loop = all.getOrDefault(LOOP, Map.of());
            String ratio = loop.containsKey(count)
                    ? "%.2f".formatted(rate / median(loop.get(count), Result::copiesPerCpuSecond))
                    : "–";
            rows.row(
                    "%d | %s | %,.0f | %s | %,.0f | %.0f",
                    count,
                    name,
                    rate,
                    ratio,
                    median(results, Result::copiesPerSecond),
                    median(results, Result::residentMiB));
            data.add(Map.of("what", name, "receivers", count, "results", results));
            if (byCount.size() == receivers.size()) {
                series.add(name, rate);
            }
            if (name.equals(OURS) && !ratio.equals("–")) {
                section.find(
                        "copies per CPU second to the C loop's, " + count + " receivers",
                        count >= 4 ? "≥ 2" : "–",
                        "%s",
                        ratio);
            }
        }));
        section.table(rows).csv("", rows).json(data);
        if (receivers.size() > 1) {
            section.plot(
                    "",
                    Plot.logarithmic(
                            "Copies of " + PAYLOAD_BYTES + " bytes",
                            "receivers",
                            "per CPU second",
                            receivers,
                            series,
                            0));
        }
    }

    private static double median(List<Result> results, ToDoubleFunction<Result> figure) {
        return Numbers.median(results.stream().mapToDouble(figure).toArray());
    }

    @SuppressWarnings("try") // The flood lasts until it is closed.
    private Result measure(Processes processes, String name, int count, boolean joined) throws IOException {
        try (Child sink = processes.load("reflect-sink receivers=%d joined=%s", count, joined)) {
            List<Integer> ports =
                    Stream.of(sink.ready().split(" ")).map(Integer::valueOf).toList();
            Forwarder forwarder = forwarders(count, ports).stream()
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .orElseThrow();
            try (RunningForwarder running = RunningForwarder.start(processes, forwarder, Transport.UDP, ports.get(0));
                    Child flood =
                            processes.load("udp-flood port=%d size=%d joined=false", running.port(), PAYLOAD_BYTES)) {
                Threads.pause(WARM_UP_S);
                CpuClock.Used cpu = running.cpu();
                double before = arrived(sink, ports);
                long beganNs = System.nanoTime();
                Threads.pause(seconds);
                running.requireAlive();
                double wall = (System.nanoTime() - beganNs) / 1e9;
                double used = running.cpu().since(cpu).seconds();
                double made = arrived(sink, ports) - before;
                Result result = new Result(made / used, made / wall, running.footprint()[0] / 1024.0);
                System.out.printf(
                        "    %d receivers, %s: %,.0f copies per CPU second%n", count, name, result.copiesPerCpuSecond);
                return result;
            }
        }
    }

    /** Returns how many copies came to the sink's sockets: those that it read, and those that they had no room for. */
    private static double arrived(Child sink, List<Integer> ports) throws IOException {
        Set<String> locals = ports.stream().map(":%04X"::formatted).collect(Collectors.toSet());
        double copies = (double) sink.ask("bytes")[0] / PAYLOAD_BYTES;
        for (String line : Files.readAllLines(Path.of("/proc/net/udp"))) {
            String[] columns = line.trim().split(" +");
            String local = columns[LOCAL_ADDRESS];
            if (locals.contains(local.substring(Math.max(0, local.indexOf(':'))))) {
                copies += Long.parseLong(columns[DROPS]);
            }
        }
        return copies;
    }

    /** All that can serve so many receivers; to see which there are, without their ports. */
    private List<Forwarder> forwarders(int count, List<Integer> ports) {
        List<Forwarder> all = new ArrayList<>(List.of(ours(ports), loop(ports), hdRum(ports)));
        if (count == 1) {
            all.add(Peers.socat());
            all.add(Nginx.forwarder(1));
        }
        return all;
    }

    private Forwarder ours(List<Integer> ports) {
        String java = Processes.ownJava();
        return new Forwarder(
                OURS,
                EnumSet.of(Transport.UDP),
                "reflect, " + Peers.firstLine(java, "-version") + ", default JVM flags",
                null,
                (port, sinkPort, transport, own) -> {
                    String config = """
                            admin: {listen: off}
                            sessions:
                              - name: measured
                                listen: 127.0.0.1:%d
                                send: [127.0.0.0/8]
                                members: [%s]
                            """.formatted(port, members(ports, each -> "'127.0.0.1:" + each + ",receive'"));
                    return List.of(
                            java,
                            "-jar",
                            jar.toString(),
                            "reflect",
                            "--config",
                            Peers.write(own, "reflect.yaml", config));
                });
    }

    private static String members(List<Integer> ports, Function<Integer, String> member) {
        return ports.stream().map(member).collect(Collectors.joining(", "));
    }

    private Forwarder loop(List<Integer> ports) {
        String compiled = loop;
        return new Forwarder(
                LOOP,
                EnumSet.of(Transport.UDP),
                Peers.firstLine(InPlace.compiler(), "--version") + " -O3; recvfrom, then sendto for each receiver",
                loopMissing,
                (port, sinkPort, transport, own) -> {
                    List<String> line = new ArrayList<>(List.of(compiled, Integer.toString(port)));
                    ports.forEach(each -> line.add(Integer.toString(each)));
                    return line;
                });
    }

    private static Forwarder hdRum(List<Integer> ports) {
        return new Forwarder(
                "hd-rum-transcode",
                EnumSet.of(Transport.UDP),
                "UltraGrid's, without transcoding",
                Peers.missing("hd-rum-transcode", "ultragrid"),
                (port, sinkPort, transport, own) -> {
                    List<String> line = new ArrayList<>(List.of("hd-rum-transcode", "8M", Integer.toString(port)));
                    ports.forEach(each -> line.addAll(List.of("-P", Integer.toString(each), "127.0.0.1")));
                    return line;
                });
    }
}

package org.tamanoir.node.demo;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.cli.TextTable;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.run.NodeReport;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** Shows data morphing on an airline's messages, made from a seed: five chains on a node, and what comes out of them. */
final class MorphDemo {
    private static final Duration STOP_GRACE = Duration.ofSeconds(10);
    private static final long KEEP_POLL_NS = TimeUnit.SECONDS.toNanos(1);

    private MorphDemo() {}

    /** What the demo has shown. */
    private record Report(List<MorphPhase.Result> scenes, Map<String, Object> node, boolean right) {}

    /**
     * Plays all scenes.
     *
     * @param program how the program is called
     * @param keep whether the node then runs until it is told to stop
     * @param json whether standard output is for the report alone
     * @return whether all was right
     */
    static boolean run(String program, String transport, TransportKind kind, boolean keep, boolean json, Output output)
            throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("tamanoir-morph-");
        try (StopSignal stop = new StopSignal(STOP_GRACE)) {
            List<MorphPhase.Result> results = new ArrayList<>();
            MorphNetwork network = new MorphNetwork(folder, transport);
            try (network) {
                output.line("path: sender -> node 127.0.0.1:" + network.tcp().getPort()
                        + " with five chains -> receiver; sockets: " + network.transport());
                output.line("plans: " + folder + (keep ? "" : ", removed at the end"));
                output.line("");
                for (MorphScene scene : MorphScene.values()) {
                    if (!stop.isStopped()) {
                        MorphPhase.Result result = new MorphPhase(network, scene).run(kind);
                        results.add(result);
                        output.line(line(result));
                    }
                }
                output.line("");
                table(results, output);
                if (keep) {
                    keep(program, network, stop, json, output);
                }
            }
            return conclude(network.traffic(), results, output);
        } finally {
            if (!keep) {
                remove(folder);
            }
        }
    }

    private static String line(MorphPhase.Result result) {
        return result.name() + ": " + result.conservation()
                + (result.changes() == 0 ? "" : "; " + result.changes() + " changes meanwhile")
                + "; records as they should be: "
                + (result.problem() == null ? "yes" : "NO, " + result.problem());
    }

    private static void table(List<MorphPhase.Result> results, Output output) {
        TextTable table = new TextTable(
                "SCENE", "", "IN", "MADE", "OUT", "DROPPED", "MERGED", "HELD", "BYTES IN", "BYTES OUT", "SECONDS");
        for (MorphPhase.Result result : results) {
            table.row(
                    result.name(),
                    result.protocol(),
                    result.in(),
                    result.made(),
                    result.out(),
                    result.dropped(),
                    result.merged(),
                    result.held(),
                    result.bytesIn(),
                    result.bytesOut(),
                    String.format(Locale.ROOT, "%.2f", result.seconds()));
        }
        table.lines().forEach(output::line);
    }

    private static void keep(String program, MorphNetwork network, StopSignal stop, boolean json, Output output)
            throws IOException, InterruptedException {
        Path flights = network.folder().resolve("flights.ffs");
        try (OutputStream out = Files.newOutputStream(flights);
                FfsWriter writer = FfsWriter.ofFile(out)) {
            writer.format(AirlineData.FLIGHT);
            for (MorphRecord flight : MorphScene.ALL.sent()) {
                writer.record(flight.format(), ByteBuffer.wrap(flight.encoded()), 0, flight.encoded().length);
            }
        }
        String ctl = "  " + program + " ctl --admin " + network.admin() + " --token-file "
                + MorphNetwork.tokenFile(network.folder()) + " morph ";
        List<String> hints = List.of(
                "",
                "The node runs until Ctrl-C. Flights through a chain, to a receiver of your own; start it first:",
                "  " + program + " receive --listen 127.0.0.1:4000 --records late.json --exit-after-streams 1",
                "  " + program + " send --to " + Endpoint.toString(network.tcp()) + " --destination "
                        + DemoNetwork.DESTINATION + ":4000 --service select --records " + flights,
                "Look at a chain, and change it:",
                ctl + "show select",
                ctl + "set select late \"filter=delay > 60\"");
        hints.forEach(json ? output::message : output::line);
        while (!stop.await(KEEP_POLL_NS)) {
            // The node works.
        }
    }

    private static boolean conclude(TrafficSnapshot traffic, List<MorphPhase.Result> results, Output output) {
        boolean right = results.size() == MorphScene.values().length
                && results.stream().allMatch(MorphPhase.Result::right)
                && NodeReport.unaccounted(traffic) == 0;
        output.line("");
        output.line("node, in packets: " + NodeReport.balance(traffic));
        output.json(new Report(results, NodeReport.total(new LinkedHashMap<>(), traffic), right));
        return right;
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}

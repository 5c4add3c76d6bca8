package org.tamanoir.node.demo;

import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.ReceiverStatistics;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.OutputFile;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.config.Choice;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.load.Progress;
import org.tamanoir.node.load.Rates;
import org.tamanoir.node.load.ReceiveCommand;
import org.tamanoir.node.load.ReceivedStream;
import org.tamanoir.node.load.ReceivedStreams;
import org.tamanoir.node.run.NodeReport;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the main job on real sockets: two nodes, a receiver and senders in this process; or a distributed element. */
@Command(name = "demo", mixinStandardHelpOptions = true, sortOptions = false)
public final class DemoCommand implements Callable<Integer> {
    private static final List<DemoPhase> PHASES = List.of(
            new DemoPhase("TCP Monitor", true, "Monitor", 32 * 1024),
            new DemoPhase("TCP Gzip-Gunzip", true, "Gzip", 32 * 1024),
            new DemoPhase("UDP Monitor", false, "Monitor", 1_400));
    private static final Duration STOP_GRACE = Duration.ofSeconds(10);
    private static final long KEEP_POLL_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long UDP_STREAM_SILENCE_NS = TimeUnit.SECONDS.toNanos(2);

    /** Where a receiver that the user starts is suggested to listen. */
    private static final String OWN_RECEIVER_PORT = "4000";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(names = "--file", paramLabel = "FILE")
    private @Nullable Path file;

    @Option(names = "--transport", paramLabel = "KIND", defaultValue = "auto")
    private String transport = "";

    @Option(names = "--keep")
    private boolean keep;

    @Option(names = "--element")
    private boolean element;

    @Option(names = "--morph")
    private boolean morph;

    @Option(names = "--output", paramLabel = "FILE")
    private @Nullable Path png;

    @Option(names = "--json")
    private boolean json;

    /** Made by picocli. */
    DemoCommand() {}

    @Override
    public Integer call() {
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, Output.isTerminal());
        try {
            if (morph) {
                return runMorph(output) ? ExitCode.OK : ExitCode.FAILED;
            }
            if (element) {
                return runElement(output) ? ExitCode.OK : ExitCode.FAILED;
            }
            if (png != null) {
                throw new IllegalArgumentException("--output is for the histogram of --element: give both or neither");
            }
            TransportKind kind = Choice.sockets(transport);
            DemoFile sent = file == null ? DemoFile.find() : DemoFile.of(file);
            return run(sent, kind, output) ? ExitCode.OK : ExitCode.FAILED;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    private boolean runElement(Output output) throws IOException {
        if (file != null || keep) {
            throw new IllegalArgumentException("--file and --keep are for two nodes: leave them out with --element");
        }
        if (png != null) {
            OutputFile.requireFile(png, "--output", "standard output has the demo's lines");
        }
        return ElementDemo.run(spec.root().userObject().getClass().getName(), png, output);
    }

    private boolean runMorph(Output output) throws IOException, InterruptedException {
        if (file != null || element || png != null) {
            throw new IllegalArgumentException(
                    "--file, --element and --output are for the other demos: leave them out with --morph");
        }
        return MorphDemo.run(program(), transport, Choice.sockets(transport), keep, json, output);
    }

    private boolean run(DemoFile sent, TransportKind kind, Output output) throws IOException, InterruptedException {
        List<DemoPhase.Result> results = new ArrayList<>();
        try (StopSignal stop = new StopSignal(STOP_GRACE)) {
            DemoNetwork network = new DemoNetwork(transport);
            try (network) {
                introduce(network, sent, output);
                for (DemoPhase phase : PHASES) {
                    if (!stop.isStopped()) {
                        results.add(phase.run(network, sent, kind, output));
                        output.line(line(results.get(results.size() - 1)));
                    }
                }
                output.line("");
                DemoReport.table(results, output);
                if (keep) {
                    keep(network, kind, stop, output);
                }
            }
            return conclude(network, sent, results, output);
        }
    }

    private static void introduce(DemoNetwork network, DemoFile sent, Output output) {
        output.line("file: " + sent.path() + ", "
                + (sent.bytes() < sent.fileBytes() ? "the first " + Rates.count(sent.bytes()) + " of " : "")
                + Rates.count(sent.fileBytes()) + " bytes");
        output.line("SHA-256: " + sent.sha256());
        output.line("path: sender -> first node " + Endpoint.toString(network.firstAddress()) + " -> second node "
                + Endpoint.toString(network.secondAddress()) + " -> receiver; sockets: " + network.transport());
        output.line("");
    }

    private static String line(DemoPhase.Result result) {
        return result.name() + ": " + Rates.bytes(result.bytes()) + " in "
                + String.format(Locale.ROOT, "%.2f s, %.0f MB/s", result.seconds(), result.megabytesPerSecond())
                + ", bytes equal: " + DemoReport.equal(result);
    }

    /** The nodes have stopped. */
    private static boolean conclude(DemoNetwork network, DemoFile sent, List<DemoPhase.Result> results, Output output) {
        TrafficSnapshot first = network.firstTraffic();
        TrafficSnapshot second = network.secondTraffic();
        boolean equal = results.size() == PHASES.size()
                && results.stream().allMatch(DemoPhase.Result::bytesEqual)
                && NodeReport.unaccounted(first) == 0
                && NodeReport.unaccounted(second) == 0;
        output.line("");
        output.line("first node:  " + NodeReport.balance(first));
        output.line("second node: " + NodeReport.balance(second));
        output.json(new DemoReport(
                sent.path().toString(),
                sent.bytes(),
                sent.sha256(),
                results,
                NodeReport.total(new LinkedHashMap<>(), first),
                NodeReport.total(new LinkedHashMap<>(), second),
                equal));
        return equal;
    }

    private void keep(DemoNetwork network, TransportKind kind, StopSignal stop, Output output)
            throws IOException, InterruptedException {
        ReceivedStreams streams = new ReceivedStreams(null, true, false);
        InetSocketAddress anyPort = new InetSocketAddress(DemoNetwork.loopback(), 0);
        try (AnepReceiver receiver =
                AnepReceiver.on(anyPort).transportKind(kind).tcp().udp().start(streams::newHandler)) {
            hints(network, receiver).forEach(json ? output::message : output::line);
            ReceiverStatistics statistics = receiver.statistics();
            Progress progress = new Progress(output, "", statistics::packets, statistics::bytes);
            Set<ReceivedStream> told = new HashSet<>();
            boolean stopped = false;
            while (!stopped) {
                stopped = stop.await(KEEP_POLL_NS);
                progress.show();
                for (ReceivedStream stream : streams.ended(UDP_STREAM_SILENCE_NS)) {
                    if (told.add(stream)) {
                        output.line(ReceiveCommand.line(stream.report()));
                    }
                }
            }
        }
    }

    private List<String> hints(DemoNetwork network, AnepReceiver receiver) {
        String program = program();
        String send = "  " + program + " send --to " + Endpoint.toString(network.firstAddress()) + " --destination "
                + DemoNetwork.DESTINATION + ":";
        return List.of(
                "",
                "The nodes run until Ctrl-C, and take TCP and UDP. Generated load, to a receiver here that verifies it:",
                send + receiver.address().getPort() + " --service Monitor --duration 5s",
                send + receiver.address().getPort() + " --service Monitor --duration 5s --udp --rate 20k",
                "A file, compressed between the nodes, to a receiver of your own; start it first:",
                "  " + program + " receive --listen 127.0.0.1:" + OWN_RECEIVER_PORT + " -o copy --exit-after-streams 1",
                send + OWN_RECEIVER_PORT + " --service Gzip FILE");
    }

    /** Returns how a user calls this program. */
    private String program() {
        String classPath = System.getProperty("java.class.path");
        return classPath.endsWith(".jar") && !classPath.contains(File.pathSeparator)
                ? "java -jar " + classPath
                : "java -cp " + classPath + " "
                        + spec.root().userObject().getClass().getName();
    }
}

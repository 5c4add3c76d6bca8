package org.tamanoir.node;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.ReceiverStatistics;
import org.tamanoir.tls.TlsFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Takes packets in and tells what became of each stream. */
@Command(
        name = "receive",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = "Receive streams: verify the load that 'send' generates, or write payloads to a file.",
        footer = {
            "",
            "Over UDP a file is written in the order of the packets' numbers; a packet that is not there when 4096 "
                    + "packets or 8 MiB behind it wait counts as lost, and nothing stands in its place. Latency comes from the "
                    + "packets' time stamps, which mean something only when sender and receiver run on the same host.",
            "Exit code: 0 all came whole, 1 loss or corruption, 2 wrong usage or an error of input or output."
        })
final class ReceiveCommand implements Callable<Integer> {
    private static final Duration STOP_GRACE = Duration.ofSeconds(10);
    private static final Duration UDP_STREAM_SILENCE = Duration.ofSeconds(2);
    private static final long POLL_NS = 20_000_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:4000",
            converter = Converters.Address.class,
            description = "where to listen; port 0 takes a free one (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init")
    private InetSocketAddress address;

    @Option(names = "--tcp", description = "TCP alone (default: TCP and UDP)")
    private boolean tcp;

    @Option(names = "--udp", description = "UDP alone (default: TCP and UDP)")
    private boolean udp;

    @Option(names = "--tls", description = "TCP inside TLS; needs --tls-cert and --tls-key")
    private boolean tls;

    @Mixin
    private final TlsOptions tlsFiles = new TlsOptions();

    @Option(
            names = "--tls-require-client",
            description = "refuse TLS connections of those that show no certificate from --tls-trust")
    private boolean requireClient;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "write payloads to FILE, - for standard output; several streams to FILE.<stream id>")
    private @Nullable String file;

    @Option(names = "--discard", description = "count packets, and do not verify their payload")
    private boolean discard;

    @Option(
            names = "--exit-after-streams",
            paramLabel = "N",
            description = "end when N streams have ended: over TCP by their sender, over UDP by --idle (default 2s)")
    private @Nullable Integer exitAfterStreams;

    @Option(
            names = "--count",
            paramLabel = "N",
            converter = Converters.Count.class,
            description = "end when N packets have come; what is missing of them when it ends otherwise is lost")
    private @Nullable Long count;

    @Option(
            names = "--idle",
            paramLabel = "T",
            converter = Converters.Time.class,
            description = "end when no packet came for T since the last one; 500ms, 10s, 5m")
    private @Nullable Duration idle;

    @Option(
            names = "--timeout",
            paramLabel = "T",
            converter = Converters.Time.class,
            description = "end after T in any case")
    private @Nullable Duration timeout;

    @Option(
            names = "--type-id",
            paramLabel = "ID",
            defaultValue = "0x544D",
            converter = Converters.TypeId.class,
            description = "the Type ID under which Tamanoir's options count (default: ${DEFAULT-VALUE})")
    private int typeId;

    @Option(
            names = "--max-connections",
            paramLabel = "N",
            defaultValue = "4096",
            description = "TCP connections at a time (default: ${DEFAULT-VALUE})")
    private int maxConnections;

    @Option(names = "--json", description = "tell the result as one JSON object")
    private boolean json;

    @Override
    public Integer call() {
        require(file == null || !discard, "--discard and -o: choose one");
        require(exitAfterStreams == null || exitAfterStreams > 0, "--exit-after-streams: 1 or more");
        require(maxConnections > 0, "--max-connections: 1 or more");
        // With payloads on standard output the report cannot stand there too.
        boolean toStandardOutput = "-".equals(file);
        Output output = new Output(
                toStandardOutput
                        ? spec.commandLine().getErr()
                        : spec.commandLine().getOut(),
                spec.commandLine().getErr(),
                json,
                Output.isTerminal());
        try (StopSignal stop = new StopSignal(STOP_GRACE)) {
            OutputFiles files = file == null ? null : OutputFiles.of(file);
            ReceivedStreams streams = new ReceivedStreams(files, file == null && !discard, toStandardOutput);
            ReceiverStatistics statistics = receive(streams, stop, output);
            IOException failure = streams.failure();
            if (failure != null) {
                throw failure;
            }
            ReceiveReport report = report(statistics, streams);
            tell(output, report);
            return report.whole() ? Main.OK : Main.FAILED;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(Main.USAGE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Main.FAILED;
        }
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    private ReceiverStatistics receive(ReceivedStreams streams, StopSignal stop, Output output)
            throws IOException, InterruptedException {
        AnepReceiver.Settings settings = AnepReceiver.on(address).typeId(typeId).maxConnections(maxConnections);
        if (tls) {
            settings.tls(new TlsFiles(tlsFiles.certificate, tlsFiles.key, tlsFiles.trust, requireClient));
        }
        if (tcp || !udp) {
            settings.tcp();
        }
        if (udp || !tcp) {
            settings.udp();
        }
        try (AnepReceiver receiver = settings.start(streams::newHandler)) {
            output.message("listening on " + Endpoint.toString(receiver.address()));
            long startNs = System.nanoTime();
            ReceiverStatistics statistics = receiver.statistics();
            Progress progress = new Progress(output, "", statistics::packets, statistics::octets);
            while (!stop.await(POLL_NS) && !isOver(receiver.statistics(), streams, startNs)) {
                progress.show();
            }
            return receiver.statistics();
        }
    }

    /** With --exit-after-streams, --idle says when a UDP stream has ended, and not more. */
    private boolean isOver(ReceiverStatistics statistics, ReceivedStreams streams, long startNs) {
        long nowNs = System.nanoTime();
        long lastNs = streams.lastNs();
        long silenceNs = (idle == null ? UDP_STREAM_SILENCE : idle).toNanos();
        return streams.failure() != null
                || count != null && statistics.packets() >= count
                || exitAfterStreams != null && streams.ended(silenceNs).size() >= exitAfterStreams
                || idle != null && lastNs != 0 && nowNs - lastNs >= silenceNs && exitAfterStreams == null
                || timeout != null && nowNs - startNs >= timeout.toNanos();
    }

    private ReceiveReport report(ReceiverStatistics statistics, ReceivedStreams received) {
        List<StreamCounts> counts = received.all();
        List<StreamReport> streams = counts.stream().map(StreamCounts::report).toList();
        long packets = sum(streams, StreamReport::packets);
        long octets = sum(streams, StreamReport::octets);
        long missing = count == null ? 0 : count - sum(streams, StreamReport::different);
        long lost = Math.max(missing, sum(streams, StreamReport::lost));
        long late = sum(streams, StreamReport::late);
        long corrupt = sum(streams, StreamReport::corrupt);
        long leftOut = sum(streams, StreamReport::leftOut);
        long malformed = statistics.malformed().values().stream()
                .mapToLong(Long::longValue)
                .sum();
        List<String> broken = received.brokenConnections();
        boolean whole = lost == 0
                && late == 0
                && corrupt == 0
                && leftOut == 0
                && malformed == 0
                && broken.isEmpty()
                && statistics.handlerFailures() == 0
                && statistics.refusedConnections() == 0;
        double seconds = StreamCounts.secondsOf(counts);
        return new ReceiveReport(
                whole,
                packets,
                octets,
                sum(streams, StreamReport::payloadOctets),
                seconds,
                Rates.perSecond(packets, seconds),
                Rates.perSecond(octets / 1e6, seconds),
                lost,
                sum(streams, StreamReport::reordered),
                sum(streams, StreamReport::duplicates),
                late,
                sum(streams, StreamReport::unnumbered),
                corrupt,
                leftOut,
                statistics.malformed(),
                malformed,
                statistics.connections(),
                statistics.refusedConnections(),
                broken,
                latency(counts),
                streams);
    }

    private static long sum(List<StreamReport> streams, ToLongFunction<StreamReport> quantity) {
        return streams.stream().mapToLong(quantity).sum();
    }

    private static @Nullable LatencySummary latency(List<StreamCounts> counts) {
        Histogram all = LatencySummary.newHistogram();
        for (StreamCounts stream : counts) {
            Histogram histogram = stream.latency();
            if (histogram != null) {
                all.add(histogram);
            }
        }
        return all.getTotalCount() == 0 ? null : LatencySummary.of(all);
    }

    private static void tell(Output output, ReceiveReport report) {
        if (report.streams().size() > 1) {
            for (StreamReport stream : report.streams()) {
                output.line(line(stream));
            }
        }
        output.line("received " + Rates.count(report.packets()) + " packets, " + Rates.octets(report.octets())
                + " in " + report.streams().size() + " streams, " + String.format(Locale.ROOT, "%.2f", report.seconds())
                + " s: " + Rates.packetRate(report.packets(), report.seconds()) + ", "
                + Rates.octetRate(report.octets(), report.seconds()));
        output.line((report.whole() ? "whole: " : "NOT whole: ")
                + faults(report.lost(), report.reordered(), report.duplicates(), report.corrupt())
                + (report.late() > 0 ? ", " + Rates.count(report.late()) + " too late to tell" : "")
                + (report.leftOut() > 0 ? ", " + Rates.count(report.leftOut()) + " too late for the file" : "")
                + (report.malformedPackets() > 0 ? ", malformed " + report.malformed() : "")
                + (report.refusedConnections() > 0 ? ", " + report.refusedConnections() + " connections refused" : ""));
        LatencySummary latency = report.latency();
        if (latency != null) {
            output.line("latency: " + latency.line());
        }
        report.brokenConnections().forEach(connection -> output.message("receive: " + connection));
        output.json(report);
    }

    static String line(StreamReport stream) {
        return "stream " + Integer.toUnsignedString(stream.streamId()) + " from " + stream.peer() + ": "
                + Rates.count(stream.packets()) + " packets, " + Rates.octets(stream.octets()) + ", "
                + faults(stream.lost(), stream.reordered(), stream.duplicates(), stream.corrupt());
    }

    private static String faults(long lost, long reordered, long duplicates, long corrupt) {
        return Rates.count(lost) + " lost, " + Rates.count(reordered) + " reordered, " + Rates.count(duplicates)
                + " duplicates, " + Rates.count(corrupt) + " corrupt";
    }
}

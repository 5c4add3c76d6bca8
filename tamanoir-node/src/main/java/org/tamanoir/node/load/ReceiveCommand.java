package org.tamanoir.node.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.ReceiverStatistics;
import org.tamanoir.deploy.FormatStore;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.OutputFile;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.config.Converters;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.FormatFiles;
import org.tamanoir.node.config.KeyFile;
import org.tamanoir.node.config.TlsOptions;
import org.tamanoir.node.ffs.RecordFiles;
import org.tamanoir.tls.TlsFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Takes packets in and tells what became of each stream. */
@Command(name = "receive", sortOptions = false, mixinStandardHelpOptions = true)
public final class ReceiveCommand implements Callable<Integer> {
    private static final Duration STOP_GRACE = Duration.ofSeconds(10);
    private static final Duration UDP_STREAM_SILENCE = Duration.ofSeconds(2);
    private static final long POLL_NS = 20_000_000;
    private static final int MAX_FORMATS = 16_384;
    private static final long MAX_FORMAT_BYTES = 16L << 20;
    private static final Duration FORMAT_TIMEOUT = Duration.ofSeconds(5);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:4000",
            converter = Converters.Address.class)
    @SuppressWarnings("NullAway.Init")
    private InetSocketAddress address;

    @Option(names = "--tcp")
    private boolean tcp;

    @Option(names = "--udp")
    private boolean udp;

    @Option(names = "--tls")
    private boolean tls;

    @Option(names = "--quic")
    private boolean quic;

    @Mixin
    private final TlsOptions tlsFiles = new TlsOptions();

    @Option(names = "--tls-require-client")
    private boolean requireClient;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE")
    private @Nullable String file;

    @Option(names = "--discard")
    private boolean discard;

    @Option(names = "--records", paramLabel = "FILE")
    private @Nullable Path recordFile;

    @Option(names = "--formats", paramLabel = "FILE")
    private List<Path> formatFiles = new ArrayList<>();

    @Option(names = "--format-server", paramLabel = "URL", converter = Converters.FormatServer.class)
    private List<URI> formatServers = new ArrayList<>();

    @Option(names = "--exit-after-streams", paramLabel = "N")
    private @Nullable Integer exitAfterStreams;

    @Option(names = "--count", paramLabel = "N", converter = Converters.Count.class)
    private @Nullable Long count;

    @Option(names = "--idle", paramLabel = "T", converter = Converters.Time.class)
    private @Nullable Duration idle;

    @Option(names = "--timeout", paramLabel = "T", converter = Converters.Time.class)
    private @Nullable Duration timeout;

    @Option(names = "--type-id", paramLabel = "ID", defaultValue = "0x544D", converter = Converters.TypeId.class)
    private int typeId;

    @Option(names = "--auth-key", paramLabel = "FILE", converter = Converters.Keys.class)
    private @Nullable KeyFile keys;

    @Option(names = "--max-connections", paramLabel = "N", defaultValue = "4096")
    private int maxConnections;

    @Option(names = "--json")
    private boolean json;

    @Override
    public Integer call() {
        require(!(quic && (tcp || udp || tls)), "--quic and --tcp, --udp or --tls: choose one; QUIC is inside TLS");
        require(file == null || !discard, "--discard and -o: choose one");
        require(recordFile == null || file == null && !discard, "--records and -o or --discard: choose one");
        require(
                recordFile != null || formatFiles.isEmpty() && formatServers.isEmpty(),
                "--formats and --format-server: only with --records");
        require(exitAfterStreams == null || exitAfterStreams > 0, "--exit-after-streams: 1 or more");
        require(maxConnections > 0, "--max-connections: 1 or more");
        // With payloads on standard output the report cannot stand there too.
        boolean toStandardOutput =
                OutputFile.STANDARD.equals(file) || recordFile != null && OutputFile.isStandard(recordFile);
        Output output = new Output(
                toStandardOutput
                        ? spec.commandLine().getErr()
                        : spec.commandLine().getOut(),
                spec.commandLine().getErr(),
                json,
                Output.isTerminal());
        try (StopSignal stop = new StopSignal(STOP_GRACE);
                ReceivedRecords records = recordFile == null ? null : records(recordFile)) {
            PacketOutput.Factory outputs = records != null ? records : file == null ? null : OutputFiles.of(file);
            ReceivedStreams streams = new ReceivedStreams(outputs, outputs == null && !discard, toStandardOutput);
            ReceiverStatistics statistics = receive(streams, stop, output);
            IOException failure = streams.failure();
            if (failure != null) {
                throw failure;
            }
            ReceiveReport report = report(statistics, streams, records == null ? null : records.report());
            tell(output, report);
            return report.whole() ? ExitCode.OK : ExitCode.FAILED;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.FAILED;
        }
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    private ReceivedRecords records(Path to) throws IOException {
        FormatStore formats = new FormatStore(
                new FormatStore.Settings(
                        formatServers,
                        List.of(),
                        peer -> true, // Streams' own peers alone come here.
                        false,
                        true,
                        false,
                        MAX_FORMATS,
                        MAX_FORMAT_BYTES,
                        FORMAT_TIMEOUT,
                        FORMAT_TIMEOUT,
                        FORMAT_TIMEOUT,
                        Duration.ofSeconds(1),
                        Duration.ofMinutes(1),
                        null),
                FormatFiles.read(formatFiles),
                () -> TrustPolicy.NOBODY);
        try {
            return new ReceivedRecords(formats, RecordFiles.create(to));
        } catch (IOException | RuntimeException e) {
            formats.close();
            throw e;
        }
    }

    private ReceiverStatistics receive(ReceivedStreams streams, StopSignal stop, Output output)
            throws IOException, InterruptedException {
        AnepReceiver.Settings settings = AnepReceiver.on(address).typeId(typeId).maxConnections(maxConnections);
        if (tls || quic) {
            settings.tls(new TlsFiles(tlsFiles.certificate, tlsFiles.key, tlsFiles.trust, requireClient));
        }
        if (keys != null) {
            settings.authenticated(keys.keys());
        }
        if (quic) {
            settings.quic();
        } else {
            if (tcp || !udp) {
                settings.tcp();
            }
            if (udp || !tcp) {
                settings.udp();
            }
        }
        try (AnepReceiver receiver = settings.start(streams::newHandler)) {
            output.message("listening on " + Endpoint.toString(receiver.address()));
            long startNs = System.nanoTime();
            ReceiverStatistics statistics = receiver.statistics();
            Progress progress = new Progress(output, "", statistics::packets, statistics::bytes);
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

    private ReceiveReport report(
            ReceiverStatistics statistics, ReceivedStreams received, @Nullable RecordReport records) {
        List<ReceivedStream> counts = received.all();
        List<StreamReport> streams = counts.stream().map(ReceivedStream::report).toList();
        long packets = sum(streams, StreamReport::packets);
        long bytes = sum(streams, StreamReport::bytes);
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
                && statistics.refused().isEmpty()
                && (records == null || records.isWhole())
                && broken.isEmpty()
                && statistics.handlerFailures() == 0
                && statistics.refusedConnections() == 0;
        double seconds = ReceivedStream.secondsOf(counts);
        return new ReceiveReport(
                whole,
                packets,
                bytes,
                sum(streams, StreamReport::payloadBytes),
                seconds,
                Rates.perSecond(packets, seconds),
                Rates.perSecond(bytes / 1e6, seconds),
                lost,
                sum(streams, StreamReport::reordered),
                sum(streams, StreamReport::duplicates),
                late,
                sum(streams, StreamReport::unnumbered),
                corrupt,
                leftOut,
                statistics.malformed(),
                malformed,
                statistics.refused(),
                statistics.connections(),
                statistics.refusedConnections(),
                broken,
                latency(counts),
                streams,
                records);
    }

    private static long sum(List<StreamReport> streams, ToLongFunction<StreamReport> quantity) {
        return streams.stream().mapToLong(quantity).sum();
    }

    private static @Nullable LatencySummary latency(List<ReceivedStream> counts) {
        Histogram all = LatencySummary.newHistogram();
        for (ReceivedStream stream : counts) {
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
        output.line("received " + Rates.count(report.packets()) + " packets, " + Rates.bytes(report.bytes())
                + " in " + report.streams().size() + " streams, " + String.format(Locale.ROOT, "%.2f", report.seconds())
                + " s: " + Rates.packetRate(report.packets(), report.seconds()) + ", "
                + Rates.byteRate(report.bytes(), report.seconds()));
        output.line((report.whole() ? "whole: " : "NOT whole: ")
                + faults(report.lost(), report.reordered(), report.duplicates(), report.corrupt())
                + (report.late() > 0 ? ", " + Rates.count(report.late()) + " too late to tell" : "")
                + (report.leftOut() > 0 ? ", " + Rates.count(report.leftOut()) + " too late for the file" : "")
                + (report.malformedPackets() > 0 ? ", malformed " + report.malformed() : "")
                + (report.refused().isEmpty() ? "" : ", not authenticated " + report.refused())
                + (report.refusedConnections() > 0 ? ", " + report.refusedConnections() + " connections refused" : ""));
        RecordReport records = report.records();
        if (records != null) {
            output.line(Rates.count(records.written()) + " records: " + Rates.count(records.unknown())
                    + " more of unknown formats, " + Rates.count(records.broken()) + " broken, "
                    + Rates.count(records.others()) + " packets without a record");
        }
        LatencySummary latency = report.latency();
        if (latency != null) {
            output.line("latency: " + latency.line());
        }
        report.brokenConnections().forEach(connection -> output.message("receive: " + connection));
        output.json(report);
    }

    public static String line(StreamReport stream) {
        return "stream " + Integer.toUnsignedString(stream.streamId()) + " from " + stream.peer() + ": "
                + Rates.count(stream.packets()) + " packets, " + Rates.bytes(stream.bytes()) + ", "
                + faults(stream.lost(), stream.reordered(), stream.duplicates(), stream.corrupt());
    }

    private static String faults(long lost, long reordered, long duplicates, long corrupt) {
        return Rates.count(lost) + " lost, " + Rates.count(reordered) + " reordered, " + Rates.count(duplicates)
                + " duplicates, " + Rates.count(corrupt) + " corrupt";
    }
}

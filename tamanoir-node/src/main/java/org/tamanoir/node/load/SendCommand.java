package org.tamanoir.node.load;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.client.AnepSender;
import org.tamanoir.client.LoadBatch;
import org.tamanoir.format.Format;
import org.tamanoir.node.cli.CommandException;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.cli.Output;
import org.tamanoir.node.cli.StopSignal;
import org.tamanoir.node.config.Converters;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.FormatFiles;
import org.tamanoir.node.config.TlsOptions;
import org.tamanoir.node.ffs.RecordFiles;
import org.tamanoir.tls.TlsFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Sends a file, standard input or generated load. Each stream has a connection, or a socket, and a thread. */
@Command(name = "send", sortOptions = false, mixinStandardHelpOptions = true)
public final class SendCommand implements Callable<Integer> {
    private static final int DEFAULT_TCP_PACKET_BYTES = 32 * 1024;
    private static final int DEFAULT_UDP_PACKET_BYTES = 1_400;
    private static final Duration DEFAULT_LOAD_TIME = Duration.ofSeconds(10);
    private static final int MAX_STREAMS = 10_000;

    /** Memory for the generated load of all streams together; each has at most the best batch for TCP. */
    private static final int LOAD_BUDGET_BYTES = 64 * 1024 * 1024;

    /** In a packet that begins a record: the format's option, and enough of the record to tell how long it is. */
    private static final int MIN_RECORD_BYTES = 40;

    /** What a stopped command may take to tell its result. */
    private static final Duration STOP_GRACE = Duration.ofSeconds(15);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "FILE", description = "file to send, - for standard input")
    private @Nullable String file;

    @Option(
            names = "--to",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:3322",
            converter = Converters.Address.class)
    @SuppressWarnings("NullAway.Init")
    private InetSocketAddress node;

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

    @Option(names = "--streams", paramLabel = "N", defaultValue = "1")
    private int streams;

    @Option(names = "--packet-size", paramLabel = "BYTES")
    private @Nullable Integer packetSize;

    @Option(names = "--rate", paramLabel = "N", converter = Converters.Rate.class)
    private @Nullable Double rate;

    @Option(names = "--bit-rate", paramLabel = "N", converter = Converters.Rate.class)
    private @Nullable Double bitRate;

    @Option(names = "--count", paramLabel = "N", converter = Converters.Count.class)
    private @Nullable Long count;

    @Option(names = "--duration", paramLabel = "T", converter = Converters.Time.class)
    private @Nullable Duration duration;

    @Option(names = "--records")
    private boolean records;

    @Option(names = "--items")
    private boolean items;

    @Option(names = "--formats", paramLabel = "FILE")
    private List<Path> formatFiles = new ArrayList<>();

    @Mixin
    private final SendOptions packets = new SendOptions();

    @Option(names = "--ping")
    private boolean ping;

    @Option(names = "--wait-reply", paramLabel = "T", defaultValue = "1s", converter = Converters.Time.class)
    @SuppressWarnings("NullAway.Init")
    private Duration waitReply;

    @Option(names = "--json")
    private boolean json;

    private final List<PingStream> pings = new ArrayList<>();
    private final List<RecordSource> recordSources = new ArrayList<>();
    private List<Format> formats = List.of();
    private final List<ReadableByteChannel> inputs = new ArrayList<>();
    private int headerBytes;
    private int firstStreamId;

    @Override
    public Integer call() {
        Output output =
                new Output(spec.commandLine().getOut(), spec.commandLine().getErr(), json, Output.isTerminal());
        List<SendStream> sending = new ArrayList<>();
        try (StopSignal stop = new StopSignal(STOP_GRACE)) {
            checkUsage();
            openStreams(sending);
            SendReport report =
                    new SendProgress(output, sending, stop, () -> inputs.forEach(SendCommand::close)).run(this::report);
            tell(output, report);
            return report.isWhole() ? ExitCode.OK : ExitCode.FAILED;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, e);
        } finally {
            sending.forEach(stream -> stream.sender().close());
            inputs.forEach(SendCommand::close);
        }
    }

    private void checkUsage() {
        require(!(tcp && udp), "--tcp and --udp: choose one");
        require(!(tls && udp), "--tls and --udp: choose one; TLS goes over TCP");
        require(!(quic && (tcp || udp || tls)), "--quic and --tcp, --udp or --tls: choose one; QUIC is inside TLS");
        require(!packets.sapf || !tls && !quic, "--sapf and --tls or --quic: choose one; selectors go over TCP or UDP");
        require(
                !packets.sapf || !packets.checksum && !packets.timestamps && packets.streamId == null,
                "--sapf and --checksum, --timestamps or --stream-id: choose one; these change from packet to packet");
        require(!(rate != null && bitRate != null), "--rate and --bit-rate: choose one");
        require(streams >= 1 && streams <= MAX_STREAMS, "--streams " + streams + ": 1 to " + MAX_STREAMS);
        require(!("-".equals(file) && streams > 1), "--streams " + streams + ": standard input can be sent once only");
        require(
                !packets.checksum || packets.keys == null,
                "--checksum and --auth-key: choose one; what is signed needs no checksum");
        boolean load = file == null;
        require(records || !items && formatFiles.isEmpty(), "--items and --formats: only with --records");
        require(!records || file != null && !file.equals("-"), "--records: FILE is missing; one of records is wanted");
        require(load || count == null && duration == null, "--count and --duration: only for generated load");
        require(load || !ping, "--ping: only with generated load");
        require(count == null || count >= streams, "--count " + count + ": at least one packet a stream");
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    private int packetBytes() {
        return packetSize != null ? packetSize : udp ? DEFAULT_UDP_PACKET_BYTES : DEFAULT_TCP_PACKET_BYTES;
    }

    private void openStreams(List<SendStream> sending) throws IOException {
        if (records) {
            formats = FormatFiles.read(formatFiles);
            require(
                    !formatFiles.isEmpty() || RecordFiles.describesItself(Path.of(String.valueOf(file))),
                    file + " does not describe its records: say --formats FILE, an FFS file");
        }
        Integer chosen = packets.streamId;
        firstStreamId = chosen != null ? chosen : ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE - streams);
        headerBytes = packets.newBuilder(firstStreamId).headerLength();
        int largest = udp ? Anep.MAX_DATAGRAM_OCTETS : Anep.MAX_PACKET_OCTETS;
        int smallest = file == null ? headerBytes : records ? headerBytes + MIN_RECORD_BYTES : headerBytes + 1;
        if (packetBytes() < smallest || packetBytes() > largest) {
            throw new IllegalArgumentException("--packet-size " + packetBytes() + ": " + smallest
                    + " (these options' header is " + headerBytes + ") to " + largest);
        }
        AnepSender.Settings settings = AnepSender.to(node)
                .typeId(packets.typeId)
                .batchBytes(batchBytes())
                .sign(packets.key());
        if (tls || quic) {
            settings.tls(new TlsFiles(tlsFiles.certificate, tlsFiles.key, tlsFiles.trust, false));
        }
        for (int i = 0; i < streams; i++) {
            Pacer pacer = new Pacer(packetsPerSecond() / streams, System.nanoTime());
            sending.add(new SendStream(settings, way(), source(i), pacer));
        }
    }

    private SendStream.Way way() {
        return packets.sapf
                ? udp ? SendStream.Way.SAPF_OVER_UDP : SendStream.Way.SAPF_OVER_TCP
                : udp ? SendStream.Way.UDP : quic ? SendStream.Way.QUIC : SendStream.Way.TCP;
    }

    private int batchBytes() {
        return Math.min(AnepSender.DEFAULT_BATCH_BYTES, LOAD_BUDGET_BYTES / streams);
    }

    private double packetsPerSecond() {
        if (bitRate != null) {
            return bitRate / 8 / packetBytes();
        }
        return rate != null ? rate : Double.POSITIVE_INFINITY;
    }

    private SendStream.Source source(int stream) throws IOException {
        PacketBuilder builder = packets.newBuilder(firstStreamId + stream);
        if (file != null && records) {
            RecordSource source = new RecordSource(
                    Path.of(file),
                    formats,
                    () -> packets.newBuilder(firstStreamId + stream),
                    packetBytes(),
                    items,
                    udp);
            recordSources.add(source);
            return source;
        }
        if (file != null) {
            ReadableByteChannel input = open(file);
            inputs.add(input);
            return SendStream.input(input, builder, packetBytes() - headerBytes);
        }
        LoadBatch batch = new LoadBatch(builder, packetBytes(), batchBytes());
        long share = count == null ? Long.MAX_VALUE : count / streams + (stream < count % streams ? 1 : 0);
        Duration time = duration != null || count != null ? duration : DEFAULT_LOAD_TIME;
        long maxNs = time == null ? Long.MAX_VALUE / 2 : time.toNanos();
        if (ping) {
            Packet view = new Packet(packets.typeId, PacketSpace.HEAP);
            PingStream pinging = new PingStream(batch, view, waitReply, share, maxNs);
            pings.add(pinging);
            return pinging::send;
        }
        return SendStream.load(batch, share, maxNs);
    }

    private static ReadableByteChannel open(String file) throws IOException {
        if (file.equals("-")) {
            // A file channel's read ends when it is closed; one of System.in does not.
            return new FileInputStream(FileDescriptor.in).getChannel();
        }
        Path path = Path.of(file);
        if (!Files.isRegularFile(path) && !Files.isReadable(path) || Files.isDirectory(path)) {
            throw new IOException("cannot read " + file + ": no such file, or no permission");
        }
        return FileChannel.open(path);
    }

    private SendReport report(List<SendStream> sent, double seconds) {
        long sentPackets = 0;
        long bytes = 0;
        long replies = 0;
        long refused = 0;
        List<String> failures = new ArrayList<>();
        for (int i = 0; i < sent.size(); i++) {
            SendStream stream = sent.get(i);
            sentPackets += stream.sender().sentPackets();
            bytes += stream.sender().sentBytes();
            replies += stream.replies();
            refused += stream.sender().refusedPackets();
            String failure = stream.failure();
            if (failure != null) {
                failures.add("stream " + (firstStreamId + i) + ": " + failure);
            }
        }
        long unanswered = pings.stream().mapToLong(PingStream::unanswered).sum();
        if (unanswered > 0) {
            failures.add(unanswered + " packets had no answer within " + waitReply.toMillis() + " ms");
        }
        return new SendReport(
                way().text,
                Endpoint.toString(node),
                streams,
                firstStreamId,
                sentPackets,
                bytes,
                records
                        ? recordSources.stream()
                                .mapToLong(RecordSource::payloadBytes)
                                .sum()
                        : bytes - sentPackets * headerBytes,
                seconds,
                Rates.perSecond(sentPackets, seconds),
                Rates.perSecond(bytes / 1e6, seconds),
                replies,
                refused,
                failures,
                roundTrip(),
                records
                        ? recordSources.stream()
                                .mapToLong(RecordSource::records)
                                .sum()
                        : null);
    }

    private @Nullable LatencySummary roundTrip() {
        if (pings.isEmpty()) {
            return null;
        }
        Histogram all = LatencySummary.newHistogram();
        pings.forEach(pinging -> all.add(pinging.histogram()));
        return LatencySummary.of(all);
    }

    private static void tell(Output output, SendReport report) {
        Long records = report.records();
        output.line("sent " + (records == null ? "" : Rates.count(records) + " records in ")
                + Rates.count(report.packets()) + " packets, " + Rates.bytes(report.bytes()) + " over "
                + report.transport() + " in " + String.format(Locale.ROOT, "%.2f", report.seconds()) + " s: "
                + Rates.packetRate(report.packets(), report.seconds()) + ", "
                + Rates.byteRate(report.bytes(), report.seconds())
                + (report.replies() > 0 ? ", " + Rates.count(report.replies()) + " answers" : "")
                + (report.refused() > 0 ? ", " + Rates.count(report.refused()) + " refused by the system" : ""));
        LatencySummary roundTrip = report.roundTrip();
        if (roundTrip != null) {
            output.line("round trip: " + roundTrip.line());
        }
        report.failures().forEach(failure -> output.message("send: " + failure));
        output.json(report);
    }

    private static void close(ReadableByteChannel input) {
        try {
            input.close();
        } catch (IOException e) {
            // It was read to its end, or there is an error that says more.
        }
    }
}

package org.tamanoir.node;

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
import org.tamanoir.tls.TlsFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Sends a file, standard input or generated load. Each stream has a connection, or a socket, and a thread. */
@Command(
        name = "send",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = "Send a file, standard input (-) or, without FILE, generated load that 'receive' can verify.",
        footer = {
            "",
            "A file is cut into packets in order; with several streams each sends all of it.",
            "Exit code: 0 all was sent, 1 the connection broke or packets were refused, 2 wrong usage or unreachable."
        })
final class SendCommand implements Callable<Integer> {
    private static final int DEFAULT_TCP_PACKET_OCTETS = 32 * 1024;
    private static final int DEFAULT_UDP_PACKET_OCTETS = 1_400;
    private static final Duration DEFAULT_LOAD_TIME = Duration.ofSeconds(10);
    private static final int MAX_STREAMS = 10_000;

    /** Memory for the generated load of all streams together; each has at most the best batch for TCP. */
    private static final int LOAD_BUDGET_OCTETS = 64 * 1024 * 1024;

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
            converter = Converters.Address.class,
            description = "the node (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init")
    private InetSocketAddress node;

    @Option(names = "--tcp", description = "over TCP (default)")
    private boolean tcp;

    @Option(names = "--udp", description = "over UDP")
    private boolean udp;

    @Option(names = "--tls", description = "over TCP inside TLS; the node's certificate must be for the host of --to")
    private boolean tls;

    @Mixin
    private final TlsOptions tlsFiles = new TlsOptions();

    @Option(names = "--streams", paramLabel = "N", defaultValue = "1", description = "streams at the same time")
    private int streams;

    @Option(
            names = "--packet-size",
            paramLabel = "OCTETS",
            description = "whole packets, header included (default: 32768 over TCP, 1400 over UDP)")
    private @Nullable Integer packetSize;

    @Option(
            names = "--rate",
            paramLabel = "N",
            converter = Converters.Rate.class,
            description = "packets a second, all streams together; 20k, 1.5M (default: no limit)")
    private @Nullable Double rate;

    @Option(
            names = "--bit-rate",
            paramLabel = "N",
            converter = Converters.Rate.class,
            description = "bits a second, headers included, all streams together; 100M, 1G")
    private @Nullable Double bitRate;

    @Option(
            names = "--count",
            paramLabel = "N",
            converter = Converters.Count.class,
            description = "packets of generated load, all streams together; 10k, 1M")
    private @Nullable Long count;

    @Option(
            names = "--duration",
            paramLabel = "T",
            converter = Converters.Time.class,
            description = "time of generated load; 500ms, 10s, 5m (default: 10s without --count)")
    private @Nullable Duration duration;

    @Mixin
    private final SendOptions packets = new SendOptions();

    @Option(names = "--ping", description = "wait for the answer to each packet, and tell the round-trip times")
    private boolean ping;

    @Option(
            names = "--wait-reply",
            paramLabel = "T",
            defaultValue = "1s",
            converter = Converters.Time.class,
            description = "how long --ping waits for an answer (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init")
    private Duration waitReply;

    @Option(names = "--json", description = "tell the result as one JSON object")
    private boolean json;

    private final List<PingStream> pings = new ArrayList<>();
    private final List<ReadableByteChannel> inputs = new ArrayList<>();
    private int headerOctets;
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
            return report.isWhole() ? Main.OK : Main.FAILED;
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandException(Main.USAGE, e);
        } finally {
            sending.forEach(stream -> stream.sender().close());
            inputs.forEach(SendCommand::close);
        }
    }

    private void checkUsage() {
        require(!(tcp && udp), "--tcp and --udp: choose one");
        require(!(tls && udp), "--tls and --udp: choose one; TLS goes over TCP");
        require(!(rate != null && bitRate != null), "--rate and --bit-rate: choose one");
        require(streams >= 1 && streams <= MAX_STREAMS, "--streams " + streams + ": 1 to " + MAX_STREAMS);
        require(!("-".equals(file) && streams > 1), "--streams " + streams + ": standard input can be sent once only");
        boolean load = file == null;
        require(load || count == null && duration == null, "--count and --duration: only for generated load");
        require(load || !ping, "--ping: only with generated load");
        require(count == null || count >= streams, "--count " + count + ": at least one packet a stream");
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    private int packetOctets() {
        return packetSize != null ? packetSize : udp ? DEFAULT_UDP_PACKET_OCTETS : DEFAULT_TCP_PACKET_OCTETS;
    }

    private void openStreams(List<SendStream> sending) throws IOException {
        Integer chosen = packets.streamId;
        firstStreamId = chosen != null ? chosen : ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE - streams);
        headerOctets = packets.newBuilder(firstStreamId).headerLength();
        int largest = udp ? Anep.MAX_DATAGRAM_OCTETS : Anep.MAX_PACKET_OCTETS;
        int smallest = file == null ? headerOctets : headerOctets + 1;
        if (packetOctets() < smallest || packetOctets() > largest) {
            throw new IllegalArgumentException("--packet-size " + packetOctets() + ": " + smallest
                    + " (these options' header is " + headerOctets + ") to " + largest);
        }
        AnepSender.Settings settings =
                AnepSender.to(node).typeId(packets.typeId).batchOctets(batchOctets());
        if (tls) {
            settings.tls(new TlsFiles(tlsFiles.certificate, tlsFiles.key, tlsFiles.trust, false));
        }
        for (int i = 0; i < streams; i++) {
            Pacer pacer = new Pacer(packetsPerSecond() / streams, System.nanoTime());
            sending.add(new SendStream(settings, !udp, source(i), pacer));
        }
    }

    private int batchOctets() {
        return Math.min(AnepSender.DEFAULT_BATCH_OCTETS, LOAD_BUDGET_OCTETS / streams);
    }

    private double packetsPerSecond() {
        if (bitRate != null) {
            return bitRate / 8 / packetOctets();
        }
        return rate != null ? rate : Double.POSITIVE_INFINITY;
    }

    private SendStream.Source source(int stream) throws IOException {
        PacketBuilder builder = packets.newBuilder(firstStreamId + stream);
        if (file != null) {
            ReadableByteChannel input = open(file);
            inputs.add(input);
            return SendStream.input(input, builder, packetOctets() - headerOctets);
        }
        LoadBatch batch = new LoadBatch(builder, packetOctets(), batchOctets());
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
        long octets = 0;
        long replies = 0;
        long refused = 0;
        List<String> failures = new ArrayList<>();
        for (int i = 0; i < sent.size(); i++) {
            SendStream stream = sent.get(i);
            sentPackets += stream.sender().sentPackets();
            octets += stream.sender().sentOctets();
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
                udp ? "UDP" : "TCP",
                Endpoint.toString(node),
                streams,
                firstStreamId,
                sentPackets,
                octets,
                octets - sentPackets * headerOctets,
                seconds,
                Rates.perSecond(sentPackets, seconds),
                Rates.perSecond(octets / 1e6, seconds),
                replies,
                refused,
                failures,
                roundTrip());
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
        output.line("sent " + Rates.count(report.packets()) + " packets, " + Rates.octets(report.octets()) + " over "
                + report.transport() + " in " + String.format(Locale.ROOT, "%.2f", report.seconds()) + " s: "
                + Rates.packetRate(report.packets(), report.seconds()) + ", "
                + Rates.octetRate(report.octets(), report.seconds())
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

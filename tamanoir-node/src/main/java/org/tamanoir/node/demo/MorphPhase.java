package org.tamanoir.node.demo;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.NodeConfigBuilder;
import org.tamanoir.transport.TransportKind;

/**
 * A scene on real sockets: sends its messages, changes its chain meanwhile, and looks at what comes.
 *
 * <p>Thread contract: one thread.
 */
final class MorphPhase {
    /** Datagrams that may be on their way: a socket that nobody reads takes more. */
    private static final int UDP_WINDOW = 64;

    private static final int HOP_BUDGET = 8;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long UDP_SILENCE_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long POLL_NS = 1_000_000;

    private final MorphNetwork network;
    private final MorphScene scene;
    private final MorphArrivals arrivals = new MorphArrivals();
    private final Map<Format, PacketBuilder> builders = new HashMap<>();

    MorphPhase(MorphNetwork network, MorphScene scene) {
        this.network = network;
        this.scene = scene;
    }

    /**
     * What came of it, in messages.
     *
     * @param bytesIn of records, as they were sent
     * @param bytesOut of records, as they came
     * @param seconds from the first to the last
     * @param changes that were made to the chain meanwhile
     * @param conservation what the chain says became of the messages
     * @param problem the first difference from what should have come; null where there is none
     */
    record Result(
            String name,
            String service,
            String protocol,
            long in,
            long made,
            long out,
            long dropped,
            long merged,
            long held,
            long bytesIn,
            long bytesOut,
            double seconds,
            int changes,
            String conservation,
            @Nullable String problem) {
        boolean right() {
            return problem == null;
        }
    }

    Result run(TransportKind kind) throws IOException, InterruptedException {
        List<MorphRecord> sent = scene.sent();
        InetSocketAddress anyPort = new InetSocketAddress(DemoNetwork.loopback(), 0);
        AnepReceiver.Settings listening = AnepReceiver.on(anyPort).transportKind(kind);
        long startNs = System.nanoTime();
        try (AnepReceiver receiver = (scene.tcp ? listening.tcp() : listening.udp()).start(() -> arrivals)) {
            AnepSender.Settings to =
                    AnepSender.to(scene.tcp ? network.tcp() : network.udp()).transportKind(kind);
            try (AnepSender sender = scene.tcp ? to.tcp() : to.udp()) {
                send(sent, sender, receiver.address().getPort());
                sender.finish();
                if (scene.tcp) {
                    awaitEnd(sender);
                } else {
                    awaitCount((sent.size() - scene.held()) / 2);
                }
            }
        }
        return result(sent, (arrivals.lastNs() - startNs) / 1e9);
    }

    /** Messages go on while the chain is changed; before the next change, and the last part, one has been made. */
    private void send(List<MorphRecord> sent, AnepSender sender, int port) throws IOException {
        List<MorphScene.Change> changes = scene.changes();
        int due = 0;
        int part = sent.size() / (changes.size() + 1);
        CompletableFuture<?> changing = CompletableFuture.completedFuture(null);
        for (int i = 0; i < sent.size(); i++) {
            int before = i / part - 1;
            if (i % part == 0 && before >= 0 && before < changes.size()) {
                join(changing);
                sender.flush();
                MorphScene.Change change = changes.get(before);
                changing = CompletableFuture.runAsync(
                        () -> network.change(scene.service, change.operation(), change.arguments()));
            } else if (!changes.isEmpty() && i == sent.size() - part / 2) {
                join(changing);
            }
            MorphRecord record = sent.get(i);
            PacketBuilder builder = builders.computeIfAbsent(record.format(), format -> builder(format, port));
            sender.send(builder.nextSequence(i), ByteBuffer.wrap(record.encoded()));
            if (!scene.tcp) {
                sender.flush();
                boolean givesOne = i >= UDP_WINDOW && sent.get(i - UDP_WINDOW).format() == AirlineData.ADVERT;
                due += givesOne ? 1 : 0;
                awaitCount(due);
            }
        }
    }

    private static void join(CompletableFuture<?> change) throws IOException {
        try {
            change.orTimeout(PATIENCE_NS, TimeUnit.NANOSECONDS).join();
        } catch (CompletionException e) {
            throw new IOException("the chain was not changed: " + e.getCause(), e);
        }
    }

    private PacketBuilder builder(Format format, int port) {
        return new PacketBuilder()
                        .destination(new Endpoint(DemoNetwork.DESTINATION, 0).address())
                        .destinationPort(port)
                        .service(NodeConfigBuilder.serviceName(scene.service))
                        .stream(1)
                        .hopBudget(HOP_BUDGET)
                        .option(
                                Option.FORMAT.wireType(),
                                Arrays.copyOf(format.id().toBytes(), FormatId.MAX_BYTES));
    }

    private void awaitEnd(AnepSender sender) throws IOException, InterruptedException {
        Packet answer = new Packet();
        while (!sender.ended() && sender.poll(answer, Duration.ofNanos(PATIENCE_NS))) {
            // Nothing is answered; the node ends its side when it has sent all.
        }
        arrivals.awaitEnd(PATIENCE_NS);
    }

    private void awaitCount(int wanted) {
        long startNs = System.nanoTime();
        while (arrivals.count() < wanted && System.nanoTime() - Math.max(startNs, arrivals.lastNs()) < UDP_SILENCE_NS) {
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private Result result(List<MorphRecord> sent, double seconds) {
        long sinceNs = System.nanoTime();
        Map<?, ?> messages = messages();
        while (!atRest(messages, sent.size()) && System.nanoTime() - sinceNs < UDP_SILENCE_NS) {
            LockSupport.parkNanos(POLL_NS);
            messages = messages();
        }
        String problem = arrivals.fault();
        if (problem == null) {
            problem = scene.difference(sent, arrivals);
        }
        if (problem == null && !atRest(messages, sent.size())) {
            problem = "the chain's count is not what came: " + messages;
        }
        return new Result(
                scene.title,
                scene.service,
                scene.tcp ? "TCP" : "UDP",
                count(messages, "in"),
                count(messages, "made"),
                count(messages, "out"),
                count(messages, "dropped"),
                count(messages, "merged"),
                count(messages, "held"),
                sent.stream().mapToLong(record -> record.encoded().length).sum(),
                arrivals.bytes(),
                seconds,
                scene.changes().size(),
                String.valueOf(network.view(scene.service).get("conservation")),
                problem);
    }

    private boolean atRest(Map<?, ?> messages, long sent) {
        return count(messages, "in") == sent
                && count(messages, "out") == arrivals.records().size()
                && count(messages, "held") == scene.held()
                && count(messages, "queued") == 0
                && count(messages, "unaccounted") == 0;
    }

    private Map<?, ?> messages() {
        return network.view(scene.service).get("messages") instanceof Map<?, ?> messages ? messages : Map.of();
    }

    private static long count(Map<?, ?> messages, String what) {
        return messages.get(what) instanceof Number count ? count.longValue() : -1;
    }
}

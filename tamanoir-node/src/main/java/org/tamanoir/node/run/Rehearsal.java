package org.tamanoir.node.run;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.node.cli.Logging;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.Monitor;
import org.tamanoir.transport.TransportKind;

/**
 * Sends packets through the node's code before the node has any, so that the JIT compiler has met the packet path when
 * the first stream comes: through an execution environment of its own on free loopback ports, in transit and through
 * Monitor, over TCP and UDP. Services of the configuration do not run, and nothing of it shows in the node's counters
 * and log. Other users of the machine reach these ports too: what they send there ends with the rehearsal, and nothing
 * waits for it.
 *
 * <p>Packets go one by one, each when the one before has arrived, for what is to be compiled is what happens when a
 * packet wakes a thread; and in batches, which take other branches.
 *
 * <p>Thread contract: one thread.
 */
final class Rehearsal {
    private static final Logger LOG = LoggerFactory.getLogger(Rehearsal.class);
    private static final int PACKET_BYTES = 200;
    private static final int SHORT_STREAM_PACKETS = 20;
    private static final int LONG_STREAM_PACKETS = 1_000;
    private static final int SHORT_STREAMS = 8;
    /** For streams at once: one is there at a time, and those before it that have not ended yet. */
    private static final int PLACES = 128;
    /** Few enough for any socket's buffer: beyond it datagrams are lost. */
    private static final int BATCH_PACKETS = 64;
    /** For what does not come. It delays the node's start, once or twice. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    /** For what the streams of the rehearsal's node wait for, but they are cut when it ends. */
    private static final Duration STREAM_PATIENCE = Duration.ofSeconds(5);

    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final ExecutionEnvironment node;
    private final Semaphore arrived;
    private final long endNs;
    private final ByteBuffer payload = ByteBuffer.allocate(PACKET_BYTES);
    private long arrivedPackets;

    private Rehearsal(ExecutionEnvironment node, Semaphore arrived, long endNs) {
        this.node = node;
        this.arrived = arrived;
        this.endNs = endNs;
    }

    /**
     * Rehearses for so long, then cuts what is under way, and returns how many packets have arrived. A node can do
     * without, so what goes wrong is a line in the log.
     */
    static long run(TransportKind transport, ThreadKind threads, Duration time) {
        try {
            return Logging.silently(() -> rehearse(transport, threads, time));
        } catch (Exception e) {
            LOG.warn("the rehearsal failed, the node starts without: {}", e.toString());
            return 0;
        }
    }

    private static long rehearse(TransportKind transport, ThreadKind threads, Duration time) throws IOException {
        Semaphore arrived = new Semaphore(0);
        AnepReceiver.Settings settings =
                AnepReceiver.on(ANY_PORT).tcp().udp().transportKind(transport).maxConnections(PLACES);
        try (AnepReceiver receiver = settings.start(() -> (packet, peer) -> arrived.release());
                ExecutionEnvironment node = node(transport, threads, receiver.address())) {
            node.start();
            Rehearsal rehearsal = new Rehearsal(node, arrived, System.nanoTime() + time.toNanos());
            rehearsal.play();
            return rehearsal.arrivedPackets;
        }
    }

    private static ExecutionEnvironment node(TransportKind transport, ThreadKind threads, InetSocketAddress end) {
        EeConfig usual = EeConfig.defaults();
        EeConfig config = new EeConfig(
                        List.of(ANY_PORT),
                        List.of(ANY_PORT),
                        usual.typeId(),
                        transport,
                        FailurePolicy.DROP,
                        PLACES,
                        usual.hopBudget(),
                        usual.inboxBytes(),
                        STREAM_PATIENCE,
                        STREAM_PATIENCE,
                        STREAM_PATIENCE,
                        STREAM_PATIENCE)
                .running(threads);
        NextHop hop = new NextHop(end.getAddress(), end.getPort(), NextHop.Transport.SAME, NextHop.Kind.HOST);
        ServiceCatalog services = new ServiceCatalog();
        services.add(
                new ServiceDefinition(Monitor.class.getName(), Monitor::new, ServiceConfig.EMPTY, FailurePolicy.DROP));
        return new ExecutionEnvironment(
                config, new RoutingTable(List.of(new Route(Prefix.of(ANY_PORT.getAddress()), hop))), services);
    }

    private void play() throws IOException {
        PacketBuilder monitored = header().service(Monitor.class.getName()).classOfService(0, 0).stream(1)
                .hopBudget(4);
        PacketBuilder inTransit = header();
        while (!isOver()) {
            for (PacketBuilder header : List.of(monitored, inTransit)) {
                for (int i = 0; i < SHORT_STREAMS && !isOver(); i++) {
                    overTcp(header, SHORT_STREAM_PACKETS);
                }
                overTcp(header, LONG_STREAM_PACKETS);
                overUdp(header, LONG_STREAM_PACKETS);
            }
        }
    }

    private static PacketBuilder header() {
        return new PacketBuilder().destination(ANY_PORT.getAddress());
    }

    private boolean isOver() {
        return System.nanoTime() - endNs >= 0;
    }

    private void overTcp(PacketBuilder header, int count) throws IOException {
        try (AnepSender sender = to(node.tcpAddresses().get(0)).tcp()) {
            send(sender, header, count);
            sender.finish();
        }
    }

    private void overUdp(PacketBuilder header, int count) throws IOException {
        try (AnepSender sender = to(node.udpAddresses().get(0)).udp()) {
            send(sender, header, count);
        }
    }

    private static AnepSender.Settings to(InetSocketAddress node) {
        return AnepSender.to(node)
                .connectTimeout(PATIENCE)
                .stallTimeout(PATIENCE)
                .batchBytes(2 * BATCH_PACKETS * PACKET_BYTES);
    }

    /** Sends so many packets one by one, then as many in batches, but no more once the time is over. */
    private void send(AnepSender sender, PacketBuilder header, int count) throws IOException {
        int sent = 0;
        for (; sent < count && !isOver(); sent++) {
            sendAtOnce(sender, header, 1);
        }
        for (; sent > 0 && !isOver(); sent -= BATCH_PACKETS) {
            sendAtOnce(sender, header, BATCH_PACKETS);
        }
    }

    /** Sends a batch, and waits until all of it has arrived or the time is over; what is lost is waited for once. */
    private void sendAtOnce(AnepSender sender, PacketBuilder header, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            sender.send(
                    header, payload.limit(PACKET_BYTES - header.headerLength()).position(0));
        }
        sender.flush();
        try {
            long waitNs = Math.min(PATIENCE.toNanos(), endNs - System.nanoTime());
            boolean all = arrived.tryAcquire(count, waitNs, TimeUnit.NANOSECONDS);
            arrivedPackets += all ? count : arrived.drainPermits();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }
}

package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** Datagrams over links: real sockets, real threads, the links' own token buckets. */
@Tag("once")
@ExtendWith(UdpTestNode.NoLeaks.class)
class PostUdpTest {
    private static final String PASS = "org.example.Pass";
    private static final String PASS_TOO = "org.example.PassToo";
    private static final int BYTES = 1400;
    /** Packets of a stream between its sender and its host: fewer than any socket's buffer takes. */
    private static final int ON_THE_WAY = 32;

    private static final int AT_ONCE = 8;

    private final List<Thread> writers = new ArrayList<>();
    private final ConcurrentLinkedQueue<Throwable> faults = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean writing = new AtomicBoolean(true);

    // ---- senders that never stop, and a host that checks the order -------------------------------------------------

    /** Checks that no packet of a stream and class overtakes another, and counts. */
    private final class OrderSink implements AutoCloseable {
        final Map<Integer, Long> last = new ConcurrentHashMap<>();
        final Map<Integer, Long> packets = new ConcurrentHashMap<>();
        /** Of streams whose packets on their way are bounded: a permit for each that may follow. */
        final Map<Integer, Semaphore> rooms = new ConcurrentHashMap<>();

        final AnepReceiver receiver;

        OrderSink() throws IOException {
            AnepReceiver.Settings settings =
                    AnepReceiver.on(new InetSocketAddress("127.0.0.1", 0)).tcp().udp();
            receiver = settings.start(() -> new PacketHandler() {
                @Override
                public void packet(Packet packet, Peer peer) {
                    int flow = packet.streamId() * 256 + packet.classOfService();
                    Long before = last.put(flow, packet.sequence());
                    packets.merge(packet.streamId(), 1L, Long::sum);
                    Semaphore room = rooms.get(packet.streamId());
                    if (room != null) {
                        room.release();
                    }
                    if (before != null && packet.sequence() <= before) {
                        faults.add(new AssertionError("flow " + flow + ": " + packet.sequence() + " after " + before));
                    }
                }

                @Override
                public void closed(@Nullable String fault) {}
            });
        }

        InetSocketAddress address() {
            return receiver.address();
        }

        long packets(int stream) {
            return packets.getOrDefault(stream, 0L);
        }

        @Override
        public void close() {
            receiver.close();
        }
    }

    /** Datagrams of these classes, one after another, as fast as the socket takes them. */
    private static List<byte[]> datagrams(InetSocketAddress to, String service, int stream, int count, int... classes) {
        List<byte[]> all = new ArrayList<>();
        PacketBuilder builder = UdpTestNode.builder(to, service, stream);
        for (int i = 0; i < count; i++) {
            builder.classOfService(classes[i % classes.length], 0);
            all.add(UdpTestNode.packet(builder, BYTES));
        }
        return all;
    }

    /** Keeps packets on their way, never so many that a queue is full, until it is told to stop. */
    private void write(UdpTestNode node, OrderSink to, String service, int stream, int... classes) {
        Semaphore room = new Semaphore(ON_THE_WAY);
        to.rooms.put(stream, room);
        Thread writer = new Thread(() -> {
            try (UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1")) {
                PacketBuilder builder = UdpTestNode.builder(to.address(), service, stream);
                for (int i = 0; writing.get(); ) {
                    if (!room.tryAcquire(AT_ONCE, 100, TimeUnit.MILLISECONDS)) {
                        continue; // It may be over meanwhile.
                    }
                    List<byte[]> some = new ArrayList<>();
                    for (int j = 0; j < AT_ONCE; j++, i++) {
                        builder.classOfService(classes[i % classes.length], 0);
                        some.add(UdpTestNode.packet(builder, BYTES));
                    }
                    sender.send(node.udp(), some);
                }
            } catch (IOException | InterruptedException e) {
                faults.add(e);
            }
        });
        writers.add(writer);
        writer.start();
    }

    @AfterEach
    void endWriters() throws InterruptedException {
        endWriting();
        assertThat(faults).isEmpty();
    }

    private void endWriting() throws InterruptedException {
        writing.set(false);
        for (Thread writer : writers) {
            writer.join(UdpTestNode.PATIENCE.toMillis());
            assertThat(writer.isAlive()).isFalse();
        }
    }

    private static UdpTestNode node(TransportKind kind) {
        return UdpTestNode.start(kind)
                .deliver("127.0.0.1/32", Transport.SAME)
                .service(PASS, (service, packet) -> Verdict.FORWARD)
                .service(PASS_TOO, (service, packet) -> Verdict.FORWARD);
    }

    private static QosStatus.ClassStatus status(UdpTestNode node, int trafficClass) {
        return node.environment.qosStatus().points().get(0).classes().get(trafficClass);
    }

    /** All that came in has left, or was dropped, and nothing waits. */
    private static TrafficSnapshot quiet(UdpTestNode node) {
        eventually().until(() -> {
            TrafficSnapshot now = node.environment.traffic();
            return now.held() == 0 && now.packetsIn() == now.packetsOut() + now.dropped();
        });
        return node.environment.traffic();
    }

    // ---- drops -----------------------------------------------------------------------------------------------------

    @Test
    void dropsWhatFindsItsClassFull() throws Exception {
        try (UdpTestNode node = node(TransportKind.AUTO);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                OrderSink sink = new OrderSink()) {
            node.environment.qos(PostConfig.of("out", "pq", Map.of(), false, 10, 1, 3000, 1));
            sender.send(node.udp(), datagrams(sink.address(), PASS, 1, 40, 0));
            // Two pass, one is chosen, and ten wait: a byte a second lets no more leave.
            eventually().until(() -> node.environment.traffic().dropped() == 27);
            node.environment.qos(PostConfig.of("out", "pq", Map.of(), false, 10, 100_000, 3000, 1));
            TrafficSnapshot traffic = node.balanced(40);
            assertThat(traffic.drops().keySet()).containsExactly(DropReason.QUEUE_FULL);
            assertThat(traffic.packetsOut()).isEqualTo(13);
            assertThat(status(node, 0).dropped().keySet()).containsExactly(DropReason.QUEUE_FULL);
            assertThat(status(node, 0).servedPackets()).isEqualTo(traffic.packetsOut());
            eventually().until(() -> sink.packets(1) == traffic.packetsOut());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"codel", "fq-codel"})
    void dropsByDelay(String discipline) throws Exception {
        try (UdpTestNode node = node(TransportKind.AUTO);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                OrderSink sink = new OrderSink()) {
            node.environment.qos(PostConfig.of(discipline, 1, 3000, 1));
            sender.send(node.udp(), datagrams(sink.address(), PASS, 1, 100, 0));
            eventually().until(() -> status(node, 0).waitingPackets() >= 97); // Two pass, one is chosen.
            node.environment.qos(PostConfig.of(discipline, 200_000, 3000, 1));
            TrafficSnapshot traffic = node.balanced(100);
            assertThat(traffic.drops().keySet()).containsExactly(DropReason.QUEUE_DELAY);
            assertThat(status(node, 0).waitingPackets()).isZero();
        }
    }

    @Test
    void dropsWhatExceedsThePolicedRate() throws Exception {
        try (UdpTestNode node = node(TransportKind.AUTO);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                OrderSink sink = new OrderSink()) {
            node.environment.qos(PostConfig.of("out", "fifo", Map.of(), true, 1000, 1, 7000, 1));
            sender.send(node.udp(), datagrams(sink.address(), PASS, 1, 50, 0));
            TrafficSnapshot traffic = node.balanced(50);
            assertThat(traffic.drops()).isEqualTo(Map.of(DropReason.RATE_EXCEEDED, 45L));
        }
    }

    @Test
    void dropsWhatIsLongerThanTheBurst() throws Exception {
        try (UdpTestNode node = node(TransportKind.AUTO);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                OrderSink sink = new OrderSink()) {
            node.environment.qos(PostConfig.of("fifo", 1_000_000, 1399, 1));
            sender.send(node.udp(), datagrams(sink.address(), PASS, 1, 3, 0));
            node.assertDrops(3, Map.of(DropReason.PACKET_TOO_LONG, 3L));
        }
    }

    // ---- order -----------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void noneOvertakesAnotherOfItsClass(TransportKind kind) throws Exception {
        try (UdpTestNode node = node(kind);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                OrderSink sink = new OrderSink()) {
            // The bucket runs dry and fills up again: some pass, some wait.
            node.environment.qos(PostConfig.of("wfq", 20_000_000, 20_000, 1, 2, 3));
            for (int round = 0; round < 40; round++) {
                sender.send(node.udp(), datagrams(sink.address(), PASS, round, 60, 0, 1, 2));
                int stream = round;
                eventually().until(() -> sink.packets(stream) == 60);
            }
            node.assertDrops(2400, Map.of());
        }
    }

    @Test
    void aTcpNextHopOfDatagramsIsScheduledToo() throws Exception {
        try (UdpTestNode node = UdpTestNode.start(TransportKind.AUTO)
                        .deliver("127.0.0.1/32", Transport.TCP)
                        .service(PASS, (service, packet) -> Verdict.FORWARD);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                OrderSink sink = new OrderSink()) {
            node.environment.qos(PostConfig.of("pq", 1_000_000, 3000, 1, 1));
            sender.send(node.udp(), datagrams(sink.address(), PASS, 1, 60, 0, 1));
            eventually().until(() -> sink.packets(1) == 60);
            node.assertDrops(60, Map.of());
            assertThat(status(node, 0).servedPackets()).isEqualTo(30);
            assertThat(status(node, 1).servedPackets()).isEqualTo(30);
        }
    }

    @Test
    void whatWaitsForALostTcpNextHopIsDroppedWhenItsTurnComes() throws Exception {
        try (UdpTestNode node = UdpTestNode.start(TransportKind.AUTO)
                        .deliver("127.0.0.1/32", Transport.TCP)
                        .service(PASS, (service, packet) -> Verdict.FORWARD);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1")) {
            try (OrderSink sink = new OrderSink()) {
                node.environment.qos(PostConfig.of("pq", 1, 3000, 1, 1));
                sender.send(node.udp(), datagrams(sink.address(), PASS, 1, 60, 0, 1));
                eventually().until(() -> sink.packets(1) > 0);
            }
            node.environment.qos(PostConfig.of("pq", 100_000, 3000, 1, 1));
            TrafficSnapshot traffic = node.balanced(60);
            assertThat(traffic.drops().keySet())
                    .isNotEmpty()
                    .isSubsetOf(DropReason.NEXT_HOP_LOST, DropReason.NEXT_HOP_UNREACHABLE);
            assertThat(status(node, 0).waitingPackets()).isZero();
        }
    }

    static long[] seeds() {
        return Seeds.ofCommit(PostUdpTest.class, 2);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void changesUnderLoadLoseAndReorderNothing(long seed) throws Exception {
        Random random = new Random(seed);
        try (UdpTestNode node = node(TransportKind.AUTO);
                OrderSink sink = new OrderSink()) {
            write(node, sink, PASS, 1, 0, 1, 2);
            write(node, sink, PASS_TOO, 2, 2, 0);
            String[] disciplines = {"fifo", "pq", "wfq", "stfq", "wf2q+", "drr", "scfq"};
            for (int change = 0; change < 60; change++) {
                long[] weights = new long[3];
                Arrays.setAll(weights, i -> 1 + random.nextInt(9));
                node.environment.qos(
                        random.nextInt(5) == 0
                                ? QosConfig.OFF
                                : PostConfig.of(
                                        random.nextBoolean() ? "out" : "other",
                                        disciplines[random.nextInt(disciplines.length)],
                                        2_000_000 + random.nextInt(20_000_000),
                                        5_000 + random.nextInt(30_000),
                                        weights));
                long before = node.environment.traffic().packetsOut();
                eventually().until(() -> node.environment.traffic().packetsOut() > before + 30);
            }
            endWriting();
            node.environment.qos(QosConfig.OFF);
            assertThat(quiet(node).drops()).describedAs("seed %s", seed).isEmpty();
            assertThat(faults).describedAs("seed %s", seed).isEmpty();
        }
    }

    // ---- ends ------------------------------------------------------------------------------------------------------

    @Test
    void whatWaitsWhenTheNodeStopsLeavesOrIsDroppedForThat() throws Exception {
        try (UdpTestNode node = node(TransportKind.AUTO);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                OrderSink sink = new OrderSink()) {
            node.environment.qos(PostConfig.of("fifo", 1000, 3000, 1));
            sender.send(node.udp(), datagrams(sink.address(), PASS, 1, 40, 0));
            eventually().until(() -> node.environment.traffic().packetsIn() == 40);
            node.environment.stop(Duration.ofMillis(100));
            TrafficSnapshot traffic = node.environment.traffic();
            assertThat(traffic.drops().keySet()).containsExactly(DropReason.SHUTDOWN);
            assertThat(traffic.packetsOut() + traffic.dropped()).isEqualTo(40);
            assertThat(traffic.held()).isZero();
        }
    }
}

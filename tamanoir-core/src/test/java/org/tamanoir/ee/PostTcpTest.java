package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.anonymous;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.AnepSender;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.TransportKind;

/** TCP streams over links: real sockets, real threads, the links' own token buckets. */
@Tag("once")
class PostTcpTest extends TcpNodeTesting {
    private static final int PAYLOAD_BYTES = 1300;
    private final List<Thread> writers = new ArrayList<>();
    private final ConcurrentLinkedQueue<Throwable> faults = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean writing = new AtomicBoolean(true);
    /** What packets ask for; empty = nothing. */
    private String service = "";

    // ---- a host that counts, and senders that never stop -----------------------------------------------------------

    /** Checks per stream of packets that its sequence is whole, and counts. */
    private final class CountingSink implements AutoCloseable {
        final Map<Integer, Long> next = new ConcurrentHashMap<>();
        final AnepReceiver receiver;

        CountingSink() throws IOException {
            receiver = AnepReceiver.on(new InetSocketAddress("127.0.0.1", 0))
                    .tcp()
                    .start(() -> new PacketHandler() {
                        @Override
                        public void packet(Packet packet, Peer peer) {
                            long expected = next.getOrDefault(packet.streamId(), 0L);
                            if (packet.sequence() != expected) {
                                faults.add(new AssertionError("stream " + packet.streamId() + ": packet "
                                        + packet.sequence() + " where " + expected + " was next"));
                            }
                            next.put(packet.streamId(), packet.sequence() + 1);
                        }

                        @Override
                        public void closed(@Nullable String fault) {}
                    });
        }

        InetSocketAddress address() {
            return receiver.address();
        }

        long packets(int stream) {
            return next.getOrDefault(stream, 0L);
        }

        @Override
        public void close() {
            receiver.close();
        }
    }

    private static PacketBuilder ofClass(int classOfService, int stream) {
        return anonymous().classOfService(classOfService, 0).stream(stream);
    }

    /** Sends until it is told to stop, or so many packets; then ends the stream. */
    private void writeSome(TestNode node, int stream, long packets, int... classes) {
        Thread writer = new Thread(() -> {
            try (AnepSender sender = AnepSender.tcp(node.address())) {
                PacketBuilder builder = ofClass(classes[0], stream);
                if (!service.isEmpty()) {
                    builder.service(service);
                }
                ByteBuffer bytes = payload(stream, PAYLOAD_BYTES);
                for (long i = 0; i < packets && writing.get(); i++) {
                    builder.classOfService(classes[(int) (i / 3 % classes.length)], 0);
                    sender.send(builder, bytes);
                }
                sender.finish();
                Packet ignored = new Packet();
                while (!sender.ended()) {
                    sender.poll(ignored, Duration.ofSeconds(5));
                }
            } catch (IOException e) {
                if (writing.get()) {
                    faults.add(e);
                }
            }
        });
        writers.add(writer);
        writer.start();
    }

    private void write(TestNode node, int stream, int... classes) {
        writeSome(node, stream, Long.MAX_VALUE, classes);
    }

    @AfterEach
    void endWriters() throws InterruptedException {
        writing.set(false);
        for (Thread writer : writers) {
            writer.join(TestServices.PATIENCE.toMillis());
            assertThat(writer.isAlive()).isFalse();
        }
        assertThat(faults).isEmpty();
    }

    /** Returns all classes as they are at one moment. */
    private static List<QosStatus.ClassStatus> statuses(TestNode node) {
        return node.environment.qosStatus().points().get(0).classes();
    }

    private static QosStatus.ClassStatus status(TestNode node, int trafficClass) {
        return statuses(node).get(trafficClass);
    }

    /** Waits until packets of these classes wait for the link. */
    private static void awaitBacklog(TestNode node, int... classes) {
        for (int trafficClass : classes) {
            eventually().until(() -> status(node, trafficClass).waitingPackets() > 20);
        }
    }

    // ---- order and wholeness ---------------------------------------------------------------------------------------

    @ParameterizedTest
    @MethodSource("kinds")
    void keepsTheOrderOfPacketsOfAlternatingClasses(TransportKind kind) throws Exception {
        settings.transport = kind;
        CountingSink sink = keep(new CountingSink());
        TestNode node = node().toHost(sink.address());
        node.environment.qos(PostConfig.of("wfq", 10_000_000, 20_000, 1, 3, 9));
        writeSome(node, 1, 4000, 0, 1, 2);
        writeSome(node, 2, 4000, 2, 0);
        eventually().until(() -> sink.packets(1) == 4000 && sink.packets(2) == 4000);
        node.settle().assertDrops(Map.of());
        assertThat(status(node, 0).servedPackets()
                        + status(node, 1).servedPackets()
                        + status(node, 2).servedPackets())
                .isEqualTo(8000);
        assertThat(status(node, 2).waiting().counts().stream().mapToLong(n -> n).sum())
                .isEqualTo(status(node, 2).servedPackets());
    }

    static long[] seeds() {
        return Seeds.ofCommit(PostTcpTest.class, 2);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void changesUnderLoadLoseAndReorderNothing(long seed) throws Exception {
        Random random = new Random(seed);
        CountingSink sink = keep(new CountingSink());
        TestNode node = node().toHost(sink.address());
        write(node, 1, 0, 1, 2);
        write(node, 2, 1);
        write(node, 3, 2, 0);
        String[] disciplines = {"fifo", "pq", "wfq", "stfq", "wf2q+", "drr", "scfq", "fq-codel", "codel"};
        for (int change = 0; change < 60; change++) {
            long[] weights = new long[1 + random.nextInt(3)];
            Arrays.setAll(weights, i -> 1 + random.nextInt(9));
            node.environment.qos(
                    random.nextInt(5) == 0
                            ? QosConfig.OFF
                            : PostConfig.of(
                                    random.nextBoolean() ? "out" : "other",
                                    disciplines[random.nextInt(disciplines.length)],
                                    1_000_000 + random.nextInt(100_000_000),
                                    5_000 + random.nextInt(100_000),
                                    weights));
            long before = node.traffic().packetsOut();
            eventually().until(() -> node.traffic().packetsOut() > before + 50);
        }
        node.environment.qos(QosConfig.OFF);
        writing.set(false);
        node.settle();
        assertThat(faults).describedAs("seed %s", seed).isEmpty();
        node.assertDrops(Map.of());
        assertThat(threads()).noneMatch(name -> name.startsWith("tcp "));
    }

    @Test
    void aPacketLongerThanTheBurstIsDroppedAndTheStreamGoesOn() throws Exception {
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        node.environment.qos(PostConfig.of("fifo", 4_000_000, 2000, 1));
        try (AnepSender sender = AnepSender.tcp(node.address())) {
            for (int bytes : new int[] {100, 2000, 100}) {
                sender.send(ofClass(0, 1), payload(1, bytes));
            }
            sender.finish();
            sink.await(2);
            node.settle();
        }
        assertThat(sink.packets()).hasSize(2);
        node.assertDrops(Map.of(DropReason.PACKET_TOO_LONG, 1L));
    }

    @Test
    void aSecondServiceOfAStreamSharesTheLink() throws Exception {
        TestSink sink = sink();
        TestNode node = node(TestServices.MARK, TestServices.define("second", PassOn::new))
                .toHost(sink.address());
        node.environment.qos(PostConfig.of("fifo", 400_000, 3000, 1));
        try (AnepSender sender = AnepSender.tcp(node.address())) {
            for (int i = 0; i < 200; i++) {
                sender.send(TestServices.packets(i % 2 == 0 ? "mark" : "second"), payload(i, 1000));
            }
            sender.finish();
            sink.await(200);
            node.settle();
        }
        node.assertDrops(Map.of());
        assertThat(status(node, 0).servedPackets()).isEqualTo(200);
    }

    /** Forwards. */
    private static final class PassOn extends Service {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    @Test
    void aNextHopThatAnswersEveryPacketDoesNotLockUp() throws Exception {
        TestSink sink = echoSink();
        TestNode node = node().toHost(sink.address());
        node.environment.qos(PostConfig.of("fifo", 20_000_000, 20_000, 1));
        try (AnepSender sender = AnepSender.tcp(node.address())) {
            Thread reader = new Thread(() -> {
                try {
                    Packet packet = new Packet();
                    for (int replies = 0; replies < 4000; ) {
                        replies += sender.poll(packet, TestServices.PATIENCE) ? 1 : 0;
                    }
                } catch (IOException e) {
                    faults.add(e);
                }
            });
            reader.start();
            for (int i = 0; i < 4000; i++) {
                sender.send(ofClass(0, 1), payload(i, PAYLOAD_BYTES));
            }
            sender.finish();
            reader.join(TestServices.PATIENCE.toMillis());
            assertThat(reader.isAlive()).isFalse();
        }
        node.settle().assertDrops(Map.of());
    }

    // ---- ends ------------------------------------------------------------------------------------------------------

    @Test
    void aStreamEndsWhenItsQueueHasLeft() throws Exception {
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        node.environment.qos(PostConfig.of("wfq", 200_000, 2000, 1));
        try (AnepSender sender = AnepSender.tcp(node.address())) {
            for (int i = 0; i < 100; i++) {
                sender.send(ofClass(0, 1), payload(i, 1000));
            }
            sender.finish();
            sink.await(100);
            sink.awaitEnds();
        }
        node.settle().assertDrops(Map.of());
    }

    @Test
    void whatHasLeftIsHeldNoMoreThoughTheStreamWaitsForReplies() throws Exception {
        settings.lingerTimeout = Duration.ofHours(1);
        ServerSocketChannel silent = keep(ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0)));
        TestNode node = node(TestServices.MARK, TestServices.define("second", PassOn::new))
                .toHost((InetSocketAddress) silent.getLocalAddress());
        node.environment.qos(PostConfig.of("fifo", 40_000, 3000, 1));
        try (AnepSender sender = AnepSender.tcp(node.address())) {
            sender.send(TestServices.packets("mark"), payload(0, 1000));
            for (int i = 1; i < 20; i++) {
                sender.send(TestServices.packets("second"), payload(i, 1000));
            }
            sender.finish(); // Most wait for the link yet.
            eventually().until(() -> node.traffic().packetsOut() == 20);
            eventually().untilAsserted(node::assertConserved);
            assertThat(node.environment.instances()).hasSize(2);
            silent.close();
        }
        node.settle().assertConserved();
    }

    @Test
    void whatWaitsForALostNextHopIsDroppedForThat() throws Exception {
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        node.environment.qos(PostConfig.of("fifo", 1000, 2000, 1));
        try (AnepSender sender = AnepSender.tcp(node.address())) {
            for (int i = 0; i < 100; i++) {
                sender.send(ofClass(0, 1), payload(i, 1000));
            }
            sender.flush();
            awaitBacklog(node, 0);
            sink.close();
            node.settleAfterDrop(DropReason.NEXT_HOP_LOST);
        }
        assertThat(status(node, 0).waitingPackets()).isZero();
        assertThat(node.traffic().drops().keySet()).isEqualTo(Set.of(DropReason.NEXT_HOP_LOST));
        node.assertConserved();
    }

    @Test
    void whatWaitsWhenTheNodeStopsIsDroppedForThat() throws Exception {
        TestSink sink = sink();
        TestNode node = TestNode.start(settings).toHost(sink.address());
        node.environment.qos(PostConfig.of("fifo", 1, 2000, 1));
        try (AnepSender sender = AnepSender.tcp(node.address())) {
            for (int i = 0; i < 100; i++) {
                sender.send(ofClass(0, 1), payload(i, 1000));
            }
            sender.flush();
            eventually().until(() -> node.traffic().packetsIn() == 100);
            assertThat(node.environment.stop(Duration.ofMillis(100))).isEqualTo(1);
        }
        assertThat(node.traffic().drops().keySet()).isEqualTo(Set.of(DropReason.SHUTDOWN));
        assertThat(node.dropped(DropReason.SHUTDOWN)).isBetween(95L, 99L);
        node.assertConserved();
    }

    @Test
    void aServiceThatDoesNotReturnLeavesNothingWaiting() throws Exception {
        settings.stuckTimeout = Duration.ofMillis(300);
        AtomicBoolean spinning = new AtomicBoolean(true);
        TestSink sink = sink();
        TestNode node = node(TestServices.define("spin", () -> new Service() {
                    @Override
                    public Verdict process(Packet packet) {
                        while (TestSink.number(packet) == 13 && spinning.get()) {
                            Thread.onSpinWait();
                        }
                        return Verdict.FORWARD;
                    }
                }))
                .toHost(sink.address());
        node.environment.qos(PostConfig.of("fifo", 1, 2000, 1));
        try (AnepSender sender = AnepSender.tcp(node.address())) {
            for (int i = 0; i < 20; i++) {
                if (i == 13) { // The next one does not return: those before it wait for the link first.
                    sender.flush();
                    awaitBacklogOf(node, 10);
                }
                ByteBuffer payload = ByteBuffer.allocate(1000).putInt(0, i);
                sender.send(TestServices.packets("spin").classOfService(0, 0), payload);
            }
            sender.flush();
            eventually().until(() -> node.environment.streams().open() == 0);
            assertThat(status(node, 0).waitingPackets()).isZero();
            assertThat(status(node, 0).waitingBytes()).isZero();
        } finally {
            spinning.set(false);
        }
        node.assertConserved();
    }

    private static void awaitBacklogOf(TestNode node, long packets) {
        eventually().until(() -> status(node, 0).waitingPackets() >= packets);
    }

    @Test
    void addsNoThreadButTheTimer() throws Exception {
        CountingSink sink = keep(new CountingSink());
        TestNode node = node().toHost(sink.address());
        write(node, 1, 0);
        write(node, 2, 1);
        eventually().until(() -> sink.packets(1) > 0 && sink.packets(2) > 0);
        List<String> before = allThreads();
        node.environment.qos(PostConfig.wfq(1000, 30, 70));
        awaitBacklog(node, 0, 1);
        List<String> more = new ArrayList<>(allThreads());
        before.forEach(more::remove);
        assertThat(more).containsExactly("qos timer");
        node.environment.qos(QosConfig.OFF);
        eventually().untilAsserted(() -> assertThat(allThreads()).doesNotContain("qos timer"));
        writing.set(false);
        node.settle().assertDrops(Map.of());
    }

    private static List<String> allThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("tcp ")
                        || name.startsWith("udp ")
                        || name.startsWith("qos")
                        || name.equals("reception"))
                .sorted()
                .toList();
    }
}

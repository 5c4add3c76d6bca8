package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.sched.TurnTesting.config;
import static org.tamanoir.sched.TurnTesting.named;
import static org.tamanoir.support.Waiting.eventually;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.platform.VirtualThreads;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.transport.TransportKind;

/** Scheduling before processing, of TCP streams through a node. */
class PreTcpTest extends TcpNodeTesting {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    /** A turn is not overdue before ten times this, however busy the host is. */
    private static final Duration LONG_QUANTUM = Duration.ofSeconds(1);

    private static final Duration SHORT_QUANTUM = Duration.ofMillis(1);

    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicIntegerArray invocations = new AtomicIntegerArray(4);
    /** What an invocation costs, by class of service. */
    private final long[] burnNs = new long[4];

    private volatile boolean spins = true;
    private volatile boolean burns = true;

    @AfterEach
    void release() {
        released.countDown();
        spins = false;
        burns = false;
    }

    /** Takes processor time for each packet, as its class of service says, and ends it. */
    private ServiceDefinition burner() {
        return define("burn", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                int index = packet.classOfService();
                long untilNs = usedNs() + burnNs[index];
                while (burns && usedNs() < untilNs) {
                    Thread.onSpinWait();
                }
                invocations.incrementAndGet(index);
                return Verdict.CONSUME;
            }
        });
    }

    /** Of the calling thread. The JVM has no clock of the processor time of a virtual thread: time that passes. */
    private static long usedNs() {
        return VirtualThreads.isVirtual(Thread.currentThread()) ? System.nanoTime() : THREADS.getCurrentThreadCpuTime();
    }

    /** Does not return before the test releases it. */
    private ServiceDefinition blocker() {
        return define("block", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws InterruptedException {
                invocations.incrementAndGet(packet.classOfService());
                released.await();
                return Verdict.CONSUME;
            }
        });
    }

    private static ServiceDefinition forwarder() {
        return define("forward", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                return Verdict.FORWARD;
            }
        });
    }

    private static PacketBuilder packets(String service, int classOfService) {
        return TestServices.packets(service).classOfService(classOfService, 0);
    }

    private void send(AnepSender sender, String service, int classOfService, int count) throws IOException {
        PacketBuilder builder = packets(service, classOfService);
        for (int i = 0; i < count; i++) {
            sender.send(builder, number(i));
        }
        sender.flush();
    }

    private static QosConfig two(String discipline, int processors, Duration quantum, long high, long low) {
        return config(discipline, processors, quantum, named("high", 0, high), named("low", 1, low));
    }

    private static QosStatus.ClassStatus status(TestNode node, String name) {
        return node.environment.qosStatus().points().get(0).classes().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aStreamWhosePacketsAreOfManyClassesKeepsItsOrderWhateverChanges(TransportKind kind) throws Exception {
        settings.transport = kind;
        long seed = Seeds.ofCommit(PreTcpTest.class);
        Random random = new Random(seed);
        TestSink sink = sink();
        TestNode node = node(burner(), forwarder()).toHost(sink.address());
        List<QosConfig> configs = List.of(
                config("pq", 1, SHORT_QUANTUM, named("a", 0, 1), named("b", 1, 1), named("c", 2, 1)),
                config("stfq", 1, Duration.ofNanos(10_000), named("c", 2, 5), named("b", 1, 1), named("d", 0, 1)),
                QosConfig.OFF,
                config("drr", 2, SHORT_QUANTUM, named("b", 0, 1), named("a", 2, 3)),
                config("fifo", 1, SHORT_QUANTUM, named("a", 0, 1)),
                QosConfig.OFF);
        node.environment.qos(configs.get(0));
        Arrays.fill(burnNs, 20_000);
        int count = 60_000;
        try (AnepSender sender = sender(node);
                AnepSender other = sender(node)) {
            List<PacketBuilder> builders = IntStream.range(0, 3)
                    .mapToObj(index -> packets("forward", index))
                    .toList();
            for (int i = 0; i < count; i++) {
                sender.send(builders.get(random.nextInt(3)), number(i));
                if (i % 2_000 == 0) {
                    send(other, "burn", random.nextInt(3), 50);
                    node.environment.qos(configs.get(random.nextInt(configs.size())));
                }
            }
            sender.finish();
            other.finish();
            sink.await(count);
        }
        sink.awaitEnds();
        assertThat(sink.numbers())
                .as("seed %d", seed)
                .isEqualTo(IntStream.range(0, count).boxed().toList());
        node.assertDrops(Map.of(DropReason.CONSUMED, 50L * (count / 2_000)));
    }

    @Test
    void classesThatChangeWithEachPacketAreServedEachUnderItsName() throws Exception {
        TestSink sink = sink();
        TestNode node = node(forwarder()).toHost(sink.address());
        node.environment.qos(two("stfq", 1, SHORT_QUANTUM, 1, 1));
        int count = 20_000;
        try (AnepSender sender = sender(node)) {
            PacketBuilder[] builders = {packets("forward", 0), packets("forward", 1)};
            for (int i = 0; i < count; i++) {
                sender.send(builders[i & 1], number(i));
            }
            sender.finish();
            sink.await(count);
        }
        node.settle();
        assertThat(sink.numbers()).isEqualTo(IntStream.range(0, count).boxed().toList());
        assertThat(status(node, "high").servedPackets()).isEqualTo(count / 2);
        assertThat(status(node, "low").servedPackets()).isEqualTo(count / 2);
        assertThat(status(node, "low").waiting().counts().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .isEqualTo(count / 2);
    }

    @Test
    void aSecondServiceOfAStreamTakesItsOwnTurns() throws Exception {
        TestSink sink = sink();
        TestNode node = node(forwarder(), TestServices.MARK).toHost(sink.address());
        node.environment.qos(config("stfq", 1, Duration.ofNanos(100_000), named("a", 0, 1), named("b", 1, 1)));
        int count = 20_000;
        try (AnepSender sender = sender(node)) {
            PacketBuilder[] builders = {packets("forward", 0), packets("mark", 1)};
            for (int i = 0; i < count; i++) {
                sender.send(builders[i & 1], number(i));
            }
            sender.finish();
            sink.await(count);
        }
        node.assertDrops(Map.of());
        for (int each = 0; each < 2; each++) {
            int index = each;
            assertThat(sink.numbers().stream().filter(number -> (number & 1) == index))
                    .isSorted()
                    .hasSize(count / 2);
        }
        assertThat(status(node, "a").servedPackets()).isEqualTo(count / 2);
        assertThat(status(node, "b").servedPackets()).isEqualTo(count / 2);
    }

    @Test
    void aSpinningServiceInOneClassDoesNotStopAnother() throws Exception {
        TestSink sink = sink();
        ServiceDefinition spinner = define("spin", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                invocations.incrementAndGet(0);
                while (spins) {
                    Thread.onSpinWait();
                }
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(spinner, forwarder()).toHost(sink.address());
        node.environment.qos(two("pq", 1, SHORT_QUANTUM, 1, 1));
        try (AnepSender spinning = sender(node);
                AnepSender other = sender(node)) {
            send(spinning, "spin", 0, 2);
            eventually().until(() -> invocations.get(0) == 1);
            send(other, "forward", 1, 500);
            sink.await(500);
            spins = false;
            spinning.finish();
            other.finish();
            sink.await(502);
        }
        node.assertDrops(Map.of());
    }

    @Test
    void aServiceThatIsGivenUpForfeitsItsTurn() throws Exception {
        settings.stuckTimeout = Duration.ofMillis(300);
        TestSink sink = sink();
        ServiceDefinition spinner = define("spin", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                invocations.incrementAndGet(0);
                while (spins) {
                    Thread.onSpinWait();
                }
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(spinner, forwarder()).toHost(sink.address());
        node.environment.qos(two("pq", 1, LONG_QUANTUM, 1, 1));
        try (AnepSender spinning = sender(node);
                AnepSender other = sender(node)) {
            send(spinning, "spin", 0, 1);
            eventually().until(() -> invocations.get(0) == 1);
            send(other, "forward", 1, 500);
            sink.await(500);
            eventually().until(() -> spinner.health().stuck() == 1);
            other.finish();
        }
        node.settle();
        spins = false;
        node.assertDrops(Map.of(DropReason.SERVICE_FAILURE, 1L));
    }

    @Test
    void aStreamWhoseClassGetsNoTurnIsClosedAsStarved() throws Exception {
        settings.stallTimeout = Duration.ofMillis(300);
        List<StreamRecord> records = new CopyOnWriteArrayList<>();
        TestSink sink = sink();
        TestNode node = node(blocker(), forwarder()).toHost(sink.address());
        node.environment.onStreamEnd(records::add);
        node.environment.qos(two("pq", 1, LONG_QUANTUM, 1, 1));
        try (AnepSender blocking = sender(node);
                AnepSender starving = sender(node)) {
            send(blocking, "block", 0, 1);
            eventually().until(() -> invocations.get(0) == 1);
            send(starving, "forward", 1, 5);
            eventually().until(() -> !records.isEmpty());
            assertThat(records.get(0).end()).startsWith("STARVED: its class got no turn for 300 ms");
            assertThat(node.dropped(DropReason.STARVED)).isEqualTo(5);
            released.countDown();
            blocking.finish();
        }
        node.assertDrops(Map.of(DropReason.CONSUMED, 1L, DropReason.STARVED, 5L));
        assertThat(sink.packets()).isEmpty();
    }

    @Test
    void repliesFlowWhileTheStreamWaitsForItsTurn() throws Exception {
        ServerSocketChannel far = keep(ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0)));
        TestNode node = node(blocker(), forwarder()).toHost((InetSocketAddress) far.getLocalAddress());
        node.environment.qos(two("pq", 1, LONG_QUANTUM, 1, 1));
        byte[] bytes = UdpTestNode.bytes(packets("forward", 1).build(number(1)));
        try (AnepSender blocking = sender(node)) {
            SocketChannel near = connect(node);
            near.write(ByteBuffer.wrap(bytes));
            SocketChannel farEnd = keep(far.accept());
            farEnd.socket().getInputStream().readNBytes(bytes.length);
            eventually().until(() -> status(node, "low").servedPackets() == 1);
            send(blocking, "block", 0, 1);
            eventually().until(() -> invocations.get(0) == 1);
            near.write(ByteBuffer.wrap(bytes));
            eventually().until(() -> status(node, "low").waitingTurns() == 1);
            farEnd.write(ByteBuffer.wrap(bytes));
            near.socket().setSoTimeout(40_000);
            assertThat(near.socket().getInputStream().readNBytes(bytes.length)).isEqualTo(bytes);
            assertThat(status(node, "low").waitingTurns()).isEqualTo(1);
            released.countDown();
            farEnd.socket().getInputStream().readNBytes(bytes.length);
            near.shutdownOutput();
            farEnd.close();
            blocking.finish();
        }
        node.assertDrops(Map.of(DropReason.CONSUMED, 1L));
    }

    @Test
    void noThreadIsAddedForAStreamButOneTimerForAll() throws Exception {
        TestSink sink = sink();
        TestNode node = node(forwarder()).toHost(sink.address());
        List<AnepSender> senders = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            AnepSender sender = sender(node);
            senders.add(sender);
            send(sender, "forward", i & 1, 10);
        }
        sink.await(80);
        List<String> before = allThreads();
        node.environment.qos(two("stfq", 1, SHORT_QUANTUM, 1, 1));
        for (AnepSender sender : senders) {
            send(sender, "forward", 0, 1000);
        }
        sink.await(8080);
        List<String> added = new ArrayList<>(allThreads());
        before.forEach(added::remove);
        assertThat(added).containsExactly("qos timer");
        node.environment.qos(QosConfig.OFF);
        eventually().until(() -> !allThreads().contains("qos timer"));
        for (AnepSender sender : senders) {
            sender.finish();
        }
        node.assertDrops(Map.of());
    }

    private static List<String> allThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> !name.startsWith("Common") && !name.startsWith("awaitility"))
                .sorted()
                .toList();
    }

    @Test
    void whatWaitsForATurnWhenTheNodeStopsIsCounted() throws Exception {
        TestNode node = node(blocker(), forwarder()).toHost(nobody());
        node.environment.qos(two("pq", 1, LONG_QUANTUM, 1, 1));
        try (AnepSender blocking = sender(node);
                AnepSender waiting = sender(node)) {
            send(blocking, "block", 0, 1);
            eventually().until(() -> invocations.get(0) == 1);
            send(waiting, "forward", 1, 5);
            eventually().until(() -> status(node, "low").waitingTurns() == 1);
            assertThat(node.traffic().held()).isPositive();
            Thread stopping = new Thread(() -> node.environment.stop(Duration.ZERO));
            stopping.start();
            eventually().until(() -> node.dropped(DropReason.SHUTDOWN) == 5);
            released.countDown();
            stopping.join();
        }
        node.assertConserved();
    }
}

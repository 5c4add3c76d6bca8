package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.sched.TurnTesting.config;
import static org.tamanoir.sched.TurnTesting.named;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.TransportKind;

/** Scheduling before processing, of datagrams. */
@Tag("once")
@ExtendWith(UdpTestNode.NoLeaks.class)
class PreUdpTest {
    private static final String NAME = "org.example.Service";
    private static final String OTHER = "org.example.Other";
    /** Holds a processor for as long as a test wants. */
    private static final String BLOCKER = "org.example.Blocker";

    private static final Duration LONG_QUANTUM = Duration.ofSeconds(1);
    private static final Duration SHORT_QUANTUM = Duration.ofMillis(1);

    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger blocked = new AtomicInteger();
    /** Numbers of the packets that a service was called for, in that order. */
    private final ConcurrentLinkedQueue<Integer> invocations = new ConcurrentLinkedQueue<>();

    private volatile boolean spins = true;

    @AfterEach
    void release() {
        released.countDown();
        spins = false;
    }

    private static byte[] packet(String service, UdpFarEnd to, int classOfService, int number) {
        PacketBuilder builder = UdpTestNode.builder(to.address(), service, 1).classOfService(classOfService, 0);
        return UdpTestNode.bytes(builder.build(ByteBuffer.allocate(40).putInt(0, number)));
    }

    private static int number(byte[] bytes) {
        return TestSink.number(UdpTestNode.parsed(bytes));
    }

    private Verdict note(UdpTestNode.Scripted service, Packet packet) {
        invocations.add(TestSink.number(packet));
        return Verdict.FORWARD;
    }

    private Verdict block(UdpTestNode.Scripted service, Packet packet) throws InterruptedException {
        blocked.incrementAndGet();
        released.await();
        return Verdict.CONSUME;
    }

    private AnepSender block(UdpTestNode node, int classOfService) throws IOException {
        AnepSender sender = AnepSender.tcp(node.tcp());
        sender.send(TestServices.packets(BLOCKER).classOfService(classOfService, 0), TestServices.number(1));
        sender.flush();
        eventually().until(() -> blocked.get() == 1);
        return sender;
    }

    private UdpTestNode node(TransportKind kind) {
        return UdpTestNode.start(kind)
                .deliver("127.0.0.1/32", Transport.SAME)
                .service(NAME, this::note)
                .service(OTHER, this::note)
                .service(BLOCKER, this::block);
    }

    private static QosStatus.ClassStatus status(UdpTestNode node, String name) {
        return node.environment.qosStatus().points().get(0).classes().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aFullQueueDropsByClassBeforeAnyInvocationAndKeepsTheOrder(TransportKind kind) throws Exception {
        aFullQueueDropsByClass(kind, false);
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aPortThatServicesShareDropsByClassToo(TransportKind kind) throws Exception {
        aFullQueueDropsByClass(kind, true);
    }

    private void aFullQueueDropsByClass(TransportKind kind, boolean shared) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            int before = shared ? 2 : 1;
            sender.send(node.udp(), packet(NAME, receiver, 2, 0));
            receiver.next();
            if (shared) {
                sender.send(node.udp(), packet(OTHER, receiver, 2, 0));
                receiver.next();
            }
            invocations.clear();
            TrafficClass small = new TrafficClass("small", Set.of(1), 1, 10, 1 << 20);
            node.environment.qos(config("pq", 1, LONG_QUANTUM, named("high", 0, 1), named("large", 2, 1), small));
            try (AnepSender blocker = block(node, 0)) {
                List<byte[]> packets = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    packets.add(packet(NAME, receiver, 1 + i % 2, i));
                }
                sender.send(node.udp(), packets);
                eventually().until(() -> status(node, "large").waitingPackets() == 50);
                QosStatus.Dropped beyond = new QosStatus.Dropped(40, 40L * packets.get(0).length);
                eventually()
                        .untilAsserted(() -> assertThat(status(node, "small").dropped())
                                .isEqualTo(Map.of(DropReason.TURN_QUEUE_FULL, beyond)));
                assertThat(status(node, "small").waitingPackets()).isEqualTo(10);
                assertThat(status(node, "small").waitingTurns()).isEqualTo(1);
                assertThat(invocations).isEmpty();
                eventually().until(() -> node.environment.traffic().held() == 60);
                released.countDown();
                List<Integer> expected = new ArrayList<>();
                for (int i = 1; i < 100; i += 2) {
                    expected.add(i);
                }
                for (int i = 0; i < 20; i += 2) {
                    expected.add(i);
                }
                for (int number : expected) {
                    assertThat(number(receiver.next())).isEqualTo(number);
                }
                assertThat(invocations).containsExactlyElementsOf(expected);
                blocker.finish();
            }
            node.assertDrops(101 + before, Map.of(DropReason.TURN_QUEUE_FULL, 40L, DropReason.CONSUMED, 1L));
            eventually().until(() -> status(node, "large").servedPackets() == 50);
            eventually().until(() -> status(node, "small").servedPackets() == 10);
            eventually().until(() -> status(node, "small").waitingPackets() == 0);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void eachClassKeepsItsOrderWhateverChanges(TransportKind kind) throws Exception {
        long seed = Seeds.ofCommit(PreUdpTest.class);
        Random random = new Random(seed);
        List<QosConfig> configs = List.of(
                config("pq", 1, SHORT_QUANTUM, named("a", 0, 1), named("b", 1, 1), named("c", 2, 1)),
                config("stfq", 1, Duration.ofNanos(10_000), named("c", 2, 5), named("b", 1, 1), named("a", 0, 1)),
                QosConfig.OFF,
                config("drr", 2, SHORT_QUANTUM, named("b", 1, 1), named("a", 0, 1), named("c", 2, 3)));
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            List<Integer> received = new ArrayList<>();
            int number = 0;
            for (int round = 0; round < 200; round++) {
                List<byte[]> packets = new ArrayList<>();
                for (int i = 0; i < 90; i++) {
                    int classOfService = random.nextInt(3);
                    packets.add(packet(NAME, receiver, classOfService, number++ << 2 | classOfService));
                }
                sender.send(node.udp(), packets);
                node.environment.qos(configs.get(random.nextInt(configs.size())));
                for (int i = 0; i < 90; i++) {
                    received.add(number(receiver.next()));
                }
            }
            for (int each = 0; each < 3; each++) {
                int index = each;
                assertThat(received.stream().filter(i -> (i & 3) == index))
                        .as("class %d, seed %d", index, seed)
                        .isSorted();
            }
            node.assertDrops(200 * 90, Map.of());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aSpinningServiceInOneClassDoesNotStopAnother(TransportKind kind) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind)) {
            node.deliver("127.0.0.1/32", Transport.SAME).service(OTHER, this::note);
            node.service(
                    NAME,
                    FailurePolicy.DROP,
                    () -> new UdpTestNode.Scripted((service, packet) -> {
                        blocked.incrementAndGet();
                        while (spins) {
                            Thread.onSpinWait();
                        }
                        return Verdict.FORWARD;
                    }));
            node.environment.qos(config("pq", 1, SHORT_QUANTUM, named("high", 0, 1), named("low", 1, 1)));
            sender.send(node.udp(), packet(NAME, receiver, 0, 1));
            eventually().until(() -> blocked.get() == 1);
            sender.send(node.udp(), packet(OTHER, receiver, 1, 0));
            receiver.next();
            for (int i = 0; i < 200; i++) {
                sender.send(node.udp(), packet(OTHER, receiver, 1, i));
                assertThat(number(receiver.next())).isEqualTo(i);
            }
            spins = false;
            assertThat(number(receiver.next())).isEqualTo(1);
            node.assertDrops(202, Map.of());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void whatWaitsForATurnWhenTheNodeStopsIsCounted(TransportKind kind) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            node.environment.qos(config("pq", 1, LONG_QUANTUM, named("high", 0, 1), named("low", 1, 1)));
            try (AnepSender blocker = block(node, 0)) {
                for (int i = 0; i < 20; i++) {
                    sender.send(node.udp(), packet(NAME, receiver, 1, i));
                }
                eventually().until(() -> status(node, "low").waitingPackets() == 20);
                Thread stopping = new Thread(() -> node.environment.stop(Duration.ZERO));
                stopping.start();
                eventually()
                        .until(() -> node.environment.traffic().drops().getOrDefault(DropReason.SHUTDOWN, 0L) == 20);
                released.countDown();
                stopping.join();
                assertThat(invocations).isEmpty();
                assertThat(blocker.sentPackets()).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void withoutContentionNothingIsQueued(TransportKind kind) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind)) {
            // A queue that takes one packet: a second one that had to wait would be dropped.
            TrafficClass tiny = new TrafficClass("tiny", Set.of(1), 1, 1, 65_536);
            node.environment.qos(config("stfq", 1, LONG_QUANTUM, named("high", 0, 1), tiny));
            for (int i = 0; i < 2000; i++) {
                sender.send(node.udp(), packet(NAME, receiver, 1, i));
                assertThat(number(receiver.next())).isEqualTo(i);
            }
            node.assertDrops(2000, Map.of());
            eventually().until(() -> status(node, "tiny").servedPackets() == 2000);
            assertThat(status(node, "tiny").waiting().counts().get(0)).isPositive();
            assertThat(status(node, "tiny").processorTime()).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void whatWaitsInAClassThatGetsNoTurnIsDroppedAsStarved(TransportKind kind) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(impatient(kind))) {
            node.deliver("127.0.0.1/32", Transport.SAME)
                    .service(NAME, this::note)
                    .service(BLOCKER, this::block)
                    .environment
                    .qos(config("pq", 1, LONG_QUANTUM, named("high", 0, 1), named("low", 1, 1)));
            try (AnepSender blocker = block(node, 0)) {
                for (int i = 0; i < 5; i++) {
                    sender.send(node.udp(), packet(NAME, receiver, 1, i));
                }
                QosStatus.Dropped all = new QosStatus.Dropped(5, 5L * packet(NAME, receiver, 1, 0).length);
                eventually()
                        .untilAsserted(() ->
                                assertThat(status(node, "low").dropped()).isEqualTo(Map.of(DropReason.STARVED, all)));
                released.countDown();
                blocker.finish();
            }
            eventually().until(() -> status(node, "high").servedPackets() == 1);
            sender.send(node.udp(), packet(NAME, receiver, 1, 5));
            assertThat(number(receiver.next())).isEqualTo(5);
            node.assertDrops(7, Map.of(DropReason.STARVED, 5L, DropReason.CONSUMED, 1L));
        }
    }

    /** A node that drops after 300 ms what gets no turn. */
    private static EeConfig impatient(TransportKind kind) {
        EeConfig patient = UdpTestNode.config(kind);
        return new EeConfig(
                patient.tcp(),
                patient.udp(),
                patient.typeId(),
                kind,
                patient.unknownService(),
                patient.maxStreams(),
                patient.hopBudget(),
                patient.inboxBytes(),
                patient.firstPacketTimeout(),
                patient.connectTimeout(),
                Duration.ofMillis(300),
                patient.lingerTimeout());
    }
}

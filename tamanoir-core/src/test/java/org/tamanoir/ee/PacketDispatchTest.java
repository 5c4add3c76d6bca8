package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.sched.TurnTesting.config;
import static org.tamanoir.sched.TurnTesting.named;
import static org.tamanoir.support.Waiting.eventually;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.Starter;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.MovableClock;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** Services whose UDP packets go to whichever worker is free. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class PacketDispatchTest {
    private static final String NAME = "org.example.Service";
    private static final int WORKERS = 3;
    /** Packets with such numbers wait until the test lets them go. */
    private static final int BLOCKS = 1 << 30;
    /** Packets that {@link #warmUp} sends. */
    private static final int WARM = 1;

    /** The watchdog's time, and that of quarantines. */
    private final MovableClock clock = new MovableClock();

    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger blocked = new AtomicInteger();
    private final List<Integer> processed = new CopyOnWriteArrayList<>();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    @AfterEach
    void release() {
        released.countDown();
    }

    /** Does as the test says, on several threads. */
    @PerPacket
    private static final class Shared extends UdpTestNode.Scripted {
        Shared(UdpTestNode.Step step) {
            super(step);
        }
    }

    /** Streams have as many places as there are jobs: with the most of them two hardly ever meet in one by chance. */
    private static Dispatch dispatch(boolean ordered, int jobs) {
        return new Dispatch(true, ordered, jobs);
    }

    private UdpTestNode node(TransportKind kind, int workers, Dispatch dispatch, UdpTestNode.Step step)
            throws Exception {
        return node(kind, workers, dispatch, step, Duration.ofMinutes(2));
    }

    private UdpTestNode node(TransportKind kind, int workers, Dispatch dispatch, UdpTestNode.Step step, Duration stuck)
            throws Exception {
        UdpTestNode node = new UdpTestNode(UdpTestNode.config(kind), clock).deliver("127.0.0.1/32", Transport.SAME);
        node.environment.qos(
                config("pq", workers, Duration.ofMillis(1), named("control", 255, 1), named("rest", 0, 1)));
        node.environment.stuckAfter(stuck);
        define(node, dispatch, () -> new Shared(step));
        node.environment.start();
        return node;
    }

    private static ServiceDefinition define(
            UdpTestNode node, Dispatch dispatch, java.util.function.Supplier<UdpTestNode.Scripted> factory) {
        return define(node, dispatch, factory, Shared.class);
    }

    private static ServiceDefinition define(
            UdpTestNode node,
            Dispatch dispatch,
            java.util.function.Supplier<UdpTestNode.Scripted> factory,
            Class<? extends Service> type) {
        ServiceDefinition definition = new ServiceDefinition(
                NAME,
                "",
                factory,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(0, 0, () -> 0), // Whose quarantines end by release() alone.
                new Placement(),
                DefinedControl.NONE,
                dispatch,
                ServiceTraits.of(type));
        node.services.add(definition);
        return definition;
    }

    private Verdict note(UdpTestNode.Scripted service, Packet packet) throws InterruptedException {
        threads.add(Thread.currentThread());
        int number = TestSink.number(packet);
        if (number >= BLOCKS) {
            blocked.incrementAndGet();
            released.await();
        }
        processed.add(number);
        return Verdict.FORWARD;
    }

    private static byte[] packet(UdpFarEnd to, int stream, int number) {
        return packet(to, stream, number, 0);
    }

    private static byte[] packet(UdpFarEnd to, int stream, int number, int classOfService) {
        return UdpTestNode.bytes(UdpTestNode.builder(to.address(), NAME, stream)
                .classOfService(classOfService, 0)
                .build(ByteBuffer.allocate(40 + number % 900).putInt(0, number)));
    }

    private static int number(byte[] bytes) {
        return TestSink.number(UdpTestNode.parsed(bytes));
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsArriveWholeAndInTheOrderOfTheirStreams(TransportKind kind) throws Exception {
        int streams = 10;
        int each = 300;
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = node(kind, WORKERS, dispatch(true, 1024), this::note)) {
            List<byte[]> packets = new ArrayList<>();
            for (int i = 0; i < each * streams; i++) {
                packets.add(packet(receiver, i % streams, i));
            }
            List<byte[]> received = sender.pump(node.udp(), packets, receiver);
            int[] last = new int[streams];
            java.util.Arrays.fill(last, -1);
            Set<Integer> seen = new java.util.HashSet<>();
            for (byte[] bytes : received) {
                int number = number(bytes);
                assertThat(bytes).isEqualTo(packets.get(number));
                assertThat(number).as("of stream %s", number % streams).isGreaterThan(last[number % streams]);
                last[number % streams] = number;
                assertThat(seen.add(number)).isTrue();
            }
            assertThat(node.balanced(packets.size()).packetsOut()).isEqualTo(packets.size());
            eventually().until(() -> node.environment.instances().size() == WORKERS);
        }
    }

    @Test
    void blockedWorkerStopsNoOtherStream() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = patient(dispatch(true, Dispatch.MAX_JOBS))) {
            warmUp(node, sender, receiver);
            sender.send(node.udp(), packet(receiver, 1, BLOCKS));
            eventually().until(() -> blocked.get() == 1);
            sender.send(node.udp(), packet(receiver, 1, 1)); // Behind it.
            for (int i = 2; i < 50; i++) {
                byte[] packet = packet(receiver, i, i);
                sender.send(node.udp(), packet);
                assertThat(receiver.next()).isEqualTo(packet);
            }
            released.countDown();
            assertThat(number(receiver.next())).isEqualTo(BLOCKS);
            assertThat(number(receiver.next())).isEqualTo(1);
            node.balanced(50 + WARM);
        }
    }

    @Test
    void smallPacketsThatWaitLeaveTheInboxToOtherStreams() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = patient(dispatch(true, Dispatch.MAX_JOBS))) {
            warmUp(node, sender, receiver);
            sender.send(node.udp(), packet(receiver, 1, BLOCKS));
            eventually().until(() -> blocked.get() == 1);
            int rounds = 24; // Of 60,000 bytes; the inbox has a MiB.
            for (int i = 1; i <= rounds; i++) {
                sender.send(node.udp(), packet(receiver, 1, i));
                for (int j = 0; j < 6; j++) {
                    byte[] other = UdpTestNode.packet(UdpTestNode.builder(receiver.address(), NAME, 2), 10_000);
                    sender.send(node.udp(), other);
                    assertThat(receiver.next()).isEqualTo(other);
                }
            }
            released.countDown();
            assertThat(node.balanced(WARM + 1 + 7 * rounds).drops()).isEmpty();
        }
    }

    @Test
    void withoutOrderPacketsOfAStreamOvertakeOneThatIsBlocked() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = patient(dispatch(false, 1024))) {
            warmUp(node, sender, receiver);
            sender.send(node.udp(), packet(receiver, 1, BLOCKS));
            eventually().until(() -> blocked.get() == 1);
            sender.send(node.udp(), packet(receiver, 1, 1));
            assertThat(number(receiver.next())).isEqualTo(1);
            released.countDown();
            assertThat(number(receiver.next())).isEqualTo(BLOCKS);
        }
    }

    @Test
    void streamGetsAsManyJobsAsAreFree() throws Exception {
        int share = Dispatch.MIN_JOBS / 2;
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = patient(dispatch(true, Dispatch.MIN_JOBS))) {
            warmUp(node, sender, receiver);
            sender.send(node.udp(), packet(receiver, 1, BLOCKS));
            eventually().until(() -> blocked.get() == 1);
            for (int i = 1; i <= share + 9; i++) {
                sender.send(node.udp(), packet(receiver, 1, i));
                int sent = WARM + 1 + i;
                eventually().until(() -> node.environment.traffic().packetsIn() == sent);
            }
            released.countDown();
            assertThat(number(receiver.next())).isEqualTo(BLOCKS);
            for (int i = 1; i < share; i++) {
                assertThat(number(receiver.next())).isEqualTo(i);
            }
            node.assertDrops(WARM + share + 10, Map.of(DropReason.INBOX_FULL, 10L));
        }
    }

    @Test
    void streamBehindABlockedPacketLeavesMemoryToOthers() throws Exception {
        int count = 900; // Of 1,400 bytes: more than the inbox has.
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = patient(dispatch(true, Dispatch.MAX_JOBS))) {
            warmUp(node, sender, receiver);
            sender.send(node.udp(), packet(receiver, 1, BLOCKS));
            eventually().until(() -> blocked.get() == 1);
            for (int i = 1; i <= count; i++) {
                sender.send(node.udp(), UdpTestNode.packet(UdpTestNode.builder(receiver.address(), NAME, 1), 1400));
                int sent = WARM + 1 + i;
                eventually().until(() -> node.environment.traffic().packetsIn() == sent);
            }
            byte[] other = UdpTestNode.packet(UdpTestNode.builder(receiver.address(), NAME, 2), 60_000);
            sender.send(node.udp(), other);
            assertThat(receiver.next()).isEqualTo(other);
            released.countDown();
            long unitBytes = JobMemory.UNIT_BYTES * JobMemory.units(1400);
            long dropped = node.balanced(WARM + count + 2).drops().getOrDefault(DropReason.INBOX_FULL, 0L);
            assertThat((count - dropped) * unitBytes).isBetween((1L << 19) - 2 * unitBytes, (1L << 19) + unitBytes);
        }
    }

    @Test
    void controlGoesBeforeWhatWaits() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = patient(1, dispatch(true, Dispatch.MAX_JOBS))) {
            sender.send(node.udp(), packet(receiver, 1, BLOCKS));
            eventually().until(() -> blocked.get() == 1);
            for (int i = 2; i < 20; i++) {
                sender.send(node.udp(), packet(receiver, i, i));
            }
            sender.send(node.udp(), packet(receiver, 20, 20, 255));
            sender.send(node.udp(), packet(receiver, 21, 21)); // When it is counted, the one before is a job.
            eventually().until(() -> node.environment.traffic().packetsIn() == 21);
            released.countDown();
            node.balanced(21);
            assertThat(processed.subList(0, 2)).containsExactly(BLOCKS, 20);
        }
    }

    /** A node with one worker, all of whose packets are of one class. */
    private UdpTestNode classless(Dispatch dispatch, UdpTestNode.Step step) throws Exception {
        UdpTestNode node =
                new UdpTestNode(UdpTestNode.config(TransportKind.NIO)).deliver("127.0.0.1/32", Transport.SAME);
        node.environment.qos(config("pq", 1, Duration.ofMillis(1), named("all", 0, 1)));
        define(node, dispatch, () -> new Shared(step));
        node.environment.start();
        return node;
    }

    private void block(UdpTestNode node, UdpFarEnd sender, UdpFarEnd receiver) {
        sender.send(node.udp(), packet(receiver, 1, BLOCKS));
        eventually().until(() -> blocked.get() == 1);
    }

    private static void sendAll(UdpTestNode node, UdpFarEnd sender, UdpFarEnd receiver, int from, int to, int priority)
            throws Exception {
        for (int i = from; i < to; i++) {
            sender.send(node.udp(), packet(receiver, i, i, priority));
        }
        eventually().until(() -> node.environment.traffic().packetsIn() == to - 1);
    }

    private static List<Integer> numbers(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    @Test
    void controlPacketGoesBeforeThoseThatItsWorkerHasTaken() throws Exception {
        CountDownLatch atFive = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = classless(dispatch(true, Dispatch.MAX_JOBS), (service, packet) -> {
                    if (TestSink.number(packet) == 5) {
                        atFive.countDown();
                        goOn.await(40, TimeUnit.SECONDS);
                    }
                    return note(service, packet);
                })) {
            block(node, sender, receiver);
            sendAll(node, sender, receiver, 2, 10, 0);
            sender.send(node.udp(), packet(receiver, 10, 10)); // When it is counted, the one before is a job.
            eventually().until(() -> node.environment.traffic().packetsIn() == 10);
            released.countDown();
            assertThat(atFive.await(40, TimeUnit.SECONDS)).isTrue();
            sendAll(node, sender, receiver, 11, 12, 255);
            sendAll(node, sender, receiver, 12, 13, 0);
            goOn.countDown();
            node.balanced(12);
            assertThat(processed).containsExactly(BLOCKS, 2, 3, 4, 5, 11, 6, 7, 8, 9, 10, 12);
        }
    }

    @Test
    void whatIsProcessedLeavesBeforeThePacketBehindOneThatTookLong() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = classless(dispatch(true, Dispatch.MAX_JOBS), (service, packet) -> {
                    if (TestSink.number(packet) == 3) {
                        long beganNs = System.nanoTime();
                        while (System.nanoTime() - beganNs < 1_000_000) {
                            Thread.onSpinWait();
                        }
                    } else if (TestSink.number(packet) == 4) {
                        goOn.await(40, TimeUnit.SECONDS);
                    }
                    return note(service, packet);
                })) {
            block(node, sender, receiver);
            sendAll(node, sender, receiver, 2, 10, 0);
            released.countDown();
            for (int number : List.of(BLOCKS, 2, 3)) {
                assertThat(number(receiver.next())).isEqualTo(number);
            }
            goOn.countDown();
            node.balanced(9);
        }
    }

    @Test
    void whatAWorkerHasIsHeldWhileItIsBlocked() throws Exception {
        CountDownLatch atFive = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = classless(dispatch(true, Dispatch.MAX_JOBS), (service, packet) -> {
                    service.send(packet.copy());
                    if (TestSink.number(packet) == 4) {
                        return Verdict.DROP;
                    }
                    if (TestSink.number(packet) == 5) {
                        atFive.countDown();
                        goOn.await(40, TimeUnit.SECONDS);
                    }
                    return note(service, packet);
                })) {
            block(node, sender, receiver);
            sendAll(node, sender, receiver, 2, 10, 0);
            eventually().untilAsserted(() -> UdpTestNode.assertBalance(node.environment.traffic()));
            released.countDown();
            assertThat(atFive.await(40, TimeUnit.SECONDS)).isTrue();
            UdpTestNode.assertBalance(node.environment.traffic());
            assertThat(node.environment.traffic().held()).isPositive();
            goOn.countDown();
            assertThat(node.balanced(9).packetsMade()).isEqualTo(9);
        }
    }

    @Test
    void controlPacketsGoFirstAsFarAsATenthOfAll() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = classless(dispatch(true, Dispatch.MAX_JOBS), this::note)) {
            block(node, sender, receiver);
            sendAll(node, sender, receiver, 2, 42, 255);
            sendAll(node, sender, receiver, 42, 51, 0);
            sendAll(node, sender, receiver, 51, 52, 255);
            sendAll(node, sender, receiver, 52, 53, 0); // When it is counted, the one before is a job.
            released.countDown();
            node.balanced(52);
            List<Integer> order = new ArrayList<>(List.of(BLOCKS));
            order.addAll(numbers(2, 34));
            order.add(51);
            order.addAll(numbers(34, 51));
            order.add(52);
            assertThat(processed).isEqualTo(order);
        }
    }

    @Test
    void fullInboxHasRoomForControlPackets() throws Exception {
        int jobs = Dispatch.MIN_JOBS;
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = classless(dispatch(false, jobs), this::note)) {
            block(node, sender, receiver);
            sendAll(node, sender, receiver, 2, jobs + 3, 0); // One more than there is room for.
            sendAll(node, sender, receiver, jobs + 3, jobs + 4, 255);
            sendAll(node, sender, receiver, jobs + 4, jobs + 5, 0);
            released.countDown();
            node.assertDrops(jobs + 4, Map.of(DropReason.INBOX_FULL, 2L));
            assertThat(processed.subList(0, 2)).containsExactly(BLOCKS, jobs + 3);
        }
    }

    /** Waits until the node has these packets, and then until so many workers have been given up. */
    private void awaitGivenUp(UdpTestNode node, long packetsIn, long workers) {
        eventually().until(() -> node.environment.traffic().packetsIn() == packetsIn);
        clock.hurryUntil(
                () -> node.environment.traffic().drops().getOrDefault(DropReason.SERVICE_FAILURE, 0L) == workers);
    }

    /** Returns whether a node that stops waits for its instances. */
    private static boolean awaitsEnd() {
        return Thread.getAllStackTraces().values().stream()
                .anyMatch(stack ->
                        Stream.of(stack).anyMatch(frame -> frame.getMethodName().equals("awaitEnd")));
    }

    @Test
    void streamOfAWorkerThatIsGivenUpGoesOn() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node =
                        node(TransportKind.NIO, WORKERS, dispatch(true, 1024), this::spin, Duration.ofSeconds(4))) {
            warmUp(node, sender, receiver);
            sender.send(node.udp(), packet(receiver, 1, BLOCKS));
            eventually().until(() -> blocked.get() == 1);
            sender.send(node.udp(), packet(receiver, 1, 1));
            awaitGivenUp(node, WARM + 2, 1);
            TrafficSnapshot now = node.balanced(WARM + 2); // Nothing is held, though its service still spins.
            assertThat(now.drops()).isEqualTo(Map.of(DropReason.SERVICE_FAILURE, 1L, DropReason.QUARANTINED, 1L));
        }
    }

    @Test
    void otherPacketsWaitForNewWorkersWhenAllAreGivenUp() throws Exception {
        int others = 40;
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node =
                        node(TransportKind.NIO, WORKERS, dispatch(true, 1024), this::spin, Duration.ofSeconds(4))) {
            warmUp(node, sender, receiver);
            for (int i = 0; i < WORKERS; i++) {
                sender.send(node.udp(), packet(receiver, i, BLOCKS));
                int at = i + 1;
                eventually().until(() -> blocked.get() == at);
            }
            for (int i = 0; i < others; i++) {
                sender.send(node.udp(), packet(receiver, WORKERS + i, i));
            }
            awaitGivenUp(node, WARM + WORKERS + others, WORKERS);
            TrafficSnapshot now = node.balanced(WARM + WORKERS + others); // Though its service still spins.
            assertThat(now.drops())
                    .isEqualTo(
                            Map.of(DropReason.SERVICE_FAILURE, (long) WORKERS, DropReason.QUARANTINED, (long) others));
            eventually().until(() -> node.environment.instances().size() == WORKERS);
            Objects.requireNonNull(node.services.find(ServiceKey.of(NAME)))
                    .health()
                    .release();
            byte[] packet = packet(receiver, 0, 7);
            sender.send(node.udp(), packet);
            assertThat(receiver.next()).isEqualTo(packet);
        }
    }

    @Test
    void packetsThatWaitAreDroppedWhenNoWorkerCanBeMadeAnew() throws Exception {
        AtomicInteger made = new AtomicInteger();
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.NIO), clock)
                        .deliver("127.0.0.1/32", Transport.SAME)) {
            node.environment.qos(config("pq", 1, Duration.ofMillis(1), named("all", 0, 1)));
            node.environment.stuckAfter(Duration.ofSeconds(4));
            define(node, dispatch(true, 1024), () -> {
                if (made.incrementAndGet() > 1) {
                    throw new IllegalStateException("one is enough");
                }
                return new Shared(this::spin);
            });
            node.environment.start();
            block(node, sender, receiver);
            sendAll(node, sender, receiver, 2, 10, 0);
            awaitGivenUp(node, 9, 1);
            node.assertDrops(9, Map.of(DropReason.SERVICE_FAILURE, 1L, DropReason.NO_INSTANCE, 8L));
        }
    }

    @Test
    void whatWaitsBehindAWorkerThatIsStuckEndsWithTheNodeThatStops() throws Exception {
        // Far more than a busy host takes until the node stops: the worker must not be given up before.
        Duration stuck = Duration.ofSeconds(10);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(TransportKind.NIO, 1, dispatch(true, 1024), this::spin, stuck)) {
            block(node, sender, receiver);
            sendAll(node, sender, receiver, 2, 5, 0);
            Future<Integer> stopping = Waiting.async(() -> node.environment.stop(Duration.ofMinutes(5)));
            eventually().until(PacketDispatchTest::awaitsEnd);
            clock.advance(stuck);
            awaitGivenUp(node, 4, 1);
            stopping.get(60, TimeUnit.SECONDS);
            node.assertDrops(4, Map.of(DropReason.SERVICE_FAILURE, 1L, DropReason.SHUTDOWN, 3L));
        } finally {
            released.countDown();
        }
    }

    @Test
    void aWorkerThatCannotBeBegunIsOneLess() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        Starter faulty = starting -> {
            if (Thread.currentThread().getName().startsWith("maker") && begun.incrementAndGet() == 2) {
                throw new UnsupportedOperationException("the second one");
            }
            starting.run();
        };
        Platform platform = (Platform) Proxy.newProxyInstance(
                Platform.class.getClassLoader(),
                new Class<?>[] {Platform.class},
                (proxy, method, arguments) ->
                        method.getName().equals("newStarter") ? faulty : method.invoke(Platform.SYSTEM, arguments));
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.NIO), platform)
                        .deliver("127.0.0.1/32", Transport.SAME)) {
            node.environment.qos(config("pq", WORKERS, Duration.ofMillis(1), named("all", 0, 1)));
            define(node, dispatch(true, 1024), () -> new Shared(this::note));
            node.environment.start();
            byte[] packet = packet(receiver, 1, 1);
            sender.send(node.udp(), packet);
            assertThat(receiver.next()).isEqualTo(packet);
            eventually().until(() -> begun.get() == WORKERS);
            eventually().until(() -> node.environment.instances().size() == WORKERS - 1);
            node.balanced(1);
        }
    }

    private Verdict spin(UdpTestNode.Scripted service, Packet packet) {
        if (TestSink.number(packet) >= BLOCKS) {
            blocked.incrementAndGet();
            while (released.getCount() > 0) {
                Thread.onSpinWait();
            }
        }
        return Verdict.FORWARD;
    }

    @Test
    void classThatDoesNotSayItIsRefused() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.NIO))) {
            define(node, dispatch(true, 1024), () -> new UdpTestNode.Scripted(this::note), UdpTestNode.Scripted.class);
            node.environment.start();
            sender.send(node.udp(), packet(sender, 1, 1));
            node.assertDrops(1, Map.of(DropReason.NO_INSTANCE, 1L));
            assertThat(processed).isEmpty();
        }
    }

    @Test
    void whatWaitsIsProcessedWhenTheNodeStops() throws Exception {
        UdpTestNode node = patient(dispatch(true, 1024));
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            warmUp(node, sender, receiver);
            sender.send(node.udp(), packet(receiver, 1, BLOCKS));
            eventually().until(() -> blocked.get() == 1);
            for (int i = 1; i < 40; i++) {
                sender.send(node.udp(), packet(receiver, i % 3, i));
            }
            eventually().until(() -> node.environment.traffic().packetsIn() == WARM + 40);
            Thread stopping = new Thread(node::close);
            stopping.start();
            released.countDown();
            stopping.join(TimeUnit.SECONDS.toMillis(40));
            assertThat(stopping.isAlive()).isFalse();
            assertThat(node.environment.traffic().packetsOut()).isEqualTo(WARM + 40);
        } finally {
            released.countDown();
            node.close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void streamGoesOnInTheNextVersionWhenTheOneBeforeHasHandledItsPackets(boolean retiredFirst) throws Exception {
        AtomicInteger madeMeanwhile = new AtomicInteger();
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = patient(dispatch(true, 1024))) {
            ServiceDefinition old = Objects.requireNonNull(node.services.find(ServiceKey.of(NAME)));
            warmUp(node, sender, receiver);
            sender.send(node.udp(), packet(receiver, 1, BLOCKS));
            eventually().until(() -> blocked.get() == 1);
            sender.send(node.udp(), packet(receiver, 1, 1));
            eventually().until(() -> node.environment.traffic().packetsIn() == WARM + 2);

            if (retiredFirst) {
                node.services.remove(old);
                node.environment.udp.retire(old);
            }
            define(node, dispatch(true, 1024), () -> {
                madeMeanwhile.addAndGet((int) released.getCount());
                return new Shared(this::note);
            });
            sender.send(node.udp(), packet(receiver, 1, 2));
            eventually().until(() -> node.environment.traffic().packetsIn() == WARM + 3);
            released.countDown();

            assertThat(number(receiver.next())).isEqualTo(BLOCKS);
            assertThat(number(receiver.next())).isEqualTo(1);
            assertThat(number(receiver.next())).isEqualTo(2);
            assertThat(node.environment.retire(old, UdpTestNode.PATIENCE)).isZero();
            node.balanced(WARM + 3);
            assertThat(madeMeanwhile).hasValue(0);
        }
    }

    @Test
    void packetsGoToSeveralThreads() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = patient(dispatch(true, 1024))) {
            warmUp(node, sender, receiver);
            for (int i = 0; i < WORKERS; i++) {
                sender.send(node.udp(), packet(receiver, i, BLOCKS + i));
                int at = i + 1;
                eventually().until(() -> blocked.get() == at);
            }
            assertThat(threads).hasSizeGreaterThanOrEqualTo(WORKERS);
            released.countDown();
            node.balanced(WARM + WORKERS);
        }
    }

    @Test
    void packetWaitsForNoWorkerThatIsInATimerWhileAnotherRests() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(TransportKind.NIO, WORKERS, dispatch(true, 1024), this::blockInTimer)) {
            warmUp(node, sender, receiver);
            for (int i = 1; i < WORKERS; i++) {
                byte[] packet = packet(receiver, i, BLOCKS + i);
                sender.send(node.udp(), packet);
                assertThat(receiver.next()).isEqualTo(packet);
                int at = i;
                eventually().until(() -> blocked.get() == at);
            }
            byte[] packet = packet(receiver, WORKERS, WORKERS);
            sender.send(node.udp(), packet);
            assertThat(receiver.next()).isEqualTo(packet);
            released.countDown();
        }
    }

    private Verdict blockInTimer(UdpTestNode.Scripted service, Packet packet) {
        if (TestSink.number(packet) >= BLOCKS) {
            service.later(Duration.ZERO, () -> {
                blocked.incrementAndGet();
                try {
                    released.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        return Verdict.FORWARD;
    }

    @Test
    void packetsAreAccountedForWhateverBecomesOfThem() throws Exception {
        int count = 600;
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(TransportKind.NIO, WORKERS, dispatch(true, 1024), this::anything)) {
            for (int i = 0; i < count; i++) {
                sender.send(node.udp(), packet(receiver, i % 7, i));
                if (i % 50 == 49) {
                    int sent = i + 1;
                    eventually().until(() -> node.environment.traffic().packetsIn() == sent);
                }
            }
            TrafficSnapshot now = node.balanced(count);
            assertThat(now.packetsMade()).isEqualTo(count / 4);
            assertThat(now.drops())
                    .isEqualTo(Map.of(DropReason.SERVICE, (long) count / 4, DropReason.CONSUMED, (long) count / 4));
            assertThat(now.packetsOut()).isEqualTo(3L * count / 4);
        }
    }

    private Verdict anything(UdpTestNode.Scripted service, Packet packet) {
        switch (TestSink.number(packet) % 4) {
            case 0:
                return service.end("every fourth");
            case 1:
                return Verdict.CONSUME;
            case 2:
                service.send(packet.copy());
                return Verdict.FORWARD;
            default:
                return Verdict.FORWARD;
        }
    }

    /** Has all workers there. */
    private static void warmUp(UdpTestNode node, UdpFarEnd sender, UdpFarEnd receiver) throws Exception {
        byte[] packet = packet(receiver, 0, 0);
        sender.send(node.udp(), packet);
        assertThat(receiver.next()).isEqualTo(packet);
        eventually().until(() -> node.environment.instances().size() == WORKERS);
    }

    private UdpTestNode patient(Dispatch dispatch) throws Exception {
        return patient(WORKERS, dispatch);
    }

    private UdpTestNode patient(int workers, Dispatch dispatch) throws Exception {
        return node(TransportKind.NIO, workers, dispatch, this::note);
    }
}

package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.platform.Platform;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.TransportKind;

/** Packets that services hold, and what becomes of them. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class HoldTest {
    private static final String NAME = "org.example.Service";
    private static final Duration LONG = Duration.ofMinutes(5);
    /** Numbers from here on are held. */
    private static final int HELD = 1000;

    private final BlockingQueue<Suspension> held = new LinkedBlockingQueue<>();
    private final AtomicBoolean stops = new AtomicBoolean();

    /** Holds packets with high numbers, and gives what resumes them to the test. */
    @PerPacket
    private final class Holder extends Service {
        private final Duration atMost;

        Holder(Duration atMost) {
            this.atMost = atMost;
        }

        @Override
        public Verdict process(Packet packet) {
            packet.setClassOfService(7);
            if (TestSink.number(packet) < HELD) {
                return Verdict.FORWARD;
            }
            held.add(hold(packet, atMost));
            return Verdict.HELD;
        }
    }

    private UdpTestNode node(boolean perPacket, Duration atMost) throws Exception {
        return node(perPacket, () -> new Holder(atMost));
    }

    private UdpTestNode node(boolean perPacket, Supplier<Service> service) throws Exception {
        UdpTestNode node =
                new UdpTestNode(UdpTestNode.config(TransportKind.NIO)).deliver("127.0.0.1/32", Transport.SAME);
        define(node, perPacket, service);
        node.environment.start();
        return node;
    }

    private static void define(UdpTestNode node, boolean perPacket, Supplier<Service> service) {
        node.services.add(new ServiceDefinition(
                NAME,
                "",
                service,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(),
                DefinedControl.NONE,
                new Dispatch(perPacket, true, 1024),
                new ServiceTraits(SizeEffect.KEEPS, perPacket, null)));
    }

    private static PacketBuilder builder(UdpFarEnd to) {
        return UdpTestNode.builder(to.address(), NAME, 1).classOfService(0, 0).checksum();
    }

    private static byte[] packet(UdpFarEnd to, int number) {
        return UdpTestNode.bytes(builder(to).build(ByteBuffer.allocate(60).putInt(0, number)));
    }

    /** Returns the packet as the service leaves it. */
    private static byte[] marked(byte[] sent) {
        Packet packet = UdpTestNode.parsed(sent.clone());
        packet.setClassOfService(7);
        packet.seal();
        return UdpTestNode.bytes(packet);
    }

    private Suspension next() throws InterruptedException {
        Suspension next = held.poll(40, TimeUnit.SECONDS);
        assertThat(next).as("a packet is held").isNotNull();
        return next;
    }

    /** Answers a datagram three times at once, as much as the default bound allows, then holds it. */
    @PerPacket
    private final class Answerer extends Service {
        private final InetSocketAddress source;

        Answerer(InetSocketAddress source) {
            this.source = source;
        }

        @Override
        public Verdict process(Packet packet) {
            for (int i = 0; i < 3; i++) {
                emitTo(source.getAddress(), source.getPort(), packet);
            }
            held.add(hold(packet, LONG));
            return Verdict.HELD;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void holdingADatagramGivesItsSourceNoFurtherAnswers(boolean perPacket) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, () -> new Answerer(sender.address()))) {
            byte[] packet = packet(sender, HELD);
            sender.send(node.udp(), packet);
            for (int i = 0; i < 3; i++) {
                assertThat(sender.next()).isEqualTo(packet);
            }
            assertThat(next().resume(Verdict.REPLY)).isTrue();
            node.assertDrops(1, Map.of(DropReason.AMPLIFICATION, 1L));
            assertThat(sender.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void heldDatagramGoesOnWhenAnotherThreadResumesIt(boolean perPacket) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, LONG)) {
            byte[] late = packet(receiver, HELD);
            sender.send(node.udp(), late);
            Suspension suspension = next();
            for (int i = 0; i < 5; i++) { // Others go on meanwhile.
                byte[] packet = packet(receiver, i);
                sender.send(node.udp(), packet);
                assertThat(receiver.next()).isEqualTo(marked(packet));
            }
            eventually().until(() -> node.environment.traffic().held() == 1);
            assertThat(suspension.resume(Verdict.FORWARD)).isTrue();
            assertThat(receiver.next()).isEqualTo(marked(late));
            assertThat(suspension.resume(Verdict.FORWARD)).isFalse();
            assertThat(node.balanced(6).packetsOut()).isEqualTo(6);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nextVersionDoesNotWaitForPacketsThatTheOneBeforeHolds(boolean perPacket) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, LONG)) {
            byte[] late = packet(receiver, HELD);
            sender.send(node.udp(), late);
            Suspension suspension = next();
            ServiceDefinition old = Objects.requireNonNull(node.services.find(ServiceKey.of(NAME)));
            define(node, perPacket, () -> new Holder(LONG));
            node.environment.udp.retire(old);
            byte[] later = packet(receiver, 1);
            sender.send(node.udp(), later);
            assertThat(receiver.next()).isEqualTo(marked(later));
            assertThat(suspension.resume(Verdict.FORWARD)).isTrue();
            assertThat(receiver.next()).isEqualTo(marked(late));
            assertThat(node.environment.retire(old, UdpTestNode.PATIENCE)).isZero();
            node.balanced(2);
        }
    }

    @Test
    void resumedDatagramCanBeAnsweredDroppedOrConsumed() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(false, LONG)) {
            byte[] asked = packet(receiver, HELD);
            sender.send(node.udp(), List.of(asked, packet(receiver, HELD + 1), packet(receiver, HELD + 2)));
            next().resume(Verdict.REPLY);
            next().resume(Verdict.DROP);
            next().resume(Verdict.CONSUME);
            assertThat(sender.next()).isEqualTo(marked(asked));
            node.assertDrops(3, Map.of(DropReason.SERVICE, 1L, DropReason.CONSUMED, 1L));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void datagramThatNobodyResumesExpires(boolean perPacket) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, Duration.ofMillis(20))) {
            sender.send(node.udp(), packet(receiver, HELD));
            node.assertDrops(1, Map.of(DropReason.HOLD_EXPIRED, 1L));
            assertThat(next().resume(Verdict.FORWARD)).isFalse();
        }
    }

    @Test
    void datagramsBeyondTheBoundAreDroppedAsHoldFull() throws Exception {
        int count = HeldDatagrams.MAX_PACKETS + 3;
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(false, LONG)) {
            List<byte[]> packets = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                packets.add(packet(receiver, HELD + i));
                sender.send(node.udp(), packets.get(i));
                int sent = i + 1;
                eventually().until(() -> held.size() == sent);
            }
            eventually().until(() -> node.environment.traffic().drops().equals(Map.of(DropReason.HOLD_FULL, 3L)));
            int resumed = 0;
            for (Suspension suspension : held) {
                resumed += suspension.resume(Verdict.FORWARD) ? 1 : 0;
            }
            assertThat(resumed).isEqualTo(HeldDatagrams.MAX_PACKETS);
            for (int i = 0; i < HeldDatagrams.MAX_PACKETS; i++) {
                assertThat(receiver.next()).isEqualTo(marked(packets.get(i)));
            }
            node.assertDrops(count, Map.of(DropReason.HOLD_FULL, 3L));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void heldDatagramIsResumedWhileTheNodeStops(boolean perPacket) throws Exception {
        UdpTestNode node = node(perPacket, LONG);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            byte[] packet = packet(receiver, HELD);
            sender.send(node.udp(), packet);
            Suspension suspension = next();
            Thread stopping = new Thread(() -> {
                stops.set(true);
                node.environment.stop(Duration.ofSeconds(40));
            });
            stopping.start();
            eventually().untilTrue(stops);
            suspension.resume(Verdict.FORWARD);
            assertThat(receiver.next()).isEqualTo(marked(packet));
            stopping.join(TimeUnit.SECONDS.toMillis(40));
            assertThat(stopping.isAlive()).isFalse();
        } finally {
            node.close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsHeldWhenTheTimeOfTheStopIsOverIsDropped(boolean perPacket) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, LONG)) {
            sender.send(node.udp(), packet(receiver, HELD));
            Suspension suspension = next();
            node.environment.stop(Duration.ofMillis(1));
            node.assertDrops(1, Map.of(DropReason.SHUTDOWN, 1L));
            assertThat(suspension.resume(Verdict.FORWARD)).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void resumeSaysFalseForAPacketWhoseTimeIsUpThoughNobodyHasLooked(boolean perPacket) throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, () -> new Waiter(over))) {
            sender.send(node.udp(), packet(sender, HELD));
            Suspension suspension = next();
            assertThat(suspension.resume(Verdict.FORWARD)).isFalse();
            over.countDown();
            node.assertDrops(1, Map.of(DropReason.HOLD_EXPIRED, 1L));
        }
    }

    /** Holds a packet for a nanosecond, but looks after it no sooner than the test says. */
    @PerPacket
    private final class Waiter extends Service {
        private final CountDownLatch over;

        Waiter(CountDownLatch over) {
            this.over = over;
        }

        @Override
        public Verdict process(Packet packet) throws InterruptedException {
            held.add(hold(packet, Duration.ofNanos(1)));
            over.await();
            return Verdict.HELD;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void resumeSaysFalseWhenAnotherVerdictFollowed(boolean perPacket) throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicBoolean waits = new AtomicBoolean();
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, () -> new Undecided(goOn, waits))) {
            sender.send(node.udp(), List.of(packet(receiver, HELD), packet(receiver, 1)));
            eventually().untilTrue(waits);
            Suspension suspension = next();
            assertThat(suspension.resume(Verdict.DROP)).isFalse();
            goOn.countDown();
            assertThat(node.balanced(2).packetsOut()).isEqualTo(2);
        }
    }

    /** Asks for a packet to be held, and sends it on; waits with the next. */
    @PerPacket
    private final class Undecided extends Service {
        private final CountDownLatch goOn;
        private final AtomicBoolean waits;

        Undecided(CountDownLatch goOn, AtomicBoolean waits) {
            this.goOn = goOn;
            this.waits = waits;
        }

        @Override
        public Verdict process(Packet packet) throws InterruptedException {
            if (TestSink.number(packet) >= HELD) {
                held.add(hold(packet, LONG));
            } else {
                waits.set(true);
                goOn.await();
            }
            return Verdict.FORWARD;
        }
    }

    /** Has each packet dropped by what resumes it, before it does with it as its number says. */
    @PerPacket
    private final class Torn extends Service {
        @Override
        public Verdict process(Packet packet) {
            Suspension suspension = hold(packet, LONG);
            assertThat(suspension.resume(Verdict.DROP)).isTrue();
            held.add(suspension);
            switch (TestSink.number(packet) % 4) {
                case 0:
                    return Verdict.FORWARD;
                case 1:
                    return Verdict.REPLY;
                case 2:
                    throw new IllegalStateException("thrown by the test");
                default:
                    assertThat(hold(packet, LONG).resume(Verdict.FORWARD)).isFalse();
                    return TestSink.number(packet) % 8 == 3 ? Verdict.HELD : Verdict.FORWARD;
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatResumeHasSaidCountsWhateverProcessReturnsThen(boolean perPacket) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, Torn::new)) {
            for (int i = 0; i < 8; i++) {
                sender.send(node.udp(), packet(receiver, i));
            }
            node.assertDrops(8, Map.of(DropReason.SERVICE, 8L));
            assertThat(sender.isQuiet()).isTrue();
            assertThat(receiver.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void suspensionThatIsDecidedKeepsNoInstance(boolean perPacket) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, LONG)) {
            sender.send(node.udp(), List.of(packet(receiver, HELD), packet(receiver, HELD + 1)));
            Suspension resumed = next();
            Suspension ended = next();
            assertThat(reaches(ended, Service.class)).as("while it is held").isTrue();
            assertThat(resumed.resume(Verdict.FORWARD)).isTrue();
            assertThat(reaches(resumed, Service.class)).as("resumed").isFalse();
            node.environment.stop(Duration.ofMillis(1));
            node.balanced(2);
            assertThat(reaches(ended, Service.class))
                    .as("of an instance that has ended")
                    .isFalse();
        }
    }

    /** Returns whether an object leads to one of that class by fields of the node's classes. */
    private static boolean reaches(Object from, Class<?> wanted) throws IllegalAccessException {
        Deque<Object> open = new ArrayDeque<>(List.of(from));
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        while (!open.isEmpty()) {
            Object at = open.remove();
            if (wanted.isInstance(at)) {
                return true;
            }
            if (at instanceof AtomicReference<?> reference && reference.get() != null) {
                open.add(reference.get());
            }
            for (Class<?> of = at.getClass(); of != null && of.getName().startsWith("org.tamanoir"); ) {
                for (Field field : of.getDeclaredFields()) {
                    field.setAccessible(true);
                    boolean isOwn = !Modifier.isStatic(field.getModifiers())
                            && !field.getType().isPrimitive();
                    Object next = isOwn ? field.get(at) : null;
                    if (next != null && seen.add(next)) {
                        open.add(next);
                    }
                }
                of = of.getSuperclass();
            }
        }
        return false;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void packetThatWasResumedGoesOnThoughTheStoreIsFull(boolean perPacket) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(perPacket, Hasty::new)) {
            int count = HeldDatagrams.MAX_PACKETS + 40;
            for (int i = 0; i < count; i++) {
                sender.send(node.udp(), packet(receiver, HELD + i));
            }
            TrafficSnapshot now = node.balanced(count);
            assertThat(now.packetsOut()).isEqualTo(count);
        }
    }

    /** Resumes each packet before it has returned. */
    @PerPacket
    private static final class Hasty extends Service {
        @Override
        public Verdict process(Packet packet) {
            assertThat(hold(packet, LONG).resume(Verdict.FORWARD)).isTrue();
            return Verdict.HELD;
        }
    }

    /** Holds packets; the last one is in {@code process} until the test lets go. */
    private final class Busy extends Service {
        private final int last;
        private final CountDownLatch goOn;
        private final Verdict returned;

        Busy(int last, CountDownLatch goOn, Verdict returned) {
            this.last = last;
            this.goOn = goOn;
            this.returned = returned;
        }

        @Override
        public Verdict process(Packet packet) throws InterruptedException {
            held.add(hold(packet, LONG));
            if (TestSink.number(packet) < last) {
                return Verdict.HELD;
            }
            goOn.await();
            return returned;
        }
    }

    /** The last of them is resumed before {@code process} has returned, and may return what it likes. */
    @ParameterizedTest
    @EnumSource(
            value = Verdict.class,
            names = {"HELD", "FORWARD", "REPLY", "DROP"})
    void datagramsLeaveInTheOrderInWhichAThreadHasResumedThem(Verdict returned) throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        int[] order = {3, 1, 4, 0, 5, 2};
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(false, () -> new Busy(order.length - 1, goOn, returned))) {
            List<byte[]> packets = new ArrayList<>();
            List<Suspension> suspensions = new ArrayList<>();
            for (int i = 0; i < order.length; i++) {
                packets.add(packet(receiver, i));
                sender.send(node.udp(), packets.get(i));
                suspensions.add(next());
            }
            for (int each : order) {
                assertThat(suspensions.get(each).resume(Verdict.FORWARD)).isTrue();
            }
            goOn.countDown();
            for (int each : order) {
                assertThat(receiver.next()).isEqualTo(packets.get(each));
            }
            assertThat(node.balanced(order.length).packetsOut()).isEqualTo(order.length);
        }
    }

    @Test
    void whatIsResumedStandsBehindOthersThoughTheStoreIsFull() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        int count = HeldDatagrams.MAX_PACKETS + 1;
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(false, () -> new Busy(count - 1, goOn, Verdict.HELD))) {
            List<byte[]> packets = new ArrayList<>();
            List<Suspension> suspensions = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                packets.add(packet(receiver, i));
                sender.send(node.udp(), packets.get(i));
                suspensions.add(next());
            }
            suspensions.forEach(each -> assertThat(each.resume(Verdict.FORWARD)).isTrue());
            goOn.countDown();
            for (byte[] each : packets) {
                assertThat(receiver.next()).isEqualTo(each);
            }
            assertThat(node.balanced(count).packetsOut()).isEqualTo(count);
        }
    }

    /** Holds the first packet, is busy with the second until the test lets go, and resumes the third at once. */
    private final class Resuming extends Service {
        private final CountDownLatch busy;
        private final CountDownLatch goOn;

        Resuming(CountDownLatch busy, CountDownLatch goOn) {
            this.busy = busy;
            this.goOn = goOn;
        }

        @Override
        public Verdict process(Packet packet) throws InterruptedException {
            switch (TestSink.number(packet)) {
                case 0 -> held.add(hold(packet, LONG));
                case 1 -> {
                    busy.countDown();
                    goOn.await();
                    return Verdict.FORWARD;
                }
                case 2 -> assertThat(hold(packet, LONG).resume(Verdict.FORWARD)).isTrue();
                default -> {
                    return Verdict.FORWARD;
                }
            }
            return Verdict.HELD;
        }
    }

    /** The third and the fourth are read at once: a copy of the third would leave behind the fourth. */
    @Test
    void datagramThatIsResumedAtOnceIsNotCopiedThoughAnotherIsHeld() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = node(false, () -> new Resuming(busy, goOn))) {
            sender.send(node.udp(), packet(receiver, 0));
            Suspension suspension = next();
            sender.send(node.udp(), packet(receiver, 1));
            busy.await();
            sender.send(node.udp(), List.of(packet(receiver, 2), packet(receiver, 3)));
            goOn.countDown();
            for (int i = 1; i < 4; i++) {
                assertThat(receiver.next()).isEqualTo(packet(receiver, i));
            }
            assertThat(suspension.resume(Verdict.FORWARD)).isTrue();
            assertThat(receiver.next()).isEqualTo(packet(receiver, 0));
            node.balanced(4);
        }
    }

    /** Holds packets while no memory is left, and resumes each before it has returned. */
    private static final class Poor extends Service {
        private final BufferPool pool;
        private final List<Buffer> taken = new ArrayList<>();

        Poor(BufferPool pool) {
            this.pool = pool;
        }

        @Override
        public Verdict process(Packet packet) {
            takeAll();
            assertThat(hold(packet, LONG).resume(Verdict.FORWARD)).isTrue();
            after(Duration.ofNanos(1), this::giveAll);
            return Verdict.HELD;
        }

        private void giveAll() {
            taken.forEach(pool::give);
            taken.clear();
        }

        private void takeAll() {
            for (int bytes : List.of(BufferPool.LARGE_BYTES, BufferPool.MEDIUM_BYTES, BufferPool.SMALL_BYTES)) {
                try {
                    while (true) {
                        taken.add(pool.take(bytes, bytes));
                    }
                } catch (NoMemoryException e) {
                    // That is what is wanted.
                }
            }
        }
    }

    @Test
    void whatIsResumedAtOnceNeedsNoCopyWhereNoOtherIsHeld() throws Exception {
        BufferPool pool = BufferPool.of(8 << 20);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.NIO), Platform.SYSTEM, pool)
                        .deliver("127.0.0.1/32", Transport.SAME)) {
            define(node, false, () -> new Poor(pool));
            node.environment.start();
            sender.send(node.udp(), packet(receiver, 0));
            assertThat(receiver.next()).isEqualTo(packet(receiver, 0));
            node.assertDrops(1, Map.of());
        }
    }

    @Test
    void heldVerdictWithoutHoldIsAFailure() throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpTestNode node =
                        UdpTestNode.start(TransportKind.NIO).service(NAME, (service, packet) -> Verdict.HELD)) {
            sender.send(node.udp(), packet(sender, 1));
            node.assertDrops(1, Map.of(DropReason.SERVICE_FAILURE, 1L));
        }
    }
}

package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.supervision.Incident;
import org.tamanoir.support.MovableClock;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.transport.TransportKind;

/** Services that do not return. */
class StuckTest extends TcpNodeTesting {
    /** Where a service spins. */
    enum Place {
        INIT,
        PROCESS,
        TIMER,
        END_OF_STREAM,
        CLOSE
    }

    /** Long enough for a service that works on a busy machine; the clock is moved when one hangs. */
    private static final Duration STUCK = Duration.ofSeconds(8);

    private final MovableClock clock = new MovableClock();
    private volatile boolean hangs;
    private volatile boolean released;

    @BeforeEach
    void shortPatience() {
        settings.platform = clock;
        settings.stuckTimeout = STUCK;
    }

    @AfterEach
    void release() {
        released = true;
    }

    /** Heeds no interrupt. */
    private void spin() {
        hangs = true;
        while (!released) {
            LockSupport.parkNanos(1_000_000); // The processor is others' meanwhile.
            Thread.interrupted();
        }
    }

    /** Waits until a service of this definition has been given up. */
    private void awaitStuck(ServiceDefinition definition) {
        eventually().until(() -> hangs);
        clock.hurryUntil(() -> definition.health().stuck() == 1);
    }

    private UdpTestNode udpNode(TransportKind kind) throws IOException {
        UdpTestNode node = new UdpTestNode(UdpTestNode.config(kind), clock);
        node.environment.stuckAfter(STUCK);
        node.environment.start();
        return node;
    }

    /** Spins at one place, in {@link Place#PROCESS} with packets of number 13. */
    private final class Spinner extends Service {
        private final Place place;

        Spinner(Place place) {
            this.place = place;
        }

        @Override
        public void init(ServiceConfig config) {
            if (place == Place.TIMER) {
                after(Duration.ofMillis(1), StuckTest.this::spin);
            }
            spinAt(Place.INIT);
        }

        @Override
        public Verdict process(Packet packet) {
            if (TestSink.number(packet) == 13) {
                spinAt(Place.PROCESS);
            }
            return Verdict.FORWARD;
        }

        @Override
        public void endOfStream() {
            spinAt(Place.END_OF_STREAM);
        }

        @Override
        public void close() {
            spinAt(Place.CLOSE);
        }

        private void spinAt(Place here) {
            if (place == here) {
                spin();
            }
        }
    }

    private ServiceDefinition spinner(Place place) {
        return define("spin", () -> new Spinner(place));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aSpinningServiceLosesItsStreamAndHarmsNoOther(TransportKind kind) throws Exception {
        settings.transport = kind;
        List<Incident> incidents = new CopyOnWriteArrayList<>();
        List<StreamRecord> records = new CopyOnWriteArrayList<>();
        ServiceDefinition spinner = spinner(Place.PROCESS);
        TestSink sink = sink();
        TestNode node = node(spinner, TestServices.MARK).toHost(sink.address());
        node.environment.onIncident(incidents::add);
        node.environment.onStreamEnd(records::add);
        try (AnepSender same = sender(node);
                AnepSender other = sender(node);
                SocketChannel stuck = connect(node)) {
            same.send(packets("spin"), number(1));
            same.flush();
            other.send(packets("mark"), number(1));
            other.flush();
            sink.await(2);
            byte[] bad = UdpTestNode.bytes(packets("spin").build(number(13)));
            stuck.write(ByteBuffer.allocate(3 * bad.length)
                    .put(bad)
                    .put(bad)
                    .put(bad)
                    .flip());
            awaitStuck(spinner);
            stuck.socket().setSoTimeout(40_000);
            assertThat(endsOf(stuck)).isTrue();
            eventually().until(() -> node.environment.streams().open() == 2);
            for (int i = 2; i < 5; i++) {
                same.send(packets("spin"), number(i));
                same.flush();
                other.send(packets("mark"), number(i));
                other.flush();
            }
            sink.await(8);
            same.finish();
            other.finish();
            node.settle();
            assertThat(node.dropped(DropReason.SERVICE_FAILURE)).isEqualTo(3);
            node.assertConserved();
            eventually().until(() -> incidents.size() >= 2 && records.size() >= 3);
            assertThat(incidents).extracting(Incident::kind).containsOnly(Incident.Kind.STUCK);
            assertThat(incidents).hasSize(2);
            assertThat(incidents.get(0).text()).contains("StuckTest").contains("interrupted");
            assertThat(records)
                    .extracting(StreamRecord::end)
                    .containsExactlyInAnyOrder("SERVICE_FAILURE: service spin does not return", "finished", "finished");
            if (settings.threads == ThreadKind.PLATFORM) { // The JVM lists no others.
                assertThat(threads()).anyMatch(name -> name.startsWith("tcp spin"));
            }
        }
        released = true;
        eventually().until(() -> threads().stream().noneMatch(name -> name.startsWith("tcp ")));
        try (AnepSender next = sender(node)) {
            next.send(packets("spin"), number(1));
            next.finish();
            sink.await(9);
        }
        node.settle().assertConserved();
    }

    @Test
    void packetsAroundOneThatHangsAmongItsLikeEndOnce() throws Exception {
        ServiceDefinition hanging = define("hang", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                if (packet.payloadOctet(3) == 40) {
                    spin();
                }
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(hanging).toHost(sink.address());
        try (SocketChannel stuck = connect(node)) {
            byte[] first = UdpTestNode.bytes(packets("hang").build(number(0)));
            stuck.write(ByteBuffer.wrap(first));
            sink.await(1); // Those that wait for the connection to their next hop go one by one.
            ByteBuffer packets = ByteBuffer.allocate(50 * first.length);
            for (int i = 1; i <= 50; i++) {
                packets.put(UdpTestNode.bytes(packets("hang").build(number(i))));
            }
            stuck.write(packets.flip());
            awaitStuck(hanging);
            eventually().until(() -> node.traffic().packetsIn() == 51);
            assertThat(node.traffic().bytesIn()).isEqualTo(51L * first.length);
        }
        released = true;
        eventually().until(() -> threads().stream().noneMatch(name -> name.startsWith("tcp ")));
        assertThat(node.traffic().packetsIn()).isEqualTo(51);
        node.settle().assertConserved();
    }

    /** Whether the connection ends, by a reset or an end of stream. */
    private static boolean endsOf(SocketChannel channel) {
        try {
            return channel.read(ByteBuffer.allocate(16)) < 0;
        } catch (IOException e) {
            return true;
        }
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void itIsFoundWhereverItSpins(Place place) throws Exception {
        ServiceDefinition spinner = spinner(place);
        TestSink sink = sink();
        TestNode node = node(spinner).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("spin"), number(13));
            try {
                if (place == Place.TIMER) {
                    sender.flush(); // No timer runs any more when a stream ends.
                } else {
                    sender.finish();
                }
            } catch (IOException e) {
                // It was reset meanwhile.
            }
            awaitStuck(spinner);
            node.settle().assertConserved();
        } catch (IOException e) {
            // It was reset meanwhile.
        }
        released = true;
    }

    @Test
    void oneThatSendsAfterItWasGivenUpEndsThere() throws Exception {
        AtomicBoolean wentOn = new AtomicBoolean();
        ServiceDefinition late = define("late", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                spin();
                emit(packet.copy());
                wentOn.set(true);
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(late).toHost(sink.address());
        try (SocketChannel stuck = connect(node)) {
            stuck.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("late").build(number(1)))));
            awaitStuck(late);
            node.settle().assertConserved();
        }
        released = true;
        eventually().until(() -> threads().stream().noneMatch(name -> name.startsWith("tcp ")));
        assertThat(wentOn).isFalse();
        assertThat(late.health().failures())
                .as("that it was stuck, no exception")
                .isEqualTo(1);
        node.settle().assertConserved();
    }

    @Test
    void aSleepingServiceIsWokenAndItsStreamGoesOn() throws Exception {
        ServiceDefinition sleeper = define("sleep", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws InterruptedException {
                if (TestSink.number(packet) == 13) {
                    hangs = true;
                    Thread.sleep(Duration.ofHours(1).toMillis());
                }
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(sleeper).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("sleep"), number(13));
            sender.send(packets("sleep"), number(1));
            sender.finish();
            eventually().until(() -> hangs);
            clock.hurryUntil(() -> log().stream().anyMatch(line -> line.contains("interrupted")));
            sink.await(1);
            sink.awaitEnds();
        }
        node.assertDrops(Map.of(DropReason.SERVICE_FAILURE, 1L));
        assertThat(sleeper.health().stuck()).isZero();
        assertThat(sleeper.health().failures()).isEqualTo(1);
        assertThat(sleeper.health().isOpen()).isTrue();
    }

    @Test
    void aStuckSecondServiceEndsItsStreamAlone() throws Exception {
        ServiceDefinition spinner = spinner(Place.PROCESS);
        TestSink sink = sink();
        TestNode node = node(spinner, TestServices.MARK).toHost(sink.address());
        try (AnepSender good = sender(node);
                SocketChannel stuck = connect(node)) {
            good.send(packets("mark"), number(1));
            good.flush();
            stuck.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("mark").build(number(1)))));
            for (int i = 0; i < 3; i++) {
                stuck.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("spin").build(number(13)))));
            }
            awaitStuck(spinner);
            assertThat(endsOf(stuck)).isTrue();
            good.send(packets("mark"), number(2));
            good.finish();
            sink.await(3);
            node.settle().assertConserved();
            assertThat(node.dropped(DropReason.SERVICE_FAILURE)).isEqualTo(3);
        }
        released = true;
    }

    @Test
    void anAnswerThatAStreamNeverTookIsCountedWhenItsTwoServicesHang() throws Exception {
        AtomicBoolean bothHang = new AtomicBoolean();
        ServiceDefinition spinner = spinner(Place.PROCESS);
        ServiceDefinition second = define("second", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                if (TestSink.number(packet) == 13) {
                    bothHang.set(true);
                    spin();
                }
                while (!hangs && !released) {
                    Thread.onSpinWait(); // Then nobody takes the answer any more.
                }
                return Verdict.REPLY;
            }
        });
        TestSink sink = sink();
        TestNode node = node(spinner, second).toHost(sink.address());
        try (SocketChannel stuck = connect(node)) {
            stuck.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("spin").build(number(1)))));
            for (int each : new int[] {1, 13}) {
                stuck.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("second").build(number(each)))));
            }
            stuck.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("spin").build(number(13)))));
            eventually().untilTrue(bothHang);
            clock.hurryUntil(() -> node.environment.instances().isEmpty());
            assertThat(spinner.health().stuck() + second.health().stuck()).isEqualTo(2);
            node.settle().assertConserved();
            assertThat(node.dropped(DropReason.PEER_GONE)).isEqualTo(1);
        }
        released = true;
    }

    @Test
    void waitingForANextHopIsNotBeingStuck() throws Exception {
        settings.stuckTimeout = Duration.ofSeconds(1);
        settings.connectTimeout = Duration.ofMillis(2500);
        TestNode node = node(TestServices.MARK).toHost(nobody());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("mark"), number(1));
            sender.flush();
            node.settleAfterDrop(DropReason.NEXT_HOP_UNREACHABLE);
        }
        assertThat(TestServices.MARK.health().stuck()).isZero();
    }

    @Test
    void stoppingDoesNotWaitForIt() throws Exception {
        settings.stuckTimeout = Duration.ofMinutes(1);
        ServiceDefinition spinner = spinner(Place.PROCESS);
        TestNode node = node(spinner).toHost(sink().address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("spin"), number(13));
            sender.flush();
            eventually()
                    .until(() -> node.traffic().packetsIn() == 1
                            || !node.environment.instances().isEmpty());
            eventually().until(() -> node.environment.instances().stream().anyMatch(i -> i.processorNs() > 0));
            assertThat(node.environment.stop(Duration.ofMillis(100))).isEqualTo(1);
            assertThat(node.environment.streams().open()).isZero();
            node.assertConserved();
            assertThat(spinner.health().stuck()).isEqualTo(1);
        }
        released = true;
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void anotherInstanceTakesOverThePortAfterTheQuarantine(TransportKind kind) throws Exception {
        try (UdpTestNode node = udpNode(kind);
                UdpFarEnd far = new UdpFarEnd(kind, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.SAME);
            ServiceDefinition spinner = new ServiceDefinition(
                    "spin",
                    "",
                    () -> new Spinner(Place.PROCESS),
                    ServiceConfig.EMPTY,
                    FailurePolicy.DROP,
                    new ServiceHealth(0, 0, clock::nanoTime));
            node.services.add(spinner);
            byte[] good = UdpTestNode.bytes(
                    UdpTestNode.builder(far.address(), "spin", 1).build(number(1)));
            byte[] bad = UdpTestNode.bytes(
                    UdpTestNode.builder(far.address(), "spin", 1).build(number(13)));
            for (int i = 0; i < 3; i++) { // From the second on the service reads the port itself.
                far.send(node.udp(), good);
                assertThat(far.next()).isEqualTo(good);
            }
            far.send(node.udp(), bad);
            awaitStuck(spinner);
            assertThat(spinner.health().quarantines()).isEqualTo(1);
            far.send(node.udp(), good);
            eventually()
                    .until(() ->
                            node.environment.traffic().drops().containsKey(DropReason.QUARANTINED) || !far.isQuiet());
            clock.hurryUntil(() -> spinner.health().quarantinedUntil() == null);
            far.discard();
            for (int i = 0; i < 3; i++) {
                far.send(node.udp(), good);
                assertThat(far.next()).isEqualTo(good);
            }
            released = true; // The first one comes back and must leave the port to its successor.
            eventually()
                    .until(() -> UdpTestNode.nodeThreads().stream()
                                    .filter(name -> name.equals("udp spin"))
                                    .count()
                            == 1);
            for (int i = 0; i < 3; i++) {
                far.send(node.udp(), good);
                assertThat(far.next()).isEqualTo(good);
            }
            assertThat(node.environment.traffic().drops()).containsEntry(DropReason.SERVICE_FAILURE, 1L);
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void datagramsThatWereReadBehindOneThatHangsAreCounted(TransportKind kind) throws Exception {
        AtomicBoolean allSent = new AtomicBoolean();
        ServiceDefinition hanging = define("hang", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                while (packet.payloadOctet(3) == 12 && !allSent.get()) {
                    Thread.onSpinWait();
                }
                if (packet.payloadOctet(3) == 13) {
                    spin();
                }
                return Verdict.FORWARD;
            }
        });
        try (UdpTestNode node = udpNode(kind);
                UdpFarEnd far = new UdpFarEnd(kind, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.SAME);
            node.services.add(hanging);
            for (int i = 0; i < 3; i++) { // From the second on the service reads the port itself.
                far.send(node.udp(), datagram(far, 1));
                far.next();
            }
            far.send(node.udp(), datagram(far, 12));
            for (int i = 13; i < 33; i++) {
                far.send(node.udp(), datagram(far, i));
            }
            allSent.set(true);
            awaitStuck(hanging);
            eventually().until(() -> node.environment.traffic().packetsIn() == 3 + 1 + 20);
            released = true;
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void nothingIsCountedForABatchThatWasHandledBeforeATimerHangs(TransportKind kind) throws Exception {
        ServiceDefinition hanging = define("hang", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                if (packet.payloadOctet(3) == 13) {
                    after(Duration.ofMillis(1), StuckTest.this::spin);
                }
                return Verdict.FORWARD;
            }
        });
        try (UdpTestNode node = udpNode(kind);
                UdpFarEnd far = new UdpFarEnd(kind, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.SAME);
            node.services.add(hanging);
            for (int i = 10; i < 14; i++) { // From the second on the service reads the port itself.
                far.send(node.udp(), datagram(far, i));
                far.next();
            }
            awaitStuck(hanging);
            assertThat(node.environment.traffic().packetsIn()).isEqualTo(4);
            assertThat(node.environment.traffic().bytesIn()).isEqualTo(4L * datagram(far, 13).length);
            released = true;
        }
    }

    private static byte[] datagram(UdpFarEnd far, int number) {
        return UdpTestNode.bytes(UdpTestNode.builder(far.address(), "hang", 1).build(number(number)));
    }
}

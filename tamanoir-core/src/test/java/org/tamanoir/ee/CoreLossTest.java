package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.supervision.Incident;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/**
 * Errors on the node's own threads. They are thrown by the listener that the node tells of its services' incidents, at
 * the moment when a service is put into quarantine or found stuck.
 */
@Timeout(240)
class CoreLossTest {
    private final TestNode.Settings settings = new TestNode.Settings();
    private final CountDownLatch released = new CountDownLatch(1);
    private final CopyOnWriteArrayList<String> threads = new CopyOnWriteArrayList<>();

    private final ServiceDefinition broken = define("broken", () -> {
        throw new IllegalStateException("no instance");
    });

    private final ServiceDefinition stuck = define("stuck", () -> new Service() {
        @Override
        public Verdict process(Packet packet) {
            hang();
            return Verdict.FORWARD;
        }
    });

    @AfterEach
    void release() {
        released.countDown();
    }

    private void hang() {
        Uninterruptibles.awaitUninterruptibly(released);
    }

    /** The next failure puts it into quarantine, which is told. */
    private static void failAlmostTooOften(ServiceDefinition definition) {
        definition.health().failed(ServiceHealth.FAILURES_TOLERATED - 1, "for the test");
    }

    private Consumer<Incident> throwing(Error error) {
        return incident -> {
            threads.add(Thread.currentThread().getName());
            throw error;
        };
    }

    private static void assertServes(TestNode node, TestSink sink, int numbers) throws IOException {
        try (AnepSender good = AnepSender.tcp(node.address())) {
            good.send(packets("mark"), number(numbers));
            good.finish();
            sink.await(numbers);
        }
    }

    static List<Error> errors() {
        return List.of(new OutOfMemoryError("on purpose"), new StackOverflowError("on purpose"));
    }

    @ParameterizedTest
    @MethodSource("errors")
    void anErrorOverAConnectionEndsThatConnectionAlone(Error error) throws Exception {
        try (TestSink sink = TestSink.open()) {
            TestNode node = TestNode.start(settings, MARK, broken).toHost(sink.address());
            node.environment.onIncident(throwing(error));
            failAlmostTooOften(broken);
            try (AnepSender bad = AnepSender.tcp(node.address())) {
                bad.send(packets("broken"), number(1));
                bad.flush();
                eventually().until(() -> node.environment.streams().open() == 0 && !threads.isEmpty());
            }
            assertThat(threads).containsExactly("reception");
            node.assertDrops(Map.of(DropReason.NO_INSTANCE, 1L));
            assertServes(node, sink, 1);
            assertThat(node.environment.coreProblems()).isEmpty();
            node.environment.stop(TestServices.PATIENCE);
        }
    }

    /** Between the header, after which it is no newcomer any more, and the wait for its instance. */
    @Test
    void anErrorBehindTheHeaderEndsTheConnectionAndGivesItsPlaceBackOnce() throws Exception {
        ServiceHealth life = new ServiceHealth(0, 0, () -> {
            if (Thread.currentThread().getName().equals("reception")) {
                throw new OutOfMemoryError("on purpose");
            }
            return System.nanoTime();
        });
        ServiceDefinition faulty =
                new ServiceDefinition("faulty", "", MARK.factory(), MARK.config(), MARK.failurePolicy(), life);
        life.quarantine(Duration.ofMinutes(1), "for the test");
        try (TestSink sink = TestSink.open()) {
            TestNode node = TestNode.start(settings, MARK, faulty).toHost(sink.address());
            try (AnepSender bad = AnepSender.tcp(node.address())) {
                bad.send(packets("faulty"), number(1));
                bad.flush();
                eventually().until(() -> node.dropped(DropReason.NO_INSTANCE) == 1);
                eventually().until(() -> node.environment.places().taken() == 0);
            }
            assertServes(node, sink, 1);
            node.settle();
            assertThat(node.environment.places().taken()).isZero();
            node.environment.stop(TestServices.PATIENCE);
            node.assertConserved();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void anErrorOverADatagramEndsThatDatagramAlone(TransportKind kind) throws Exception {
        EeConfig config = UdpTestNode.config(kind).deploying(Duration.ofSeconds(40), Duration.ofMillis(200), 1 << 20);
        ServiceDefinition endless = define("endless", () -> {
            hang();
            throw new IllegalStateException("released");
        });
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(config)) {
            node.services.add(endless);
            node.service("good", (service, packet) -> Verdict.REPLY);
            byte[] bad = UdpTestNode.packet(UdpTestNode.builder(sender.address(), "endless", 1), 100);
            byte[] good = UdpTestNode.packet(UdpTestNode.builder(sender.address(), "good", 1), 100);
            sender.send(node.udp(), List.of(bad));
            // Quarantined, and told of it: a failure told later would count after the release.
            eventually().until(() -> endless.health().failures() == 1);
            endless.health().release();
            failAlmostTooOften(endless);
            node.environment.onIncident(throwing(new OutOfMemoryError("on purpose")));
            eventually()
                    .until(
                            () -> { // For a second nothing is tried again.
                                sender.send(node.udp(), List.of(bad));
                                return !threads.isEmpty();
                            });
            node.environment.onIncident(incident -> {});
            assertThat(sender.pump(node.udp(), List.of(good, good), sender)).hasSize(2);
            assertThat(node.environment.coreProblems()).isEmpty();
            eventually().until(() -> node.environment.waitingForCode() == 0);
            eventually()
                    .untilAsserted(
                            () -> { // Some may have come late.
                                TrafficSnapshot traffic = node.environment.traffic();
                                assertThat(traffic.packetsIn()).isEqualTo(traffic.packetsOut() + traffic.dropped());
                            });
            released.countDown();
        }
    }

    static List<TransportKind> kinds() {
        return TcpNodeTesting.kinds().toList();
    }

    @Test
    void anErrorOfTheWatchdogIsNotItsEnd() throws Exception {
        settings.stuckTimeout = Duration.ofMillis(200);
        try (TestSink sink = TestSink.open()) {
            TestNode node = TestNode.start(settings, MARK, stuck).toHost(sink.address());
            node.environment.onIncident(throwing(new OutOfMemoryError("on purpose")));
            sendToStuck(node);
            eventually().until(() -> threads.contains("watchdog"));
            node.environment.onIncident(incident -> {});
            sendToStuck(node);
            eventually().until(() -> stuck.health().stuck() >= 1);
            assertThat(node.environment.coreProblems()).isEmpty();
            released.countDown();
            node.environment.stop(TestServices.PATIENCE);
        }
    }

    private static void sendToStuck(TestNode node) throws IOException {
        try (SocketChannel stream = SocketChannel.open(node.address())) {
            stream.write(ByteBuffer.wrap(UdpTestNode.bytes(packets("stuck").build(number(1)))));
        }
    }

    @Test
    void aThreadThatIsLostIsToldAndNamedAndTheNodeStillStops() throws Exception {
        settings.stuckTimeout = Duration.ofMillis(200);
        CopyOnWriteArrayList<String> lost = new CopyOnWriteArrayList<>();
        try (TestSink sink = TestSink.open()) {
            TestNode node = TestNode.start(settings, stuck).toHost(sink.address());
            node.environment.onCoreThreadLoss((name, cause) -> lost.add(name));
            node.environment.onIncident(throwing(new NoClassDefFoundError("on purpose")));
            sendToStuck(node);
            eventually().until(() -> !lost.isEmpty());
            assertThat(lost).containsExactly("watchdog");
            assertThat(node.environment.coreProblems())
                    .containsExactly("core thread watchdog has ended: java.lang.NoClassDefFoundError");
            released.countDown();
            node.environment.onIncident(incident -> {});
            node.environment.stop(TestServices.PATIENCE);
        }
    }

    @Test
    void anInstanceWhoseThreadDiesLeavesItsPlaceToOthers() throws Exception {
        ServiceDefinition dying = define("dying", () -> new Service() {
            {
                setUncaughtExceptionHandler((thread, failure) -> {}); // The test's runner would take it for its own.
            }

            @Override
            public Verdict process(Packet packet) {
                return Verdict.DROP;
            }

            @Override
            public void close() {
                throw new IllegalStateException("on purpose");
            }
        });
        try (TestSink sink = TestSink.open()) {
            TestNode node = TestNode.start(settings, MARK, dying).toHost(sink.address());
            failAlmostTooOften(dying);
            node.environment.onIncident(incident -> {
                if (Thread.currentThread() instanceof Service) {
                    throw new OutOfMemoryError("on purpose");
                }
            });
            try (AnepSender bad = AnepSender.tcp(node.address())) {
                bad.send(packets("dying"), number(1));
                bad.finish();
                eventually().until(() -> node.environment.streams().accepted() == 1);
                eventually().until(() -> node.environment.streams().open() == 0);
            }
            node.assertConserved();
            assertServes(node, sink, 1);
            node.environment.stop(TestServices.PATIENCE);
        }
    }
}

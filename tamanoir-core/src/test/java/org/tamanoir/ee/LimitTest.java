package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.supervision.Incident;
import org.tamanoir.supervision.Meter;
import org.tamanoir.support.MovableClock;
import org.tamanoir.support.Tiers;
import org.tamanoir.transport.TransportKind;

/** Services that use more processor time or memory than they may. */
class LimitTest extends TcpNodeTesting {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int PACKETS = 3;
    private static final Duration COST = Duration.ofMillis(8);

    /**
     * Of which a packet's cost is 80 seconds' worth: more than a clock is moved until the packet is processed, and then until
     * the watchdog has looked, 25 seconds each at most. A pause is of 10 seconds, however much was used.
     */
    private static final double PROCESSORS = 0.0001;

    /** Of which a packet's cost is 105 seconds' worth. */
    private static final long BYTES_PER_SECOND = 5_000;

    private static final int PACKET_BYTES = 1 << 19; // Less than what is tolerated in a pause.

    /** Packets of another service, which goes on while the limited one pauses. */
    private static final int OTHERS = 20;

    /** Stands while a service pauses, so that its pause ends when the test says so. */
    private final MovableClock clock = new MovableClock();

    /** Packets that the limited service has been given. */
    private final AtomicInteger given = new AtomicInteger();

    @BeforeEach
    void threadsAreCounted() {
        Tiers.require("thread-cpu-time", Meter.THREADS != null, "this JVM does not count what threads use");
    }

    private static ServiceDefinition limited(ServiceHealth life, Supplier<? extends Service> factory) {
        return new ServiceDefinition("greedy", "", factory, ServiceConfig.EMPTY, FailurePolicy.DROP, life);
    }

    /** Uses so much processor time for each packet. */
    private Supplier<Service> burning(Duration time) {
        return () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                given.incrementAndGet();
                long endNs = THREADS.getCurrentThreadCpuTime() + time.toNanos();
                while (THREADS.getCurrentThreadCpuTime() < endNs) {
                    Thread.onSpinWait();
                }
                return Verdict.FORWARD;
            }
        };
    }

    private static ServiceDefinition forwarding() {
        return TestServices.define("other", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                return Verdict.FORWARD;
            }
        });
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aStreamPausesSoThatItsServiceKeepsToItsProcessorTime(TransportKind kind) throws Exception {
        settings.transport = kind;
        List<Incident> incidents = new CopyOnWriteArrayList<>();
        ServiceHealth life = new ServiceHealth(PROCESSORS, 0);
        assertPauses(life, burning(COST), incidents::add);
        assertThat(life.processorNs()).isGreaterThanOrEqualTo(PACKETS * COST.toNanos());
        assertThat(incidents).extracting(Incident::kind).containsOnly(Incident.Kind.THROTTLED);
    }

    /** To what rate it is held so, SharesTest shows. */
    @Test
    void aServiceThatAllocatesMuchPauses() throws Exception {
        ServiceHealth life = new ServiceHealth(0, BYTES_PER_SECOND);
        assertPauses(
                life,
                () -> new Service() {
                    private byte[] last = {};

                    @Override
                    public Verdict process(Packet packet) {
                        given.incrementAndGet();
                        last = new byte[PACKET_BYTES];
                        return last.length > 0 ? Verdict.FORWARD : Verdict.DROP;
                    }
                },
                incident -> {});
        assertThat(life.allocatedBytes()).isGreaterThanOrEqualTo((long) PACKETS * PACKET_BYTES);
    }

    /** The next packet of the limited service waits until its clock goes on, while packets of another one do not. */
    @SuppressWarnings("try") // The clock stands until it is closed.
    private void assertPauses(ServiceHealth life, Supplier<Service> greedy, Consumer<Incident> incidents)
            throws Exception {
        settings.platform = clock;
        TestSink sink = sink();
        TestNode node = node(limited(life, greedy), forwarding()).toHost(sink.address());
        node.environment.onIncident(incidents);
        try (AnepSender sender = sender(node);
                AnepSender other = sender(node);
                MovableClock.Held held = clock.hold()) {
            for (int i = 0; i < PACKETS; i++) {
                sender.send(packets("greedy"), number(i));
                sender.flush();
                hurryUntilGiven(i + 1);
                sink.await(i + 1);
            }
            clock.hurryUntil(life::isPaused);
            sender.send(packets("greedy"), number(PACKETS));
            sender.finish();
            for (int i = 0; i < OTHERS; i++) {
                other.send(packets("other"), number(100 + i));
                other.flush();
                sink.await(PACKETS + i + 1);
            }
            assertThat(sink.numbers()).hasSize(PACKETS + OTHERS).doesNotContain(PACKETS);
            hurryUntilGiven(PACKETS + 1);
            sink.await(PACKETS + OTHERS + 1);
            assertThat(sink.numbers()).contains(PACKETS);
            other.finish();
        }
        node.settle().assertConserved();
        assertThat(life.throttles()).isPositive();
        assertThat(life.quarantines()).isZero();
    }

    /**
     * Lets time pass until the limited service is given a packet: the watchdog may look after any, so that a pause comes
     * before each. From then on the clock stands, however long the packet takes, so that none of what it costs is paid.
     */
    private void hurryUntilGiven(int packets) {
        clock.hurryUntil(() -> given.get() >= packets);
    }

    /**
     * Packets that come one by one have the service's thread read the port itself, from the third on: the one that comes
     * during the pause lies in the port before those of another service.
     */
    @ParameterizedTest
    @MethodSource("kinds")
    @SuppressWarnings("try") // The clock stands until it is closed.
    void datagramsWaitWhileTheirServicePausesAndNoOthersDo(TransportKind kind) throws Exception {
        ServiceHealth life = new ServiceHealth(PROCESSORS, 0);
        try (UdpTestNode node =
                        UdpTestNode.start(UdpTestNode.config(kind), clock).deliver("127.0.0.1/32", Transport.SAME);
                UdpFarEnd far = new UdpFarEnd(kind, "127.0.0.1");
                MovableClock.Held held = clock.hold()) {
            node.services.add(limited(life, burning(COST)));
            node.services.add(forwarding());
            for (int i = 0; i < PACKETS; i++) {
                far.send(node.udp(), datagram(far, "greedy", i));
                hurryUntilGiven(i + 1);
                assertThat(stream(far.next())).isEqualTo(i);
            }
            clock.hurryUntil(life::isPaused);
            far.send(node.udp(), datagram(far, "greedy", PACKETS));
            for (int i = 0; i < OTHERS; i++) {
                far.send(node.udp(), datagram(far, "other", 100 + i));
                assertThat(stream(far.next())).isEqualTo(100 + i);
            }
            assertThat(life.isPaused()).isTrue();
            hurryUntilGiven(PACKETS + 1);
            assertThat(stream(far.next())).isEqualTo(PACKETS);
            assertThat(life.processorNs()).isGreaterThanOrEqualTo(PACKETS * COST.toNanos());
            assertThat(life.quarantines()).isZero();
        }
    }

    private static byte[] datagram(UdpFarEnd far, String service, int stream) {
        return UdpTestNode.packet(UdpTestNode.builder(far.address(), service, stream), 200);
    }

    private static int stream(byte[] datagram) {
        return UdpTestNode.parsed(datagram).streamId();
    }

    /** Shows on a real JVM that the watchdog reads the processor time of a thread that is inside its service. */
    @Test
    void aServiceThatDoesNotPauseIsQuarantined() throws Exception {
        ServiceHealth life = new ServiceHealth(0.01, 0);
        TestNode node = node(limited(life, () -> new Service() {
                    @Override
                    public Verdict process(Packet packet) {
                        long endNs = System.nanoTime() + Duration.ofMinutes(1).toNanos();
                        while (life.quarantines() == 0 && System.nanoTime() < endNs) {
                            Thread.onSpinWait();
                        }
                        return Verdict.FORWARD;
                    }
                }))
                .toHost(sink().address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("greedy"), number(0));
            sender.flush();
            eventually().until(() -> life.quarantines() == 1);
            assertThat(life.quarantineReason()).isEqualTo("over its limits, and does not pause between packets");
            node.environment.close(); // Otherwise it would pause for seconds before its stream ends.
        }
    }
}

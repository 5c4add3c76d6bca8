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
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
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
import org.tamanoir.support.Tiers;
import org.tamanoir.transport.TransportKind;

/** Services that use more processor time or memory than they may. */
@Tag("alone")
class LimitTest extends TcpNodeTesting {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int PACKETS = 13;
    /** So low that a service that others leave little time still comes to it. */
    private static final double PROCESSORS = 0.05;

    @BeforeEach
    void threadsAreCounted() {
        Tiers.require("thread-cpu-time", Meter.THREADS != null, "this JVM does not count what threads use");
    }

    private static ServiceDefinition limited(ServiceHealth life, Supplier<? extends Service> factory) {
        return new ServiceDefinition("greedy", "", factory, ServiceConfig.EMPTY, FailurePolicy.DROP, life);
    }

    /** Uses so much processor time for each packet. */
    private static Supplier<Service> burning(Duration time) {
        return () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                long endNs = THREADS.getCurrentThreadCpuTime() + time.toNanos();
                while (THREADS.getCurrentThreadCpuTime() < endNs) {
                    Thread.onSpinWait();
                }
                return Verdict.FORWARD;
            }
        };
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aStreamPausesSoThatItsServiceKeepsToItsProcessorTime(TransportKind kind) throws Exception {
        settings.transport = kind;
        List<Incident> incidents = new CopyOnWriteArrayList<>();
        ServiceHealth life = new ServiceHealth(PROCESSORS, 0);
        TestSink sink = sink();
        TestNode node = node(limited(life, burning(Duration.ofMillis(16)))).toHost(sink.address());
        node.environment.onIncident(incidents::add);
        long startNs = System.nanoTime();
        try (AnepSender sender = sender(node)) {
            for (int i = 0; i < PACKETS; i++) {
                sender.send(packets("greedy"), number(i));
            }
            sender.finish();
            sink.await(PACKETS);
        }
        node.settle().assertConserved();
        assertHeld(life, startNs);
        assertThat(incidents).extracting(Incident::kind).containsExactly(Incident.Kind.THROTTLED);
    }

    private static void assertHeld(ServiceHealth life, long startNs) {
        long wallNs = System.nanoTime() - startNs;
        assertThat(life.throttles()).isPositive();
        assertThat(life.quarantines()).isZero();
        assertThat(life.processorNs())
                .as("in %s ns", wallNs)
                .isGreaterThanOrEqualTo(PACKETS * 16_000_000L)
                .isLessThan((long) (0.6 * wallNs));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void datagramsWaitWhileTheirServicePauses(TransportKind kind) throws Exception {
        ServiceHealth life = new ServiceHealth(PROCESSORS, 0);
        try (UdpTestNode node = UdpTestNode.start(kind).deliver("127.0.0.1/32", Transport.SAME);
                UdpFarEnd far = new UdpFarEnd(kind, "127.0.0.1")) {
            node.services.add(limited(life, burning(Duration.ofMillis(16))));
            byte[] bytes = UdpTestNode.packet(UdpTestNode.builder(far.address(), "greedy", 1), 200);
            long startNs = System.nanoTime();
            for (int i = 0; i < PACKETS; i++) {
                far.send(node.udp(), bytes);
            }
            for (int i = 0; i < PACKETS; i++) {
                assertThat(far.next()).isEqualTo(bytes);
            }
            eventually().until(() -> life.processorNs() >= PACKETS * 16_000_000L);
            assertHeld(life, startNs);
            // The two are counted one after the other, and the thread goes on.
            eventually()
                    .untilAsserted(() ->
                            assertThat(node.instance("greedy").processorNs()).isEqualTo(life.processorNs()));
        }
    }

    @Test
    void allocationIsHeldToItsLimit() throws Exception {
        long limitBytes = 32 << 20;
        ServiceHealth life = new ServiceHealth(0, limitBytes);
        TestSink sink = sink();
        TestNode node = node(limited(life, () -> new Service() {
                    private byte[] last = {};

                    @Override
                    public Verdict process(Packet packet) {
                        last = new byte[1 << 20];
                        return last.length > 0 ? Verdict.FORWARD : Verdict.DROP;
                    }
                }))
                .toHost(sink.address());
        long startNs = System.nanoTime();
        try (AnepSender sender = sender(node)) {
            // What is used between two measurements is paid for by the pause after them: it ends with a paid one.
            for (int i = 0; i < 128 || life.throttles() < 2 || life.isPaused(); i++) {
                assertThat(i).isLessThan(100_000);
                sender.send(packets("greedy"), number(i));
                sender.flush();
                sink.await(i + 1);
            }
            sender.finish();
        }
        node.settle().assertConserved();
        double seconds = (System.nanoTime() - startNs) / 1e9;
        assertThat(life.throttles()).isPositive();
        assertThat(life.allocatedBytes()).isGreaterThanOrEqualTo(128L << 20);
        assertThat(life.allocatedBytes() / seconds).isLessThan(2.5 * limitBytes);
    }

    @Test
    void aServiceThatDoesNotPauseIsQuarantined() throws Exception {
        ServiceHealth life = new ServiceHealth(PROCESSORS, 0);
        TestNode node = node(limited(life, burning(Duration.ofSeconds(2)))).toHost(sink().address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("greedy"), number(0));
            sender.flush();
            eventually().until(() -> life.quarantines() == 1);
            assertThat(life.quarantineReason()).isEqualTo("over its limits, and does not pause between packets");
            node.environment.close();
        }
    }
}

package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
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
import org.tamanoir.transport.TransportKind;

/** What becomes of packets for a service that fails too often. */
class QuarantineTest extends TcpNodeTesting {
    private static final Duration LONG = Duration.ofHours(1);

    private final AtomicBoolean failing = new AtomicBoolean(true);
    private final AtomicInteger made = new AtomicInteger();

    /** The clock of quarantines: none is over before the test says so. */
    private final AtomicLong nowNs = new AtomicLong();

    private ServiceDefinition flaky(FailurePolicy policy) {
        ServiceHealth health = new ServiceHealth(0, 0, nowNs::get);
        Supplier<Service> factory = () -> {
            made.incrementAndGet();
            return new Service() {
                @Override
                public Verdict process(Packet packet) {
                    if (failing.get()) {
                        throw new IllegalStateException("on purpose");
                    }
                    packet.setClassOfService(1);
                    return Verdict.FORWARD;
                }
            };
        };
        return new ServiceDefinition("flaky", "", factory, ServiceConfig.EMPTY, policy, health);
    }

    private static void send(AnepSender sender, int packets) throws IOException {
        for (int i = 0; i < packets; i++) {
            sender.send(packets("flaky"), number(i));
        }
        sender.flush();
    }

    @Test
    void aServiceThatThrowsRepeatedlyIsLeftOutForAWhile() throws IOException {
        List<Incident> incidents = new CopyOnWriteArrayList<>();
        TestSink sink = sink();
        ServiceDefinition flaky = flaky(FailurePolicy.DROP);
        TestNode node = node(flaky).toHost(sink.address());
        node.environment.onIncident(incidents::add);
        try (AnepSender sender = sender(node)) {
            send(sender, 150);
            eventually().until(() -> node.dropped(DropReason.QUARANTINED) == 50);
            assertThat(node.dropped(DropReason.SERVICE_FAILURE)).isEqualTo(100);
            assertThat(flaky.health().failures()).isEqualTo(100);
            assertThat(flaky.health().quarantines()).isEqualTo(1);
            assertThat(flaky.health().quarantinedUntil()).isNotNull();
            assertThat(incidents).hasSize(1);
            assertThat(incidents.get(0).kind()).isEqualTo(Incident.Kind.QUARANTINED);
            assertThat(incidents.get(0).service()).isSameAs(flaky);
            assertThat(incidents.get(0).text())
                    .isEqualTo("service flaky is in quarantine for 1 s: failed too often, last in process:"
                            + " java.lang.IllegalStateException: on purpose; failure policy DROP");
            assertThat(log()).contains(incidents.get(0).text());
            failing.set(false);
            nowNs.addAndGet(Duration.ofSeconds(1).toNanos());
            assertThat(flaky.health().quarantinedUntil()).isNull();
            send(sender, 10);
            sink.await(10);
            assertThat(sink.packets()).allMatch(packet -> packet.classOfService() == 1);
            sender.finish();
        }
        node.settle().assertConserved();
    }

    @Test
    void itsPacketsPassUnprocessedIfThatIsItsPolicy() throws IOException {
        TestSink sink = sink();
        TestNode node = node(flaky(FailurePolicy.PASS)).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            send(sender, 150);
            sink.await(150);
            sender.finish();
        }
        assertThat(sink.packets()).allMatch(packet -> packet.classOfService() == 0);
        node.settle().assertConserved();
        assertThat(node.traffic().dropped()).isZero();
    }

    @Test
    void itsStreamsAreClosedIfThatIsItsPolicy() throws IOException {
        ServiceDefinition flaky = flaky(FailurePolicy.CLOSE);
        TestNode node = node(flaky).toHost(sink().address());
        flaky.health().quarantine(LONG, "on request");
        try (AnepSender sender = sender(node)) {
            send(sender, 1);
            node.settleAfterDrop(DropReason.QUARANTINED);
        }
        assertThat(made).hasValue(0);
        node.settle().assertConserved();
    }

    @Test
    void aNewStreamRunsNothingOfItUntilItIsReleased() throws IOException {
        failing.set(false);
        for (FailurePolicy policy : List.of(FailurePolicy.DROP, FailurePolicy.PASS)) {
            made.set(0);
            TestSink sink = sink();
            ServiceDefinition flaky = flaky(policy);
            TestNode node = node(flaky).toHost(sink.address());
            flaky.health().quarantine(LONG, "on request");
            try (AnepSender sender = sender(node)) {
                send(sender, 20);
                int passed = policy == FailurePolicy.PASS ? 20 : 0;
                sink.await(passed);
                eventually().until(() -> node.dropped(DropReason.QUARANTINED) == 20 - passed);
                assertThat(made).hasValue(0);
                flaky.health().release();
                send(sender, 20);
                sink.await(passed + 20);
                assertThat(sink.packets().subList(passed, passed + 20))
                        .allMatch(packet -> packet.classOfService() == 1);
                sender.finish();
            }
            node.settle().assertConserved();
        }
    }

    @Test
    void constructorsAndInitCountToo() throws IOException {
        ServiceDefinition broken = define("flaky", () -> {
            throw new IllegalStateException("no instance");
        });
        TestNode node = node(broken);
        for (int i = 0; i < 5; i++) {
            try (AnepSender sender = sender(node)) {
                send(sender, 1);
                int streams = i + 1;
                eventually().until(() -> broken.health().failures() == streams);
            } catch (IOException e) {
                // The node has closed the stream while it was written to.
            }
        }
        node.settle();
    }

    @Test
    void datagramsFollowThePolicyAndTheServiceComesBack() throws Exception {
        for (FailurePolicy policy : FailurePolicy.values()) {
            failing.set(true);
            try (UdpTestNode node = UdpTestNode.start(TransportKind.NIO).deliver("127.0.0.1/32", Transport.SAME);
                    UdpFarEnd far = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
                ServiceDefinition flaky = flaky(policy);
                node.services.add(flaky);
                byte[] bytes = UdpTestNode.packet(
                        UdpTestNode.builder(far.address(), "flaky", 1).classOfService(0, 0), 200);
                for (int i = 1; i <= 150; i++) {
                    far.send(node.udp(), bytes);
                    if (policy == FailurePolicy.PASS) {
                        assertThat(far.next()).isEqualTo(bytes);
                    } else {
                        int sent = i;
                        eventually().until(() -> node.environment.traffic().dropped() == sent);
                    }
                }
                if (policy != FailurePolicy.PASS) {
                    assertThat(node.environment.traffic().drops())
                            .containsEntry(DropReason.QUARANTINED, 50L)
                            .containsEntry(DropReason.SERVICE_FAILURE, 100L);
                }
                failing.set(false);
                flaky.health().release();
                far.send(node.udp(), bytes);
                assertThat(UdpTestNode.parsed(far.next()).classOfService()).isEqualTo(1);
            }
        }
    }
}

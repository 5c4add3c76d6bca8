package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.TransitNode.PORT;
import static org.tamanoir.kernel.TransitNode.number;
import static org.tamanoir.kernel.TransitNode.packet;
import static org.tamanoir.support.Waiting.eventually;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.TestNet;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** Every packet that came up under a policy settles once, whatever becomes of it, and not before it has left or ended. */
@Tag("namespace")
class TransitSettleTest {
    private static final String NAME = "org.example.Service";
    private static final String OTHER = "org.example.Other";

    private static TestNet net;

    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger blocked = new AtomicInteger();
    private TransitEnd sender;
    private TransitEnd receiver;

    @BeforeAll
    static void link() {
        TransitNode.require();
        net = new TestNet("settle");
        TransitNode.sendUp(net);
    }

    @AfterAll
    static void unlink() {
        if (net != null) {
            net.close();
        }
    }

    @BeforeEach
    void open() throws Exception {
        sender = TransitEnd.open(net, net.client(), TestNet.CLIENT4, 7005);
        receiver = TransitEnd.open(net, net.server(), TestNet.SERVER4, PORT);
    }

    @AfterEach
    void close() {
        released.countDown();
        sender.close();
        receiver.close();
    }

    private static List<byte[]> packets(String service, int from, int count, int bytes) {
        return IntStream.range(from, from + count)
                .mapToObj(i -> packet(service, i, bytes))
                .toList();
    }

    private void send(List<byte[]> packets) {
        sender.send(receiver.address(), packets);
    }

    private List<Integer> receive(int count) throws Exception {
        return receiver.receive(count).stream()
                .map(each -> number(each.bytes()))
                .toList();
    }

    private static List<Integer> numbers(int from, int count) {
        return IntStream.range(from, from + count).boxed().toList();
    }

    private Verdict block(Packet packet) {
        blocked.incrementAndGet();
        try {
            released.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Verdict.FORWARD;
    }

    @Test
    void packetsOfAPortThatServicesShareSettle() throws Exception {
        try (TransitNode node = new TransitNode(net)
                .service(NAME, p -> Verdict.FORWARD)
                .service(OTHER, p -> Verdict.CONSUME)
                .start()) {
            List<byte[]> mixed = new ArrayList<>();
            for (int i = 0; i < 600; i++) {
                mixed.add(packet(i % 3 == 0 ? OTHER : NAME, i, 200));
            }
            for (int round = 0; round < 6; round++) {
                send(mixed.subList(100 * round, 100 * round + 100));
            }
            assertThat(receive(400)).isSorted();
            assertThat(node.balanced(600).drops()).isEqualTo(Map.of(DropReason.CONSUMED, 200L));
            node.assertSettled(5, 600);
        }
    }

    @Test
    void packetsThatFindAFullInboxSettleAtOnceAndThoseInItLater() throws Exception {
        try (TransitNode node = new TransitNode(net, TransitNode.config(1 << 18, TransportKind.NATIVE), "")
                .service(NAME, this::block)
                .service(OTHER, p -> Verdict.FORWARD)
                .start()) {
            send(packets(OTHER, 0, 1, 200));
            receive(1);
            send(packets(NAME, 0, 1, 200));
            eventually().until(() -> blocked.get() == 1);
            send(packets(OTHER, 1, 1, 200));
            receive(1);
            send(packets(NAME, 1, 1000, 500));
            eventually().until(() -> {
                TrafficSnapshot now = node.environment.traffic();
                return now.packetsIn() == 1003 && node.levels.settled.get(5) == now.dropped() + 2;
            });
            long dropped = node.environment.traffic().drops().getOrDefault(DropReason.INBOX_FULL, 0L);
            assertThat(dropped).isBetween(300L, 999L);
            node.assertSettled(5, (int) dropped + 2);
            released.countDown();
            assertThat(receive(1001 - (int) dropped)).isSorted();
            assertThat(node.balanced(1003).drops()).isEqualTo(Map.of(DropReason.INBOX_FULL, dropped));
            node.assertSettled(5, 1003);
        }
    }

    @Test
    void packetsHeldForADeploymentSettleWhenTheyHaveLeftAndKeepTheirOrder() throws Exception {
        BlockingQueue<Consumer<ServiceSource.Answer>> asked = new ArrayBlockingQueue<>(1);
        TransitNode node = new TransitNode(net);
        node.environment.fetchFrom((key, then) -> origin -> asked.add(then));
        try (node) {
            node.start();
            send(packets(NAME, 0, 80, 200));
            eventually().until(() -> node.environment.traffic().held() == 80 && !asked.isEmpty());
            assertThat(node.levels.calls.get()).isZero();
            ServiceDefinition definition = TransitNode.definition(NAME, FailurePolicy.DROP, p -> Verdict.FORWARD);
            node.services.add(definition);
            asked.take().accept(ServiceSource.Answer.of(definition));
            send(packets(NAME, 80, 80, 200));
            assertThat(receive(160)).isEqualTo(numbers(0, 160));
            assertThat(node.balanced(160).drops()).isEmpty();
            node.assertSettled(5, 160);
        }
    }

    @Test
    void packetsHeldForADeploymentThatIsRefusedSettle() throws Exception {
        BlockingQueue<Consumer<ServiceSource.Answer>> asked = new ArrayBlockingQueue<>(1);
        TransitNode node = new TransitNode(net);
        node.environment.fetchFrom((key, then) -> origin -> asked.add(then));
        try (node) {
            node.start();
            send(packets(NAME, 0, 80, 200));
            eventually().until(() -> node.environment.traffic().held() == 80 && !asked.isEmpty());
            asked.take().accept(ServiceSource.Answer.refused(DropReason.DEPLOYMENT_FAILED));
            assertThat(node.balanced(80).drops()).isEqualTo(Map.of(DropReason.DEPLOYMENT_FAILED, 80L));
            node.assertSettled(5, 80);
        }
    }

    @Test
    void packetsThatAreHeldWhenTheNodeStopsSettle() throws Exception {
        TransitNode node = new TransitNode(net);
        node.environment.fetchFrom((key, then) -> origin -> {});
        try (node) {
            node.start();
            send(packets(NAME, 0, 80, 200));
            eventually().until(() -> node.environment.traffic().held() == 80);
            assertThat(node.levels.calls.get()).isZero();
        }
        assertThat(node.levels.settled.get(5)).isEqualTo(80);
    }

    @Test
    void packetsThatWaitForTurnsSettleWhenTheyHaveLeftAndThoseDroppedAtOnce() throws Exception {
        TrafficClass high = new TrafficClass("high", Set.of(7), 1);
        TrafficClass small = new TrafficClass("small", Set.of(0), 1, 10, 1 << 20);
        QosConfig config = new QosConfig(
                List.of(high, small),
                "small",
                List.of(),
                new PreProcessing("pq", Map.of(), 1, Duration.ofSeconds(1)),
                List.of());
        try (TransitNode node = new TransitNode(net)
                .service(NAME, p -> Verdict.FORWARD)
                .service(OTHER, this::block)
                .start()) {
            send(packets(NAME, 0, 1, 200));
            receive(1);
            node.environment.qos(config);
            send(packets(OTHER, 1, 1, 200));
            eventually().until(() -> blocked.get() == 1);
            send(packets(NAME, 2, 50, 200));
            Map<DropReason, Long> full = Map.of(DropReason.TURN_QUEUE_FULL, 40L);
            eventually().until(() -> node.environment.traffic().drops().equals(full));
            node.assertSettled(5, 41);
            released.countDown();
            assertThat(receive(11)).containsExactlyInAnyOrderElementsOf(numbers(1, 11));
            assertThat(node.balanced(52).drops()).isEqualTo(full);
            node.assertSettled(5, 52);
        }
    }

    @Test
    void packetsThatMeetAQuarantineSettle() throws Exception {
        ServiceDefinition definition = TransitNode.definition(NAME, FailurePolicy.DROP, p -> Verdict.FORWARD);
        TransitNode node = new TransitNode(net);
        node.services.add(definition);
        try (node) {
            node.start();
            send(packets(NAME, 0, 10, 200));
            receive(10);
            definition.health().quarantine(Duration.ofMinutes(1), "as the test says");
            send(packets(NAME, 10, 10, 200));
            assertThat(node.balanced(20).drops()).isEqualTo(Map.of(DropReason.QUARANTINED, 10L));
            node.assertSettled(5, 20);
        }
    }

    @Test
    void packetsOfAServiceThatFailsSettle() throws Exception {
        try (TransitNode node = new TransitNode(net)
                .service(NAME, FailurePolicy.PASS, p -> {
                    throw new IllegalStateException("as the test says");
                })
                .start()) {
            send(packets(NAME, 0, 10, 200));
            assertThat(receive(10)).isEqualTo(numbers(0, 10));
            node.assertSettled(5, 10);
        }
    }

    @Test
    void packetsOfAServiceThatDoesNotReturnSettle() throws Exception {
        TransitNode node = new TransitNode(net).service(NAME, p -> {
            blocked.incrementAndGet();
            boolean waits = true;
            while (waits) {
                try {
                    released.await();
                    waits = false;
                } catch (InterruptedException e) {
                    Thread.interrupted(); // It is interrupted first, which this one does not heed.
                }
            }
            return Verdict.FORWARD;
        });
        node.environment.stuckAfter(Duration.ofMillis(100));
        try (node) {
            node.start();
            send(packets(NAME, 0, 30, 200));
            eventually().until(() -> blocked.get() == 1);
            send(packets(NAME, 30, 30, 200));
            node.assertSettled(5, 60);
            released.countDown();
        }
        assertThat(node.levels.settled.get(5)).isEqualTo(60);
    }

    @Test
    void packetsOfAServiceThatIsTakenAwaySettle() throws Exception {
        ServiceDefinition definition = TransitNode.definition(NAME, FailurePolicy.DROP, p -> Verdict.FORWARD);
        TransitNode node = new TransitNode(net);
        node.services.add(definition);
        try (node) {
            node.start();
            for (int round = 0; round < 20; round++) {
                send(packets(NAME, 50 * round, 50, 200));
                if (round == 10) {
                    node.services.remove(definition);
                    node.environment.retire(definition, Duration.ofSeconds(1));
                }
            }
            eventually().until(() -> node.environment.traffic().packetsIn() == 1000);
            node.balanced(1000);
            node.assertSettled(5, 1000);
        }
    }

    @Test
    void whatAPortLosesIsTold() throws Exception {
        int count = 40_000;
        try (TransitNode node = new TransitNode(net).service(NAME, this::block).start()) {
            send(packets(NAME, 0, 1, 200));
            eventually().until(() -> blocked.get() == 1);
            for (int i = 0; i < count; i += 4000) {
                send(packets(NAME, i, 4000, 200));
            }
            released.countDown();
            eventually().until(() -> {
                send(packets(NAME, 0, 1, 200)); // The next datagram tells what was lost before it.
                return node.levels.lost.get() > 0;
            });
            eventually()
                    .untilAsserted(() -> assertThat(node.environment.traffic().packetsIn() + node.levels.lost.get())
                            .isGreaterThan(count));
            eventually().until(() -> node.environment.traffic().held() == 0);
            eventually()
                    .untilAsserted(() -> assertThat((long) node.levels.settled.get(5))
                            .isEqualTo(node.environment.traffic().packetsIn()));
        }
    }
}

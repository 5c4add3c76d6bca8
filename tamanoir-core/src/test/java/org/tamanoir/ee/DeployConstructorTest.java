package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.MovableClock;
import org.tamanoir.transport.TransportKind;

/** Services whose constructors do not return in time. */
class DeployConstructorTest extends TcpNodeTesting {
    /** That of services whose constructors return is in time on a slow host, too. */
    private static final Duration MAKE_TIMEOUT = Duration.ofSeconds(2);

    private final MovableClock clock = new MovableClock();
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger begun = new AtomicInteger();
    private final ServiceDefinition endless = define("endless", () -> {
        begun.incrementAndGet();
        boolean interrupted = false;
        while (released.getCount() > 0) {
            try {
                released.await();
            } catch (InterruptedException e) {
                interrupted = true; // As a loop would.
            }
        }
        throw new IllegalStateException("released; interrupted: " + interrupted);
    });

    @AfterEach
    void release() {
        released.countDown();
        eventually()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().equals("maker"))
                        .noneMatch(thread ->
                                List.of(thread.getStackTrace()).toString().contains("DeployConstructorTest")));
    }

    @Test
    void anEndlessConstructorStopsNoOtherStream() throws IOException {
        settings.platform = clock;
        settings.makeTimeout = MAKE_TIMEOUT;
        TestSink sink = sink();
        TestNode node = node(MARK, endless).toHost(sink.address());
        for (int i = 0; i < 3; i++) {
            AnepSender bad = sender(node);
            bad.send(packets("endless"), number(i));
            bad.flush();
        }
        eventually().until(() -> node.environment.streams().open() == 3);
        try (AnepSender good = sender(node)) {
            good.send(packets("mark"), number(7));
            good.finish();
            sink.await(1);
        }
        eventually().untilAtomic(begun, org.hamcrest.Matchers.is(1));
        clock.hurryUntil(() -> node.dropped(DropReason.NO_INSTANCE) == 3);
        node.assertDrops(Map.of(DropReason.NO_INSTANCE, 3L));
        // It is not tried again while it has not returned.
        AnepSender again = sender(node);
        again.send(packets("endless"), number(0));
        again.finish();
        node.assertDrops(Map.of(DropReason.NO_INSTANCE, 3L, DropReason.QUARANTINED, 1L));
        assertThat(begun).hasValue(1);
        assertThat(List.copyOf(log()))
                .filteredOn(line -> line.contains("service endless"))
                .hasSize(1)
                .allMatch(line -> line.contains("static initialiser"));
    }

    @Test
    void aStreamsSecondServiceMayHangInItsConstructor() throws IOException {
        settings.platform = clock;
        settings.makeTimeout = MAKE_TIMEOUT;
        TestSink sink = sink();
        TestNode node = node(MARK, endless).toHost(sink.address());
        AnepSender sender = sender(node);
        PacketBuilder builder = packets("mark");
        for (int i = 0; i < 5; i++) {
            sender.send(builder, number(i));
            sender.send(packets("endless"), number(i));
        }
        sender.finish();
        eventually().untilAtomic(begun, org.hamcrest.Matchers.is(1));
        clock.hurryUntil(() -> node.dropped(DropReason.NO_INSTANCE) == 1);
        sink.await(5);
        assertThat(sink.numbers()).containsExactly(0, 1, 2, 3, 4);
        node.assertDrops(Map.of(DropReason.NO_INSTANCE, 1L, DropReason.QUARANTINED, 4L));
        assertThat(begun).hasValue(1);
    }

    @Test
    void whatWaitsForAConstructorWhenTheNodeStopsIsCounted() throws IOException {
        TestNode node = node(endless);
        AnepSender sender = sender(node);
        sender.send(packets("endless"), number(0));
        sender.flush();
        eventually().untilAtomic(begun, org.hamcrest.Matchers.is(1));
        assertThat(node.environment.stop(TestServices.PATIENCE)).isZero();
        node.assertDrops(Map.of(DropReason.SHUTDOWN, 1L));
    }

    @Test
    void datagramsOfOtherServicesPassAConstructorThatHangs() throws Exception {
        EeConfig config =
                UdpTestNode.config(TransportKind.AUTO).deploying(Duration.ofSeconds(40), MAKE_TIMEOUT, 1 << 20);
        try (UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpTestNode node = new UdpTestNode(config, clock)) {
            node.environment.start();
            node.services.add(endless);
            node.service("good", (service, packet) -> Verdict.REPLY);
            byte[] bad = UdpTestNode.packet(UdpTestNode.builder(sender.address(), "endless", 1), 100);
            byte[] good = UdpTestNode.packet(UdpTestNode.builder(sender.address(), "good", 1), 100);
            sender.send(node.udp(), List.of(bad, bad, bad));
            assertThat(sender.pump(node.udp(), List.of(good, good), sender)).hasSize(2);
            eventually().untilAtomic(begun, org.hamcrest.Matchers.is(1));
            clock.hurryUntil(() -> node.environment.traffic().dropped() == 3);
            node.assertDrops(5, Map.of(DropReason.QUARANTINED, 3L));
            assertThat(begun).hasValue(1);
        }
    }
}

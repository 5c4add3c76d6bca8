package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;

/** TCP streams while services stand under several keys, are replaced and are taken away. */
class DeployVersionsTest extends TcpNodeTesting {
    /** Marks packets with its version. */
    private static ServiceDefinition version(int version) {
        return new ServiceDefinition(
                "many",
                String.valueOf(version),
                () -> new Service() {
                    @Override
                    public Verdict process(Packet packet) {
                        packet.setClassOfService(version);
                        return Verdict.FORWARD;
                    }
                },
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth());
    }

    private static void add(TestNode node, ServiceDefinition definition) {
        node.services.add(definition);
        node.services.add(ServiceKey.of(definition.label()), definition);
    }

    private static List<Integer> marks(TestSink sink) {
        return sink.packets().stream().map(Packet::classOfService).toList();
    }

    @Test
    void packetsByNameAndByVersionRunInOneInstance() throws IOException {
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        add(node, version(1));
        AnepSender sender = sender(node);
        for (int i = 0; i < 1000; i++) {
            sender.send(packets(i % 3 == 0 ? "many" : "many:1"), number(i));
        }
        sender.flush();
        sink.await(1000);
        assertThat(sink.numbers())
                .containsExactlyElementsOf(IntStream.range(0, 1000).boxed().toList());
        assertThat(node.environment.instances()).hasSize(1);
        sender.finish();
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void runningStreamsKeepTheirVersionAndNewOnesTakeTheNext(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        add(node, version(1));
        AnepSender old = sender(node);
        PacketBuilder builder = packets("many");
        old.send(builder, number(0));
        old.flush();
        sink.await(1);
        add(node, version(2));
        old.send(builder, number(1));
        old.flush();
        sink.await(2);
        AnepSender young = sender(node);
        young.send(builder, number(2));
        young.finish();
        sink.await(3);
        old.send(builder, number(3));
        old.finish();
        sink.await(4);
        node.settle();
        assertThat(sink.packets().stream().filter(p -> p.classOfService() == 1).map(TestSink::number))
                .containsExactly(0, 1, 3);
        assertThat(sink.packets().stream().filter(p -> p.classOfService() == 2).map(TestSink::number))
                .containsExactly(2);
        node.assertDrops(Map.of());
    }

    @Test
    void aStreamOpenedByVersionRunsAnotherVersionBesideIt() throws IOException {
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        add(node, version(1));
        add(node, version(2)); // "many" means this one
        AnepSender sender = sender(node);
        sender.send(packets("many:1"), number(1));
        sender.send(packets("many"), number(2));
        sender.send(packets("many:2"), number(2));
        sender.send(packets("many:1"), number(1));
        sender.finish();
        sink.await(4);
        node.settle();
        assertThat(sink.packets())
                .allSatisfy(packet -> assertThat(packet.classOfService()).isEqualTo(TestSink.number(packet)));
        node.assertDrops(Map.of());
    }

    @Test
    void aSecondServiceOfAStreamKeepsItsVersion() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        add(node, version(4));
        AnepSender sender = sender(node);
        sender.send(packets("mark"), number(0));
        sender.send(packets("many"), number(1));
        sender.flush();
        sink.await(2);
        add(node, version(5));
        sender.send(packets("many"), number(2));
        sender.finish();
        sink.await(3);
        assertThat(marks(sink)).containsExactlyInAnyOrder(1, 4, 4);
        node.assertDrops(Map.of());
    }

    @Test
    void aServiceReplacedWhileItsInstanceIsMadeGivesWayToTheNext() throws Exception {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        CountDownLatch making = new CountDownLatch(2);
        CountDownLatch made = new CountDownLatch(1);
        ServiceDefinition next = version(2);
        ServiceDefinition slow = new ServiceDefinition(
                "many",
                () -> {
                    making.countDown();
                    try {
                        assertThat(made.await(40, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return version(1).factory().get();
                },
                ServiceConfig.EMPTY,
                FailurePolicy.DROP);
        node.services.add(slow);
        AnepSender first = sender(node);
        first.send(packets("many"), number(2));
        first.finish();
        eventually().until(() -> making.getCount() == 1);
        AnepSender second = sender(node);
        second.send(packets("mark"), number(1));
        second.send(packets("many"), number(2));
        second.finish();
        sink.await(1);
        node.services.add(next);
        assertThat(node.environment.retire(slow, Duration.ZERO)).isZero();
        made.countDown();
        sink.await(3);
        assertThat(sink.packets())
                .allSatisfy(packet -> assertThat(packet.classOfService()).isEqualTo(TestSink.number(packet)));
        node.assertDrops(Map.of());
    }

    @Test
    void retireWaitsForStreamsToEnd() throws Exception {
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        ServiceDefinition first = version(1);
        add(node, first);
        AnepSender sender = sender(node);
        PacketBuilder builder = packets("many");
        sender.send(builder, number(0));
        sender.flush();
        sink.await(1);
        node.services.remove(first);
        add(node, version(2));
        CompletableFuture<Integer> cut = Waiting.async(() -> node.environment.retire(first, TestServices.PATIENCE));
        for (int i = 1; i < 500; i++) {
            sender.send(builder, number(i));
        }
        sender.flush();
        sink.await(500);
        assertThat(cut).isNotDone();
        sender.finish();
        assertThat(cut.get(40, TimeUnit.SECONDS)).isZero();
        assertThat(marks(sink)).containsOnly(1).hasSize(500);
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void retireCutsWhatIsLeftAtTheDeadline(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        ServiceDefinition first = version(1);
        add(node, first);
        AnepSender own = sender(node);
        own.send(packets("many"), number(0));
        own.flush();
        AnepSender branch = sender(node);
        branch.send(packets("mark"), number(1));
        branch.send(packets("many"), number(2));
        branch.flush();
        AnepSender other = sender(node);
        other.send(packets("mark"), number(3));
        other.flush();
        sink.await(4);
        node.services.remove(first);
        assertThat(node.environment.retire(first, Duration.ofMillis(10))).isEqualTo(2);
        eventually().until(() -> node.environment.streams().open() == 1);
        assertThat(node.environment.instances())
                .extracting(status -> status.service().name())
                .containsExactly("mark");
        other.send(packets("mark"), number(4));
        other.finish();
        sink.await(5);
        node.settle();
        node.assertConserved();
    }

    @Test
    void aServiceThatIsTakenAwayIsUnknownToNewStreams() throws IOException {
        TestNode node = node().toHost(nobody());
        ServiceDefinition first = version(1);
        add(node, first);
        node.services.remove(first);
        assertThat(node.environment.retire(first, Duration.ZERO)).isZero();
        AnepSender sender = sender(node);
        sender.send(packets("many"), number(0));
        sender.finish();
        node.assertDrops(Map.of(DropReason.UNKNOWN_SERVICE, 1L));
        eventually().until(() -> node.environment.streams().open() == 0);
    }
}

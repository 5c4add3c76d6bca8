package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** TCP streams that ask for a service which the node does not have yet. */
class DeployTcpTest extends TcpNodeTesting {
    private static final ServiceDefinition LATE =
            new ServiceDefinition("late", MARK.factory(), MARK.config(), FailurePolicy.DROP);

    private final TestSource source = new TestSource();

    @BeforeEach
    void askTheTest() {
        settings.source = source;
    }

    private static void assertAll(List<Packet> packets, int count, int mark) {
        assertThat(packets.stream().map(Packet::sequence))
                .containsExactlyElementsOf(
                        IntStream.range(0, count).mapToObj(Long::valueOf).toList());
        assertThat(packets)
                .allSatisfy(packet -> assertThat(packet.classOfService()).isEqualTo(mark));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aStreamWaitsForItsServiceAndLosesNothing(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        int packets = 3000;
        try (AnepSender sender = sender(node)) {
            PacketBuilder builder = packets("late");
            for (int i = 0; i < 20; i++) {
                sender.send(builder, payload(i, 1000));
            }
            sender.flush();
            eventually().until(() -> node.environment.waitingForCode() == 1);
            assertThat(node.environment.instances()).isEmpty();
            source.answer(node.services, LATE);
            for (int i = 20; i < packets; i++) {
                sender.send(builder, payload(i, 1000));
            }
            sender.finish();
            sink.await(packets);
        }
        assertAll(sink.awaitEnds().packets(), packets, 1);
        node.assertDrops(Map.of());
        assertThat(node.environment.waitingForCode()).isZero();
        assertThat(source.requests()).hasSize(1);
        assertThat(source.requests().get(0).origin().peer().isLoopbackAddress()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aSenderThatEndsWhileItWaitsIsStillServed(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            PacketBuilder builder = packets("late");
            for (int i = 0; i < 300; i++) {
                sender.send(builder, payload(i, 1000));
            }
            sender.finish();
            eventually().until(() -> node.environment.waitingForCode() == 1);
            source.answer(node.services, LATE);
            sink.await(300);
        }
        assertAll(sink.awaitEnds().packets(), 300, 1);
        node.assertDrops(Map.of());
    }

    @Test
    void fiftyStreamsAskOnce() throws IOException {
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        for (int i = 0; i < 50; i++) {
            AnepSender sender = sender(node);
            sender.send(packets("late"), number(i));
            sender.finish();
        }
        eventually().until(() -> node.environment.waitingForCode() == 50);
        source.answer(node.services, LATE);
        sink.await(50);
        assertThat(sink.numbers())
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 50).boxed().toList());
        assertThat(source.requests()).hasSize(1);
        node.assertDrops(Map.of());
    }

    @Test
    void aSecondAnswerMeansNothing() throws IOException {
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        AnepSender sender = sender(node);
        sender.send(packets("late"), number(1));
        sender.flush();
        source.answer(node.services, LATE);
        source.refuse("late", DropReason.DEPLOYMENT_FAILED);
        source.answer(node.services, LATE);
        sender.finish();
        sink.await(1);
        node.assertDrops(Map.of());
        assertThat(node.environment.streams().accepted()).isEqualTo(1);
    }

    @Test
    void aSourceMayAnswerBeforeItReturns() throws IOException {
        settings.source =
                (key, then) -> origin -> then.accept(ServiceSource.Answer.refused(DropReason.DEPLOYMENT_FAILED));
        TestNode node = node().toHost(nobody());
        AnepSender sender = sender(node);
        sender.send(packets("late"), number(1));
        sender.finish();
        node.assertDrops(Map.of(DropReason.DEPLOYMENT_FAILED, 1L));
    }

    @Test
    void aSourceThatThrowsHasRefused() throws IOException {
        settings.source = (key, then) -> {
            throw new IllegalStateException("as the test wants it");
        };
        TestNode node = node().toHost(nobody());
        AnepSender sender = sender(node);
        sender.send(packets("late"), number(1));
        sender.finish();
        node.assertDrops(Map.of(DropReason.DEPLOYMENT_FAILED, 1L));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void packetsOfARefusedServiceAreDroppedAndOthersRun(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        AnepSender sender = sender(node);
        PacketBuilder good = packets("mark");
        sender.send(packets("late"), number(-1));
        for (int i = 0; i < 100; i++) {
            sender.send(packets("late"), number(-1));
            sender.send(good, number(i));
        }
        sender.finish();
        source.refuse("late", DropReason.DEPLOYMENT_FAILED);
        // Should this take longer than refusals are remembered, it is asked anew.
        eventually().until(() -> {
            source.requests().forEach(r -> r.then().accept(ServiceSource.Answer.refused(DropReason.DEPLOYMENT_FAILED)));
            return sink.packets().size() == 100;
        });
        assertAll(sink.packets(), 100, 1);
        node.assertDrops(Map.of(DropReason.DEPLOYMENT_FAILED, 101L));
        assertThat(source.requests()).hasSizeLessThan(10);
    }

    @Test
    void aRefusedStreamIsPassedOnWherePolicySaysSo() throws IOException {
        settings.unknownService = FailurePolicy.PASS;
        TestSink sink = sink();
        TestNode node = node().toHost(sink.address());
        AnepSender sender = sender(node);
        PacketBuilder builder = packets("late");
        for (int i = 0; i < 10; i++) {
            sender.send(builder, number(i));
        }
        sender.finish();
        source.refuse("late", DropReason.UNKNOWN_SERVICE);
        sink.await(10);
        assertAll(sink.packets(), 10, 0);
        node.assertDrops(Map.of());
    }

    @Test
    void aRefusedStreamIsClosedWherePolicySaysSo() throws IOException {
        settings.unknownService = FailurePolicy.CLOSE;
        TestNode node = node();
        AnepSender sender = sender(node);
        for (int i = 0; i < 10; i++) {
            sender.send(packets("late"), number(i));
        }
        sender.flush();
        eventually().until(() -> node.environment.waitingForCode() == 1);
        source.refuse("late", DropReason.DEPLOYMENT_FAILED);
        node.settleAfterDrop(DropReason.DEPLOYMENT_FAILED);
        node.assertConserved();
        assertThat(node.environment.instances()).isEmpty();
    }

    @Test
    void anAnswerThatDoesNotComeIsARefusal() throws IOException {
        settings.deployTimeout = Duration.ofMillis(100);
        TestNode node = node().toHost(nobody());
        AnepSender sender = sender(node);
        sender.send(packets("late"), number(1));
        sender.finish();
        node.assertDrops(Map.of(DropReason.DEPLOYMENT_FAILED, 1L));
        assertThat(node.environment.waitingForCode()).isZero();
        // Too late to matter.
        source.answer(node.services, LATE);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aPeerThatGoesAwayWhileItWaitsIsForgotten(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestNode node = node();
        try (SocketChannel peer = connect(node)) {
            for (int i = 0; i < 3; i++) {
                Packet packet = packets("late").build(payload(i, 100));
                peer.write(packet.buffer().duplicate().position(0).limit(packet.length()));
            }
            eventually().until(() -> node.environment.waitingForCode() == 1);
            peer.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
        node.settleAfterDrop(DropReason.PEER_GONE);
        node.assertConserved();
        assertThat(node.environment.waitingForCode()).isZero();
        source.answer(node.services, LATE);
        assertThat(node.environment.instances()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void whatWaitsWhenTheNodeStopsIsCounted(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestNode node = node();
        AnepSender sender = sender(node);
        for (int i = 0; i < 5; i++) {
            sender.send(packets("late"), number(i));
        }
        sender.flush();
        eventually().until(() -> node.environment.waitingForCode() == 1);
        assertThat(node.environment.stop(TestServices.PATIENCE)).isZero();
        assertThat(node.dropped(DropReason.SHUTDOWN)).isPositive();
        node.assertConserved();
        assertThat(node.environment.waitingForCode()).isZero();
        source.answer(node.services, LATE);
    }

    @Test
    void moreStreamsThanTheNodeTakesDoNotWait() throws IOException {
        settings.maxStreams = 2;
        TestNode node = node().toHost(nobody());
        for (int i = 0; i < 2; i++) {
            AnepSender sender = sender(node);
            sender.send(packets("late"), number(i));
            sender.flush();
        }
        eventually().until(() -> node.environment.waitingForCode() == 2);
        try (SocketChannel third = SocketChannel.open()) {
            third.connect(node.address());
            eventually().until(() -> node.environment.streams().refused() == 1);
        }
        source.refuse("late", DropReason.UNKNOWN_SERVICE);
        eventually().until(() -> node.environment.waitingForCode() == 0);
    }

    // ---- a later service of a stream ------------------------------------------------------------------------------

    @ParameterizedTest
    @MethodSource("kinds")
    void aSecondServiceIsWaitedFor(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            PacketBuilder first = packets("mark");
            PacketBuilder second = packets("late");
            for (int i = 0; i < 10; i++) {
                sender.send(first, payload(i, 1000));
            }
            sender.send(second, payload(0, 1000));
            for (int i = 10; i < 200; i++) {
                sender.send(first, payload(i, 1000));
                sender.send(second, payload(i, 1000));
            }
            sender.flush();
            eventually().until(() -> node.environment.waitingForCode() == 1);
            sink.await(10);
            TrafficSnapshot now = node.traffic();
            assertThat(now.packetsIn()).isEqualTo(11);
            assertThat(now.packetsOut() + now.held()).isEqualTo(11);
            source.answer(node.services, LATE);
            sink.await(391);
            sender.finish();
        }
        sink.awaitEnds();
        assertThat(sink.connections()).hasSize(2);
        assertAll(sink.connections().get(0).packets(), 200, 1);
        assertAll(sink.connections().get(1).packets(), 191, 1);
        node.assertDrops(Map.of());
    }

    @Test
    void aStreamThatIsCutWhileItWaitsCountsItsPackets() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        AnepSender sender = sender(node);
        sender.send(packets("mark"), number(0));
        sender.send(packets("late"), number(1));
        sender.flush();
        eventually().until(() -> node.environment.waitingForCode() == 1);
        sink.await(1);
        assertThat(node.environment.stop(Duration.ZERO)).isEqualTo(1);
        assertThat(node.dropped(DropReason.SHUTDOWN)).isEqualTo(1);
        node.assertConserved();
        assertThat(node.environment.waitingForCode()).isZero();
    }

    @Test
    void theOptionOfTheFirstPacketTellsWhomToAsk() throws IOException {
        TestNode node = node().toHost(nobody());
        AnepSender sender = sender(node);
        Packet packet = packets("late").previousNode(false).build(ByteBuffer.allocate(4));
        NodeOptions.setPreviousNode(packet, org.tamanoir.anep.PreviousNode.of(UdpTestNode.at("10.1.2.3", 4444)));
        sender.send(packet);
        sender.flush();
        assertThat(source.awaitRequest("late").origin().previousNode()).isEqualTo(UdpTestNode.at("10.1.2.3", 4444));
        source.refuse("late", DropReason.UNKNOWN_SERVICE);
    }
}

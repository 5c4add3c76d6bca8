package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.ECHO;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.anonymous;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Packets of one connection for several services, for none, and for other execution environments. */
class TcpBranchTest extends TcpNodeTesting {
    private static final ServiceDefinition OTHER =
            new ServiceDefinition("other", MARK.factory(), MARK.config(), FailurePolicy.DROP);

    @ParameterizedTest
    @MethodSource("kinds")
    void aSecondServiceHasItsOwnThreadAndKeepsItsOrder(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(MARK, OTHER).toHost(sink.address());
        int packets = 4000;
        try (AnepSender sender = sender(node)) {
            PacketBuilder first = packets("mark");
            PacketBuilder second = packets("other");
            for (int i = 0; i < packets; i++) {
                sender.send(i % 2 == 0 ? first : second, payload(i, 1000));
            }
            sender.flush();
            sink.await(packets);
            if (settings.threads == ThreadKind.PLATFORM) { // The JVM lists no others.
                assertThat(threads())
                        .containsExactly(
                                "reception", "tcp mark " + sender.localAddress(), "tcp other " + sender.localAddress());
            }
            sender.finish();
        }
        sink.awaitEnds();
        assertThat(sink.connections())
                .hasSize(2)
                .allSatisfy(
                        connection -> assertThat(connection.packets().stream().map(Packet::sequence))
                                .containsExactlyElementsOf(IntStream.range(0, packets / 2)
                                        .mapToObj(Long::valueOf)
                                        .toList()));
        node.assertDrops(Map.of());
    }

    /** What a timer sends may fill more memory than a batch takes. */
    @ParameterizedTest
    @MethodSource("kinds")
    void aSecondServiceThatSendsMuchFromATimerGoesOn(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        int made = 12;
        ServiceDefinition sending = TestServices.define("sending", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                after(Duration.ofMillis(1), () -> {
                    for (int i = 0; i < made; i++) {
                        emit(packets("mark").build(payload(i, 60_000)));
                    }
                });
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(MARK, sending).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("mark"), payload(0, 100));
            for (int round = 1; round <= 3; round++) {
                sender.send(packets("sending"), payload(round, 100));
                sender.flush();
                sink.await(1 + round * (made + 1));
            }
            sender.finish();
        }
        node.settle().assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void everyPacketWakesTheSecondService(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestNode node = node(MARK, ECHO);
        try (AnepSender sender = sender(node)) {
            sender.send(anonymous(), number(0));
            PacketBuilder builder = packets("echo");
            Packet answer = new Packet();
            for (int i = 0; i < 2000; i++) {
                sender.send(builder, number(i));
                sender.flush();
                assertThat(sender.poll(answer, TestServices.PATIENCE)).isTrue();
                assertThat(TestSink.number(answer)).isEqualTo(i);
            }
            sender.finish();
            eventually().until(() -> !sender.poll(answer, Duration.ZERO) && sender.ended());
        }
        node.assertDrops(Map.of(DropReason.NO_ROUTE, 1L));
    }

    @Test
    void aFullQueueHoldsTheSenderBack() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK, OTHER).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("mark"), number(0));
            PacketBuilder builder = packets("other");
            ByteBuffer payload = ByteBuffer.allocate(60_000);
            for (int i = 0; i < 500; i++) {
                sender.send(builder, payload);
            }
            sender.finish();
            sink.await(501);
        }
        sink.awaitEnds();
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @EnumSource(FailurePolicy.class)
    void anUnknownServiceFollowsThePolicyFromTheFirstPacketOn(FailurePolicy policy) throws IOException {
        settings.unknownService = policy;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        AnepSender sender = sender(node);
        sender.send(packets("unknown"), number(1));
        sender.flush();
        if (policy == FailurePolicy.PASS) {
            assertThat(sink.await(1)).hasSize(1);
            sender.finish();
            node.assertDrops(Map.of());
            return;
        }
        if (policy == FailurePolicy.DROP) {
            sender.send(packets("mark"), number(2));
            sender.finish();
            sink.await(1);
        }
        node.assertDrops(Map.of(DropReason.UNKNOWN_SERVICE, 1L));
        assertThat(sink.numbers()).isEqualTo(policy == FailurePolicy.DROP ? List.of(2) : List.of());
    }

    @ParameterizedTest
    @EnumSource(FailurePolicy.class)
    void anUnknownServiceFollowsThePolicyInMidStream(FailurePolicy policy) throws IOException {
        settings.unknownService = policy;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        AnepSender sender = sender(node);
        sender.send(packets("mark"), number(1));
        sender.flush();
        sink.await(1);
        sender.send(packets("unknown"), number(2));
        sender.flush();
        if (policy != FailurePolicy.CLOSE) {
            sender.send(packets("mark"), number(3));
            sender.finish();
            sink.await(policy == FailurePolicy.PASS ? 3 : 2);
        }
        node.assertDrops(policy == FailurePolicy.PASS ? Map.of() : Map.of(DropReason.UNKNOWN_SERVICE, 1L));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void packetsOfOtherEnvironmentsPassUntouchedUnlessTheyAskToBeDiscarded(boolean discard) throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        PacketBuilder foreign = new PacketBuilder()
                .typeId(0x4A4E)
                .discardIfUnknownType(discard)
                .destination(java.net.InetAddress.getLoopbackAddress())
                .option(0x9234, new byte[] {1, 2, 3, 4});
        List<Packet> sent = new ArrayList<>();
        try (AnepSender sender = sender(node)) {
            sender.send(packets("mark"), number(0));
            for (int i = 1; i <= 50; i++) {
                Packet packet = foreign.build(payload(i, i));
                sent.add(packet);
                sender.send(packet);
            }
            sender.finish();
            sink.await(discard ? 1 : 51);
        }
        sink.awaitEnds();
        if (discard) {
            node.assertDrops(Map.of(DropReason.TYPE_ID, 50L));
            return;
        }
        for (int i = 0; i < 50; i++) {
            Packet arrived = sink.packets().get(i + 1);
            assertThat(arrived.buffer().slice(arrived.offset(), arrived.length()))
                    .isEqualTo(sent.get(i).buffer().slice(0, sent.get(i).length()));
        }
        node.assertDrops(Map.of());
    }
}

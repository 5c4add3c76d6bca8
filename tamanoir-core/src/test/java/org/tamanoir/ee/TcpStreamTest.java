package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.ECHO;
import static org.tamanoir.ee.TestServices.MARK;
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
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.admission.StreamCounts;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.transport.TransportKind;

/** Streams of packets through services on one node and on two. */
class TcpStreamTest extends TcpNodeTesting {
    private static final int[] PACKET_BYTES = {100, 101, 200, 1400, 4096, 16_384, 16_385, 32_768, 65_000, 65_535};

    @ParameterizedTest
    @MethodSource("kinds")
    void arrivesWholeAndInOrderAtEverySize(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        PacketBuilder builder = packets("mark");
        List<ByteBuffer> sent = new ArrayList<>();
        try (AnepSender sender = sender(node)) {
            for (int bytes : PACKET_BYTES) {
                for (int i = 0; i < 40; i++) {
                    ByteBuffer payload = payload(sent.size(), bytes - builder.headerLength());
                    sender.send(builder, payload);
                    sent.add(payload);
                }
            }
            sender.finish();
            sink.await(sent.size());
        }
        sink.awaitEnds();
        assertArrivals(sink.packets(), sent, 1);
        node.assertDrops(Map.of());
        assertThat(node.traffic().packetsOut()).isEqualTo(sent.size());
        assertThat(node.traffic().bytesOut()).isEqualTo(node.traffic().bytesIn());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void arrivesWholeWhenItIsSplitAtEveryByte(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        PacketBuilder builder = packets("mark");
        ByteBuffer bytes = ByteBuffer.allocate(1000);
        List<ByteBuffer> sent = List.of(payload(0, 30), payload(1, 0), payload(2, 200));
        sent.forEach(payload -> builder.write(bytes, payload));
        bytes.flip();
        try (var channel = connect(node)) {
            channel.setOption(java.net.StandardSocketOptions.TCP_NODELAY, true);
            while (bytes.hasRemaining()) {
                channel.write(bytes.slice(bytes.position(), 1));
                bytes.position(bytes.position() + 1);
            }
            channel.shutdownOutput();
            sink.await(3);
            sink.awaitEnds();
        }
        assertArrivals(sink.packets(), sent, 1);
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void crossesTwoNodes(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode second = node(MARK).toHost(sink.address());
        TestNode first = node(MARK).toNode(second);
        PacketBuilder builder = packets("mark").checksum();
        List<ByteBuffer> sent =
                IntStream.range(0, 3000).mapToObj(i -> payload(i, i * 7 % 2000)).toList();
        try (AnepSender sender = sender(first)) {
            for (ByteBuffer payload : sent) {
                sender.send(builder, payload);
            }
            sender.finish();
            sink.await(sent.size());
        }
        sink.awaitEnds();
        assertArrivals(sink.packets(), sent, 2);
        assertThat(sink.packets()).allMatch(packet -> packet.hopBudget() == 15);
        first.assertDrops(Map.of());
        second.assertDrops(Map.of());
    }

    @Test
    void streamsDoNotMix() throws IOException {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        List<AnepSender> senders = new ArrayList<>();
        for (int stream = 0; stream < 6; stream++) {
            senders.add(sender(node));
        }
        int packets = 500;
        for (int i = 0; i < packets; i++) {
            for (int stream = 0; stream < senders.size(); stream++) {
                senders.get(stream).send(TestServices.anonymous().service("mark").stream(stream), number(i));
            }
            if (i % 50 == 0) {
                for (AnepSender sender : senders) {
                    sender.flush();
                }
            }
        }
        for (AnepSender sender : senders) {
            sender.finish();
        }
        sink.await(packets * senders.size());
        sink.awaitEnds();
        assertThat(sink.connections()).hasSize(senders.size()).allSatisfy(connection -> {
            assertThat(connection.packets().stream().map(Packet::streamId).distinct())
                    .hasSize(1);
            assertThat(connection.packets().stream().map(TestSink::number))
                    .containsExactlyElementsOf(
                            IntStream.range(0, packets).boxed().toList());
        });
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void hasOneThreadForEachStreamAndOneForReception(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        List<String> expected = new ArrayList<>(List.of("reception"));
        List<AnepSender> senders = new ArrayList<>();
        for (int stream = 0; stream < 24; stream++) {
            AnepSender sender = sender(node);
            senders.add(sender);
            sender.send(packets("mark"), number(stream));
            sender.flush();
            expected.add("tcp mark " + sender.localAddress());
        }
        sink.await(24);
        if (settings.threads == ThreadKind.PLATFORM) { // The JVM lists no others.
            assertThat(threads()).containsExactlyInAnyOrderElementsOf(expected);
        }
        assertThat(node.environment.instances()).hasSize(24).allSatisfy(instance -> {
            assertThat(expected).contains(instance.thread());
            assertThat(instance.counters()).isEqualTo(Map.of("marked", 1L));
        });
        for (AnepSender sender : senders) {
            sender.finish();
        }
        node.assertDrops(Map.of());
        assertThat(node.environment.streams()).isEqualTo(new StreamCounts(0, 24, 0));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void answersComeBackFromTheFirstNode(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestNode node = node(ECHO);
        assertAnswered(node, "echo");
        node.assertDrops(Map.of());
        assertThat(node.traffic().packetsOut()).isEqualTo(400);
    }

    @Test
    void answersComeBackThroughTheNodeBefore() throws IOException {
        settings.unknownService = FailurePolicy.PASS;
        TestNode second = node(ECHO);
        TestNode first = node(MARK).toNode(second);
        assertAnswered(first, "echo");
        first.assertDrops(Map.of());
        second.assertDrops(Map.of());
        assertThat(first.traffic().packetsIn()).isEqualTo(800);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void answersOfTheFarHostFlowBackAfterTheSenderHasEnded(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestSink sink = echoSink();
        TestNode second = node(MARK).toHost(sink.address());
        TestNode first = node(MARK).toNode(second);
        assertAnswered(first, "mark");
        first.assertDrops(Map.of());
        second.assertDrops(Map.of());
    }

    /** Sends, ends its side, and only then takes the answers. */
    private void assertAnswered(TestNode node, String service) throws IOException {
        try (AnepSender sender = sender(node)) {
            PacketBuilder builder = packets(service);
            for (int i = 0; i < 400; i++) {
                sender.send(builder, number(i));
            }
            sender.finish();
            Packet answer = new Packet();
            for (int i = 0; i < 400; i++) {
                assertThat(sender.poll(answer, TestServices.PATIENCE)).isTrue();
                assertThat(TestSink.number(answer)).isEqualTo(i);
            }
            eventually().until(() -> !sender.poll(answer, Duration.ZERO) && sender.ended());
        }
    }

    private static void assertArrivals(List<Packet> arrivals, List<ByteBuffer> sent, int marks) {
        assertThat(arrivals).hasSameSizeAs(sent);
        for (int i = 0; i < arrivals.size(); i++) {
            Packet packet = arrivals.get(i);
            assertThat(packet.sequence()).isEqualTo(i);
            assertThat(packet.classOfService()).isEqualTo(marks);
            assertThat(TestSink.bytes(packet)).describedAs("payload %s", i).isEqualTo(sent.get(i));
        }
    }
}

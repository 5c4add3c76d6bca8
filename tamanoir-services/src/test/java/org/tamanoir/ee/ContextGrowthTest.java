package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.services.morph.ChainByHand;
import org.tamanoir.transport.TransportKind;

/** Which datagram pays for messages that a chain's contexts finish while another one is in hand. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class ContextGrowthTest {
    private static final String NAME = "chain";
    private static final int PACKET_BYTES = 2_000;

    /** A node with a chain, and its far ends. */
    private static final class Bench implements AutoCloseable {
        final UdpTestNode node;
        final UdpFarEnd sender;
        final UdpFarEnd receiver;
        int sent;

        Bench(String... plan) throws Exception {
            UdpBounds bounds = new UdpBounds(4, UdpBounds.MIN_BYTES, 3, Map.of());
            EeConfig config = UdpTestNode.config(TransportKind.NIO).bounding(bounds);
            node = UdpTestNode.start(config).deliver("127.0.0.1/32", Transport.SAME);
            ServiceConfig settings = new ServiceConfig(Map.of("packet-bytes", String.valueOf(PACKET_BYTES)));
            node.services.add(new ServiceDefinition(NAME, () -> new ChainByHand(plan), settings, FailurePolicy.DROP));
            node.environment.formats().known().add(ChainByHand.FLIGHT);
            sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
            receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
        }

        void flight(long id, int hubBytes) {
            send(ChainByHand.packet(UdpTestNode.builder(receiver.address(), NAME, (int) id + 1), id, hubBytes));
        }

        /** Sends a packet with a message, and waits until the service has it. */
        void send(Packet packet) {
            sender.send(node.udp(), UdpTestNode.bytes(packet));
            sent++;
            eventually().until(() -> count("messages.in") == sent);
        }

        long count(String counter) {
            return node.environment.instances().stream()
                    .mapToLong(instance -> instance.counters().getOrDefault(counter, 0L))
                    .sum();
        }

        /** Returns the bytes of each message that the receiver gets, whole: the chain's have sequence numbers, its own stream. */
        List<Integer> messages(int packets) throws Exception {
            List<Integer> bytes = new ArrayList<>();
            for (int i = 0; i < packets; i++) {
                Packet packet = UdpTestNode.parsed(receiver.next());
                if (packet.has(Option.FORMAT)) {
                    bytes.add(packet.payloadLength());
                } else {
                    bytes.add(bytes.remove(bytes.size() - 1) + packet.payloadLength());
                }
            }
            return bytes;
        }

        @Override
        public void close() {
            node.close();
            sender.close();
            receiver.close();
        }
    }

    private static int recordBytes(int hubBytes) {
        return ChainByHand.packet(UdpTestNode.builder(UdpTestNode.at("127.0.0.1", 1), NAME, 1), 1, hubBytes)
                .payloadLength();
    }

    @Test
    void messagesThatNobodyLengthensLeaveWholeHoweverManyAndWhateverIsInHand() throws Exception {
        try (Bench bench = new Bench(
                "contexts: {work: }", "handlers:", "  a: {pass: , context: work, then: out}", "paths: [{enter: a}]")) {
            // Together more than one datagram may cause.
            List<Integer> whole = new ArrayList<>();
            int packets = 0;
            for (int id = 1; id <= 8; id++) {
                bench.flight(id, 9_000 + id);
                whole.add(recordBytes(9_000 + id));
                packets += 5;
            }
            bench.flight(0, 1);
            whole.add(recordBytes(1));

            eventually()
                    .untilAsserted(() -> assertThat(bench.count("messages.out")).isEqualTo(9));
            assertThat(bench.messages(packets + 1)).containsExactlyInAnyOrderElementsOf(whole);
            assertThat(bench.count("messages.dropped.GROWTH")).isZero();
            assertThat(bench.node.balanced(9).drops()).doesNotContainKey(DropReason.AMPLIFICATION);
        }
    }

    /** Ten datagrams pay for a message of ten, in whichever contexts it is made and handled, and whoever the last of them is. */
    @ParameterizedTest
    @CsvSource({
        "gather, receive, receive, 100", "gather, receive, receive, 1000", "gather, receive, work, 100",
        "gather, receive, work, 1000", "gather, work, more, 1000", "gather, work, work, 1000",
        "swell, receive, receive, 100", "swell, receive, receive, 1000", "swell, receive, work, 100",
        "swell, receive, work, 1000", "swell, work, more, 1000", "swell, work, work, 1000"
    })
    void whatIsMadeOfManyIsPaidForByAllOfThem(String kind, String makes, String handles, int hubBytes)
            throws Exception {
        try (Bench bench = new Bench(
                "contexts: {work: , more: }",
                "handlers:",
                "  a: {" + kind + ": 10, context: " + makes + ", then: b}",
                "  b: {pass: , context: " + handles + ", then: out}",
                "paths: [{enter: a}]")) {
            for (int id = 1; id <= 10; id++) {
                bench.flight(id, hubBytes);
            }
            bench.flight(0, 1);

            eventually()
                    .untilAsserted(() -> assertThat(bench.count("messages.out") + bench.count("messages.dropped"))
                            .isEqualTo(2));
            assertThat(bench.count("messages.dropped.GROWTH")).isZero();
            int made = recordBytes(10 * hubBytes);
            int packets = hubBytes == 100 ? 1 : made / PACKET_BYTES + 1;
            assertThat(bench.messages(packets + 1)).containsExactlyInAnyOrder(made, recordBytes(1));
            assertThat(bench.node.balanced(11).drops()).doesNotContainKey(DropReason.AMPLIFICATION);
        }
    }

    @Test
    void whatIsMadeOfManyInTheirRunIsPaidForByAllOfThem() throws Exception {
        try (Bench bench =
                new Bench("handlers:", "  a: {swell: 10, context: receive, then: out}", "paths: [{enter: a}]")) {
            for (int id = 1; id <= 10; id++) {
                ByteBuffer record = ChainByHand.packet(UdpTestNode.builder(bench.receiver.address(), NAME, 1), id, 100)
                        .payload();
                ByteBuffer run = ByteBuffer.allocate(8 + record.remaining());
                run.putInt(3 << 24).putInt(record.remaining()).put(record).flip();
                bench.send(
                        UdpTestNode.builder(bench.receiver.address(), NAME, id).build(run));
            }
            assertThat(UdpTestNode.parsed(bench.receiver.next()).payloadLength())
                    .isEqualTo(8 + recordBytes(1_000));
            assertThat(bench.count("messages.out")).isEqualTo(1);
            assertThat(bench.node.balanced(10).drops()).doesNotContainKey(DropReason.AMPLIFICATION);
        }
    }

    @Test
    void eachMessagePaysForItsOwnCopiesAndNobodyForThoseOfAnother() throws Exception {
        try (Bench bench = new Bench(
                "contexts: {work: }",
                "handlers:",
                "  a: {pass: , context: work, then: [b, c, d, e, out]}",
                "  b: {pass: , context: work, then: out}",
                "  c: {pass: , context: work, then: out}",
                "  d: {pass: , context: work, then: out}",
                "  e: {pass: , context: work, then: out}",
                "paths: [{enter: a}]")) {
            bench.flight(1, 5_000);
            bench.flight(2, 5_000);
            bench.flight(3, 5_000);
            bench.flight(0, 1);

            // Three copies of each: options that packets get here make four too long.
            int each = recordBytes(5_000);
            eventually()
                    .untilAsserted(() -> assertThat(bench.count("messages.out")).isEqualTo(3 * 3 + 1));
            assertThat(bench.messages(3 * 3 * 3 + 1))
                    .containsExactlyInAnyOrder(each, each, each, each, each, each, each, each, each, recordBytes(1));
            assertThat(bench.count("messages.dropped.GROWTH")).isEqualTo(3 * 2);
            assertThat(bench.node.balanced(4).drops()).doesNotContainKey(DropReason.AMPLIFICATION);
        }
    }
}

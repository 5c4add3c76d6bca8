package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.format.Accessor;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;
import org.tamanoir.format.Layout;
import org.tamanoir.format.RecordEncoder;
import org.tamanoir.message.Bound;
import org.tamanoir.message.MessageService;
import org.tamanoir.message.Outcome;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.transport.TransportKind;

/** Messages across a node's sockets. */
class MessageNodeTest extends TcpNodeTesting {
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("delay", "integer")
            .field("hub", "string")
            .build();

    /** Lets late flights pass. */
    private static final class Late extends MessageService {
        @Override
        public Bound bind(Format input) {
            Accessor delay = input.accessor("delay");
            return new SameFormat(
                    input,
                    (message, outlet) ->
                            delay.getLong(message.record()) > 15 ? Outcome.FORWARD : outlet.drop("in time"));
        }
    }

    private static final ServiceDefinition LATE = TestServices.define("late", Late::new);

    private static byte[] flight(int delay, int length) {
        return new RecordEncoder(FLIGHT).encode(Map.of("delay", delay, "hub", "h".repeat(length)));
    }

    /** Returns the packets of a record, of so many bytes of payload at most. */
    private static List<Packet> packets(Consumer<PacketBuilder> addressed, byte[] record, int payload, long sequence) {
        List<Packet> packets = new ArrayList<>();
        for (int from = 0; from < record.length; from += payload) {
            PacketBuilder builder = new PacketBuilder();
            addressed.accept(builder);
            builder.stream(5).nextSequence(sequence + packets.size());
            if (from == 0) {
                builder.option(Option.FORMAT.wireType(), FLIGHT.id().toBytes());
            }
            packets.add(builder.build(ByteBuffer.wrap(record, from, Math.min(payload, record.length - from))));
        }
        return packets;
    }

    private static void toLoopback(PacketBuilder builder) {
        builder.destination(java.net.InetAddress.getLoopbackAddress())
                .service("late")
                .hopBudget(16)
                .checksum();
    }

    /** Returns the records of packets of one stream in their order. */
    private static List<byte[]> records(List<Packet> packets) {
        List<byte[]> records = new ArrayList<>();
        ByteArrayOutputStream record = new ByteArrayOutputStream();
        for (Packet packet : packets) {
            if (packet.has(Option.FORMAT) && record.size() > 0) {
                records.add(record.toByteArray());
                record.reset();
            }
            byte[] payload = new byte[packet.payloadLength()];
            packet.payload().get(payload);
            record.writeBytes(payload);
        }
        records.add(record.toByteArray());
        return records;
    }

    private static void send(AnepSender sender, List<Packet> packets) throws IOException {
        for (Packet packet : packets) {
            sender.send(PacketBuilder.like(packet), packet.payload());
        }
    }

    @Test
    void recordsOfOnePacketAndOfManyCrossATcpNode() throws IOException {
        TestSink sink = sink();
        TestNode node = node(LATE).toHost(sink.address());
        node.environment.formats().known().add(FLIGHT);
        List<byte[]> late = new ArrayList<>();
        try (AnepSender sender = sender(node)) {
            int sequence = 0;
            for (int i = 0; i < 300; i++) {
                byte[] record = flight(i % 2 == 0 ? 20 : 10, i % 50 == 0 ? 200_000 : i);
                List<Packet> packets = packets(MessageNodeTest::toLoopback, record, 30_000, sequence);
                sequence += packets.size();
                send(sender, packets);
                if (i % 2 == 0) {
                    late.add(record);
                }
            }
            sender.finish();
            sink.await(1);
            node.settle();
        }
        assertThat(records(sink.awaitEnds().packets())).containsExactlyElementsOf(late);
    }

    @Test
    void aStreamWaitsForAFormatAndKeepsItsOrder() throws IOException {
        AtomicReference<@Nullable Consumer<@Nullable Format>> asked = new AtomicReference<>();
        FormatRegistry known = new FormatRegistry(64, 1 << 20);
        settings.formats = new FormatSource() {
            @Override
            public FormatRegistry known() {
                return known;
            }

            @Override
            public void request(
                    FormatId id, @Nullable InetSocketAddress previousNode, Consumer<@Nullable Format> then) {
                asked.set(then);
            }
        };
        TestSink sink = sink();
        TestNode node = node(LATE).toHost(sink.address());
        List<byte[]> sent = new ArrayList<>();
        try (AnepSender sender = sender(node)) {
            for (int i = 0; i < 50; i++) {
                byte[] record = flight(20 + i, i);
                sent.add(record);
                send(sender, packets(MessageNodeTest::toLoopback, record, 20, 100L * i));
            }
            sender.finish();
            eventually().until(() -> asked.get() != null);
            known.add(FLIGHT);
            java.util.Objects.requireNonNull(asked.get()).accept(FLIGHT);
            sink.await(1);
            node.settle();
        }
        assertThat(records(sink.awaitEnds().packets())).containsExactlyElementsOf(sent);
    }

    @Test
    void datagramsOfAMessageCrossANodeInAnyOrder() throws Exception {
        try (UdpTestNode node = UdpTestNode.start(TransportKind.NIO).deliver("127.0.0.1/32", Transport.SAME);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            node.services.add(LATE);
            node.environment.formats().known().add(FLIGHT);
            Random random = new Random(3);
            for (int i = 0; i < 20; i++) {
                byte[] record = flight(20, 3_000 + i);
                List<Packet> packets = new ArrayList<>(packets(
                        b -> b.destination(receiver.address().getAddress())
                                .destinationPort(receiver.address().getPort())
                                .service("late"),
                        record,
                        1_000,
                        10L * i));
                Collections.shuffle(packets, random);
                sender.send(node.udp(), packets.stream().map(UdpTestNode::bytes).toList());
                Packet received = UdpTestNode.parsed(receiver.next());
                byte[] payload = new byte[received.payloadLength()];
                received.payload().get(payload);
                assertThat(Arrays.equals(payload, record)).isTrue();
            }
            eventually()
                    .until(() -> node.instance("late").counters().getOrDefault("messages.out", 0L) == 20
                            && node.instance("late").counters().getOrDefault("messages.in", 0L) == 20);
        }
    }

    /** Sends ten copies of each. */
    private static final class Tenfold extends MessageService {
        @Override
        public Bound bind(Format input) {
            return new SameFormat(input, (message, outlet) -> {
                outlet.to((1 << 10) - 1);
                return Outcome.FORWARD;
            });
        }

        @Override
        public int ports() {
            return 10;
        }
    }

    @Test
    void copiesBeyondWhatADatagramMayCauseAreNoMessagesOut() throws Exception {
        try (UdpTestNode node = UdpTestNode.start(TransportKind.NIO).deliver("127.0.0.1/32", Transport.SAME);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(TransportKind.NIO, "127.0.0.1")) {
            node.services.add(TestServices.define("late", Tenfold::new));
            node.environment.formats().known().add(FLIGHT);
            List<Packet> packets = packets(
                    b -> b.destination(receiver.address().getAddress())
                            .destinationPort(receiver.address().getPort())
                            .service("late"),
                    flight(20, 500),
                    1_000,
                    0);
            sender.send(node.udp(), packets.stream().map(UdpTestNode::bytes).toList());
            receiver.next();
            eventually().until(() -> {
                Map<String, Long> counters = node.instance("late").counters();
                return counters.getOrDefault("messages.out", 0L) + counters.getOrDefault("messages.dropped.GROWTH", 0L)
                        == 10;
            });
            Map<String, Long> counters = node.instance("late").counters();
            long out = counters.getOrDefault("messages.out", 0L);
            for (long i = 1; i < out; i++) {
                receiver.next();
            }

            assertThat(out).isBetween(1L, 4L);
            assertThat(counters).containsEntry("messages.dropped.GROWTH", 10 - out);
        }
    }
}

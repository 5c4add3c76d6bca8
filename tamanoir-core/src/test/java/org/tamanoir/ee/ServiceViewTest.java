package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.anonymous;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;

/** What a service can reach through the buffers that it is given: its own packet, and nothing else. */
class ServiceViewTest extends TcpNodeTesting {
    private static final int PACKETS = 300;
    private static final byte JUNK = (byte) 0xEE;

    /** Writes to all that a view reaches, but to the packet in hand, and leaves the view in disorder. */
    private static void disturb(ByteBuffer view, int from, int to) {
        view.clear();
        for (int i = 0; i < view.capacity(); i++) {
            if (i < from || i >= to) {
                view.put(i, JUNK);
            }
        }
        view.order(ByteOrder.LITTLE_ENDIAN).position(0).mark().limit(0);
    }

    private static final class Rude extends Service {
        @Override
        public Verdict process(Packet packet) {
            int from = packet.offset();
            disturb(packet.payload(), from, from + packet.length());
            disturb(packet.buffer(), from, from + packet.length());
            return Verdict.FORWARD;
        }
    }

    /** Takes views of its first packet, and writes through them while others come and when no packet is there. */
    private static final class Keeper extends Service {
        private final List<ByteBuffer> kept = new ArrayList<>();
        private @Nullable Packet keptPacket;

        @Override
        public Verdict process(Packet packet) {
            if (kept.isEmpty()) {
                kept.add(packet.payload());
                kept.add(packet.buffer());
                kept.add(packet.newPayload(100));
                keptPacket = packet;
            } else {
                write();
            }
            return Verdict.FORWARD;
        }

        private void write() {
            for (ByteBuffer view : kept) {
                disturb(view, 0, 0);
            }
        }

        @Override
        public void endOfStream() {
            Packet packet = keptPacket;
            if (packet != null) {
                counter("bytes reached").add(packet.length() + packet.payload().remaining());
                counter("bytes reached").add(packet.buffer().capacity());
                packet.setPayload(ByteBuffer.allocate(50));
            }
        }
    }

    /** Every other packet asks for the service: those between lie in the same memory and are none of its business. */
    private void assertDelivered(ServiceDefinition service) throws Exception {
        TestSink sink = sink();
        TestNode node = node(service).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            for (int i = 0; i < PACKETS; i++) {
                sender.send(i % 2 == 0 ? packets(service.name()) : anonymous(), payload(i, 40 + i));
            }
            sender.finish();
            sink.await(PACKETS);
        }
        List<Packet> arrived = sink.awaitEnds().packets();
        for (int i = 0; i < PACKETS; i++) {
            assertThat(TestSink.bytes(arrived.get(i))).as("packet %d", i).isEqualTo(payload(i, 40 + i));
        }
        assertThat(arrived).hasSize(PACKETS);
        node.assertDrops(Map.of());
    }

    @Test
    void whatAServiceDoesToItsBuffersReachesNoOtherPacket() throws Exception {
        assertDelivered(define("rude", Rude::new));
    }

    @Test
    void whatAServiceKeepsReachesNoLaterPacket() throws Exception {
        List<Keeper> instances = new ArrayList<>();
        assertDelivered(define("keeper", () -> {
            instances.add(new Keeper());
            return instances.get(0);
        }));
    }

    @Test
    void aKeptPacketLeadsNowhereWhenNoPacketIsInHand() throws Exception {
        List<Integer> reached = new ArrayList<>();
        TestSink sink = sink();
        TestNode node = node(define("keeper", () -> new Service() {
                    private @Nullable Packet kept;

                    @Override
                    public Verdict process(Packet packet) {
                        kept = packet;
                        return Verdict.FORWARD;
                    }

                    @Override
                    public void endOfStream() {
                        Packet packet = kept;
                        if (packet != null) {
                            reached.add(packet.length());
                            reached.add(packet.buffer().capacity());
                            reached.add(packet.payload().capacity());
                            reached.add(packet.setClassOfService(9) ? 1 : 0);
                        }
                    }
                }))
                .toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("keeper"), payload(1, 100));
            sender.finish();
            sink.await(1);
        }
        sink.awaitEnds();
        node.assertDrops(Map.of());
        assertThat(reached).containsExactly(0, 0, 0, 0);
    }

    /** A way to spoil the packet that stands at an offset of a buffer. */
    interface Spoiling {
        void spoil(Packet packet, ByteBuffer bytes, int at);
    }

    static Stream<Arguments> spoilings() {
        return Stream.of(
                spoiling("version", (packet, bytes, at) -> bytes.put(at, (byte) 9)),
                spoiling("header of no words", (packet, bytes, at) -> bytes.putShort(at + 4, (short) 0)),
                spoiling("header behind the end", (packet, bytes, at) -> bytes.putShort(at + 4, (short) 60_000)),
                spoiling("longer than it is", (packet, bytes, at) -> bytes.putShort(at + 6, (short) 60_000)),
                spoiling("option of no words", (packet, bytes, at) -> bytes.putShort(at + 10, (short) 0)),
                spoiling("option behind the end", (packet, bytes, at) -> bytes.putShort(at + 10, (short) 999)),
                spoiling(
                        "option that does not fit its type",
                        (packet, bytes, at) -> bytes.putInt(packet.optionOffset(Option.DESTINATION), 3)),
                spoiling(
                        "unknown option that asks for discarding",
                        (packet, bytes, at) -> bytes.putShort(at + 8, (short) 0x7FFF)),
                spoiling("grown, then spoiled", (packet, bytes, at) -> {
                    packet.setPayload(ByteBuffer.allocate(5000));
                    packet.buffer().put(packet.offset(), (byte) 2);
                }));
    }

    private static Arguments spoiling(String name, Spoiling spoiling) {
        return Arguments.of(name, spoiling);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("spoilings")
    void whatAServiceSpoilsEndsUnderANameOfItsOwn(String name, Spoiling spoiling) throws Exception {
        TestSink sink = sink();
        ServiceDefinition spoiler = define("spoiler", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                if (packet.sequence() == 1) {
                    spoiling.spoil(packet, packet.buffer(), packet.offset());
                }
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(spoiler).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            var three = packets("spoiler").checksum();
            three.nextSequence(0);
            for (int i = 0; i < 3; i++) {
                sender.send(three, payload(i, 100));
            }
            sender.finish();
            sink.await(2);
        }
        assertThat(sink.awaitEnds().packets().stream().map(Packet::sequence)).containsExactly(0L, 2L);
        node.assertDrops(Map.of(DropReason.SERVICE_MALFORMED, 1L));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("spoilings")
    void aSpoiledPacketGoesOnAsItCameWhereThePolicySaysSo(String name, Spoiling spoiling) throws Exception {
        TestSink sink = sink();
        TestNode node = node(define("spoiler", FailurePolicy.PASS, () -> new Service() {
                    @Override
                    public Verdict process(Packet packet) {
                        spoiling.spoil(packet, packet.buffer(), packet.offset());
                        return Verdict.FORWARD;
                    }
                }))
                .toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("spoiler"), payload(7, 100));
            sender.finish();
            sink.await(1);
        }
        assertThat(TestSink.bytes(sink.awaitEnds().packets().get(0))).isEqualTo(payload(7, 100));
        node.assertDrops(Map.of());
    }

    @Test
    void aSpoiledPacketClosesTheStreamWhereThePolicySaysSo() throws Exception {
        TestSink sink = sink();
        TestNode node = node(define("spoiler", FailurePolicy.CLOSE, () -> new Service() {
                    @Override
                    public Verdict process(Packet packet) {
                        packet.buffer().put(packet.offset(), (byte) 9);
                        return Verdict.FORWARD;
                    }
                }))
                .toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("spoiler"), payload(0, 100));
            sender.flush();
            node.assertDrops(Map.of(DropReason.SERVICE_MALFORMED, 1L));
        }
        assertThat(sink.packets()).isEmpty();
    }

    @Test
    void whatAServiceWritesIntoTheHeaderIsReadAnew() throws Exception {
        TestSink elsewhere = sink();
        TestSink sink = sink();
        TestNode node = node(define("writer", () -> new Service() {
                    @Override
                    public Verdict process(Packet packet) {
                        ByteBuffer bytes = packet.buffer();
                        bytes.putInt(packet.optionOffset(Option.DESTINATION) + 4, 0x0A630001);
                        bytes.put(packet.optionOffset(Option.CLASS_OF_SERVICE), (byte) 7);
                        return Verdict.FORWARD;
                    }
                }))
                .toHost(sink.address())
                .route("10.99.0.0/16", elsewhere.address(), org.tamanoir.routing.NextHop.Kind.HOST);
        try (AnepSender sender = sender(node)) {
            sender.send(packets("writer").checksum(), payload(3, 100));
            sender.finish();
            elsewhere.await(1);
        }
        Packet packet = elsewhere.awaitEnds().packets().get(0);
        assertThat(packet.classOfService()).isEqualTo(7);
        assertThat(TestSink.bytes(packet)).isEqualTo(payload(3, 100));
        assertThat(sink.packets()).isEmpty();
        node.assertDrops(Map.of());
        eventually().until(() -> node.environment.streams().open() == 0);
    }
}

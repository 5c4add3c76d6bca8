package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A packet whose header and payload lie apart: to whoever reads or changes it, it is the whole packet. */
class PacketFoldedTest {
    private static final int PAYLOAD = 40;
    private static final int BEFORE = 13;

    private byte[] whole;
    private byte[] header;
    private ByteBuffer headerMemory;
    private ByteBuffer payloadMemory;
    private final PacketLoan folded = new PacketLoan(Anep.DEFAULT_TYPE_ID, new Space());
    private final PacketLoan plain = new PacketLoan(Anep.DEFAULT_TYPE_ID, new Space());

    /** What a service, or the node, does with a packet; returns what it has seen. */
    private interface Use {
        Object with(Packet packet);
    }

    /** Memory that is not shared with anything. */
    private static final class Space implements PacketSpace {
        private final ByteBuffer memory = ByteBuffer.allocateDirect(1 << 20);
        private int used = 100;

        @Override
        public ByteBuffer reserve(int octets) {
            return memory.limit(memory.capacity()).position(used);
        }

        @Override
        public void commit(int octets) {
            used += octets;
        }
    }

    @BeforeEach
    void layOut() throws Exception {
        PacketBuilder builder = new PacketBuilder()
                .source(InetAddress.getByName("10.0.0.1"))
                .destination(InetAddress.getByName("10.0.0.2"))
                .service("org.example.Seen")
                .classOfService(3, 1)
                .hopBudget(9)
                .previousNode(false);
        byte[] payload = new byte[PAYLOAD];
        for (int i = 0; i < PAYLOAD; i++) {
            payload[i] = (byte) (i + 1);
        }
        whole = bytes(builder.build(ByteBuffer.wrap(payload)));
        header = bytes(builder.build(ByteBuffer.allocate(0)));
        headerMemory = ByteBuffer.wrap(header.clone());
        payloadMemory = ByteBuffer.allocateDirect(200);
        payloadMemory.put(BEFORE, payload);
        assertThat(folded.packet().parse(headerMemory, 0, header.length)).isNull();
        folded.fold(payloadMemory, BEFORE, PAYLOAD);
        assertThat(plain.packet().parse(ByteBuffer.wrap(whole.clone()), 0, whole.length))
                .isNull();
    }

    private static byte[] bytes(Packet packet) {
        byte[] bytes = new byte[packet.length()];
        packet.copyTo(ByteBuffer.wrap(bytes), 0);
        return bytes;
    }

    private static byte[] rest(ByteBuffer view) {
        byte[] bytes = new byte[view.remaining()];
        view.duplicate().get(bytes);
        return bytes;
    }

    private static Object done(Runnable change) {
        change.run();
        return "";
    }

    static Stream<Arguments> uses() throws Exception {
        InetAddress other = InetAddress.getByName("10.0.0.9");
        Map<String, Use> uses = new LinkedHashMap<>();
        uses.put("nothing", packet -> "");
        uses.put("lengths", packet -> packet.length() + " " + packet.headerLength() + " " + packet.payloadLength());
        uses.put(
                "fields",
                packet -> packet.serviceKey() + " " + packet.classOfService() + " " + packet.hopBudget()
                        + packet.source() + packet.destination() + packet.previousNode());
        uses.put("an octet", packet -> packet.payloadOctet(0) + " " + packet.payloadOctet(PAYLOAD - 1));
        uses.put("the same class", packet -> packet.setClassOfService(3));
        uses.put("another class", packet -> packet.setClassOfService(7));
        uses.put("a key", packet -> done(() -> packet.setServiceKey(4711)));
        uses.put("a hop", packet -> done(() -> NodeOptions.setHopBudget(packet, 4)));
        uses.put(
                "this node",
                packet -> done(() -> NodeOptions.setPreviousNode(
                        packet, PreviousNode.of(new java.net.InetSocketAddress(other, 80)))));
        uses.put("the ends", Packet::swapEnds);
        uses.put("a new option", packet -> packet.addOption(Option.TIMESTAMPS));
        uses.put("the payload, read", packet -> Arrays.toString(rest(packet.payload())));
        uses.put(
                "the payload, changed",
                packet -> done(() -> packet.payload().put(packet.payload().position() + 5, (byte) 99)));
        uses.put("the packet, read", packet -> Arrays.toString(rest(packet.look())));
        uses.put("the buffer", packet -> packet.buffer().getShort(packet.offset() + Anep.LENGTH_AT));
        uses.put("an option's place", packet -> packet.buffer().getLong(packet.optionOffset(Option.SERVICE_KEY)));
        uses.put("a shorter payload", packet -> done(() -> packet.setPayload(ByteBuffer.allocate(7))));
        uses.put("a longer payload", packet -> done(() -> packet.setPayload(ByteBuffer.allocate(99))));
        uses.put("a new payload, left", packet -> packet.newPayload(10).remaining());
        uses.put(
                "a new payload, written",
                packet -> done(() -> {
                    packet.newPayload(50).put(packet.payload());
                    packet.commitPayload(PAYLOAD);
                }));
        uses.put("a copy", packet -> Arrays.toString(bytes(packet.copy())));
        uses.put("its header", packet -> {
            byte[] header = new byte[packet.headerLength()];
            packet.copyHeaderTo(ByteBuffer.wrap(header), 0);
            return Arrays.toString(header);
        });
        uses.put("several", packet -> {
            int octet = packet.payloadOctet(3);
            packet.setClassOfService(200);
            packet.payload().put(packet.payload().position(), (byte) octet);
            NodeOptions.setHopBudget(packet, 2);
            return packet.swapEnds();
        });
        return uses.entrySet().stream().map(each -> Arguments.of(each.getKey(), each.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("uses")
    void aServiceDoesTheSameAsWithTheWholePacket(String name, Use use) {
        folded.lend();
        plain.lend();
        assertThat(use.with(folded.packet())).isEqualTo(use.with(plain.packet()));
        assertThat(folded.takeBack()).isEqualTo(plain.takeBack());
        isTheSame();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("uses")
    void theNodeDoesTheSameAsWithTheWholePacket(String name, Use use) {
        assertThat(use.with(folded.packet())).isEqualTo(use.with(plain.packet()));
        isTheSame();
    }

    private void isTheSame() {
        plain.packet().seal();
        folded.packet().seal();
        assertThat(bytes(folded.packet())).isEqualTo(bytes(plain.packet()));
        assertThat(headerMemory.array()).as("the header, which is others' too").isEqualTo(header);
        byte[] payload = new byte[PAYLOAD];
        payloadMemory.get(BEFORE, payload);
        assertThat(payload)
                .as("the payload where it came")
                .isEqualTo(Arrays.copyOfRange(whole, header.length, whole.length));
        Packet packet = folded.packet();
        assertThat(packet.buffer().getShort(packet.offset() + Anep.LENGTH_AT) & 0xFFFF)
                .as("length in the header")
                .isEqualTo(packet.length());
    }

    @Test
    void staysFoldedWhileItIsLookedAtAlone() {
        folded.lend();
        Packet packet = folded.packet();
        assertThat(packet.payloadOctet(0) + packet.length() + packet.hopBudget())
                .isPositive();
        assertThat(packet.setClassOfService(3)).isTrue();
        assertThat(folded.isFolded()).isTrue();
        assertThat(folded.takeBackUnmoved()).isTrue();
    }

    @Test
    void theNextOneIsAtItsOwnPayload() {
        payloadMemory.put(100, (byte) 77);
        folded.nextFolded(100, 1);
        assertThat(folded.packet().payloadOctet(0)).isEqualTo(77);
        assertThat(folded.packet().length()).isEqualTo(header.length + 1);
    }

    @Test
    void aPayloadOutsideItsMemoryIsRefused() {
        assertThatThrownBy(() -> folded.fold(payloadMemory, 190, 11)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> folded.fold(payloadMemory, 0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}

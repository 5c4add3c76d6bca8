package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

class FramingTest {
    /** S1, V3, a packet without payload, and one of the largest size. */
    private static final byte[] STREAM = stream();

    private static final List<Integer> LENGTHS = List.of(10, 8, 37, 8, 65_535, 12);

    private static byte[] stream() {
        ByteBuffer stream = ByteBuffer.allocate(65_610);
        stream.put(Octets.hex("0100 4a4e 0002 000a 4142 0100 0012 0002 0008"));
        stream.put(Octets.hex(
                "0100 4a4e 0008 0025 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207" + "6865 6c6c 6f"));
        stream.put(Octets.hex("0100 0001 0002 0008"));
        stream.put(Octets.hex("0100 544d 0002 ffff")).put(new byte[65_527]);
        stream.put(Octets.hex("0180 4a4e 0002 000c 5049 4e47"));
        return stream.array();
    }

    /** Reads as a connection would: what is not whole stays until more octets come. */
    private static final class Reader {
        private final ByteBuffer buffer = ByteBuffer.allocate(STREAM.length);
        private final List<Integer> lengths = new ArrayList<>();
        private int start;
        private int end;

        void read(byte[] octets, int from, int to) {
            buffer.put(end, octets, from, to - from);
            end += to - from;
            int length = Framing.next(buffer, start, end);
            while (length > 0) {
                lengths.add(length);
                start += length;
                length = Framing.next(buffer, start, end);
            }
            assertThat(length).isEqualTo(Framing.MORE);
        }
    }

    @Test
    void findsPacketsThatComeTogether() {
        Reader reader = new Reader();
        reader.read(STREAM, 0, STREAM.length);

        assertThat(reader.lengths).isEqualTo(LENGTHS);
        assertThat(reader.start).isEqualTo(STREAM.length);
    }

    @Test
    void findsPacketsThatAreSplitAnywhere() {
        for (int split = 0; split <= STREAM.length; split = split == 80 ? STREAM.length - 40 : split + 1) {
            Reader reader = new Reader();
            reader.read(STREAM, 0, split);
            reader.read(STREAM, split, STREAM.length);

            assertThat(reader.lengths).as("split at %d", split).isEqualTo(LENGTHS);
        }
    }

    @Test
    void findsPacketsThatComeOctetByOctet() {
        Reader reader = new Reader();
        for (int i = 0; i < STREAM.length; i++) {
            reader.read(STREAM, i, i + 1);
        }

        assertThat(reader.lengths).isEqualTo(LENGTHS);
    }

    @Test
    void findsPacketsInPiecesOfAnySize() {
        for (long seed : Seeds.ofCommit(FramingTest.class, 50)) {
            Random random = new Random(seed);
            Reader reader = new Reader();
            for (int from = 0; from < STREAM.length; ) {
                int to = Math.min(STREAM.length, from + 1 + random.nextInt(random.nextBoolean() ? 12 : 20_000));
                reader.read(STREAM, from, to);
                from = to;
            }
            assertThat(reader.lengths).as("seed %d", seed).isEqualTo(LENGTHS);
        }
    }

    @Test
    void doesNotLookBehindTheLimit() {
        ByteBuffer two = Octets.buffer("0100 4a4e 0002 000a 4142 0200 0000 0000 0000");

        assertThat(Framing.next(two, 0, 7)).isEqualTo(Framing.MORE);
        assertThat(Framing.next(two, 0, 9)).isEqualTo(Framing.MORE);
        assertThat(Framing.next(two, 0, 10)).isEqualTo(10);
        assertThat(Framing.next(two, 10, 10)).isEqualTo(Framing.MORE);
        assertThat(Framing.next(two, 10, 17)).isEqualTo(Framing.MORE);
        assertThat(Framing.next(two, 10, 18)).isEqualTo(Framing.BROKEN);
        assertThat(Framing.fault(two, 10)).isEqualTo(ParseFault.VERSION);
    }

    @Test
    void readsWhatTheHeaderClaims() {
        ByteBuffer header = Octets.buffer("0100 4a4e 3fff ffff");

        assertThat(Framing.claimedLength(header, 0)).isEqualTo(65_535);
        assertThat(Framing.claimedHeaderLength(header, 0)).isEqualTo(65_532);
        assertThat(Framing.fault(header, 0)).isNull();
        assertThat(Framing.next(header, 0, 8)).isEqualTo(Framing.MORE);
        assertThat(Framing.claimedHeaderLength(Octets.buffer("0100 4a4e ffff ffff"), 0))
                .isEqualTo(262_140);
    }

    @Test
    void findsThePreviousNodeInAHeaderWhosePayloadIsMissing() {
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), 4711);
        Packet packet =
                new PacketBuilder().stream(1).service("a").previousNode(false).build(ByteBuffer.allocate(100));
        assertThat(Framing.previousNode(packet.buffer(), 0, Anep.DEFAULT_TYPE_ID))
                .isNull();
        NodeOptions.setPreviousNode(packet, PreviousNode.of(server));
        ByteBuffer header = packet.buffer().slice(0, packet.headerLength());
        assertThat(Framing.previousNode(header, 0, Anep.DEFAULT_TYPE_ID)).isEqualTo(server);
        assertThat(Framing.previousNode(header, 0, 1)).isNull();
        assertThat(packet.previousNode()).isEqualTo(server);
    }

    @Test
    void findsNoPreviousNodeInAnOptionThatDoesNotFit() {
        for (byte[] payload : new byte[][] {{}, {0, 0, 0, 1}, {0, 0, 0, 1, 10, 0, 0, 1, 0, 80, 0, 0, 0, 0, 0, 0}}) {
            ByteBuffer octets = ByteBuffer.allocate(64);
            new PacketBuilder().option(Option.PREVIOUS_NODE.wireType(), payload).write(octets, ByteBuffer.allocate(0));
            assertThat(Framing.previousNode(octets, 0, Anep.DEFAULT_TYPE_ID)).isNull();
        }
        ByteBuffer portless = ByteBuffer.allocate(64);
        new PacketBuilder()
                .option(Option.PREVIOUS_NODE.wireType(), new byte[] {0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0})
                .write(portless, ByteBuffer.allocate(0));
        assertThat(Framing.previousNode(portless, 0, Anep.DEFAULT_TYPE_ID)).isNull();
    }
}

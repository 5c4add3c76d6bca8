package org.tamanoir.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.StreamCodec;

class PacketCodecTest {
    private static final InetSocketAddress SENDER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 50_000);
    private static final InetSocketAddress FAR = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7_000);
    private static final long KEY = ServiceKey.of("org.example.Shout");

    private static Gateway gateway(StreamFormat format) {
        return new Gateway(SENDER, FAR, format, KEY, 3, Anep.DEFAULT_TYPE_ID);
    }

    private static StreamFormat found(String name) {
        return Objects.requireNonNull(StreamFormats.find(name), name);
    }

    /** Translates what there is; returns the packets. */
    private static List<Packet> decode(StreamCodec codec, byte[] octets, int[] pieces) throws IOException {
        List<Packet> packets = new ArrayList<>();
        ByteBuffer units = ByteBuffer.wrap(octets);
        int start = 0;
        for (int end : pieces) {
            int length;
            while ((length = codec.decodedOctets(units, start, end)) > 0) {
                ByteBuffer room = ByteBuffer.allocate(length + 8);
                start += codec.decode(units, start, end, room, 5);
                Packet packet = new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
                assertThat(packet.parse(room, 5, length)).isNull();
                assertThat(packet.length()).isEqualTo(length);
                packets.add(packet);
            }
        }
        assertThat(start).as("all is translated").isEqualTo(octets.length);
        return packets;
    }

    private static byte[] encode(StreamCodec codec, List<Packet> packets) {
        ByteBuffer units = ByteBuffer.allocate(1 << 20);
        int at = 0;
        for (Packet packet : packets) {
            int octets = codec.encodedOctets(packet.buffer(), packet.offset());
            assertThat(codec.encode(packet.buffer(), packet.offset(), units, at))
                    .isEqualTo(packet.length());
            at += octets;
        }
        return Arrays.copyOf(units.array(), at);
    }

    @Test
    void aPacketHasTheGatewaysHeader() throws IOException {
        Packet packet = decode(gateway(new LengthPrefixed()).codec(SENDER), new byte[] {0, 0, 0, 1, 9}, new int[] {5})
                .get(0);
        assertThat(packet.serviceKey()).isEqualTo(KEY);
        assertThat(packet.classOfService()).isEqualTo(3);
        assertThat(packet.destination()).isEqualTo(FAR.getAddress());
        assertThat(packet.destinationPort()).isEqualTo(7_000);
        assertThat(packet.source()).isEqualTo(SENDER.getAddress());
        assertThat(packet.payloadLength()).isOne();
    }

    @Test
    void aConnectionOfOctetsBeginsWithAPacketThatStandsForNone() throws IOException {
        StreamCodec codec = gateway(new Octets()).codec(SENDER);
        List<Packet> packets = decode(codec, new byte[] {1, 2, 3}, new int[] {0, 3});
        assertThat(packets.stream().map(Packet::payloadLength)).containsExactly(0, 3);
        assertThat(encode(codec, packets)).containsExactly(1, 2, 3);
        assertThat(gateway(new Octets()).farCodec().decodedOctets(ByteBuffer.allocate(0), 0, 0))
                .isZero();
    }

    @Test
    void unitsComeBackAsTheyWereHoweverTheyAreSplit() throws IOException {
        long seed = Seeds.ofCommit(PacketCodecTest.class);
        Random random = new Random(seed);
        for (int round = 0; round < Seeds.scaled(500); round++) {
            for (String name : List.of("length-prefixed", "octets", "lines")) {
                byte[] octets = octets(name, random);
                int[] pieces = random.ints(random.nextInt(20), 0, octets.length + 1)
                        .sorted()
                        .toArray();
                int[] ends = Arrays.copyOf(pieces, pieces.length + 1);
                ends[pieces.length] = octets.length;
                StreamCodec codec = gateway(found(name)).codec(SENDER);
                assertThat(encode(codec, decode(codec, octets, ends))).isEqualTo(octets);
            }
        }
    }

    private static byte[] octets(String format, Random random) {
        ByteBuffer octets = ByteBuffer.allocate(200_000);
        for (int unit = random.nextInt(6); unit >= 0; unit--) {
            byte[] payload = new byte[random.nextInt(random.nextBoolean() ? 10 : 30_000)];
            random.nextBytes(payload);
            switch (format) {
                case "length-prefixed" -> octets.putInt(payload.length).put(payload);
                case "lines" -> octets.put(payload).put((byte) '\n');
                default -> octets.put(payload);
            }
        }
        return Arrays.copyOf(octets.array(), octets.position());
    }

    @Test
    void aMessageThatFitsNoPacketIsRefusedBeforeItHasCome() {
        StreamCodec codec = gateway(new LengthPrefixed()).codec(SENDER);
        for (int length : new int[] {65_536, 1 << 30, Integer.MAX_VALUE, -1, Integer.MIN_VALUE, -4}) {
            ByteBuffer units = ByteBuffer.allocate(4).putInt(0, length);
            assertThatThrownBy(() -> codec.decodedOctets(units, 0, 4))
                    .isInstanceOf(IOException.class)
                    .hasMessageMatching("a message of length-prefixed says that it has "
                            + Integer.toUnsignedString(length)
                            + " octets: 0 to 6\\d{4} fit a packet; send shorter ones");
        }
    }

    @Test
    void theLongestMessageThatFitsIsTaken() throws IOException {
        StreamCodec codec = gateway(new LengthPrefixed()).codec(SENDER);
        ByteBuffer one = ByteBuffer.allocate(5).putInt(0, 1);
        int most = Anep.MAX_PACKET_OCTETS - codec.decodedOctets(one, 0, 5) + 1;
        ByteBuffer units = ByteBuffer.allocate(4 + most).putInt(0, most);
        assertThat(codec.decodedOctets(units, 0, 4 + most)).isEqualTo(Anep.MAX_PACKET_OCTETS);
        assertThatThrownBy(() -> codec.decodedOctets(units.putInt(0, most + 1), 0, 4))
                .isInstanceOf(IOException.class);
    }
}

package org.tamanoir.cluster.element.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.element.RingMember;
import org.tamanoir.cluster.element.Token;
import org.tamanoir.support.Seeds;

class RingCodecTest {
    private static final byte[] KEY = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e0f");
    private static final InetSocketAddress ZERO = new InetSocketAddress("127.0.0.1", 7000);
    private static final InetSocketAddress ONE = new InetSocketAddress("::1", 7001);
    private static final InetSocketAddress DISTRIBUTOR = new InetSocketAddress("127.0.0.1", 7009);
    private static final Peers PEERS = new Peers(Map.of(0, ZERO, 1, ONE, RingPlan.DISTRIBUTOR, DISTRIBUTOR));

    private final RingCodec codec = new RingCodec(0x01020304, KEY, PEERS);
    private final List<Object> heard = new ArrayList<>();
    private final Party party = new Party() {
        @Override
        public void token(int from, Token token) {
            heard.add(token);
        }

        @Override
        public void message(int from, Message message) {
            heard.add(message);
        }

        @Override
        public long deadlineNs() {
            return Long.MAX_VALUE;
        }

        @Override
        public void expire() {}
    };

    private static byte[] bytes(ByteBuffer datagram) {
        byte[] bytes = new byte[datagram.remaining()];
        datagram.get(bytes);
        return bytes;
    }

    private @Nullable Refusal decode(byte[] datagram, InetSocketAddress from) {
        return codec.decode(ByteBuffer.wrap(datagram), from, party);
    }

    private static final Token TOKEN = new Token(0x0007_0000_0000_0009L, -2L, 3, 40, 65_535, 254);

    private static List<Message> messages() {
        RingMember.State state = new RingMember.State(0x0007_0000_0000_0009L, 11, 12, 13, true);
        return List.of(
                new Message.Wake(0, -5L),
                new Message.Report(false, 0, 15, 254, -7L, state),
                new Message.Report(true, 0, 4, RingPlan.DISTRIBUTOR, 0, state),
                new Message.Ring(new RingView(65_535, 0, -1L, List.of(0, 1))),
                new Message.Taken(65_535, 0));
    }

    /** Of the paper's appendix A: key 00 to 0f, message 00 to 0e, and the empty one. */
    @Test
    void tagsAreThoseOfTheReferenceImplementation() {
        byte[] message = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e");
        assertThat(codec.tag(ByteBuffer.wrap(message), 15)).isEqualTo(0xa129ca6149be45e5L);
        assertThat(codec.tag(ByteBuffer.wrap(message), 0)).isEqualTo(0x726fdb47dd0e0e31L);
    }

    @Test
    void aTokenHasTheLayoutOfTheSpecification() {
        byte[] datagram = bytes(codec.encode(TOKEN));
        assertThat(datagram).hasSize(48);
        assertThat(HexFormat.of().formatHex(datagram, 0, 40))
                .isEqualTo("46435431" + "01020304" + "0007000000000009" + "fffffffffffffffe" + "0000000000000003"
                        + "00000028" + "ffff" + "00" + "fe");
    }

    @Test
    void otherMessagesHaveTheLayoutOfTheSpecification() {
        List<String> texts = messages().stream()
                .map(message -> bytes(codec.encode(message)))
                .map(bytes -> HexFormat.of().formatHex(bytes, 0, bytes.length - 8))
                .toList();
        String state = "0007000000000009" + "000000000000000b" + "0000000c" + "000000000000000d";
        assertThat(texts)
                .containsExactly(
                        "46435457" + "01020304" + "0000" + "0000" + "fffffffffffffffb",
                        "46435450" + "01020304" + "0000" + "ff" + "0f" + state + "fffffffffffffff9",
                        "46435451" + "01020304" + "0000" + "0004" + state + "0000000000000000",
                        "46435452" + "01020304" + "ffff" + "02" + "00" + "ffffffffffffffff"
                                + "0000" + "00000000000000000000ffff7f000001" + "1b58"
                                + "0001" + "00000000000000000000000000000001" + "1b59",
                        "46435441" + "01020304" + "ffff" + "0000");
    }

    @Test
    void whatIsSentIsHeard() {
        assertThat(decode(bytes(codec.encode(TOKEN)), ZERO)).isNull();
        for (Message message : messages()) {
            assertThat(decode(bytes(codec.encode(message)), ZERO)).isNull();
        }
        List<Object> expected = new ArrayList<>(List.of(TOKEN));
        expected.addAll(messages());
        assertThat(heard).isEqualTo(expected);
    }

    @Test
    void anAddressThatIsNotListedIsRefused() {
        assertThat(decode(bytes(codec.encode(TOKEN)), new InetSocketAddress("127.0.0.1", 7002)))
                .isEqualTo(Refusal.ADDRESS);
    }

    @Test
    void oneThatSpeaksForAnotherIsRefused() {
        for (Message message : messages()) {
            assertThat(decode(bytes(codec.encode(message)), ONE)).isEqualTo(Refusal.ADDRESS);
        }
    }

    @Test
    void aRingWithOtherAddressesIsRefused() {
        Peers others = new Peers(Map.of(0, ZERO, 1, new InetSocketAddress("::1", 7002)));
        RingCodec other = new RingCodec(0x01020304, KEY, others);
        assertThat(decode(bytes(other.encode(messages().get(3))), ZERO)).isEqualTo(Refusal.ADDRESS);
    }

    @Test
    void anotherRingIsRefused() {
        RingCodec other = new RingCodec(2, KEY, PEERS);
        assertThat(decode(bytes(other.encode(TOKEN)), ZERO)).isEqualTo(Refusal.RING);
    }

    @Test
    void anotherKeyIsRefused() {
        RingCodec other = new RingCodec(0x01020304, new byte[16], PEERS);
        assertThat(decode(bytes(other.encode(TOKEN)), ZERO)).isEqualTo(Refusal.TAG);
    }

    @Test
    void aChangeOfAnyBitIsRefused() {
        List<byte[]> datagrams = new ArrayList<>(List.of(bytes(codec.encode(TOKEN))));
        messages().forEach(message -> datagrams.add(bytes(codec.encode(message))));
        for (byte[] datagram : datagrams) {
            for (int bit = 0; bit < datagram.length * 8; bit++) {
                byte[] forged = datagram.clone();
                forged[bit / 8] ^= (byte) (1 << bit % 8);
                assertThat(decode(forged, ZERO)).as("bit " + bit).isNotNull();
            }
        }
        assertThat(heard).isEmpty();
    }

    @Test
    void anyOtherLengthIsRefused() {
        for (Message message : messages()) {
            byte[] datagram = bytes(codec.encode(message));
            for (int length = 0; length <= datagram.length + 4; length++) {
                if (length != datagram.length) {
                    assertThat(decode(Arrays.copyOf(datagram, length), ZERO)).isEqualTo(Refusal.FORM);
                }
            }
        }
    }

    @Test
    void randomBytesAreRefused() {
        Random random = new Random(Seeds.ofCommit(RingCodecTest.class));
        for (int i = 0; i < Seeds.scaled(10_000); i++) {
            byte[] datagram = new byte[random.nextInt(RingCodec.MAX_BYTES)];
            random.nextBytes(datagram);
            if (datagram.length > 8 && i % 2 == 0) {
                ByteBuffer.wrap(datagram)
                        .put(new byte[] {'F', 'C', 'T', (byte) "1WPQRA".charAt(i % 6)})
                        .putInt(0x01020304);
            }
            assertThat(decode(datagram, ZERO)).isNotNull();
        }
    }

    @Test
    void oneAddressForTwoIsRefusedByTheirNames() {
        assertThatThrownBy(() -> new Peers(Map.of(0, ZERO, RingPlan.DISTRIBUTOR, ZERO)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "control address 127.0.0.1:7000 is that of unit 0 and the distributor: give each its own port");
    }

    @Test
    void aKeyOfAnotherLengthIsRefused() {
        assertThatThrownBy(() -> new RingCodec(1, new byte[15], PEERS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("15 bytes")
                .hasMessageContaining("16");
    }
}

package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

/** What a stranger can have of a QUIC port before it has shown its address, and how much after. */
class QuicGuardsTest {
    private static final byte[] NAME = {1, 2, 3, 4, 5, 6, 7, 8};

    private final InetSocketAddress peer = new InetSocketAddress("192.0.2.1", 4000);
    private long nowNs = 7;
    private boolean hasRoom = true;
    private final QuicTokens tokens = new QuicTokens(() -> nowNs, address -> hasRoom);

    private ByteBuf token() {
        ByteBuf token = Unpooled.buffer();
        assertThat(tokens.writeToken(token, Unpooled.wrappedBuffer(NAME), peer)).isTrue();
        return token;
    }

    private static InetAddress address(String text) throws UnknownHostException {
        return InetAddress.getByName(text);
    }

    @Test
    void aTokenIsTakenFromItsAddressAndGivesTheConnectionsName() {
        ByteBuf token = token();

        int offset = tokens.validateToken(token, peer);

        assertThat(token.slice(offset, token.readableBytes() - offset)).isEqualTo(Unpooled.wrappedBuffer(NAME));
    }

    @Test
    void aTokenOfAnotherAddressOrPortIsNone() {
        ByteBuf token = token();

        assertThat(tokens.validateToken(token, new InetSocketAddress("192.0.2.2", 4000)))
                .isNegative();
        assertThat(tokens.validateToken(token, new InetSocketAddress("192.0.2.1", 4001)))
                .isNegative();
    }

    @Test
    void aTokenWithAnyBitChangedIsNone() {
        for (int bit = 0; bit < token().readableBytes() * 8; bit++) {
            ByteBuf changed = token();
            changed.setByte(bit / 8, changed.getByte(bit / 8) ^ (1 << bit % 8));
            assertThat(tokens.validateToken(changed, peer))
                    .describedAs("bit %s", bit)
                    .isNegative();
        }
    }

    @Test
    void aTokenOfEachOtherLengthIsNone() {
        for (int bytes = 0; bytes < 80; bytes++) {
            ByteBuf other = Unpooled.buffer().writeBytes(token(), 0, Math.min(bytes, 32));
            other.writeZero(bytes - other.readableBytes());
            if (bytes != 32) {
                assertThat(tokens.validateToken(other, peer))
                        .describedAs("%s bytes", bytes)
                        .isNegative();
            }
        }
    }

    @Test
    void aTokenLivesTenSeconds() {
        ByteBuf token = token();

        nowNs += QuicTokens.LIFE_NS;
        assertThat(tokens.validateToken(token, peer)).isPositive();
        nowNs++;
        assertThat(tokens.validateToken(token, peer)).isNegative();
    }

    @Test
    void aGoodTokenWithoutRoomIsDropped() {
        ByteBuf token = token();
        hasRoom = false;

        assertThat(tokens.validateToken(token, peer)).isNegative();
    }

    @Test
    void oneAddressGetsItsPartOfThePlacesAndNotMore() throws IOException {
        QuicPlaces places = new QuicPlaces(3, 2);

        assertThat(places.take(address("192.0.2.1"))).isTrue();
        assertThat(places.take(address("192.0.2.1"))).isTrue();
        assertThat(places.take(address("192.0.2.1"))).isFalse();
        assertThat(places.take(address("192.0.2.2"))).isTrue();
        assertThat(places.take(address("192.0.2.3"))).isFalse();

        places.give(address("192.0.2.1"));
        assertThat(places.take(address("192.0.2.3"))).isTrue();
        assertThat(places.taken()).isEqualTo(3);
    }

    @Test
    void anIpv6NetworkIsOnePeer() throws IOException {
        QuicPlaces places = new QuicPlaces(3, 1);

        assertThat(places.take(address("2001:db8::1"))).isTrue();
        assertThat(places.take(address("2001:db8::2"))).isFalse();
        assertThat(places.take(address("2001:db8:0:1::1"))).isTrue();
    }

    @Test
    void shortDatagramsThatWouldBeAnsweredAreDropped() {
        assertThat(QuicShortInitials.mayBeAnswered(datagram(0xC3, 1, 1199))).isFalse();
        assertThat(QuicShortInitials.mayBeAnswered(datagram(0xC3, 1, 1200))).isTrue();
        assertThat(QuicShortInitials.mayBeAnswered(datagram(0xE3, 0x1A2A3A4A, 300)))
                .isFalse();
        assertThat(QuicShortInitials.mayBeAnswered(datagram(0xC3, 1, 5))).isFalse();
        assertThat(QuicShortInitials.mayBeAnswered(Unpooled.wrappedBuffer(new byte[3])))
                .isFalse();
    }

    @Test
    void shortDatagramsOfConnectionsPass() {
        assertThat(QuicShortInitials.mayBeAnswered(datagram(0xE3, 1, 100))).isTrue();
        assertThat(QuicShortInitials.mayBeAnswered(datagram(0x43, 0, 30))).isTrue();
    }

    private static ByteBuf datagram(int first, int version, int bytes) {
        return Unpooled.buffer().writeByte(first).writeInt(version).writeZero(bytes - 5);
    }
}

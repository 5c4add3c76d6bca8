package org.tamanoir.rtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is known of sources, by the algorithms of RFC 3550, A.1, A.3 and A.8. */
class RtpSourcesTest {
    private static final long MS_NS = 1_000_000;
    private static final long LOW = 0xFFFF_7F00_0001L;
    private static final int PORT = 5004;
    private static final int OTHER_HZ = 90_000;

    private final RtpSources sources = new RtpSources();
    private long nowNs = 1_000 * MS_NS;

    private String take(String hexadecimal) {
        byte[] octets = HexFormat.of().parseHex(hexadecimal.replace(" ", ""));
        return String.valueOf(sources.take(ByteBuffer.wrap(octets), 0, octets.length, 0, LOW, PORT, OTHER_HZ, nowNs));
    }

    /** Takes one of payload type 0, whose clock is 8,000 Hz. */
    private void take(int ssrc, int sequence, int timestamp) {
        ByteBuffer packet = ByteBuffer.allocate(14)
                .putShort((short) 0x8000)
                .putShort((short) sequence)
                .putInt(timestamp)
                .putInt(ssrc);
        assertThat(sources.take(packet, 0, 14, 0, LOW, PORT, OTHER_HZ, nowNs)).isNull();
    }

    private void takeAll(int ssrc, int... sequences) {
        for (int sequence : sequences) {
            take(ssrc, sequence, 0);
        }
    }

    private RtpStatus only() {
        assertThat(sources.status()).hasSize(1);
        return sources.status().get(0);
    }

    @Test
    void twoPacketsInOrderMakeASource() {
        takeAll(1, 10, 12, 20);
        assertThat(sources.status()).isEmpty();
        takeAll(1, 21, 22);
        assertThat(only().received()).as("from the second in order on").isEqualTo(2);
        assertThat(only().lost()).isZero();
    }

    @Test
    void countsAcrossTheEndOfTheNumbers() {
        takeAll(1, 65_533, 65_534, 65_535, 1, 2);
        assertThat(only().received()).isEqualTo(4);
        assertThat(only().lost()).as("number 0").isEqualTo(1);
    }

    @Test
    void onesThatComeLateOrTwiceAreNotLost() {
        takeAll(1, 1, 2, 3, 5, 4, 6);
        assertThat(only().lost()).isZero();
        assertThat(only().misordered()).isEqualTo(1);
        takeAll(1, 6);
        assertThat(only().lost()).as("came twice").isEqualTo(-1);
        assertThat(only().misordered()).isEqualTo(2);
    }

    @Test
    void aSenderThatBeginsAnewIsBelievedWithTwoInOrder() {
        takeAll(1, 1, 2, 3, 30_000);
        assertThat(only().received()).isEqualTo(2);
        takeAll(1, 30_001, 30_002);
        assertThat(only().received()).as("since it has begun anew").isEqualTo(2);
        assertThat(only().lost()).isZero();
    }

    /** 20 ms are 160 of 8,000 Hz. Transits differ by 80 once, and back: 0 + 80 - 0 = 80, then 80 + 80 - 5 = 155, 155/16 = 9. */
    @Test
    void jitterIsThatOfTheRfc() {
        take(1, 1, 0);
        nowNs += 20 * MS_NS;
        take(1, 2, 160);
        nowNs += 30 * MS_NS;
        take(1, 3, 320);
        assertThat(only().jitterMs()).isEqualTo(5 / 8.0, within(1e-9));
        nowNs += 10 * MS_NS;
        take(1, 4, 480);
        assertThat(only().jitterMs()).isEqualTo(9 / 8.0, within(1e-9));
    }

    @Test
    void readsTheReportsOfASenderAndAReceiver() {
        takeAll(7, 1, 2);
        assertThat(take("80c8 0006 0000 0007 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000"
                        + "81c9 0007 0000 0063 0000 0007 40ff ffff 0001 0003 0000 0010 0000 0000 0000 0000"))
                .isEqualTo("null");
        assertThat(only().report()).isEqualTo(new RtpReport(64, -1, 0x1_0003, 16));
    }

    @Test
    void goodbyeEndsASource() {
        takeAll(7, 1, 2);
        take("81cb 0001 0000 0007");
        assertThat(only().hasEnded()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "8000 0001 0000|6 octets: at least 8 are wanted",
                "4000 0001 0000 0000 0000 0007|version 1: 2 is wanted",
                "8100 0001 0000 0000 0000 0007|CSRCs or an extension beyond its end",
                "8f00 0001 0000 0000 0000 0007 0000 0000|CSRCs or an extension beyond its end",
                "9000 0001 0000 0000 0000 0007|CSRCs or an extension beyond its end",
                "9000 0001 0000 0000 0000 0007 0000 ffff|CSRCs or an extension beyond its end",
                "a000 0001 0000 0000 0000 0007 0000|padding of no octet, or beyond its header",
                "a000 0001 0000 0000 0000 0007 0003|padding of no octet, or beyond its header",
                "82c9 0001 0000 0007|RTCP report of 2 blocks beyond its end",
                "80c9 0002 0000 0007|RTCP of another version than 2, or beyond its datagram",
                "a0c9 0001 0000 0007 80c9 0001 0000 0007|RTCP with padding in the midst",
                "9fcb 0001 0000 0007|RTCP BYE of 31 sources beyond its end",
                "80c9 0001 0000 0007 80c9|RTCP of 2 octets: at least 4 are wanted"
            })
    void whatIsNeitherIsSaidToBe(String hexadecimal, String wrong) {
        assertThat(take(hexadecimal)).isEqualTo(wrong);
        assertThat(sources.status()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "9000 0001 0000 0000 0000 0007 bede 0001 0102 0304",
                "8200 0001 0000 0000 0000 0007 0000 0001 0000 0002",
                "a000 0001 0000 0000 0000 0007 ff01"
            })
    void headersOfEveryKindAreTaken(String hexadecimal) {
        assertThat(take(hexadecimal)).isEqualTo("null");
    }

    @Test
    void findsTheMediaBetweenHeaderAndPadding() {
        byte[] octets = HexFormat.of()
                .parseHex("b180 0102 0000 0003 0000 0004 0000 0005 bede 0001 0000 0000 aabb cc02".replace(" ", ""));
        RtpPacket packet = new RtpPacket();
        assertThat(packet.read(ByteBuffer.wrap(octets), 0, octets.length)).isNull();
        assertThat(packet.headerOctets()).isEqualTo(24);
        assertThat(packet.mediaOctets()).isEqualTo(2);
        assertThat(packet.marker()).isTrue();
        assertThat(packet.payloadType()).isZero();
        assertThat(packet.sequence()).isEqualTo(0x0102);
        assertThat(packet.timestamp()).isEqualTo(3);
        assertThat(packet.ssrc()).isEqualTo(4);
        assertThat(packet.csrcs()).isEqualTo(1);
    }

    @Test
    void aFloodOfSourcesTakesNothingFromOneThatCounts() {
        takeAll(1, 1, 2);
        for (int ssrc = 2; ssrc < 5_000; ssrc++) {
            takeAll(ssrc, 1);
        }
        takeAll(1, 3);
        assertThat(only().received()).isEqualTo(2);
        assertThat(sources.crowded()).isZero();
    }

    @Test
    void sourcesThatCountGiveWayWhenTheyAreQuietForAMinute() {
        for (int ssrc = 0; ssrc < RtpSources.MAX_SOURCES; ssrc++) {
            takeAll(ssrc, 1, 2);
        }
        takeAll(5_000, 1, 2);
        assertThat(sources.crowded()).isEqualTo(2);
        nowNs += 60_000 * MS_NS;
        takeAll(5_000, 3, 4);
        assertThat(sources.status()).hasSize(RtpSources.MAX_SOURCES).anyMatch(each -> each.ssrc() == 5_000);
    }

    @Test
    void anyOctetsAreReadOrRefused() {
        SplittableRandom random = new SplittableRandom(3550);
        for (int i = 0; i < 200_000; i++) {
            byte[] octets = new byte[random.nextInt(80)];
            random.nextBytes(octets);
            if (octets.length > 1) {
                octets[0] = (byte) (octets[0] & 0x3F | 0x80);
                octets[1] = random.nextInt(3) == 0 ? (byte) (200 + random.nextInt(5)) : octets[1];
            }
            sources.take(ByteBuffer.wrap(octets), 0, octets.length, 0, random.nextInt(3), PORT, OTHER_HZ, nowNs);
        }
        assertThat(sources.status()).hasSizeLessThanOrEqualTo(RtpSources.MAX_SOURCES);
    }
}

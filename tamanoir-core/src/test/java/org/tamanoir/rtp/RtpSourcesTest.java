package org.tamanoir.rtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.admission.FairPlaces;

/** What is known of sources, by the algorithms of RFC 3550, A.1, A.3 and A.8. */
class RtpSourcesTest {
    private static final long MS_NS = 1_000_000;
    private static final long LOW = 0xFFFF_7F00_0001L;
    private static final int PORT = 5004;
    private static final int OTHER_HZ = 90_000;

    private static final InetSocketAddress FAR = new InetSocketAddress("10.0.0.9", 5006);

    private final RtpSources sources = new RtpSources(FAR, OTHER_HZ);
    private final RtpPacket reads = new RtpPacket();
    private long nowNs = 1_000 * MS_NS;
    private long low = LOW;
    private boolean isBack;

    private String take(String hexadecimal) {
        byte[] octets = HexFormat.of().parseHex(hexadecimal.replace(" ", ""));
        return String.valueOf(take(ByteBuffer.wrap(octets), octets.length));
    }

    private @Nullable String take(ByteBuffer memory, int octets) {
        String wrong = reads.read(memory, 0, octets);
        return wrong == null ? sources.take(reads, 0, low, PORT, isBack, nowNs) : wrong;
    }

    /** Takes one of payload type 0, whose clock is 8,000 Hz. */
    private void take(int ssrc, int sequence, int timestamp) {
        ByteBuffer packet = ByteBuffer.allocate(14)
                .putShort((short) 0x8000)
                .putShort((short) sequence)
                .putInt(timestamp)
                .putInt(ssrc);
        assertThat(take(packet, 14)).isNull();
    }

    private void takeAll(int ssrc, int... sequences) {
        for (int sequence : sequences) {
            take(ssrc, sequence, 0);
        }
    }

    private List<RtpStatus> status() {
        return sources.status().status();
    }

    private RtpStatus only() {
        assertThat(status()).hasSize(1);
        return status().get(0);
    }

    @Test
    void twoPacketsInOrderMakeASource() {
        takeAll(1, 10, 12, 20);
        assertThat(status()).isEmpty();
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

    /** RFC 3550, 6.6: valid, but useless. */
    @Test
    void aGoodbyeOfNobodyIsTaken() {
        assertThat(take("80cb 0000")).isEqualTo("null");
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
                "8000 00|3 octets: at least 4 are wanted",
                "8000 0001 0000|6 octets: at least 12 are wanted",
                "4000 0001 0000 0000 0000 0007|version 1: 2 is wanted",
                "8100 0001 0000 0000 0000 0007|CSRCs or an extension beyond its end",
                "8f00 0001 0000 0000 0000 0007 0000 0000|CSRCs or an extension beyond its end",
                "9000 0001 0000 0000 0000 0007|CSRCs or an extension beyond its end",
                "9000 0001 0000 0000 0000 0007 0000 ffff|CSRCs or an extension beyond its end",
                "82c9 0001 0000 0007|RTCP report of 2 blocks beyond its end",
                "80c9 0002 0000 0007|RTCP of another version than 2, or beyond its datagram",
                "9fcb 0001 0000 0007|RTCP BYE of 31 sources beyond its end"
            })
    void whatIsNeitherIsSaidToBe(String hexadecimal, String wrong) {
        assertThat(take(hexadecimal)).isEqualTo(wrong);
        assertThat(status()).isEmpty();
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

    /** RFC 3711: a tag stands behind encrypted media, padding and reasons. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "a000 0001 0000 0000 0000 0007 0000",
                "a000 0001 0000 0000 0000 0007 00ff",
                "a0c9 0001 0000 0007 8000 0001 1234 5678",
                "a0c9 0002 0000 0007 0000 0003",
                "81cb 0002 0000 0007 ff00 0000"
            })
    void encryptedPaddingAndReasonsAreTaken(String hexadecimal) {
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
        assertThat(packet.paddingOctets()).isEqualTo(2);
        assertThat(packet.marker()).isTrue();
        assertThat(packet.payloadType()).isZero();
        assertThat(packet.sequence()).isEqualTo(0x0102);
        assertThat(packet.timestamp()).isEqualTo(3);
        assertThat(packet.ssrc()).isEqualTo(4);
        assertThat(packet.csrcs()).isEqualTo(1);
        octets[octets.length - 1] = 5;
        assertThat(packet.read(ByteBuffer.wrap(octets), 0, octets.length)).isNull();
        assertThat(packet.paddingOctets()).isEqualTo(-1);
        assertThat(packet.mediaOctets())
                .as("of padding that there is no room for")
                .isEqualTo(4);
    }

    @Test
    void aFloodOfSourcesTakesNothingFromOneThatCounts() {
        takeAll(1, 1, 2);
        for (int ssrc = 2; ssrc < 5_000; ssrc++) {
            takeAll(ssrc, 1);
        }
        takeAll(1, 3);
        assertThat(only().received()).isEqualTo(2);
        assertThat(sources.status().crowded()).isZero();
    }

    @Test
    void sourcesThatCountGiveWayWhenTheyAreQuietForAMinute() {
        for (int ssrc = 0; ssrc < RtpSources.MAX_SOURCES; ssrc++) {
            low = LOW + ssrc;
            takeAll(ssrc, 1, 2);
        }
        takeAll(5_000, 1, 2);
        assertThat(sources.status().crowded()).isEqualTo(2);
        nowNs += 60_000 * MS_NS;
        takeAll(5_000, 3, 4);
        assertThat(status()).hasSize(RtpSources.MAX_SOURCES).anyMatch(each -> each.ssrc() == 5_000);
    }

    @Test
    void oneSenderKeepsNoMorePlacesThanHisShare() {
        for (int ssrc = 0; ssrc < RtpSources.MAX_SOURCES; ssrc++) {
            takeAll(ssrc, 1, 2);
        }
        low = LOW + 1;
        takeAll(5_000, 1, 2);
        assertThat(status()).hasSize(RtpSources.MAX_SOURCES).anyMatch(each -> each.ssrc() == 5_000);
        low = LOW;
        for (int ssrc = 6_000; ssrc < 8_000; ssrc++) {
            takeAll(ssrc, 1, 2);
        }
        assertThat(status()).as("a flood of another one's").anyMatch(each -> each.ssrc() == 5_000);
        assertThat(status().stream().filter(each -> each.ssrc() < RtpSources.MAX_SOURCES))
                .hasSize(FairPlaces.share(RtpSources.MAX_SOURCES));
    }

    /** SRTCP, RFC 3711: nobody here can tell it from what lies about its lengths. */
    @ParameterizedTest
    @ValueSource(strings = {"80c9", "40c9 0000", "80c9 0009 0000 0001", "80ca 0001 8c1e 33aa 8000 0001 0102 0304"})
    void whatIsBehindTheFirstPacketOfRtcpMayBeEncrypted(String behind) {
        takeAll(7, 1, 2);
        assertThat(take(REPORT_OF_7 + behind)).isEqualTo("null");
        assertThat(only().report()).isNotNull();
    }

    /** So that who chooses them has nobody look through all. */
    @Test
    void sourcesOfOneHostShareNoPlaceByChoice() {
        Set<Integer> places = new HashSet<>();
        for (int i = 0; i < 1_000; i++) {
            places.add(
                    new RtpSources.Key().set(0, LOW, 1 + 31 * i, 99 - i, false).hashCode());
        }
        assertThat(places).hasSizeGreaterThan(990);
    }

    private static final String REPORT_OF_7 =
            "81c9 0007 0000 0063 0000 0007 40ff ffff 0001 0003 0000 0010 0000 0000 0000 0000";

    @Test
    void onePacketOfAnotherTakesNoReportsAway() {
        takeAll(7, 1, 2);
        low = LOW + 1;
        takeAll(7, 1);
        take(REPORT_OF_7);
        assertThat(only().report()).isNotNull();
    }

    @Test
    void reportsAreOfAnotherOfTheSameNameWhenOneIsGone() {
        takeAll(7, 1, 2);
        low = LOW + 1;
        nowNs += MS_NS;
        takeAll(7, 1, 2);
        for (int more = 2; more < RtpSources.MAX_SOURCES; more++) {
            low = LOW + more;
            takeAll(100 + more, 1, 2);
        }
        nowNs += 60_000 * MS_NS - 1;
        takeAll(9, 1);
        take(REPORT_OF_7);
        assertThat(status().stream().filter(each -> each.ssrc() == 7))
                .as("the older one was quiet for a minute")
                .singleElement()
                .matches(each -> each.report() != null);
    }

    @Test
    void whatGoesBackToTwoSendersIsTwoSources() {
        isBack = true;
        takeAll(7, 1, 2);
        low = LOW + 1;
        takeAll(7, 1, 2);
        assertThat(status())
                .hasSize(2)
                .allMatch(each -> each.lost() == 0 && each.sender().equals(FAR));
        assertThat(status())
                .extracting(each -> each.receiver().getAddress().getHostAddress())
                .containsExactlyInAnyOrder("127.0.0.1", "127.0.0.2");
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
            low = LOW + random.nextInt(3);
            take(ByteBuffer.wrap(octets), octets.length);
        }
        assertThat(status()).hasSizeLessThanOrEqualTo(RtpSources.MAX_SOURCES);
    }
}

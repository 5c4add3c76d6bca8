package org.tamanoir.icmp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.support.Seeds;

/** Messages by octets of RFC 792 and RFC 4443: whole, cut off anywhere, and of chance. */
class IcmpMessageTest {
    private static final int AT = 3;
    private static final String UDP = "1b58138c00140000";
    private static final String V4 = "4500 0028 0000 4000 4011 0000 0a010002 0a020002".replace(" ", "");
    private static final String V6 = ("60000000 0014 1140 20010db8000000000000000000000001"
                    + "20010db8000000000000000000000002")
            .replace(" ", "");

    private final IcmpMessage message = new IcmpMessage();

    private @Nullable String read(String hex, boolean isIpv6) {
        return read(HexFormat.of().parseHex(hex), isIpv6);
    }

    private @Nullable String read(byte[] octets, boolean isIpv6) {
        ByteBuffer memory = ByteBuffer.allocate(AT + octets.length);
        memory.put(AT, octets);
        return message.read(memory, AT, octets.length, isIpv6);
    }

    @ParameterizedTest
    @CsvSource({
        "false, 8, 0, ECHO_REQUEST",
        "false, 0, 0, ECHO_REPLY",
        "false, 3, 3, UNREACHABLE",
        "false, 3, 4, PACKET_TOO_BIG",
        "false, 11, 0, TIME_EXCEEDED",
        "false, 12, 0, PARAMETER_PROBLEM",
        "false, 13, 0,",
        "false, 128, 0,",
        "true, 128, 0, ECHO_REQUEST",
        "true, 129, 0, ECHO_REPLY",
        "true, 1, 4, UNREACHABLE",
        "true, 2, 0, PACKET_TOO_BIG",
        "true, 3, 4, TIME_EXCEEDED",
        "true, 4, 1, PARAMETER_PROBLEM",
        "true, 135, 0,",
        "true, 8, 0,"
    })
    void typesAreThoseOfTheirFamily(boolean isIpv6, int type, int code, IcmpType expected) {
        assertThat(IcmpType.of(isIpv6, type, code)).isEqualTo(expected);
        assertThat(read(new byte[] {(byte) type, (byte) code, 0, 0, 0, 0, 0, 0}, isIpv6))
                .isNull();
        assertThat(message.kind()).isEqualTo(expected);
        assertThat(message.type()).isEqualTo(type);
        assertThat(message.code()).isEqualTo(code);
    }

    @Test
    void anEchoHasIdentifierSequenceAndData() {
        assertThat(read("8001f7ff fedc ba98 0102".replace(" ", ""), true)).isNull();
        assertThat(message.checksum()).isEqualTo(0xF7FF);
        assertThat(message.identifier()).isEqualTo(0xFEDC);
        assertThat(message.sequence()).isEqualTo(0xBA98);
        assertThat(message.dataOctets()).isEqualTo(2);
        assertThat(message.hasOriginal()).isFalse();
        assertThat(message.originalDestinationPort()).isEqualTo(IcmpMessage.UNKNOWN);
    }

    @Test
    void anErrorSaysWhatItIsAbout() {
        assertThat(read("03040000 0000 0500".replace(" ", "") + V4 + UDP, false))
                .isNull();
        assertThat(message.mtu()).isEqualTo(1280);
        assertThat(message.originalProtocol()).isEqualTo(17);
        assertThat(message.originalSourceHigh()).isZero();
        assertThat(message.originalSourceLow()).isEqualTo(0xFFFF_0A01_0002L);
        assertThat(message.originalDestinationLow()).isEqualTo(0xFFFF_0A02_0002L);
        assertThat(message.originalSourcePort()).isEqualTo(7000);
        assertThat(message.originalDestinationPort()).isEqualTo(5004);
        assertThat(read("0200000000000500" + V6 + UDP, true)).isNull();
        assertThat(message.mtu()).isEqualTo(1280);
        assertThat(message.originalSourceHigh()).isEqualTo(0x2001_0db8_0000_0000L);
        assertThat(message.originalSourceLow()).isEqualTo(1);
        assertThat(message.originalDestinationHigh()).isEqualTo(0x2001_0db8_0000_0000L);
        assertThat(message.originalDestinationLow()).isEqualTo(2);
        assertThat(message.originalSourcePort()).isEqualTo(7000);
        assertThat(message.originalDestinationPort()).isEqualTo(5004);
    }

    @Test
    void aLaterFragmentAndAnotherProtocolHaveNoPorts() {
        assertThat(read("0300000000000000" + V4.replace("00004000", "00000001") + UDP, false))
                .isNull();
        assertThat(message.originalDestinationPort()).isEqualTo(IcmpMessage.UNKNOWN);
        assertThat(read("0300000000000000" + V4.replace("4011", "4001") + UDP, false))
                .isNull();
        assertThat(message.originalProtocol()).isEqualTo(1);
        assertThat(message.originalDestinationPort()).isEqualTo(IcmpMessage.UNKNOWN);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsCutOffSaysLess(boolean isIpv6) {
        byte[] whole = HexFormat.of().parseHex((isIpv6 ? "01" : "03") + "00000000000000" + (isIpv6 ? V6 : V4) + UDP);
        int header = isIpv6 ? 48 : 28;
        for (int octets = 0; octets <= whole.length; octets++) {
            String wrong = read(Arrays.copyOf(whole, octets), isIpv6);
            if (octets < 8) {
                assertThat(wrong).isEqualTo(octets + " octets: at least 8 are wanted");
                assertThatIllegalStateException().isThrownBy(message::type);
                continue;
            }
            assertThat(wrong).isNull();
            assertThat(message.hasOriginal()).as("%s octets", octets).isEqualTo(octets >= header);
            assertThat(message.originalDestinationPort())
                    .as("%s octets", octets)
                    .isEqualTo(octets >= header + 4 ? 5004 : IcmpMessage.UNKNOWN);
        }
    }

    @Test
    void octetsOfChanceAreReadWithinTheirBounds() {
        Random random = new Random(Seeds.ofCommit(IcmpMessageTest.class));
        for (int round = 0; round < Seeds.scaled(100_000); round++) {
            byte[] octets = new byte[random.nextInt(70)];
            random.nextBytes(octets);
            if (octets.length > 8) {
                octets[0] = (byte) random.nextInt(13);
                octets[8] = (byte) ((random.nextBoolean() ? 0x40 : 0x60) | random.nextInt(16));
            }
            // The buffer ends with the message: what reads beyond it throws.
            if (read(octets, random.nextBoolean()) == null) {
                assertThat(message.originalSourcePort()).isBetween(-1, 65_535);
                assertThat(message.originalDestinationPort()).isBetween(-1, 65_535);
                assertThat(message.mtu()).isNotNegative();
                long ends = message.originalSourceHigh() | message.originalDestinationHigh();
                assertThat(message.hasOriginal() || ends == 0)
                        .as("round %s", round)
                        .isTrue();
            }
        }
    }
}

package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.support.Seeds;

/** The receive rules where more than one is broken, and what becomes of options. */
class ReceiveRulesTest {
    private static final String SOURCE = "0001 0003 0000 0001 0a00 0102";
    private static final String DESTINATION = "0002 0003 0000 0001 0a00 0207";
    private static final String SERVICE_KEY = "8001 0003 0123 4567 89ab cdef";
    private static final String CLASS = "8002 0002 0705 0000";
    private static final String STREAM = "8004 0004 0000 0009 0000 0000 0000 002a";

    /** A packet of Tamanoir's type with these options and the payload "hi". */
    private static byte[] packet(int typeId, String... options) {
        byte[] tlvs = Octets.hex(String.join("", options));
        return ByteBuffer.allocate(8 + tlvs.length + 2)
                .put((byte) 1)
                .put((byte) 0)
                .putShort((short) typeId)
                .putShort((short) (2 + tlvs.length / 4))
                .putShort((short) (8 + tlvs.length + 2))
                .put(tlvs)
                .put((byte) 'h')
                .put((byte) 'i')
                .array();
    }

    private static byte[] packet(String... options) {
        return packet(Anep.DEFAULT_TYPE_ID, options);
    }

    private static @Nullable ParseFault parse(Packet packet, byte[] octets) {
        return packet.parse(ByteBuffer.wrap(octets), 0, octets.length);
    }

    private static @Nullable ParseFault fault(byte[] octets) {
        return parse(new Packet(), octets);
    }

    /** Each line breaks the rule it is dropped for and every later one that it still can. */
    @ParameterizedTest
    @CsvSource({
        "SHORT,         0200 544d 0001 00",
        "VERSION,       0200 544d 0001 ffff",
        "HEADER_LENGTH, 0100 544d 0001 ffff",
        "HEADER_LENGTH, 0100 544d ffff ffff",
        "TRUNCATED,     0100 544d 0003 ffff 0001 0000",
        "OPTION_LENGTH, 0100 544d 0009 0024 0003 0002 0000 0000 0003 0002 0000 0000 4777 0001 0001 0001 0001 0000",
        "CHECKSUM,      0100 544d 0006 0018 0003 0002 0000 0000 4777 0001 0001 0001",
        "CHECKSUM,      0100 544d 0004 0010 0003 0001 4777 0001",
        "CHECKSUM,      0100 544d 0006 0018 0003 0003 0000 0000 0000 0000 4777 0001",
        "OPTION,        0100 544d 0004 0010 0001 0001 4777 0001",
        "OPTION_FORMAT, 0180 0001 0003 000c 0001 0001",
    })
    void theFirstBrokenRuleNamesTheReason(ParseFault reason, String hex) {
        assertThat(fault(Octets.hex(hex))).isEqualTo(reason);
    }

    @Test
    void twoChecksumsAreDroppedEvenIfTheSumIsRight() {
        byte[] octets = packet("0003 0002 0000 0000", "0003 0002 0000 0000");
        ByteBuffer buffer = ByteBuffer.wrap(octets);
        buffer.putShort(12, (short) ~Checksum.sum(buffer, 0, octets.length));

        assertThat(Checksum.sum(buffer, 0, octets.length)).isEqualTo(0xFFFF);
        assertThat(fault(octets)).isEqualTo(ParseFault.CHECKSUM);
    }

    @Test
    void optionsStandInAnyOrder() {
        List<String> options = new ArrayList<>(List.of(
                SOURCE,
                DESTINATION,
                SERVICE_KEY,
                CLASS,
                STREAM,
                "8007 0002 0010 0000",
                "800a 0002 1f90 0000",
                "0777 0001"));
        long seed = Seeds.ofCommit(ReceiveRulesTest.class);
        Random random = new Random(seed);
        Packet packet = new Packet();
        for (int round = 0; round < Seeds.scaled(200); round++) {
            Collections.shuffle(options, random);
            String order = "seed " + seed + ", options " + options;
            assertThat(parse(packet, packet(options.toArray(new String[0]))))
                    .as(order)
                    .isNull();
            assertThat(packet.source()).as(order).hasToString("/10.0.1.2");
            assertThat(packet.destination()).as(order).hasToString("/10.0.2.7");
            assertThat(packet.destinationHigh()).as(order).isZero();
            assertThat(packet.destinationLow()).as(order).isEqualTo(0xFFFF_0A00_0207L);
            assertThat(packet.serviceKey()).as(order).isEqualTo(0x0123_4567_89AB_CDEFL);
            assertThat(packet.classOfService()).as(order).isEqualTo(7);
            assertThat(packet.dropPrecedence()).as(order).isEqualTo(5);
            assertThat(packet.streamId()).as(order).isEqualTo(9);
            assertThat(packet.sequence()).as(order).isEqualTo(42);
            assertThat(packet.hopBudget()).as(order).isEqualTo(16);
            assertThat(packet.destinationPort()).as(order).isEqualTo(8080);
            assertThat(packet.hasRepeatedOption()).as(order).isFalse();
            assertThat(Octets.payload(packet)).as(order).isEqualTo("hi");
        }
    }

    @Test
    void theFirstOfRepeatedOptionsCounts() {
        Packet packet = new Packet();
        assertThat(parse(packet, packet(DESTINATION, "0002 0003 0000 0001 0a00 0999", CLASS, "8002 0002 0900 0000")))
                .isNull();

        assertThat(packet.destination()).hasToString("/10.0.2.7");
        assertThat(packet.classOfService()).isEqualTo(7);
        assertThat(packet.hasRepeatedOption()).isTrue();

        assertThat(parse(packet, packet(DESTINATION))).isNull();
        assertThat(packet.hasRepeatedOption()).isFalse();
        assertThat(packet.has(Option.CLASS_OF_SERVICE)).isFalse();
    }

    @Test
    void repeatedUnknownOptionsAreNoAnomaly() {
        Packet packet = new Packet();
        assertThat(parse(packet, packet("0777 0001", "0777 0001"))).isNull();
        assertThat(packet.hasRepeatedOption()).isFalse();
    }

    @Test
    void privateOptionsMeanNothingUnderAForeignType() {
        Packet packet = new Packet();
        // A known type of a wrong length, an unknown one that would discard, and one that would count.
        byte[] octets = packet(0x4A4E, "8002 0003 0705 0000 0000 0000", "d234 0001", SERVICE_KEY);

        assertThat(parse(packet, octets)).isNull();
        assertThat(packet.isTamanoir()).isFalse();
        assertThat(packet.has(Option.SERVICE_KEY)).isFalse();
        assertThat(packet.serviceKey()).isEqualTo(ServiceKey.NONE);
        assertThat(packet.classOfService()).isEqualTo(-1);

        Packet configured = new Packet(0x4A4E, PacketSpace.HEAP);
        assertThat(parse(configured, packet(0x4A4E, SERVICE_KEY))).isNull();
        assertThat(configured.isTamanoir()).isTrue();
        assertThat(configured.serviceKey()).isEqualTo(0x0123_4567_89AB_CDEFL);
    }

    @Test
    void unknownOptionsThatAskForItDiscardThePacket() {
        assertThat(fault(packet("d234 0001"))).isEqualTo(ParseFault.OPTION);
        assertThat(fault(packet("9234 0001"))).isNull();
        assertThat(fault(packet("c000 0001"))).isEqualTo(ParseFault.OPTION);
        assertThat(fault(packet("4000 0001"))).isEqualTo(ParseFault.OPTION);
        assertThat(fault(packet("4005 0001"))).isEqualTo(ParseFault.OPTION);
        assertThat(fault(packet("c00b 0001"))).isEqualTo(ParseFault.OPTION);
        assertThat(fault(packet("0000 0001"))).isNull();
    }

    @Test
    void theDiscardBitOfAKnownOptionChangesNothing() {
        Packet packet = new Packet();
        assertThat(parse(packet, packet("4002 0003 0000 0001 0a00 0207"))).isNull();
        assertThat(packet.destination()).hasToString("/10.0.2.7");
    }

    @ParameterizedTest
    @EnumSource(Option.class)
    void knownPrivateOptionsOfTheWrongLengthAreDropped(Option option) {
        for (int words = 1; words < 16; words++) {
            String tlv = String.format("%04x%04x", option.wireType(), words) + "00000000".repeat(words - 1);
            ParseFault expected = null;
            if (option == Option.CHECKSUM) {
                expected = ParseFault.CHECKSUM;
            } else if (option.words() != 0 && words != option.words()
                    || option.words() == 0 && option != Option.PUBLIC_AUTHENTICATION && words == 1) {
                // Identifiers carry at least their scheme; a zeroed one is left to be filled in.
                expected = ParseFault.OPTION_FORMAT;
            }
            assertThat(fault(packet(tlv))).as("%s of %d words", option, words).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, 3",
        "1, 2, 6",
        "1, 3, 4",
        "2, 1, 3",
        "2, 2, 6",
        "2, 3, 4",
        "32771, 1, 4",
        "32771, 2, 7",
        "32771, 3, 5"
    })
    void identifiersOfAKnownSchemeHaveItsLength(int type, int scheme, int right) {
        for (int words = 2; words < 10; words++) {
            String tlv = String.format("%04x%04x%08x", type, words, scheme) + "00000000".repeat(words - 2);
            assertThat(fault(packet(tlv)))
                    .as("%d words", words)
                    .isEqualTo(words == right ? null : ParseFault.OPTION_FORMAT);
        }
        String unknownScheme = String.format("%04x 0005 0000 0009", type) + "00000000".repeat(3);
        Packet packet = new Packet();
        assertThat(parse(packet, packet(unknownScheme))).isNull();
        assertThat(packet.hasInternetDestination()).isFalse();
        assertThat(packet.destination()).isNull();
    }

    @Test
    void aDroppedPacketLeavesNoOptionsOfTheLastOne() {
        Packet packet = new Packet();
        List<byte[]> broken = List.of(
                Octets.hex("01"),
                Octets.hex("0200 544d 0002 0008"),
                Octets.hex("0100 544d 0001 0008"),
                Octets.hex("0100 544d 0002 0009"),
                packet("0001 0000"),
                packet("0003 0002 1234 0000"),
                packet(DESTINATION, "4777 0001"),
                packet(DESTINATION, "8001 0001"));
        for (byte[] octets : broken) {
            assertThat(parse(packet, packet(DESTINATION, SERVICE_KEY, STREAM))).isNull();
            assertThat(parse(packet, octets)).isNotNull();

            assertThat(packet.length()).isEqualTo(octets.length);
            assertThat(packet.hasInternetDestination()).isFalse();
            assertThat(packet.serviceKey()).isEqualTo(ServiceKey.NONE);
            assertThat(packet.sequence()).isEqualTo(-1);
            assertThatIllegalStateException().isThrownBy(() -> packet.optionOffset(Option.STREAM));
        }
    }

    @Test
    void otherFlagsAreIgnored() {
        Packet packet = new Packet();
        assertThat(parse(packet, Octets.hex("017f 544d 0002 0008"))).isNull();
        assertThat(packet.discardIfUnknownType()).isFalse();
        assertThat(parse(packet, Octets.hex("01ff 544d 0002 0008"))).isNull();
        assertThat(packet.discardIfUnknownType()).isTrue();
    }

    @Test
    void aHeaderMayFillTheLargestPacket() {
        ByteBuffer buffer = ByteBuffer.allocate(65_532).putInt(0x0100544D).putInt(0x3FFF_FFFC);
        for (int tlv = 8; tlv < 65_532; tlv += 4) {
            buffer.putInt(0x1777_0001);
        }
        Packet packet = new Packet();
        assertThat(packet.parse(buffer, 0, 65_532)).isNull();
        assertThat(packet.payloadLength()).isZero();
        assertThat(packet.maxPayloadOctets()).isEqualTo(3);
    }
}

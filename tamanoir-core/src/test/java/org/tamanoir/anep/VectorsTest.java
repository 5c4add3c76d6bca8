package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.StringJoiner;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The test vectors of the wire specification, as one datagram and as a TCP stream. */
class VectorsTest {
    private static final String V3 =
            "0100 4a4e 0008 0025 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207" + "6865 6c6c 6f";
    private static final String V4 = "0100 4a4e 000a 002d 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207"
            + "0003 0002 598f 0000 6865 6c6c";
    private static final String V4_FACTS =
            "type 0x4a4e, header 40, packet 45, source 10.0.1.2, destination 10.0.2.7, checksum 0x598f at 36, hello";

    static Stream<Arguments> vectors() {
        return Stream.of(
                arguments("V1", "0100 0012 0002 0008", "type 0x0012, header 8, packet 8, ", "8"),
                arguments(
                        "V2",
                        "0180 4a4e 0002 000c 5049 4e47",
                        "type 0x4a4e, header 8, packet 12, discard if unknown, PING",
                        "12"),
                arguments(
                        "V3",
                        V3,
                        "type 0x4a4e, header 32, packet 37, source 10.0.1.2, destination 10.0.2.7, hello",
                        "37"),
                arguments("V4", V4 + "6f", V4_FACTS, "45"),
                arguments(
                        "V5",
                        "0100 000f 0010 0044 0001 0006 0000 0002 2001 0db8 0000 0000 0000 0000 0000 0001 0002 0006"
                                + "0000 0002 2001 0db8 0000 0000 0000 0000 0000 0002 0003 0002 a10b 0000 0001 0203",
                        "type 0x000f, header 64, packet 68, source 2001:db8:0:0:0:0:0:1,"
                                + " destination 2001:db8:0:0:0:0:0:2, checksum 0xa10b at 60, \0\1\2\3",
                        "68"),
                arguments(
                        "V6",
                        "0100 4a4e 0006 0018 0001 0004 0000 0003 0200 c0ff ee01 0000",
                        "type 0x4a4e, header 24, packet 24, source 0x000000030200c0ffee010000, ",
                        "24"),
                arguments(
                        "V7",
                        "0100 4a4e 0007 001d 9234 0002 dead beef 0002 0003 0000 0001 0a00 0207 78",
                        "type 0x4a4e, header 28, packet 29, destination 10.0.2.7, x",
                        "29"),
                arguments("V8", "0100 4a4e 0003 0010 4777 0001 6461 7461", "drop OPTION", "16"),
                arguments(
                        "V9",
                        "0100 4a4e 0006 0018 0004 0004 0000 0001 2863 6572 7429 2e2e",
                        "type 0x4a4e, header 24, packet 24, authentication 0x000000012863657274292e2e, ",
                        "24"),
                arguments("M1", "0200 4a4e 0002 0008", "drop VERSION", "close VERSION"),
                arguments("M2", "0100 4a4e 0002 00", "drop SHORT", "wait"),
                arguments("M3", "0100 4a4e 0001 0008", "drop HEADER_LENGTH", "close HEADER_LENGTH"),
                arguments("M4", "0100 4a4e 0002 0007 6162 6364", "drop HEADER_LENGTH", "close HEADER_LENGTH"),
                arguments("M5", "0100 4a4e 0002 0040 6162 6364", "drop TRUNCATED", "wait for 52"),
                arguments("M6", "0100 4a4e 0003 000c 0001 0000", "drop OPTION_LENGTH", "12"),
                arguments("M7", "0100 4a4e 0005 0014 0001 0004 0000 0001 0a00 0102", "drop OPTION_LENGTH", "20"),
                arguments("M8", V4 + "6e", "drop CHECKSUM", "45"),
                arguments("M9", "0100 4a4e 0004 0010 0001 0002 0000 0001", "drop OPTION_FORMAT", "16"),
                arguments(
                        "M10",
                        "0100 4a4e 0002 000a 6162 6364",
                        "type 0x4a4e, header 8, packet 10, trailer, ab",
                        "10, wait"),
                arguments(
                        "S1",
                        "0100 4a4e 0002 000a 4142 0100 0012 0002 0008",
                        "type 0x4a4e, header 8, packet 10, trailer, AB",
                        "10, 8"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("vectors")
    void areReadAsSpecified(String id, String hex, String datagram, String stream) {
        byte[] octets = Octets.hex(hex);
        for (boolean direct : new boolean[] {false, true}) {
            for (int offset : new int[] {0, 3}) {
                var buffer = Octets.exactly(octets, offset, direct);
                for (Packet packet : new Packet[] {new Packet(), new Packet(0x4A4E, PacketSpace.HEAP)}) {
                    ParseFault fault = packet.parse(buffer, offset, octets.length);
                    assertThat(fault == null ? facts(packet) : "drop " + fault).isEqualTo(datagram);
                }
                assertThat(framed(buffer, offset)).isEqualTo(stream);
            }
        }
    }

    private static String facts(Packet packet) {
        StringJoiner facts = new StringJoiner(", ");
        facts.add(String.format("type 0x%04x", packet.typeId()));
        facts.add("header " + packet.headerLength());
        facts.add("packet " + packet.length());
        if (packet.hasTrailer()) {
            facts.add("trailer");
        }
        if (packet.discardIfUnknownType()) {
            facts.add("discard if unknown");
        }
        if (packet.has(Option.SOURCE)) {
            facts.add("source " + identifier(packet.source(), packet, Option.SOURCE));
        }
        if (packet.has(Option.DESTINATION)) {
            assertThat(packet.hasInternetDestination()).isTrue();
            facts.add("destination " + identifier(packet.destination(), packet, Option.DESTINATION));
        }
        if (packet.has(Option.CHECKSUM)) {
            int at = packet.optionOffset(Option.CHECKSUM);
            facts.add(String.format(
                    "checksum 0x%04x at %d", packet.buffer().getShort(at) & 0xFFFF, at - packet.offset()));
        }
        if (packet.has(Option.PUBLIC_AUTHENTICATION)) {
            facts.add("authentication " + opaque(packet, Option.PUBLIC_AUTHENTICATION));
        }
        return facts.add(Octets.payload(packet)).toString();
    }

    private static String identifier(@Nullable InetAddress address, Packet packet, Option option) {
        return address == null ? opaque(packet, option) : address.getHostAddress();
    }

    private static String opaque(Packet packet, Option option) {
        int at = packet.optionOffset(option);
        int octets = ((packet.buffer().getShort(at - 2) & 0xFFFF) - 1) * 4;
        return "0x" + HexFormat.of().formatHex(Octets.copy(packet.buffer(), at, octets));
    }

    /** Lengths of the packets in the stream, and what the reader does at its end. */
    private static String framed(ByteBuffer buffer, int offset) {
        StringJoiner events = new StringJoiner(", ");
        int at = offset;
        while (at < buffer.limit()) {
            int next = Framing.next(buffer, at, buffer.limit());
            if (next > 0) {
                events.add(Integer.toString(next));
                at += next;
                continue;
            }
            int available = buffer.limit() - at;
            if (next == Framing.BROKEN) {
                events.add("close " + Framing.fault(buffer, at));
            } else if (available >= Anep.BASIC_HEADER_OCTETS) {
                events.add("wait for " + (Framing.claimedLength(buffer, at) - available));
            } else {
                events.add("wait");
            }
            break;
        }
        return events.toString();
    }
}

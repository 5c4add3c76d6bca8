package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.support.Seeds;

/** The levels' C code and the node read the same in the same datagrams, good and bad. */
@Tag("once")
@Tag("process")
class ParserAgreesTest {
    private static final int PACKETS = Seeds.scaled(20_000);

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Path folder;

    @Test
    void inRandomAndDamagedDatagrams() throws Exception {
        long seed = Seeds.ofCommit(ParserAgreesTest.class);
        RandomDatagrams source = new RandomDatagrams(seed);
        SanitizedProgram program = new SanitizedProgram(folder, "parse");
        List<byte[]> datagrams = new ArrayList<>();
        for (int i = 0; i < PACKETS; i++) {
            datagrams.add(source.next());
        }

        List<String> answers =
                program.run(datagrams.stream().map(HexFormat.of()::formatHex).toList());

        assertThat(answers).hasSameSizeAs(datagrams);
        Map<String, Integer> outcomes = new TreeMap<>();
        Packet packet = new Packet();
        for (int i = 0; i < PACKETS; i++) {
            byte[] datagram = datagrams.get(i);
            String answer = answers.get(i);
            String outcome = answer.split(" ", 2)[0];
            outcomes.merge(outcome, 1, Integer::sum);
            String expected = read(packet, datagram);
            if (outcome.equals("COMPLEX") || (outcome.equals("TYPE_ID") && isBeyondBounds(datagram))) {
                assertThat(isBeyondBounds(datagram))
                        .as(because(seed, i, datagram))
                        .isTrue();
            } else {
                assertThat(answer).as(because(seed, i, datagram)).isEqualTo(expected);
            }
        }
        // All that tamanoir_policy.h can answer came, most of it often.
        assertThat(outcomes)
                .as("seed %d", seed)
                .containsOnlyKeys(
                        "OK",
                        "SHORT",
                        "VERSION",
                        "HEADER_LENGTH",
                        "TRUNCATED",
                        "OPTION_LENGTH",
                        "CHECKSUM",
                        "OPTION",
                        "OPTION_FORMAT",
                        "TYPE_ID",
                        "NO_KEY",
                        "TRAILER",
                        "COMPLEX");
        assertThat(outcomes.get("OK")).isGreaterThan(PACKETS / 20);
    }

    private static String because(long seed, int i, byte[] datagram) {
        return "seed " + seed + ", datagram " + i + ": " + HexFormat.of().formatHex(datagram);
    }

    /** What the node makes of it, as native/test/parse.c says it. */
    private static String read(Packet packet, byte[] datagram) {
        ByteBuffer buffer = ByteBuffer.wrap(datagram);
        ParseFault reason = packet.parse(buffer, 0, datagram.length);
        if (reason != null) {
            return reason.name();
        }
        if (!packet.isTamanoir()) {
            return "TYPE_ID";
        }
        if (packet.serviceKey() == ServiceKey.NONE) {
            return "NO_KEY";
        }
        return (packet.hasTrailer() ? "TRAILER" : "OK")
                + " octets=" + packet.length()
                + " header=" + packet.headerLength()
                + " key=" + ServiceKey.toString(packet.serviceKey())
                + " class=" + packet.classOfService()
                + " stream=" + (packet.has(Option.STREAM) ? Integer.toUnsignedLong(packet.streamId()) : -1)
                + " source="
                + address(packet.hasInternetSource(), packet::sourceHigh, packet::sourceLow)
                + " destination="
                + address(packet.hasInternetDestination(), packet::destinationHigh, packet::destinationLow)
                + " checksum=" + (packet.has(Option.CHECKSUM) ? packet.optionOffset(Option.CHECKSUM) : -1);
    }

    private static String address(
            boolean isThere, java.util.function.LongSupplier high, java.util.function.LongSupplier low) {
        return isThere ? String.format("%016x%016x", high.getAsLong(), low.getAsLong()) : "-";
    }

    /**
     * Whether header or options are more than a level reads, so that it has nothing to say about them. For datagrams
     * that hold a whole header.
     */
    private static boolean isBeyondBounds(byte[] datagram) {
        ByteBuffer buffer = ByteBuffer.wrap(datagram);
        int header = 4 * Short.toUnsignedInt(buffer.getShort(4));
        if (header > Abi.HEADER_OCTETS) {
            return true;
        }
        int options = 0;
        for (int at = Anep.BASIC_HEADER_OCTETS; at < header; options++) {
            at += Math.max(1, Short.toUnsignedInt(buffer.getShort(at + 2))) * 4;
        }
        return options > Abi.MAX_OPTIONS;
    }
}

package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;

/** The levels' C code and the node read the same in the same datagrams, good and bad. */
class ParserAgreesTest {
    private static final int PACKETS = 20_000;
    private static final int MAX_OPTION_WORDS = 14;

    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Path folder;

    private final Random random = new Random();

    @Test
    void inRandomAndDamagedDatagrams() throws Exception {
        long seed = Long.getLong("tamanoir.seed", 20030526);
        random.setSeed(seed);
        SanitizedProgram program = new SanitizedProgram(folder, "parse");
        List<byte[]> datagrams = new ArrayList<>();
        for (int i = 0; i < PACKETS; i++) {
            datagrams.add(damaged(random.nextInt(3) == 0 ? built() : assembled()));
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
        DropReason reason = packet.parse(buffer, 0, datagram.length);
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

    // ---- datagrams ----------------------------------------------------------------------------------------

    /** As a sender makes them. */
    private byte[] built() throws Exception {
        PacketBuilder builder = new PacketBuilder();
        if (random.nextBoolean()) {
            builder.source(InetAddress.getByAddress(bytes(random.nextBoolean() ? 4 : 16)));
        }
        if (random.nextBoolean()) {
            builder.destination(InetAddress.getByAddress(bytes(random.nextBoolean() ? 4 : 16)));
        }
        if (random.nextInt(8) != 0) {
            builder.serviceKey(random.nextLong());
        }
        if (random.nextBoolean()) {
            builder.classOfService(random.nextInt(256), random.nextInt(256));
        }
        if (random.nextBoolean()) {
            builder.stream(random.nextInt());
        }
        if (random.nextBoolean()) {
            builder.checksum();
        }
        Packet packet = builder.build(ByteBuffer.wrap(bytes(random.nextInt(64))));
        byte[] octets = new byte[packet.length()];
        packet.buffer().get(packet.offset(), octets);
        return octets;
    }

    private byte[] bytes(int count) {
        byte[] octets = new byte[count];
        random.nextBytes(octets);
        return octets;
    }

    /** Of options of all kinds, with lengths that mostly fit them, sometimes more than a level reads. */
    private byte[] assembled() {
        ByteBuffer packet = ByteBuffer.allocate(2048);
        packet.putLong(0);
        int checksumAt = 0;
        int options = random.nextInt(16) == 0 ? random.nextInt(80) : random.nextInt(10);
        for (int i = 0; i < options; i++) {
            int start = packet.position();
            Option option = Option.values()[random.nextInt(Option.values().length)];
            int type = random.nextInt(10) == 0 ? random.nextInt(0x10000) : option.wireType();
            type |= random.nextInt(32) == 0 ? Anep.OPTION_DISCARD : 0;
            int words = option.words() == 0 ? 3 + random.nextInt(5) : option.words();
            words = options > 10 ? random.nextInt(1, 4) : random.nextInt(12) == 0 ? words(i) : words;
            packet.putShort((short) type).putShort((short) words);
            for (int word = 1; word < words; word++) {
                packet.putInt(random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(5));
            }
            if (option == Option.CHECKSUM && words == option.words()) {
                checksumAt = start + 4;
            }
        }
        int header = packet.position();
        packet.put(bytes(random.nextInt(32)));
        int length = packet.position();
        int typeId = random.nextInt(10) == 0 ? random.nextInt(0x10000) : Anep.DEFAULT_TYPE_ID;
        packet.put(0, (byte) Anep.VERSION).put(1, (byte) random.nextInt(256)).putShort(2, (short) typeId);
        packet.putShort(4, (short) (header / 4)).putShort(6, (short) length);
        if (checksumAt != 0) {
            packet.putShort(checksumAt, (short) 0);
            packet.putShort(checksumAt, (short) ~sum(packet, length));
        }
        return Arrays.copyOf(packet.array(), length);
    }

    private int words(int option) {
        return random.nextInt(option == 0 ? 1 : 0, MAX_OPTION_WORDS);
    }

    private static int sum(ByteBuffer packet, int length) {
        int sum = 0;
        for (int i = 0; i < length; i++) {
            sum += (packet.get(i) & 0xFF) << (i % 2 == 0 ? 8 : 0);
        }
        while (sum >>> 16 != 0) {
            sum = (sum >>> 16) + (sum & 0xFFFF);
        }
        return sum;
    }

    /** Up to three octets changed, cut or lengthened; half of them untouched. */
    private byte[] damaged(byte[] packet) {
        byte[] octets = packet.clone();
        if (random.nextBoolean()) {
            return octets;
        }
        for (int changes = random.nextInt(4); changes > 0; changes--) {
            int at = random.nextInt(random.nextBoolean() ? octets.length : Math.min(octets.length, 16));
            switch (random.nextInt(3)) {
                case 0 -> octets[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> octets[at] = (byte) random.nextInt(8);
                default -> octets[at] = (byte) random.nextInt(256);
            }
        }
        if (random.nextInt(4) == 0) {
            octets = Arrays.copyOf(octets, random.nextInt(octets.length + 8));
        }
        return octets;
    }
}

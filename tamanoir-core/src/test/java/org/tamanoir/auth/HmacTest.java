package org.tamanoir.auth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Checksum;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.support.Tiers;

/** The MAC of a packet, against others who compute it. */
class HmacTest {
    private static final String SECRET = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    /** Source 10.0.1.2, destination 10.0.2.7, stream 9, number 12, key 7, algorithm 1, a checksum, payload "hello". */
    private static final String UNSIGNED = "0100544d00190069" + "00010003000000010a000102" + "00020003000000010a000207"
            + "8004000400000009000000000000000c"
            + "c009000b0000000700000001" + "00".repeat(32)
            + "0003000200000000"
            + "68656c6c6f";

    /**
     * Made by {@code echo UNSIGNED | xxd -r -p | openssl dgst -sha256 -mac HMAC -macopt hexkey:SECRET}.
     */
    private static final String MAC = "6e14cfd8bd59836b8f9db84abbfd7f87a4dacee5ac1ba44418878c9e5e9f5996";

    private static final int CHECKSUM_AT = 96;

    private final AuthKey key = AuthKey.of(7, SECRET);

    private static byte[] octets(Packet packet) {
        byte[] octets = new byte[packet.length()];
        packet.buffer().get(packet.offset(), octets);
        return octets;
    }

    @Test
    void aSignedPacketHasTheOctetsThatOpensslMade() {
        ByteBuffer memory = ByteBuffer.wrap(HexFormat.of().parseHex(UNSIGNED));
        memory.putShort(CHECKSUM_AT, (short) ~Checksum.sum(memory, 0, memory.capacity()));
        Packet packet = new Packet();
        assertThat(packet.parse(memory, 0, memory.capacity())).isNull();

        new PacketSigner(key).sign(packet);

        assertThat(new Packet().parse(memory, 0, memory.capacity()))
                .as("its checksum holds")
                .isNull();
        memory.putShort(CHECKSUM_AT, (short) 0);
        assertThat(HexFormat.of().formatHex(memory.array())).isEqualTo(UNSIGNED.replace("00".repeat(32), MAC));
    }

    @Test
    @Tag("process")
    void opensslMakesTheSameOfAnyPacket(@TempDir Path folder) throws IOException, InterruptedException {
        Path program = Path.of("/usr/bin/openssl");
        Tiers.require("openssl", Files.isExecutable(program), "there is no /usr/bin/openssl");
        byte[] payload = new byte[9000];
        new Random(5).nextBytes(payload);
        Packet packet = new PacketBuilder().stream(1).authentication().build(ByteBuffer.wrap(payload));
        NodeOptions.setAuthentication(packet, 7, 1, null);
        Path file = Files.write(folder.resolve("packet"), octets(packet));
        Process process = new ProcessBuilder(
                        program.toString(),
                        "dgst",
                        "-sha256",
                        "-mac",
                        "HMAC",
                        "-macopt",
                        "hexkey:" + SECRET,
                        "-r",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        assertThat(process.waitFor(40, TimeUnit.SECONDS)).isTrue();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertThat(said).startsWith(HexFormat.of().formatHex(new Hmac().of(key, packet)));
    }

    /** Pieces of 4,096 bytes end before, in and behind the fields that count as zero. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 63, 64, 4000, 4040, 4044, 4048, 4052, 4060, 4064, 4068, 4072, 4076, 4080, 4084, 4088})
    void fieldsCountAsZeroWhereverAPieceEnds(int before) throws Exception {
        PacketBuilder builder = new PacketBuilder();
        if (before > 0) {
            builder.option(0x1234, new byte[before]);
        }
        Packet packet = builder.authentication().checksum().build(ByteBuffer.allocate(5000));
        Packet other = packet.copy();
        new PacketSigner(key).sign(packet);
        NodeOptions.setAuthentication(other, 7, 1, null);
        other.buffer().putShort(other.optionOffset(Option.CHECKSUM), (short) 0);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(HexFormat.of().parseHex(SECRET), "HmacSHA256"));
        byte[] expected = mac.doFinal(octets(other));
        byte[] carried = new byte[32];
        packet.buffer().get(packet.optionOffset(Option.AUTHENTICATION) + 8, carried);
        assertThat(carried).isEqualTo(expected);
        assertThat(new Hmac().holds(key, packet)).isTrue();
    }

    @Test
    void eachOctetCounts() throws Exception {
        Packet packet = new PacketBuilder()
                .source(InetAddress.getLoopbackAddress()).stream(4)
                        .hopBudget(3)
                        .authentication()
                        .build(ByteBuffer.wrap(new byte[20]));
        new PacketSigner(key).sign(packet);
        Hmac hmac = new Hmac();
        assertThat(hmac.holds(key, packet)).isTrue();
        for (int i = 0; i < packet.length(); i++) {
            byte was = packet.buffer().get(i);
            packet.buffer().put(i, (byte) (was ^ 0x10));
            assertThat(hmac.holds(key, packet)).as("octet %d", i).isFalse();
            packet.buffer().put(i, was);
        }
        assertThat(hmac.holds(AuthKey.of(7, "ff" + SECRET.substring(2)), packet))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 31, 32, 63, 64})
    void secretsOfAnyLengthAreTheJdks(int bytes) throws Exception {
        byte[] secret = new byte[bytes];
        new Random(bytes).nextBytes(secret);
        Packet packet = new PacketBuilder().authentication().build(ByteBuffer.allocate(1));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        assertThat(new Hmac().of(AuthKey.of(1, HexFormat.of().formatHex(secret)), packet))
                .isEqualTo(mac.doFinal(octets(packet)));
    }
}

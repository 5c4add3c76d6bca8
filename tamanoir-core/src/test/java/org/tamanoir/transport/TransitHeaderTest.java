package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Checksum;
import org.tamanoir.support.Seeds;

class TransitHeaderTest {
    private static final int AT = 4;

    private final long seed = Seeds.ofCommit(TransitHeaderTest.class);
    private final Random random = new Random(seed);

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyFieldStandsInItsPlaceAndTheChecksumIsRight(boolean v6) {
        for (int round = 0; round < Seeds.scaled(2000); round++) {
            byte[] payload = new byte[random.nextInt(round % 100 == 0 ? 65_000 : 300)];
            random.nextBytes(payload);
            ByteBuffer memory = write(v6, payload, address(v6), address(v6), random.nextInt(1 << 16));
            assertRight(memory, v6, payload);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aChecksumOfZeroIsWrittenAsAllOnes(boolean v6) {
        int zeros = 0;
        byte[] payload = new byte[2];
        for (int word = 0; word < 1 << 16; word++) {
            payload[0] = (byte) (word >>> 8);
            payload[1] = (byte) word;
            ByteBuffer memory = write(v6, payload, new long[] {0, 0xFFFF_0A00_0001L}, new long[] {0, 5}, 7);
            int checksum = memory.getShort(AT + (v6 ? 46 : 26)) & 0xFFFF;
            assertThat(checksum).isNotZero();
            zeros += checksum == 0xFFFF ? 1 : 0;
        }
        assertThat(zeros).isPositive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anIcmpMessageGetsTheChecksumOfItsFamily(boolean v6) {
        int header = v6 ? 40 : 20;
        for (int round = 0; round < Seeds.scaled(2000); round++) {
            byte[] message = new byte[8 + random.nextInt(300)];
            random.nextBytes(message);
            message[2] = 0;
            message[3] = 0;
            long[] source = address(v6);
            long[] destination = address(v6);
            ByteBuffer memory = ByteBuffer.allocate(AT + header);
            random.nextBytes(memory.array());
            int checksum = TransitHeader.putIcmp(
                    memory,
                    AT,
                    v6,
                    message.length,
                    Checksum.sum(ByteBuffer.wrap(message), 0, message.length),
                    source[0],
                    source[1],
                    destination[0],
                    destination[1],
                    63,
                    0xB8);
            message[2] = (byte) (checksum >>> 8);
            message[3] = (byte) checksum;
            ByteBuffer whole = ByteBuffer.allocate(40 + message.length);
            if (v6) {
                assertThat(memory.getInt(AT)).isEqualTo(0x6B80_0000);
                assertThat(memory.getInt(AT + 4)).isEqualTo(message.length << 16 | 58 << 8 | 63);
                whole.put(memory.array(), AT + 8, 32).putInt(message.length).putInt(58);
            } else {
                assertThat(memory.getInt(AT)).isEqualTo(0x45B8_0000 | 20 + message.length);
                assertThat(memory.getInt(AT + 4)).isZero();
                assertThat(memory.getInt(AT + 8)).isEqualTo(63 << 24 | 1 << 16);
                assertThat(memory.getInt(AT + 12)).isEqualTo((int) source[1]);
                assertThat(memory.getInt(AT + 16)).isEqualTo((int) destination[1]);
            }
            whole.put(message);
            long sum = 0;
            for (int i = 0; i < whole.position(); i++) {
                sum += (long) (whole.get(i) & 0xFF) << (i % 2 == 0 ? 8 : 0);
            }
            assertThat(sum % 0xFFFF).as("sum of all, seed %d", seed).isZero();
        }
    }

    private long[] address(boolean v6) {
        return v6 ? new long[] {random.nextLong(), random.nextLong()} : new long[] {0, UdpAddress.v4(random.nextInt())};
    }

    private ByteBuffer write(boolean v6, byte[] payload, long[] source, long[] destination, int port) {
        int header = v6 ? TransitHeader.V6_BYTES : TransitHeader.V4_BYTES;
        ByteBuffer memory = ByteBuffer.allocate(AT + header + payload.length);
        random.nextBytes(memory.array());
        memory.put(AT + header, payload);
        TransitHeader.put(
                memory,
                AT,
                v6,
                payload.length,
                Checksum.sum(memory, AT + header, payload.length),
                source[0],
                source[1],
                port,
                destination[0],
                destination[1],
                3322,
                63,
                0xB8,
                false);
        return memory;
    }

    /** Reads it as RFC 791, RFC 8200 and RFC 768 say, and adds up the pseudo-header byte by byte. */
    private void assertRight(ByteBuffer memory, boolean v6, byte[] payload) {
        int header = v6 ? 40 : 20;
        int udpBytes = 8 + payload.length;
        ByteBuffer pseudo = ByteBuffer.allocate((v6 ? 40 : 12) + udpBytes);
        if (v6) {
            assertThat(memory.getInt(AT)).isEqualTo(0x6B80_0000);
            assertThat(memory.getShort(AT + 4) & 0xFFFF).isEqualTo(udpBytes);
            assertThat(memory.get(AT + 6)).isEqualTo((byte) 17);
            assertThat(memory.get(AT + 7)).isEqualTo((byte) 63);
            pseudo.put(memory.array(), AT + 8, 32).putInt(udpBytes).putInt(17);
        } else {
            assertThat(memory.getShort(AT)).isEqualTo((short) 0x45B8);
            assertThat(memory.getShort(AT + 2) & 0xFFFF).isEqualTo(20 + udpBytes);
            assertThat(memory.getInt(AT + 4)).isZero();
            assertThat(memory.getInt(AT + 8)).isEqualTo(63 << 24 | 17 << 16);
            pseudo.put(memory.array(), AT + 12, 8).putShort((short) 17).putShort((short) udpBytes);
        }
        pseudo.put(memory.array(), AT + header, udpBytes);
        assertThat(memory.getShort(AT + header + 2)).isEqualTo((short) 3322);
        assertThat(memory.getShort(AT + header + 4) & 0xFFFF).isEqualTo(udpBytes);
        long sum = 0;
        for (int i = 0; i < pseudo.position(); i++) {
            sum += (long) (pseudo.get(i) & 0xFF) << (i % 2 == 0 ? 8 : 0);
        }
        assertThat(sum % 0xFFFF).as("sum of all, seed %d", seed).isZero();
    }
}

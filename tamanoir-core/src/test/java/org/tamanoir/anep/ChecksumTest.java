package org.tamanoir.anep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

class ChecksumTest {
    /** RFC 1071 word by word, as the definition has it. */
    private static int naiveSum(byte[] octets, int offset, int length) {
        int sum = 0;
        for (int i = 0; i < length; i += 2) {
            int low = i + 1 < length ? octets[offset + i + 1] & 0xFF : 0;
            sum += (octets[offset + i] & 0xFF) << 8 | low;
            sum = (sum >>> 16) + (sum & 0xFFFF);
        }
        return sum;
    }

    private static byte[] randomOctets(Random random, int length) {
        byte[] octets = new byte[length];
        switch (random.nextInt(4)) {
            case 0 -> Arrays.fill(octets, (byte) 0xFF);
            case 1 -> Arrays.fill(octets, (byte) 0);
            default -> random.nextBytes(octets);
        }
        return octets;
    }

    @Test
    void sumsTheExampleOfRfc1071() {
        assertThat(Checksum.sum(Octets.buffer("0001 f203 f4f5 f6f7"), 0, 8)).isEqualTo(0xDDF2);
    }

    @Test
    void sumsAsTheDefinitionDoes() {
        long seed = Seeds.ofCommit(ChecksumTest.class);
        Random random = new Random(seed);
        for (int round = 0; round < Seeds.scaled(3000); round++) {
            int length = round < 100 ? round : random.nextInt(round % 50 == 0 ? 65_536 : 300);
            int offset = random.nextInt(9);
            byte[] octets = randomOctets(random, offset + length);
            ByteBuffer buffer = Octets.exactly(octets, 0, random.nextBoolean());

            assertThat(Checksum.sum(buffer, offset, length))
                    .as("seed %d, round %d, length %d", seed, round, length)
                    .isEqualTo(naiveSum(octets, offset, length));
        }
    }

    @Test
    void sumsTheLargestPacketOfOnesOnly() {
        byte[] ones = new byte[65_535];
        Arrays.fill(ones, (byte) 0xFF);

        assertThat(Checksum.sum(ByteBuffer.wrap(ones), 0, ones.length)).isEqualTo(naiveSum(ones, 0, ones.length));
    }

    @Test
    void readsNothingOutsideTheRange() {
        ByteBuffer buffer = ByteBuffer.allocate(64);
        for (int length = 1; length <= 20; length++) {
            int tooLong = length;
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> Checksum.sum(buffer, 65 - tooLong, tooLong));
            assertThat(Checksum.sum(buffer, 64 - length, length)).isZero();
        }
    }

    @Test
    void anUpdateEqualsComputingItAnew() {
        long seed = Seeds.ofCommit(ChecksumTest.class);
        Random random = new Random(seed);
        for (int round = 0; round < Seeds.scaled(20_000); round++) {
            byte[] octets = randomOctets(random, 8 + random.nextInt(60));
            // A packet begins with its version: its sum is never zero.
            octets[0] = 1;
            int word = 2 * random.nextInt((octets.length - 2) / 2) + 2;
            ByteBuffer packet = ByteBuffer.wrap(octets);
            if (word + 2 > octets.length) {
                continue;
            }
            int before = ~Checksum.sum(packet, 0, octets.length) & 0xFFFF;
            int oldWord = packet.getShort(word);
            int newWord = switch (random.nextInt(4)) {
                case 0 -> 0;
                case 1 -> 0xFFFF;
                default -> random.nextInt();
            };
            packet.putShort(word, (short) newWord);

            assertThat(Checksum.update((short) before, oldWord, newWord))
                    .as("seed %d, round %d", seed, round)
                    .isEqualTo(~Checksum.sum(packet, 0, octets.length) & 0xFFFF);
        }
    }
}

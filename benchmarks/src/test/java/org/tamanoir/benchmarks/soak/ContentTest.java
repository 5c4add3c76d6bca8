package org.tamanoir.benchmarks.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ContentTest {
    private static final int BYTES = 1000;

    private final Content content = new Content(2003);

    private byte[] of(int flow, long position) {
        byte[] bytes = new byte[BYTES];
        content.fill(flow, position, bytes, 0, BYTES);
        return bytes;
    }

    @Test
    void anyPartOfAFlowIsThatPartOfTheWhole() {
        byte[] whole = of(7, 0);
        Random random = new Random(7);
        for (int round = 0; round < 200; round++) {
            int from = random.nextInt(BYTES);
            int length = random.nextInt(BYTES - from);
            byte[] part = new byte[BYTES];
            content.fill(7, from, part, from, length);

            assertThat(slice(part, from, length))
                    .as("from %d, %d bytes", from, length)
                    .isEqualTo(slice(whole, from, length));
            assertThat(content.match(7, from, whole, from, length)).isEqualTo(length);
        }
    }

    private static byte[] slice(byte[] of, int from, int length) {
        return Arrays.copyOfRange(of, from, from + length);
    }

    @Test
    void theFirstWrongByteIsFound() {
        for (int wrong = 0; wrong < 40; wrong++) {
            byte[] bytes = of(7, 3);
            bytes[wrong] ^= 1;

            assertThat(content.match(7, 3, bytes, 0, BYTES)).isEqualTo(wrong);
        }
    }

    @Test
    void bytesOfAnotherFlowTellWhereTheyComeFrom() {
        for (int position = 1_000_000; position < 1_000_016; position++) {
            byte[] bytes = of(41, position);

            assertThat(content.origin(bytes, 5, BYTES))
                    .isEqualTo("bytes of flow 41 from its offset %d on", position + 5);
        }
    }

    @Test
    void whatIsOfNoFlowIsSaidToBe() {
        byte[] bytes = new byte[BYTES];

        assertThat(content.origin(bytes, 0, BYTES)).isEqualTo("bytes of no flow");
    }

    @Test
    void anotherSeedIsAnotherContent() {
        assertThat(new Content(2004).match(7, 0, of(7, 0), 0, BYTES)).isLessThan(8);
    }
}

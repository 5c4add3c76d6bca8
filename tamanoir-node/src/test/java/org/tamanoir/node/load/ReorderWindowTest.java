package org.tamanoir.node.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;

class ReorderWindowTest {
    private final List<Long> written = new ArrayList<>();
    private final ReorderWindow window = new ReorderWindow(payload -> written.add(payload.getLong()));

    private void accept(long sequence) throws IOException {
        window.accept(sequence, ByteBuffer.allocate(8).putLong(0, sequence));
    }

    @Test
    void aShuffledStreamIsWrittenInOrder() throws IOException {
        long seed = Seeds.ofCommit(ReorderWindowTest.class);
        List<Long> sequences =
                new ArrayList<>(LongStream.range(0, 20_000).boxed().toList());
        Random random = new Random(seed);
        for (int from = 0; from < sequences.size(); from += 1000) {
            Collections.shuffle(sequences.subList(from, from + 1000), random);
        }
        for (long sequence : sequences) {
            accept(sequence);
        }
        window.end();
        assertThat(written)
                .as("seed %d", seed)
                .isEqualTo(LongStream.range(0, 20_000).boxed().toList());
    }

    @Test
    void aHoleIsPassedWhenTheWindowIsFullAndALatePayloadLeftOut() throws IOException {
        for (long sequence = 1; sequence <= ReorderWindow.MAX_PACKETS; sequence++) {
            accept(sequence);
        }
        assertThat(written).hasSize(ReorderWindow.MAX_PACKETS).startsWith(1L, 2L);
        accept(0);
        assertThat(window.leftOut()).isEqualTo(1);
    }

    @Test
    void theWindowIsBoundedInBytes() throws IOException {
        int bytes = 1024 * 1024;
        for (long sequence = 1; sequence <= 9; sequence++) {
            window.accept(sequence, ByteBuffer.allocate(bytes).putLong(0, sequence));
        }
        assertThat(written).hasSize(9);
    }

    @Test
    void aFarJumpIsTakenAtOnceAndTheEndWritesWhatWaits() throws IOException {
        accept(1_000_000_000_000L);
        accept(1_000_000_000_002L);
        assertThat(written).hasSize(1);
        window.end();
        assertThat(written).containsExactly(1_000_000_000_000L, 1_000_000_000_002L);
    }

    @Test
    void aRepeatedPayloadThatWaitsIsKeptOnce() throws IOException {
        accept(1);
        accept(1);
        accept(0);
        assertThat(written).containsExactly(0L, 1L);
    }
}

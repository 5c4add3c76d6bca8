package org.tamanoir.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BufferPoolTest {
    private static final long LIMIT = 8L << 20;

    private final BufferPool pool = BufferPool.of(LIMIT);
    private final List<Buffer> taken = new ArrayList<>();

    private Buffer take(int bytes) {
        Buffer buffer = pool.take(bytes, bytes);
        taken.add(buffer);
        return buffer;
    }

    private void giveAll() {
        taken.forEach(pool::give);
        taken.clear();
    }

    /** The leak detector counts what a test keeps. */
    @AfterEach
    void close() {
        giveAll();
        pool.close();
    }

    @Test
    void neverHasMoreInUseThanItsBound() {
        assertThatThrownBy(() -> {
                    while (true) {
                        take(BufferPool.MEDIUM_BYTES);
                    }
                })
                .isInstanceOf(NoMemoryException.class)
                .hasMessageContaining("KiB of 8192 are in use")
                .hasMessageContaining("-XX:MaxDirectMemorySize");
        assertThat(pool.usedBytes()).isBetween(LIMIT - BufferPool.MEDIUM_BYTES, LIMIT);
        giveAll();
        assertThat(take(1 << 20).capacity()).isEqualTo(1 << 20);
        giveAll();
        pool.close();
        assertThat(pool.usedBytes()).isZero();
    }

    @Test
    void whatLiesIdleMakesRoomForOtherSizes() {
        for (int i = 0; i < 64; i++) {
            take(BufferPool.MEDIUM_BYTES);
        }
        giveAll();
        long idle = pool.usedBytes();
        assertThat(idle).isEqualTo(64L * BufferPool.MEDIUM_BYTES);
        for (int i = 0; i < 7; i++) {
            take(1 << 20);
        }
        assertThat(pool.usedBytes()).isEqualTo(7L << 20);
    }

    @Test
    void optionalMemoryLeavesEachStreamItsOwn() {
        List<Buffer> optional = new ArrayList<>();
        for (int bytes : new int[] {BufferPool.LARGE_BYTES, BufferPool.MEDIUM_BYTES, 1 << 20, 16 << 10}) {
            Buffer buffer;
            while ((buffer = pool.tryTake(bytes)) != null) {
                optional.add(buffer);
            }
        }
        assertThat(pool.usedBytes()).isLessThanOrEqualTo(LIMIT / 4);
        Buffer smaller = pool.take(BufferPool.LARGE_BYTES, 1);
        taken.add(smaller);
        assertThat(smaller.capacity()).isEqualTo(BufferPool.MEDIUM_BYTES);
        for (int stream = 0; stream < pool.streamsFor() - 1; stream++) {
            take(BufferPool.MEDIUM_BYTES);
            take(BufferPool.MEDIUM_BYTES);
        }
        assertThat(pool.streamsFor()).isEqualTo((int) (LIMIT * 3 / 4 / (136 << 10)));
        optional.forEach(pool::giveOptional);
        Buffer large = pool.tryTake(BufferPool.LARGE_BYTES);
        pool.giveOptional(Objects.requireNonNull(large));
    }

    @Test
    void leavesAQuarterAndSixteenMebibytesToOthers() {
        assertThat(BufferPool.limitOf(8L << 20)).isZero();
        assertThat(BufferPool.limitOf(32L << 20)).isEqualTo(16L << 20);
        assertThat(BufferPool.limitOf(64L << 20)).isEqualTo(48L << 20);
        assertThat(BufferPool.limitOf(1L << 30)).isEqualTo(768L << 20);
    }
}

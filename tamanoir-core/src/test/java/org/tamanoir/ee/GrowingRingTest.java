package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.BufferPool;

class GrowingRingTest {
    private static final int LIMIT = 1 << 20;
    private static final long SEED = Seeds.ofCommit(GrowingRingTest.class);

    private final BufferPool pool = BufferPool.of(16L << 20);

    private static ByteBuffer packet(int number, int bytes) {
        return TestServices.payload(number, bytes);
    }

    private static boolean offer(GrowingRing ring, ByteBuffer packet) {
        return ring.offer(packet, 0, packet.capacity());
    }

    private static ByteBuffer current(GrowingRing ring) {
        ByteBuffer copy = ByteBuffer.allocate(ring.length());
        return copy.put(0, ring.memory().nio(), ring.offset(), ring.length());
    }

    @Test
    void beginsSmallAndGrowsToItsBoundOnly() {
        GrowingRing ring = new GrowingRing(pool, this, LIMIT);
        assertThat(pool.usedBytes()).isEqualTo(BufferPool.SMALL_BYTES);
        int packets = 0;
        while (offer(ring, packet(packets, 1000))) {
            packets++;
        }
        assertThat(pool.usedBytes()).isEqualTo(BufferPool.SMALL_BYTES + BufferPool.LARGE_BYTES + LIMIT);
        assertThat(packets * 1024L).isBetween((long) LIMIT, pool.usedBytes());
        assertThat(ring.isStarved()).isFalse();
        for (int i = 0; i < packets; i++) {
            if (!ring.next()) {
                ring.release();
                assertThat(ring.next()).isTrue();
            }
            assertThat(current(ring)).isEqualTo(packet(i, 1000));
        }
        assertThat(ring.next()).isFalse();
        ring.release();
        assertThat(ring.isReleased()).isTrue();
        ring.free();
        pool.close();
        assertThat(pool.usedBytes()).isZero();
    }

    @Test
    void packetsOfAllLengthsComeOutInOrderAndWhole() {
        Random random = new Random(SEED);
        GrowingRing ring = new GrowingRing(pool, this, LIMIT);
        Queue<ByteBuffer> in = new ArrayDeque<>();
        for (int step = 0; step < Seeds.scaled(20_000); step++) {
            if (random.nextInt(3) > 0) {
                ByteBuffer packet = packet(step, 1 + random.nextInt(random.nextInt(20) == 0 ? 65_535 : 300));
                if (offer(ring, packet)) {
                    in.add(packet);
                }
            } else {
                for (int i = random.nextInt(8); i > 0 && ring.next(); i--) {
                    assertThat(current(ring))
                            .describedAs("seed %d, step %d", SEED, step)
                            .isEqualTo(in.remove());
                }
                if (random.nextBoolean()) {
                    ring.release();
                }
            }
        }
        List<ByteBuffer> left = new ArrayList<>();
        ring.dropAll(
                (memory, offset, length) -> left.add(ByteBuffer.allocate(length).put(0, memory, offset, length)));
        assertThat(left).describedAs("seed %d", SEED).isEqualTo(List.copyOf(in));
        ring.free();
        pool.close();
        assertThat(pool.usedBytes()).isZero();
    }

    @Test
    void memoryStaysUntilWhatLiesInItIsReleased() {
        GrowingRing ring = new GrowingRing(pool, this, LIMIT);
        assertThat(offer(ring, packet(1, 100))).isTrue();
        assertThat(offer(ring, packet(2, 60_000))).isTrue();
        assertThat(ring.next()).isTrue();
        assertThat(ring.next()).isFalse();
        assertThat(current(ring)).isEqualTo(packet(1, 100));
        assertThat(ring.isEmpty()).isFalse();
        ring.release();
        assertThat(ring.next()).isTrue();
        assertThat(current(ring)).isEqualTo(packet(2, 60_000));
        ring.free();
        pool.close();
    }

    @Test
    void saysWhenAPacketDoesNotFitForWantOfMemory() {
        BufferPool narrow = BufferPool.of(512 << 10); // 128 KiB of it for what is optional.
        GrowingRing ring = new GrowingRing(narrow, this, LIMIT);
        assertThat(offer(ring, packet(1, 100))).isTrue();
        assertThat(offer(ring, packet(2, 60_000))).isFalse();
        assertThat(ring.isStarved()).describedAs("while another packet waits").isFalse();
        assertThat(ring.next()).isTrue();
        ring.release();
        assertThat(ring.isStarved())
                .describedAs("when it was tried last, another waited")
                .isFalse();
        assertThat(offer(ring, packet(2, 60_000))).isFalse();
        assertThat(ring.isStarved()).isTrue();
        assertThat(offer(ring, packet(3, 100))).isTrue();
        assertThat(ring.isStarved()).isFalse();
        ring.free();
        narrow.close();
    }
}

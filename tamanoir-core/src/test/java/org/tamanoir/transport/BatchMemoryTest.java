package org.tamanoir.transport;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of memory that is free in the wrong sizes, and of what the JVM does not give. */
@Timeout(240)
class BatchMemoryTest {
    private static final int KIB = 1 << 10;

    private final UnpooledByteBufAllocator unpooled = new UnpooledByteBufAllocator(true, true);
    private long nowNs;

    private BatchMemory of(int limitOctets, IntFunction<Buffer> allocator) {
        return new BatchMemory(limitOctets, allocator, () -> nowNs);
    }

    private Buffer allocate(int octets) {
        return new Buffer(unpooled.directBuffer(octets, octets));
    }

    private long usedOctets() {
        return unpooled.metric().usedDirectMemory();
    }

    private static List<Buffer> take(BatchMemory memory, int count, int octets) {
        List<Buffer> taken = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            taken.add(requireNonNull(memory.larger(null, 0, octets)));
        }
        return taken;
    }

    @Test
    void smallOnesThatAreFreeMakeRoomForALargerOne() {
        BatchMemory memory = of(512 * KIB, this::allocate);
        take(memory, 4, 1).forEach(memory::give);
        assertThat(memory.larger(null, 0, 512 * KIB)).isNotNull();
        assertThat(usedOctets()).isEqualTo(512 * KIB);
    }

    @Test
    void whatPoolsKeepIsFreedForWhoFindsNoMemory() {
        try (BufferPool pool = BufferPool.of(1024 * KIB)) {
            pool.give(pool.take(BufferPool.LARGE_BYTES, 1));
            BatchMemory memory = of(512 * KIB, octets -> {
                if (pool.usedBytes() > 0) {
                    throw new OutOfMemoryError("Cannot reserve " + octets + " bytes of direct buffer memory");
                }
                return allocate(octets);
            });
            assertThat(memory.larger(null, 0, 1)).isNotNull();
        }
    }

    @Test
    void whatPoolsKeepIsFreedForWhatPacketsLeaveBy() {
        try (BufferPool pool = BufferPool.of(1024 * KIB)) {
            Buffer held = pool.take(BufferPool.MEDIUM_BYTES, 1);
            pool.give(pool.take(BufferPool.SMALL_BYTES, 1));
            ScarceMemory scarce = new ScarceMemory(() -> nowNs);
            Supplier<String> maker = () -> {
                if (pool.usedBytes() > BufferPool.MEDIUM_BYTES) {
                    throw new OutOfMemoryError("Cannot reserve 27232 bytes of direct buffer memory");
                }
                return "made";
            };
            assertThat(scarce.make(maker)).isEqualTo("made");
            assertThat(pool.usedBytes()).as("what is in use stays").isEqualTo(BufferPool.MEDIUM_BYTES);
            pool.give(held);
        }
    }

    @Test
    void theJvmIsAskedInVainOnceASecond() {
        ScarceMemory scarce = new ScarceMemory(() -> nowNs);
        AtomicInteger asked = new AtomicInteger();
        Supplier<String> maker = () -> {
            asked.incrementAndGet();
            throw new OutOfMemoryError("Cannot reserve 27232 bytes of direct buffer memory");
        };
        assertRefused(scarce, maker);
        int once = asked.get(); // Twice where some pool had something idle.
        assertRefused(scarce, maker);
        assertThat(asked).hasValue(once);
        nowNs += TimeUnit.SECONDS.toNanos(1);
        assertThat(scarce.make(() -> "made")).isEqualTo("made");
    }

    private static void assertRefused(ScarceMemory scarce, Supplier<String> maker) {
        assertThatThrownBy(() -> scarce.make(maker))
                .isInstanceOf(NoMemoryException.class)
                .hasMessageContaining("-XX:MaxDirectMemorySize");
    }

    @Test
    void whoCanDoWithoutLeavesHalfToOthers() {
        BatchMemory memory = of(512 * KIB, this::allocate);
        Buffer first = requireNonNull(memory.spare(128 * KIB));
        assertThat(memory.spare(128 * KIB)).isNotNull();
        assertThat(memory.spare(128 * KIB)).isNull();
        assertThat(memory.larger(null, 0, 256 * KIB)).isNotNull();
        memory.give(first);
        assertThat(memory.spare(128 * KIB)).as("while others have half").isNull();
    }

    @Test
    void noMoreIsFreedThanThatNeeds() {
        BatchMemory memory = of(512 * KIB, this::allocate);
        List<Buffer> taken = take(memory, 4, 1);
        taken.forEach(memory::give);
        assertThat(memory.larger(null, 0, 256 * KIB)).isNotNull();
        assertThat(memory.larger(null, 0, 1)).as("given back last").isSameAs(taken.get(3));
    }

    @Test
    void nothingIsFreedWhereThatWouldNotDo() {
        BatchMemory memory = of(512 * KIB, this::allocate);
        List<Buffer> taken = take(memory, 4, 1);
        memory.give(taken.get(0));
        assertThat(memory.larger(null, 0, 256 * KIB)).isNull();
        assertThat(memory.larger(null, 0, 1)).isSameAs(taken.get(0));
    }

    @Test
    void inTheSteadyStateNothingIsAllocated() {
        List<Integer> allocated = new ArrayList<>();
        BatchMemory memory = of(1024 * KIB, octets -> {
            allocated.add(octets);
            return allocate(octets);
        });
        for (int batch = 0; batch < 100; batch++) {
            List<Buffer> readers = take(memory, 2, 1);
            readers.addAll(take(memory, 1, 512 * KIB));
            readers.forEach(memory::give);
        }
        assertThat(allocated).containsExactly(128 * KIB, 128 * KIB, 512 * KIB);
    }

    @Test
    void whatTheJvmDoesNotGiveIsNotCounted() {
        nowNs = TimeUnit.SECONDS.toNanos(5);
        List<Integer> asked = new ArrayList<>();
        BatchMemory memory = of(256 * KIB, octets -> {
            asked.add(octets);
            if (asked.size() == 1) {
                throw new OutOfMemoryError("of a test");
            }
            return allocate(octets);
        });
        assertThat(memory.larger(null, 0, 256 * KIB)).isNull();
        assertThat(memory.larger(null, 0, 256 * KIB)).isNull();
        assertThat(asked).as("it is left alone for a second").hasSize(1);
        nowNs += TimeUnit.SECONDS.toNanos(1);
        assertThat(memory.larger(null, 0, 256 * KIB)).isNotNull();
    }

    @Test
    void othersGoOnWhileTheJvmIsAsked() throws Exception {
        CountDownLatch isAsked = new CountDownLatch(1);
        CountDownLatch mayAnswer = new CountDownLatch(1);
        CountDownLatch answers = new CountDownLatch(1);
        BatchMemory memory = of(512 * KIB, octets -> {
            if (octets == 256 * KIB) {
                isAsked.countDown();
                await(mayAnswer);
                answers.countDown();
            }
            return allocate(octets);
        });
        Buffer mine = requireNonNull(memory.larger(null, 0, 1));
        Exchanger<@Nullable Buffer> outcome = new Exchanger<>();
        Thread asking = new Thread(() -> {
            try {
                outcome.exchange(memory.larger(null, 0, 256 * KIB));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        asking.start();
        await(isAsked);
        memory.give(mine);
        assertThat(memory.larger(null, 0, 1)).isSameAs(mine);
        assertThat(memory.larger(null, 0, 256 * KIB))
                .as("what is asked for is counted")
                .isNull();
        assertThat(answers.getCount()).as("answers that are to come").isOne();
        mayAnswer.countDown();
        assertThat(outcome.exchange(null)).isNotNull();
        asking.join();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(40, TimeUnit.SECONDS); // So that who waits for a lock gets on, and the test fails.
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;

class JobMemoryTest {
    private static final int BYTES = 1 << 20;
    private static final int LARGEST = (1 << 16) - 1;

    private final BufferPool pool = new BufferPool(4);
    private final Buffer buffer = pool.take(BYTES, BYTES);
    private final JobMemory memory = new JobMemory(buffer);

    @AfterEach
    void giveMemoryBack() {
        pool.give(buffer);
        pool.close();
    }

    private int put(int length) {
        return memory.put(ByteBuffer.allocate(length), 0, length);
    }

    @Test
    void aFewPacketsThatStayLeaveTheRestOfTheMemoryToOthers() {
        int staying = 0;
        Deque<Integer> others = new ArrayDeque<>();
        for (int i = 0; i < 4 * BYTES / 1024; i++) {
            if (i % 32 == 0) {
                assertThat(put(64)).as("staying packet %s", staying).isNotNegative();
                staying++;
            }
            others.add(put(1024));
            assertThat(others.getLast()).as("packet %s", i).isNotNegative();
            if (others.size() > 8) {
                memory.release(others.remove());
            }
        }
    }

    @Test
    void itIsFilledToItsLastUnitAndNoFurther() {
        int count = BYTES / JobMemory.UNIT_BYTES;
        for (int i = 0; i < count; i++) {
            assertThat(put(JobMemory.UNIT_BYTES)).isNotNegative();
        }
        assertThat(put(1)).isNegative();
        memory.release(17 * JobMemory.UNIT_BYTES);
        assertThat(put(JobMemory.UNIT_BYTES + 1)).isNegative();
        assertThat(put(JobMemory.UNIT_BYTES)).isEqualTo(17 * JobMemory.UNIT_BYTES);
    }

    @Test
    void packetsOfAnySizeStayWholeAndAllRoomComesBack() {
        Random random = new Random(Seeds.ofCommit(JobMemoryTest.class));
        List<Kept> kept = new ArrayList<>();
        for (int i = 0; i < Seeds.scaled(20_000); i++) {
            Kept packet = new Kept(random);
            if (packet.putInto(memory)) {
                kept.add(packet);
            } else {
                assertThat(kept).isNotEmpty();
            }
            if (random.nextInt(40) == 0) {
                while (kept.size() > random.nextInt(60)) {
                    kept.remove(random.nextInt(kept.size())).checkAndRelease(memory);
                }
            }
        }
        kept.forEach(each -> each.checkAndRelease(memory));
        for (int i = 1; i < BYTES / (LARGEST + 1); i++) { // One less: the first lies anywhere.
            assertThat(put(LARGEST)).isNotNegative();
        }
    }

    @Test
    void packetsThatOtherThreadsGiveBackStayWholeUntilThen() throws Exception {
        BlockingQueue<Kept> there = new ArrayBlockingQueue<>(300);
        AtomicReference<AssertionError> failed = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.add(new Thread(() -> {
                try {
                    for (Kept packet = there.take(); packet.bytes.length > 0; packet = there.take()) {
                        packet.checkAndRelease(memory);
                    }
                } catch (AssertionError e) {
                    failed.set(e);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }));
        }
        threads.forEach(Thread::start);
        Random random = new Random(Seeds.ofCommit(JobMemoryTest.class));
        for (int i = 0; i < Seeds.scaled(100_000) && failed.get() == null; i++) {
            Kept packet = new Kept(random);
            if (packet.putInto(memory)) {
                there.offer(packet, 40, TimeUnit.SECONDS);
            }
        }
        for (int i = 0; i < threads.size(); i++) {
            there.offer(new Kept(new byte[0]), 40, TimeUnit.SECONDS);
        }
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(40));
            assertThat(thread.isAlive()).isFalse();
        }
        assertThat(failed.get()).isNull();
        assertThat(put(LARGEST)).isNotNegative();
    }

    /** A packet, and where it was put. */
    private static final class Kept {
        final byte[] bytes;
        private int at;

        Kept(byte[] bytes) {
            this.bytes = bytes;
        }

        /** Mostly small ones, a few as large as datagrams get. */
        Kept(Random random) {
            this(new byte[1 + (random.nextInt(20) == 0 ? random.nextInt(LARGEST) : random.nextInt(1500))]);
            Arrays.fill(bytes, (byte) random.nextInt());
        }

        boolean putInto(JobMemory memory) {
            at = memory.put(ByteBuffer.wrap(bytes), 0, bytes.length);
            return at >= 0;
        }

        void checkAndRelease(JobMemory memory) {
            byte[] there = new byte[bytes.length];
            memory.buffer().nio().get(at, there);
            assertThat(there).isEqualTo(bytes);
            memory.release(at);
        }
    }
}

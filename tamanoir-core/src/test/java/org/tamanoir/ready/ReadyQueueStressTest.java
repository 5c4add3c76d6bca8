package org.tamanoir.ready;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;

/** Items that go round through the queue between threads; {@code -Dready.operations=N} for more of them. */
class ReadyQueueStressTest {
    private static final int THREADS = 4;
    private static final long OPERATIONS = Seeds.number("ready.operations", Seeds.scaled(3_000_000));
    private static final int LIMIT = 8;

    @Test
    void nothingIsLostOrDoubled() throws Exception {
        for (int items : new int[] {3, 64}) { // Few items: rings get empty and bits are cleared all the time.
            new Round(items, false).run(OPERATIONS / 4);
        }
    }

    @Test
    void noHigherPriorityThatWasThereIsPassedOver() throws Exception {
        for (int items : new int[] {3, 64}) {
            new Round(items, true).run(OPERATIONS / 4);
        }
    }

    @Test
    void takersSeeEachPuttersItemsInTheirOrder() throws Exception {
        ReadyQueue queue = new ReadyQueue(64);
        int each = (int) Math.min(Integer.MAX_VALUE >> 2, OPERATIONS / 8);
        AtomicInteger left = new AtomicInteger(2 * each);
        List<CompletableFuture<?>> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int putter = i;
            threads.add(Waiting.async(() -> {
                for (int n = 0; n < each; n++) {
                    while (!queue.put(n << 1 | putter, 7)) {
                        Thread.yield();
                    }
                }
            }));
            threads.add(Waiting.async(() -> {
                int[] taken = new int[LIMIT];
                int[] last = {-1, -1};
                while (left.get() > 0) {
                    int count = queue.take(taken, LIMIT);
                    for (int k = 0; k < count; k++) {
                        int from = taken[k] & 1;
                        if (taken[k] >> 1 <= last[from]) {
                            throw new AssertionError((taken[k] >> 1) + " comes behind " + last[from]);
                        }
                        last[from] = taken[k] >> 1;
                    }
                    if (count == 0) {
                        Thread.yield();
                    } else {
                        left.addAndGet(-count);
                    }
                }
            }));
        }
        for (CompletableFuture<?> thread : threads) {
            thread.get(Math.max(40, OPERATIONS / 50_000), TimeUnit.SECONDS);
        }
        assertThat(left).hasValue(0);
    }

    /** A number of items that threads take out and put back under other priorities. */
    private static final class Round {
        private static final int TAKEN = 1;
        /** Stamps are below this; above them stands which putting of its item they belong to. */
        private static final long NEVER = (1L << 40) - 1;

        private final ReadyQueue queue;
        private final int items;
        /** Each priority has one putter, so that no putting in its midst hides a later one; only then it is checked. */
        private final boolean apart;

        /** Priority << 1, or {@link #TAKEN}. */
        private final AtomicIntegerArray states;
        /** Counts ends of takings; a taking that begins later reads at least as much. */
        private final AtomicLong clock = new AtomicLong();

        /** For each item since it was put in: when the taking began that got it. */
        private final AtomicLongArray begun;
        /** When a taking ended that began behind its putting and brought a lower priority. */
        private final AtomicLongArray passedOver;

        Round(int items, boolean apart) {
            this.items = items;
            this.apart = apart;
            queue = new ReadyQueue(Math.max(2, items));
            states = new AtomicIntegerArray(items);
            begun = new AtomicLongArray(items);
            passedOver = new AtomicLongArray(items);
            for (int i = 0; i < items; i++) {
                put(i, ReadyQueue.PRIORITIES - 1);
            }
        }

        void run(long operations) throws Exception {
            List<CompletableFuture<?>> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int thread = i;
                threads.add(Waiting.async(() -> go(thread, operations / THREADS)));
            }
            for (CompletableFuture<?> thread : threads) {
                thread.get(Math.max(40, operations / 50_000), TimeUnit.SECONDS);
            }
            int[] taken = new int[LIMIT];
            int found = 0;
            int count;
            while ((count = queue.take(taken, LIMIT)) > 0) {
                for (int k = 0; k < count; k++) {
                    take(taken[k]);
                }
                found += count;
            }
            assertThat(found).isEqualTo(items);
        }

        private void go(int thread, long operations) {
            SplittableRandom random = new SplittableRandom(thread);
            int[] held = new int[items];
            int[] taken = new int[LIMIT];
            int holding = 0;
            for (long n = 0; n < operations; n++) {
                int put = holding > 0 ? held[--holding] : -1;
                int priority = apart
                        ? THREADS * random.nextInt(2) + thread
                        : random.nextInt(8); // Few, so that they get empty.
                long putting = put < 0 ? 0 : put(put, priority);
                long begin = clock.get();
                int count = queue.take(taken, 1 + random.nextInt(LIMIT));
                long end = clock.incrementAndGet();
                int brought = ReadyQueue.PRIORITIES;
                for (int k = 0; k < count; k++) {
                    int item = taken[k];
                    brought = take(item);
                    long over = passedOver.get(item);
                    begun.set(item, over & ~NEVER | begin);
                    check(begin, passedOver.get(item) & NEVER);
                    held[holding++] = item;
                }
                if (put >= 0 && brought > priority && passedOver.compareAndSet(put, putting | NEVER, putting | end)) {
                    long got = begun.get(put);
                    check((got & ~NEVER) == putting ? got & NEVER : 0, end);
                }
            }
            while (holding > 0) {
                put(held[--holding], thread);
            }
        }

        /** Returns which putting it is, above the bits of stamps. */
        private long put(int item, int priority) {
            long putting = (passedOver.get(item) & ~NEVER) + NEVER + 1;
            passedOver.set(item, putting | NEVER);
            states.set(item, priority << 1);
            while (!queue.put(item, priority)) {
                Thread.yield(); // A taker stands where the ring comes round.
            }
            return putting;
        }

        /** Returns the priority under which it was put in. */
        private int take(int item) {
            int state = states.getAndSet(item, TAKEN);
            if (state == TAKEN) {
                throw new AssertionError("item " + item + " is taken twice");
            }
            return state >> 1;
        }

        /** Fails when an item was still there when a taking had ended that had brought a lower one in its place. */
        private void check(long begun, long passedOver) {
            if (apart && begun >= passedOver) {
                throw new AssertionError("a higher priority was passed over");
            }
        }
    }
}

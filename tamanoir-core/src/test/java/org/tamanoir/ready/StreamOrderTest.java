package org.tamanoir.ready;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Waiting;

class StreamOrderTest {
    private static final int STREAMS = 4;
    private static final int JOBS = 16;

    private final StreamOrder order = new StreamOrder(STREAMS, JOBS);

    @Test
    void firstJobOfAStreamGoesAndOthersWait() {
        assertThat(order.append(0, 3)).isEqualTo(StreamOrder.NONE);
        assertThat(order.append(0, 4)).isEqualTo(StreamOrder.WAITS);
        assertThat(order.append(1, 5)).isEqualTo(StreamOrder.NONE);
        assertThat(order.successor(3)).isEqualTo(4);
        assertThat(order.finish(0, 3)).isEqualTo(4);
        assertThat(order.finish(0, 4)).isEqualTo(StreamOrder.NONE);
        assertThat(order.append(0, 6)).isEqualTo(StreamOrder.NONE);
    }

    @Test
    void threadsGoThroughEachStreamInItsOrderOneAtATime() throws Exception {
        int jobs = 400_000;
        int[] streams = new int[JOBS];
        int[] numbers = new int[JOBS];
        AtomicIntegerArray going = new AtomicIntegerArray(STREAMS);
        AtomicIntegerArray next = new AtomicIntegerArray(STREAMS);
        BlockingQueue<Integer> free = new ArrayBlockingQueue<>(JOBS);
        BlockingQueue<Integer> ready = new ArrayBlockingQueue<>(JOBS);
        AtomicInteger done = new AtomicInteger();
        for (int job = 0; job < JOBS; job++) {
            free.add(job);
        }
        List<CompletableFuture<?>> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.add(Waiting.async(() -> {
                while (done.get() < jobs) {
                    Integer job = ready.poll(1, TimeUnit.MILLISECONDS);
                    if (job == null) {
                        continue;
                    }
                    int stream = streams[job];
                    assertThat(going.incrementAndGet(stream)).isEqualTo(1);
                    assertThat(numbers[job]).isEqualTo(next.getAndIncrement(stream));
                    going.decrementAndGet(stream);
                    int behind = order.finish(stream, job);
                    if (behind != StreamOrder.LEFT) {
                        free.add(job);
                    }
                    if (behind >= 0) {
                        ready.add(behind);
                    }
                    done.incrementAndGet();
                }
            }));
        }
        int[] appended = new int[STREAMS];
        for (int i = 0; i < jobs; i++) {
            Integer job = free.poll(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(job).as("a job gets free").isNotNull();
            int stream = i * 7 % 5 % STREAMS;
            streams[job] = stream;
            numbers[job] = appended[stream]++;
            int before = order.append(stream, job);
            if (before >= 0) {
                free.add(before);
            }
            if (before != StreamOrder.WAITS) {
                ready.add(job);
            }
        }
        for (CompletableFuture<?> thread : threads) {
            thread.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(done).hasValue(jobs);
    }
}

package org.tamanoir.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.tamanoir.ready.ReadyQueue;

/**
 * What a job costs in the ready queue: it is taken, and put back under a random priority, while so many are ready. Scores
 * are jobs a microsecond, of all threads together; {@code -prof gc} shows that nothing is allocated.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class ReadyQueueBenchmark {
    private static final int JOBS = 8;

    /** How many jobs are ready. */
    @Param({"1", "10", "100", "1000", "10000"})
    public int jobs;

    /** How many a thread takes at once, as far as there are as many of one priority. */
    @Param({"1", "8"})
    public int limit;

    private ReadyQueue queue = new ReadyQueue(2);

    /** What each thread has of its own. */
    @State(Scope.Thread)
    public static class Taker {
        private final int[] taken = new int[JOBS];
        private int random = System.identityHashCode(taken) | 1;

        int priority() {
            random ^= random << 13;
            random ^= random >>> 17;
            random ^= random << 5;
            return random & ReadyQueue.PRIORITIES - 1;
        }
    }

    /** Makes the jobs ready. */
    @Setup
    public void fill() {
        queue = new ReadyQueue(1 << 14);
        for (int i = 0; i < jobs; i++) {
            queue.put(i, i % ReadyQueue.PRIORITIES);
        }
    }

    /** One thread takes and puts. */
    @Benchmark
    @Threads(1)
    @OperationsPerInvocation(JOBS)
    public void one(Taker taker) {
        takeAndPut(taker);
    }

    /** Two threads do. */
    @Benchmark
    @Threads(2)
    @OperationsPerInvocation(JOBS)
    public void two(Taker taker) {
        takeAndPut(taker);
    }

    private void takeAndPut(Taker taker) {
        int left = JOBS;
        while (left > 0) {
            int count = queue.take(taker.taken, Math.min(limit, left));
            for (int i = 0; i < count; i++) {
                while (!queue.put(taker.taken[i], taker.priority())) {
                    Thread.onSpinWait();
                }
            }
            left -= count; // 0 where the other thread has them all.
        }
    }
}

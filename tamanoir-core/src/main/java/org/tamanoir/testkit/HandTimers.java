package org.tamanoir.testkit;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * Timers in a time of their own that begins at 0 and is advanced by hand; those due at the same time run in the
 * order in which they were set.
 *
 * <p>Thread contract: the service's thread.
 */
final class HandTimers {
    /** As many as a node lets an instance have waiting. */
    private static final int MAX_WAITING = 1024;

    private record Timer(long dueNs, long number, Runnable task) {}

    private final PriorityQueue<Timer> waiting =
            new PriorityQueue<>(Comparator.comparingLong(Timer::dueNs).thenComparingLong(Timer::number));
    private long nowNs;
    private long set;

    void set(Duration delay, Runnable task) {
        if (waiting.size() == MAX_WAITING) {
            throw new IllegalStateException(
                    "timer " + (MAX_WAITING + 1) + ": a service may have " + MAX_WAITING + " waiting; use every()");
        }
        waiting.add(new Timer(Math.addExact(nowNs, Math.max(0, delay.toNanos())), set++, task));
    }

    long nowNs() {
        return nowNs;
    }

    /** Runs what is due until then, also what those tasks set. */
    void advance(long byNs, Consumer<Runnable> runner) {
        long endNs = Math.addExact(nowNs, byNs);
        Timer next;
        while ((next = waiting.peek()) != null && next.dueNs() <= endNs) {
            waiting.remove();
            nowNs = next.dueNs();
            runner.accept(next.task());
        }
        nowNs = endNs;
    }
}

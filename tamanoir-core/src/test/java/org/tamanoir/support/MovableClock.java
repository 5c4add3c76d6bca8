package org.tamanoir.support;

import static org.tamanoir.support.Waiting.eventually;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.Starter;

/**
 * The machine's threads and its clock, which a test can move ahead: so what takes seconds by a setting takes none of the
 * test. Threads that park do so for real time. Any thread.
 */
public final class MovableClock implements Platform {
    /** Moved at each look of {@link #hurryUntil}: small beside the settings of tests, so that hardly more than wanted passes. */
    private static final Duration STEP = Duration.ofMillis(100);

    /** Most steps of one {@link #hurryUntil}: where threads come late, other times of a node do not run out meanwhile. */
    private static final int MOST_STEPS = 250;

    private final AtomicLong aheadNs = new AtomicLong();

    /** The machine's time at which this clock was stopped; null while it goes. */
    private volatile @Nullable Long standsNs;

    /** Ends that a clock stands: it goes on with the machine's. */
    public interface Held extends AutoCloseable {
        @Override
        void close();
    }

    /** Stops the clock, which goes on by {@link #advance} alone until the result is closed: before the node is. */
    public Held hold() {
        standsNs = SYSTEM.nanoTime();
        return () -> standsNs = null;
    }

    /** Moves the clock. */
    public void advance(Duration time) {
        aheadNs.addAndGet(time.toNanos());
    }

    /**
     * Lets time pass some twenty times as fast until the condition holds, 25 seconds of it at most. What must not run out
     * meanwhile on a busy host takes more than 8 of them: 400 ms of the host.
     */
    public void hurryUntil(Callable<Boolean> condition) {
        int[] steps = new int[1];
        eventually().until(() -> {
            boolean holds = condition.call();
            if (!holds && steps[0]++ < MOST_STEPS) {
                advance(STEP);
            }
            return holds;
        });
    }

    @Override
    public long nanoTime() {
        Long stands = standsNs;
        return (stands == null ? SYSTEM.nanoTime() : stands) + aheadNs.get();
    }

    @Override
    public Instant now() {
        return SYSTEM.now().plusNanos(aheadNs.get());
    }

    @Override
    public long processorNs() {
        return SYSTEM.processorNs();
    }

    @Override
    public long processorNs(Thread thread) {
        return SYSTEM.processorNs(thread);
    }

    @Override
    public long allocatedBytes(Thread thread) {
        return SYSTEM.allocatedBytes(thread);
    }

    @Override
    public Thread newThread(String name, Runnable body) {
        return SYSTEM.newThread(name, body);
    }

    @Override
    public Executor newPool(String name, int mostThreads) {
        return SYSTEM.newPool(name, mostThreads);
    }

    @Override
    public Starter newStarter() {
        return SYSTEM.newStarter();
    }

    @Override
    public void park(Object blocker, long ns) {
        SYSTEM.park(blocker, ns);
    }

    @Override
    public void unpark(Thread thread) {
        SYSTEM.unpark(thread);
    }

    @Override
    public boolean join(Thread thread, long ns) {
        return SYSTEM.join(thread, ns);
    }
}

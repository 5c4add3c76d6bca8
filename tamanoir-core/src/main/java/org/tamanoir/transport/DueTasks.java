package org.tamanoir.transport;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Timers of one instance, and the tasks that they have made due, which run between packets.
 *
 * <p>Thread contract: the service's thread, but for {@link #handIn}.
 */
public final class DueTasks {
    /** Timers that one instance may have waiting. */
    private static final int MAX_TIMERS = 1024;
    /** Tasks of other threads likewise. */
    private static final int MAX_HANDED_IN = 1024;

    private final IoLoop loop;
    private final Queue<Runnable> due = new ArrayDeque<>();
    /** Tasks of other threads, until they begin. */
    private final AtomicInteger handedIn = new AtomicInteger();

    private final Queue<Runnable> handed = new ArrayDeque<>();
    private int timers;

    public DueTasks(IoLoop loop) {
        this.loop = loop;
    }

    public boolean isEmpty() {
        return due.isEmpty() && handed.isEmpty();
    }

    /** Takes out the task that has been due for longest; null when there is none. */
    @Nullable
    public Runnable poll() {
        Runnable task = due.poll();
        if (task != null) {
            timers--;
            return task;
        }
        task = handed.poll();
        if (task != null) {
            handedIn.decrementAndGet();
        }
        return task;
    }

    /** Makes a task due now. */
    public void add(Runnable task) {
        timers++;
        due.add(task);
    }

    /** Makes a task due now; false when too many wait, or the loop is closed. Any thread. */
    public boolean handIn(Runnable task) {
        if (handedIn.incrementAndGet() <= MAX_HANDED_IN && loop.execute(() -> handed.add(task))) {
            return true;
        }
        handedIn.decrementAndGet();
        return false;
    }

    /** Makes a task due after {@code delay}, whatever else waits. */
    public void add(Duration delay, Runnable task) {
        loop.schedule(delay, () -> due.add(task));
        timers++;
    }

    /**
     * Makes a task of the service's due after {@code delay}.
     *
     * @throws IllegalStateException if too many wait
     */
    public void addBounded(Duration delay, Runnable task) {
        if (timers >= MAX_TIMERS) {
            throw new IllegalStateException(
                    "timer " + (MAX_TIMERS + 1) + ": a service may have " + MAX_TIMERS + " waiting; use every()");
        }
        add(delay, task);
    }
}

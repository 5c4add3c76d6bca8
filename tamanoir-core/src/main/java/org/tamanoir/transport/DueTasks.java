package org.tamanoir.transport;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Timers of one instance, and the tasks that they have made due, which run between packets.
 *
 * <p>Thread contract: the service's thread.
 */
public final class DueTasks {
    /** Timers that one instance may have waiting. */
    private static final int MAX_TIMERS = 1024;

    private final IoLoop loop;
    private final Queue<Runnable> due = new ArrayDeque<>();
    private int timers;

    public DueTasks(IoLoop loop) {
        this.loop = loop;
    }

    public boolean isEmpty() {
        return due.isEmpty();
    }

    /** Takes out the task that has been due for longest; null when there is none. */
    @Nullable
    public Runnable poll() {
        Runnable task = due.poll();
        if (task != null) {
            timers--;
        }
        return task;
    }

    /** Makes a task due now. */
    public void add(Runnable task) {
        timers++;
        due.add(task);
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

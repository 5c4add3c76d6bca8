package org.tamanoir.ee;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.tamanoir.platform.Platform;
import org.tamanoir.sched.QosTimer;
import org.tamanoir.supervision.CoreThread;
import org.tamanoir.supervision.CoreThreads;

/**
 * The timer of scheduling points: one thread for all of them, which runs while there are any.
 *
 * <p>Thread contract: any thread.
 */
final class QosTimerThread implements QosTimer {
    private static final long NEVER = Long.MAX_VALUE;
    /** Between two rounds, however little there is to do. */
    private static final long LONGEST_SLEEP_NS = 500_000_000;
    /** After a task has failed. */
    private static final long AGAIN_NS = 100_000_000;

    private final List<Task> tasks = new CopyOnWriteArrayList<>();
    private final Platform platform;
    private final CoreThread thread;
    private volatile long sleepsUntil = NEVER;

    QosTimerThread(CoreThreads threads) {
        platform = threads.platform();
        thread = new CoreThread("qos timer", threads, this::round, () -> {});
        thread.start();
    }

    @Override
    public void at(Task task, long timeNs) {
        task.dueAt(timeNs);
        if (timeNs < sleepsUntil) {
            thread.unpark();
        }
    }

    @Override
    public void add(Task task) {
        tasks.add(task);
    }

    @Override
    public void remove(Task task) {
        tasks.remove(task);
    }

    private void round() {
        long now = platform.nanoTime();
        for (Task task : tasks) {
            if (task.dueNs() <= now) {
                task.dueAt(NEVER);
                try {
                    task.due();
                } catch (Throwable e) {
                    // What it was to wake must not wait for ever.
                    at(task, now + AGAIN_NS);
                    throw e;
                }
            }
        }
        sleepsUntil = next();
        // Who named an earlier time before it was written is seen here, who does so after it unparks.
        long sleepNs = next() - platform.nanoTime();
        if (sleepNs > 0) {
            thread.park(Math.min(sleepNs, LONGEST_SLEEP_NS));
        }
        sleepsUntil = Long.MIN_VALUE;
    }

    private long next() {
        long next = NEVER;
        for (Task task : tasks) {
            next = Math.min(next, task.dueNs());
        }
        return next;
    }

    @Override
    public void close() {
        thread.stop();
    }
}

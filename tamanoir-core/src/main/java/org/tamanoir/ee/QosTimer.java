package org.tamanoir.ee;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wakes scheduling points when their time has come: links when there are tokens again, turns when one lasts too long.
 * One thread for all of them, which runs while there are any.
 *
 * <p>Thread contract: any thread.
 */
final class QosTimer {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    private static final long NEVER = Long.MAX_VALUE;

    private final List<Task> tasks = new CopyOnWriteArrayList<>();
    private final Thread thread = new Thread(this::run, "qos timer");
    private volatile long sleepsUntil = NEVER;
    private volatile boolean closed;

    QosTimer() {
        thread.setDaemon(true);
        thread.start();
    }

    /** What is due now and then. */
    abstract static class Task {
        private volatile long dueNs = NEVER;

        /** Its time has come, by {@link System#nanoTime}. It must not block. The timer's thread. */
        abstract void due(long nowNs);
    }

    /** Has the task called at this time, in place of the one it named before; the maximum = not at all. */
    void at(Task task, long timeNs) {
        task.dueNs = timeNs;
        if (timeNs < sleepsUntil) {
            LockSupport.unpark(thread);
        }
    }

    void add(Task task) {
        tasks.add(task);
    }

    void remove(Task task) {
        tasks.remove(task);
    }

    private void run() {
        while (!closed) {
            long now = System.nanoTime();
            for (Task task : tasks) {
                if (task.dueNs <= now) {
                    task.dueNs = NEVER;
                    try {
                        task.due(now);
                    } catch (RuntimeException e) {
                        LOG.error("qos timer: a fault of the node", e);
                    }
                }
            }
            sleepsUntil = next();
            // Who named an earlier time before it was written is seen here, who does so after it unparks.
            long sleepNs = next() - System.nanoTime();
            if (sleepNs > 0 && !closed) {
                LockSupport.parkNanos(this, sleepNs);
            }
            sleepsUntil = Long.MIN_VALUE;
        }
    }

    private long next() {
        long next = NEVER;
        for (Task task : tasks) {
            next = Math.min(next, task.dueNs);
        }
        return next;
    }

    void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}

package org.tamanoir.sched;

/**
 * Wakes scheduling points when their time has come: links when there are tokens again, turns when one lasts too long.
 *
 * <p>Thread contract: any thread.
 */
public interface QosTimer {
    /** A point's alarm. */
    abstract class Task {
        private volatile long dueNs = Long.MAX_VALUE;

        /** Does what is due. It must not block. The timer's thread. */
        public abstract void due();

        /** Returns when it is due, by the clock of its scheduling point; the maximum while it is not. */
        public final long dueNs() {
            return dueNs;
        }

        /** Makes it due at this time; the maximum = never. For the timer. */
        public final void dueAt(long timeNs) {
            dueNs = timeNs;
        }
    }

    /** Has the task called at this time, in place of the one it named before; the maximum = not at all. */
    void at(Task task, long timeNs);

    /** Takes a task in, which is not due yet. */
    void add(Task task);

    /** Calls the task no more. */
    void remove(Task task);

    /** Ends the timer. */
    void close();
}

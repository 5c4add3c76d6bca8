package org.tamanoir.transport;

import java.time.Duration;
import java.util.concurrent.Future;

/**
 * The tasks and timers of one thread, which drives them and its {@linkplain IoSockets sockets} itself: {@link #run} waits
 * for something to happen and returns when the connections' state has changed. Nothing of the user's runs inside
 * {@code run} but tasks and listeners.
 *
 * <p>Thread contract: the owning thread; {@link #execute} and {@link #wakeup} any thread.
 */
public interface IoLoop extends IoSockets, AutoCloseable {
    /** Makes the calling thread the owner, once. */
    void own();

    /** Waits until a connection, a task, a timer or a {@link #wakeup} needs the thread, and serves it. */
    default void run() {
        run(0);
    }

    /**
     * Runs likewise, but returns after this time at the latest.
     *
     * @param ns 0 = no limit
     */
    void run(long ns);

    /** Serves what is ready, without waiting. */
    void poll();

    /** Makes a waiting {@link #run}, or else the next one, return. */
    void wakeup();

    /**
     * Runs {@code task} on the owning thread.
     *
     * @return false when the loop is closed; the task will not run
     */
    boolean execute(Runnable task);

    /** Runs {@code task} on the owning thread after {@code delay}, unless it is cancelled before. */
    Future<?> schedule(Duration delay, Runnable task);

    /** Runs the tasks that were taken, and frees the loop's own descriptors. Connections must be closed before. */
    @Override
    void close();
}

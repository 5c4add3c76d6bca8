package org.tamanoir.platform;

import java.time.Instant;
import java.util.concurrent.Executor;

/**
 * The time and the threads of the machine that a node runs on. Whatever waits, waits here or in a loop of the transport,
 * so that a simulation can decide which thread goes on, and when it is.
 *
 * <p>Thread contract: any thread.
 */
public interface Platform {
    /** The machine itself. */
    Platform SYSTEM = new SystemPlatform();

    /** Returns the time in ns since some fixed point, as {@link System#nanoTime}. */
    long nanoTime();

    /** Returns the time of day. */
    Instant now();

    /** Returns the processor time of the calling thread in ns; the time itself where the JVM does not count that. */
    long processorNs();

    /** Returns the processor time of a thread in ns; no more than 0 where the JVM does not count that, or it has ended. */
    long processorNs(Thread thread);

    /** Returns the bytes of heap that a thread has allocated; no more than 0 where the JVM does not count, or it has ended. */
    long allocatedBytes(Thread thread);

    /** Makes a daemon thread that is not started. */
    Thread newThread(String name, Runnable body);

    /** Makes daemon threads of this name, up to so many at once, and refuses work beyond. */
    Executor newPool(String name, int mostThreads);

    /** Begins what starts threads in place of background ones, from now on as the caller would; to be closed. */
    default Starter newStarter() {
        return Starter.DIRECT;
    }

    /** Waits at most so many ns until {@link #unpark}; may return earlier, and does so when the thread is interrupted. */
    void park(Object blocker, long ns);

    /** Lets a thread go on that parks, or that parks next. */
    void unpark(Thread thread);

    /**
     * Waits until a thread has ended, without its monitor, which foreign code may hold. An interrupt does not end the
     * wait, and stays.
     *
     * @return false when it has not ended in this time
     */
    boolean join(Thread thread, long ns);
}

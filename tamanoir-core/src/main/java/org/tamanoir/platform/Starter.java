package org.tamanoir.platform;

/**
 * Runs what starts threads. On Linux a thread inherits nice value and network namespace from the one that starts it, and
 * without a privilege never gets rid of a higher nice value: threads of services must not come from those that
 * {@linkplain Background are nicer}.
 *
 * <p>Thread contract: any thread.
 */
public interface Starter extends AutoCloseable {
    /** Runs it on the caller. */
    Starter DIRECT = Runnable::run;

    /** Marks threads that run in the background, on Linux with a higher nice value. */
    interface Background {}

    /**
     * Runs what does no more than start threads, and waits for that; throws what it throws.
     *
     * @throws IllegalStateException if that takes too long
     */
    void run(Runnable starting);

    /** Ends what it has of threads; from then on it runs on the caller. */
    @Override
    default void close() {}
}

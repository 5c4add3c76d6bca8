package org.tamanoir.nodeos;

/**
 * A policy at work on a level. Its end, by {@link #close}, gives the flow back to the Java virtual machine; nothing is
 * lost at that or at a change, and nothing overtakes what came before it.
 *
 * <p>Thread contract: any thread.
 */
public interface Offload extends AutoCloseable {
    /** Returns the service that it is for, by key. */
    long serviceKey();

    /** Returns the packets that it is for. */
    Flow flow();

    /** Returns where it works; never {@link Level#JVM}. */
    Level level();

    /** Returns what it does now. */
    Policy policy();

    /**
     * Does something else from now on, at the same level: each packet sees the old policy or the new one. Counts go on;
     * those of {@link Share#every} and {@link Share#first} begin anew when the share changes.
     *
     * @throws LevelException if the level cannot; the old policy stays
     */
    void change(Policy policy) throws LevelException;

    /** Returns all that it has done until now; after {@link #close}, until then. */
    LevelCounters counters();

    /** Returns whether it was closed. */
    boolean isClosed();

    /** Ends it. Idempotent. */
    @Override
    void close();
}

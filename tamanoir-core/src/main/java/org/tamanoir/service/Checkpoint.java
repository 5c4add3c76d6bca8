package org.tamanoir.service;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a service can be stopped, or made to wait for its next turn, in the midst of a packet. Nodes put calls of {@link #poll} into the
 * classes of services that are deployed, at method entries and backward jumps; others call {@link Service#checkpoint}.
 *
 * <p>While nobody wants anything a checkpoint is one volatile read.
 *
 * <p>Thread contract: any thread. On threads that a service has started itself a checkpoint does nothing.
 */
public final class Checkpoint {
    private static final Set<Object> WANTING = Collections.newSetFromMap(new IdentityHashMap<>());
    private static final ThreadLocal<Keeper> KEEPER = new ThreadLocal<>();
    private static volatile boolean wanted;

    private Checkpoint() {}

    /** Who runs a service's code on a thread, and may want it back. */
    public interface Keeper {
        /** Returns what the service is to be stopped by; null when it may go on, after a wait maybe. Its thread. */
        @Nullable
        ServiceStopped atCheckpoint();
    }

    /**
     * Passes a checkpoint.
     *
     * @throws ServiceStopped when the service is to stop
     */
    public static void poll() {
        if (wanted) {
            pass();
        }
    }

    private static void pass() {
        Keeper keeper = KEEPER.get();
        ServiceStopped stop = keeper == null ? null : keeper.atCheckpoint();
        if (stop != null) {
            throw stop;
        }
    }

    /**
     * Names who is asked at the calling thread's checkpoints from now on. For the node; a service cannot name another.
     *
     * @throws IllegalStateException if the thread has one already
     */
    public static void keep(Keeper keeper) {
        if (KEEPER.get() != null) {
            throw new IllegalStateException("another keeper is asked at the checkpoints of this thread");
        }
        KEEPER.set(keeper);
    }

    /** Has the calling thread ask nobody any more, if this is who it asks. For the node. */
    public static void release(Keeper keeper) {
        if (KEEPER.get() == keeper) {
            KEEPER.remove();
        }
    }

    /**
     * Has threads ask at checkpoints, or not on behalf of this one. For the node: whoever wants it takes it back soon,
     * since meanwhile checkpoints cost some nanoseconds each on all threads.
     */
    public static void want(Object who, boolean on) {
        synchronized (WANTING) {
            boolean changed = on ? WANTING.add(who) : WANTING.remove(who);
            if (changed) {
                wanted = !WANTING.isEmpty();
            }
        }
    }
}

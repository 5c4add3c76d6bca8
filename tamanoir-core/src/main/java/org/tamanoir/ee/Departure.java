package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;

/**
 * The way out of one service's thread to a next hop. Packets added are held until they are counted out or dropped.
 *
 * <p>Thread contract: the service's thread.
 */
interface Departure {
    /**
     * Adds the packet behind those before.
     *
     * @return null, or why it cannot go
     */
    @Nullable
    DropReason add(Packet packet);

    /** Hands what was added to the operating system, as far as it takes it. */
    void flush();

    /** Packets added that have not left. */
    long held();

    /** Whether no packet would be lost if it were closed now. */
    default boolean isIdle() {
        return held() == 0;
    }

    /** Waits until it is idle, where it can wait; returns whether it is. */
    default boolean awaitIdle() {
        return isIdle();
    }

    /** Whether it can take packets no more. */
    boolean isClosed();

    /** Resets its connection, if it has one of its own. Another thread, while the service's is known to be elsewhere. */
    void resetFromOutside();

    /** Frees what it holds; packets that have not left are dropped for {@code reason}. */
    void close(DropReason reason);
}

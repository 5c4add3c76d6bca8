package org.tamanoir.kernel;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Datagrams that the node's sockets lost, and that no slot has been given yet.
 *
 * <p>Thread contract: {@link #add} any thread; all others the {@code levels} thread.
 */
final class Losses {
    private final AtomicLong packets = new AtomicLong();

    void add(long lost) {
        packets.addAndGet(lost);
    }

    /** Takes up to so many; how many there were. */
    long take(long most) {
        long taken = Math.min(most, packets.get());
        packets.addAndGet(-taken);
        return taken;
    }

    /** Forgets losses when nothing is pending: whatever was lost had no slot that waits for it. */
    void forget() {
        packets.set(0);
    }
}

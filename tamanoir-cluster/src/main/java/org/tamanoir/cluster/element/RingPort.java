package org.tamanoir.cluster.element;

/**
 * A unit's place in the ring, as the unit's sender uses it.
 *
 * <p>Thread contract: any thread, also inside a lock of the sender: nothing here blocks or calls back at once.
 */
public interface RingPort {
    /** Passes a token on to the next unit. */
    void pass(Token token);

    /** Has {@link RingMember#timer} called after this many nanoseconds; a later call replaces an earlier one. */
    void timer(long delayNs);

    /** Tells the master that a packet of this round has waited here for holdMax while no token came (WAKE). */
    void wake(long headRound);

    /** Tells that the last packet of this path has been sent, with all before it; ignored unless the unit leaves. */
    void drained();
}

package org.tamanoir.sapf;

import org.tamanoir.routing.Addresses;

/**
 * A next hop that takes packets in SAPF.
 *
 * <p>Thread contract: any thread.
 */
final class Neighbour {
    final long high;
    final long low;
    final int port;
    final long hash;
    /** Counts how often it did not know a selector: what was bound before counts no more. */
    private volatile int generation;

    /** Whether it has not answered in SAPF over TCP lately, and until when that counts. */
    private volatile boolean isAnepAlone;

    private volatile long anepUntilNs;

    Neighbour(long high, long low, int port) {
        this.high = high;
        this.low = low;
        this.port = port;
        this.hash = Addresses.hash(high, low, port) >>> 32;
    }

    boolean isAt(long high, long low, int port) {
        return this.port == port && this.low == low && this.high == high;
    }

    int generation() {
        return generation;
    }

    /** Has all flows to it go as ANEP until they are bound anew: it has begun anew, or lost what it had issued. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // One more or less is the same.
    void forget() {
        generation++;
    }

    /**
     * Has connections that begin up to that time carry ANEP.
     *
     * @return whether they carried SAPF up to now
     */
    synchronized boolean leaveAnep(long untilNs) {
        boolean isNews = !isAnepAlone;
        anepUntilNs = untilNs;
        isAnepAlone = true;
        return isNews;
    }

    /** Returns whether a connection that begins now is to carry SAPF. */
    boolean takesStreams(long nowNs) {
        if (isAnepAlone && nowNs - anepUntilNs >= 0) {
            isAnepAlone = false;
        }
        return !isAnepAlone;
    }
}

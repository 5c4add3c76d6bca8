package org.tamanoir.sapf;

/**
 * Packets of one header that one thread sends to a neighbour, and the selector that it has issued for them.
 *
 * <p>Thread contract: the sending thread asks; answers come on the threads that receive.
 */
final class Flow {
    private static final long SECOND_NS = 1_000_000_000L;
    /** Doublings of the time between two requests that were not answered: 64 s at most. */
    private static final int MAX_DOUBLINGS = 6;
    /** How long a refused flow stays ANEP before it asks anew. */
    private static final long REFUSED_NS = 60 * SECOND_NS;
    /** A flow may be forgotten that had no packet for so long. */
    private static final long IDLE_NS = 10 * SECOND_NS;

    final Neighbour to;
    final HeaderTemplate header;
    final long request;

    /** 0 = none; written behind what it depends on. */
    private volatile long selector;

    private volatile long untilNs;
    private volatile long refreshNs;
    private volatile int generation;
    private volatile long silentUntilNs;

    private volatile long usedNs;
    /** Requests since the last answer. */
    private volatile int asked;

    /** When its source was told last that an answer has been read. */
    private volatile long confirmedNs;

    /** The sending thread's. */
    private long nextAskNs;

    Flow(Neighbour to, HeaderTemplate header, long request, long nowNs) {
        this.to = to;
        this.header = header;
        this.request = request;
        this.nextAskNs = nowNs;
        this.silentUntilNs = nowNs;
        this.usedNs = nowNs;
        this.confirmedNs = nowNs - SECOND_NS;
    }

    /** Returns the selector to send with now; {@link Selector#NONE} = send ANEP. The sending thread. */
    long selector(long nowNs) {
        usedNs = nowNs;
        long bound = selector;
        return isBound(nowNs) ? bound : Selector.NONE;
    }

    /** Returns whether it has a selector to send with now. */
    boolean isBound(long nowNs) {
        return selector != Selector.NONE && generation == to.generation() && nowNs - untilNs < 0;
    }

    /** Returns whether the neighbour is to be asked for a selector now, and counts that as done. The sending thread. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // An answer in between lets the next request wait somewhat longer.
    boolean asks(long nowNs) {
        if (nowNs - nextAskNs < 0 || nowNs - silentUntilNs < 0) {
            return false;
        }
        nextAskNs = nowNs + (SECOND_NS << Math.min(asked++, MAX_DOUBLINGS));
        return true;
    }

    /** Returns whether the selector's lifetime is to be made longer now, and counts that as asked for. The sending thread. */
    boolean refreshes(long nowNs) {
        return nowNs - refreshNs >= 0 && asks(nowNs);
    }

    /**
     * Takes a selector. It is used for three quarters of its lifetime, so that it never misses for being late; from the
     * half on it is refreshed.
     *
     * @return whether that is to be confirmed: the flow had another one, or none, and has not confirmed one for a second
     */
    boolean bound(long issued, long lifetimeNs, long nowNs) {
        boolean isNew = selector != issued || generation != to.generation();
        asked = 0;
        untilNs = nowNs + lifetimeNs / 4 * 3;
        refreshNs = nowNs + lifetimeNs / 2;
        generation = to.generation();
        selector = issued;
        boolean confirms = isNew && nowNs - confirmedNs >= SECOND_NS;
        confirmedNs = confirms ? nowNs : confirmedNs;
        return confirms;
    }

    /** Has the flow stay ANEP for a while. */
    void refused(long nowNs) {
        selector = Selector.NONE;
        silentUntilNs = nowNs + REFUSED_NS;
    }

    /** Returns the selector that it was given last, which may count no more. */
    long issued() {
        return selector;
    }

    boolean isIdle(long nowNs) {
        return nowNs - usedNs > IDLE_NS;
    }
}

package org.tamanoir.transport;

import java.util.concurrent.TimeUnit;

/**
 * Receivers whose path did not take joined datagrams of some length: they get them one by one for a minute, and others
 * joined as before. A bounded table, in which a later one takes the place of one with the same hash. One thread.
 */
final class NarrowPaths {
    static final long HOLDS_NS = TimeUnit.MINUTES.toNanos(1);

    /** A power of two. */
    private static final int PLACES = 1024;

    private final long[] highs = new long[PLACES];
    private final long[] lows = new long[PLACES];
    private final long[] sinceNs = new long[PLACES];
    /** The largest length that is joined; 0 = nothing is known. */
    private final int[] limits = new int[PLACES];

    /** Notes that datagrams of this length cannot be joined on the way to this address. */
    void note(long high, long low, int length, long nowNs) {
        int place = place(high, low);
        highs[place] = high;
        lows[place] = low;
        sinceNs[place] = nowNs;
        limits[place] = Math.max(1, length - 1);
    }

    boolean mayJoin(long high, long low, int length, long nowNs) {
        int place = place(high, low);
        return limits[place] == 0
                || length <= limits[place]
                || lows[place] != low
                || highs[place] != high
                || nowNs - sinceNs[place] >= HOLDS_NS;
    }

    private static int place(long high, long low) {
        return (int) ((high * 31 + low) * 0x9E3779B97F4A7C15L >>> 40) & PLACES - 1;
    }
}

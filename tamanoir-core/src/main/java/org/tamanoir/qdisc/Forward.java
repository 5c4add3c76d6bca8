package org.tamanoir.qdisc;

/** A time that never goes back: while the clock is behind what it said before, it counts as standing still. */
final class Forward {
    private boolean started;
    private long latestNs;

    /** The time to reckon with when the clock says {@code nowNs}. */
    long at(long nowNs) {
        if (!started || nowNs - latestNs > 0) {
            started = true;
            latestNs = nowNs;
        }
        return latestNs;
    }
}

package org.tamanoir.node.tc;

import org.jspecify.annotations.Nullable;

/**
 * Decides when a class is changed and when it gets back what it had: after congestion of {@code after} without a break,
 * and after calm of {@code hold}; between two changes lies {@code hold} at least. One thread.
 */
final class Hysteresis {
    /** How a class stands. */
    enum Level {
        /** Something is over its bound. */
        OVER,
        /** Nothing is over its bound, and something above half of it. */
        BETWEEN,
        /** All is at half of its bound, or below. */
        CALM
    }

    private final long afterNs;
    private final long holdNs;
    private @Nullable Long overSinceNs;
    private @Nullable Long calmSinceNs;
    private @Nullable Long triedNs;

    Hysteresis(long afterNs, long holdNs) {
        this.afterNs = afterNs;
        this.holdNs = holdNs;
    }

    /** Returns whether the class should be changed from now on. */
    boolean wants(long nowNs, Level level, boolean isChanged) {
        overSinceNs = level != Level.OVER ? null : overSinceNs == null ? Long.valueOf(nowNs) : overSinceNs;
        calmSinceNs = level != Level.CALM ? null : calmSinceNs == null ? Long.valueOf(nowNs) : calmSinceNs;
        if (triedNs != null && nowNs - triedNs < holdNs) {
            return isChanged;
        }
        return isChanged
                ? calmSinceNs == null || nowNs - calmSinceNs < holdNs
                : overSinceNs != null && nowNs - overSinceNs >= afterNs;
    }

    /** Notes that the class was changed, or was to be. */
    void tried(long nowNs) {
        triedNs = nowNs;
    }
}

package org.tamanoir.services;

import org.tamanoir.service.Allotment;

/**
 * A level of work between two bounds, by what is allotted: down while others wait, or the class itself has more to do than
 * it gets done; up, more slowly, while there is time.
 *
 * <p>Thread contract: one thread.
 */
public final class AdaptiveLevel {
    /** Packets from one step down to the next, so that each shows what it gains. */
    private static final int PACKETS_DOWN = 4;
    /** Packets without any wait before a step up. */
    private static final int PACKETS_UP = 64;

    private final int least;
    private final int highest;
    private int level;
    private int contended;
    private int idle;

    public AdaptiveLevel(int least, int highest) {
        this.least = least;
        this.highest = highest;
        this.level = highest;
    }

    /** Returns whether it can change at all. */
    public boolean isFree() {
        return least < highest;
    }

    public int level() {
        return level;
    }

    /** Looks, once a packet; returns whether the level has changed. */
    public boolean look(Allotment now) {
        int before = level;
        if (now.isContended() || now.waitingBytes() > 0) {
            idle = 0;
            if (++contended == PACKETS_DOWN) {
                contended = 0;
                level = Math.max(least, level - 1);
            }
        } else if (++idle == PACKETS_UP) {
            idle = 0;
            contended = 0;
            level = Math.min(highest, level + 1);
        }
        return level != before;
    }
}

package org.tamanoir.cluster.reflect;

import org.jspecify.annotations.Nullable;

/**
 * The members of one session, by address and port: a hash table with linear probing, at most half full, and the same
 * members in a row. Finding one allocates nothing. One thread.
 */
final class Members {
    private final int max;
    private final @Nullable Member[] slots;
    private final @Nullable Member[] row;
    private final long secret;
    private int count;

    /**
     * @param max members that it takes
     * @param secret random: else who chooses addresses could have them all fall in one place
     */
    Members(int max, long secret) {
        this.max = max;
        this.secret = secret;
        slots = new Member[Integer.highestOneBit(max) << 2];
        row = new Member[max];
    }

    int count() {
        return count;
    }

    boolean isFull() {
        return count == max;
    }

    /** Returns the i-th of the row, 0 to {@link #count} - 1. */
    Member at(int i) {
        Member member = row[i];
        if (member == null) {
            throw new IndexOutOfBoundsException(i);
        }
        return member;
    }

    @Nullable
    Member find(long high, long low, int port) {
        for (int i = slot(high, low, port); ; i = i + 1 & slots.length - 1) {
            Member member = slots[i];
            if (member == null || member.isAt(high, low, port)) {
                return member;
            }
        }
    }

    /** Adds one that is not there, to a table that is not full. */
    void add(Member member) {
        if (isFull() || find(member.high, member.low, member.port) != null) {
            throw new IllegalStateException("full, or there already: " + member.config.address());
        }
        int i = slot(member.high, member.low, member.port);
        while (slots[i] != null) {
            i = i + 1 & slots.length - 1;
        }
        slots[i] = member;
        row[count++] = member;
    }

    /** Removes the i-th of the row; the last one takes its place there. */
    void remove(int i) {
        Member gone = at(i);
        row[i] = row[--count];
        row[count] = null;
        int hole = slot(gone.high, gone.low, gone.port);
        while (slots[hole] != gone) {
            hole = hole + 1 & slots.length - 1;
        }
        // Whoever follows without a gap may have been pushed on by the one that went: such a one takes its place.
        for (int next = hole + 1 & slots.length - 1; ; next = next + 1 & slots.length - 1) {
            Member moved = slots[next];
            if (moved == null) {
                slots[hole] = null;
                return;
            }
            int wanted = slot(moved.high, moved.low, moved.port);
            if ((next - wanted & slots.length - 1) >= (next - hole & slots.length - 1)) {
                slots[hole] = moved;
                hole = next;
            }
        }
    }

    /** Returns how many joined by a cookie at this address; of IPv6 in its /64, which one host has to itself. */
    int joinedAt(long high, long low) {
        int found = 0;
        for (int i = 0; i < count; i++) {
            Member member = at(i);
            if (member.origin == Origin.COOKIE && member.high == high && (high != 0 || member.low == low)) {
                found++;
            }
        }
        return found;
    }

    void remove(Member member) {
        for (int i = 0; i < count; i++) {
            if (row[i] == member) {
                remove(i);
                return;
            }
        }
    }

    private int slot(long high, long low, int port) {
        return (int) Seen.mix(Seen.mix(Seen.mix(secret, high), low), port) & slots.length - 1;
    }
}

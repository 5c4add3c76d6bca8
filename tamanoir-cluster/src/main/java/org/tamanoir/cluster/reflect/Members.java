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
    private int count;

    /** @param max members that it takes */
    Members(int max) {
        this.max = max;
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
        put(member);
        row[count++] = member;
    }

    private void put(Member member) {
        int i = slot(member.high, member.low, member.port);
        while (slots[i] != null) {
            i = i + 1 & slots.length - 1;
        }
        slots[i] = member;
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
        slots[hole] = null;
        // Whoever follows without a gap may have been pushed on by the one that went.
        for (int next = hole + 1 & slots.length - 1; ; next = next + 1 & slots.length - 1) {
            Member moved = slots[next];
            if (moved == null) {
                return;
            }
            slots[next] = null;
            put(moved);
        }
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
        long mixed = (high * 31 + low) * 31 + port;
        return (int) (mixed * 0x9E3779B97F4A7C15L >>> 40) & slots.length - 1;
    }
}

package org.tamanoir.services;

import org.tamanoir.service.Counter;

/**
 * What the sequence numbers of streams tell about loss and order. Each stream has its newest number and a window of
 * the 64 numbers up to it, as in the replay window of RFC 4303, section 3.4.3:
 *
 * <pre>
 *   number - newest    counted
 *   1                  nothing: in order
 *   over 1             lost += the gap
 *   0 to -63           duplicates if seen before, else reordered, and late if it lay in a gap
 *   below -63          stale; if the number behind the last stale one: restarts, the stream goes on from there
 * </pre>
 *
 * <p>Counters only rise, so that rates of them are right: {@code lost - late} is what is missing for now. A sender that begins anew at 0 is a restart at once, one that
 * begins elsewhere with its second packet (RFC 3550, appendix A.1, does the same).
 *
 * <p>Open addressing, linear probing, at most half full; the table starts small and doubles up to
 * {@value #MAX_STREAMS} streams (36 bytes a slot, 288 KiB in all). Packets of streams beyond that count as
 * {@code untracked}; streams are not forgotten.
 *
 * <p>Thread contract: one thread.
 */
final class SequenceTable {
    static final int MAX_STREAMS = 4096;

    private static final int WINDOW = 64;
    private static final int FIRST_SLOTS = 4;

    private final Counter lost;
    /** Of those that were counted as lost, the ones that came after all. */
    private final Counter late;

    private final Counter reordered;
    private final Counter duplicates;
    private final Counter stale;
    private final Counter restarts;
    private final Counter streams;
    private final Counter untracked;

    /** Packets number from 0 up. */
    private static final long NOTHING_EXPECTED = -1;

    private int[] ids = new int[FIRST_SLOTS];
    private long[] newest = new long[FIRST_SLOTS];
    /** Bit i: newest - i was seen. 0 marks a free slot, since bit 0 is set in every other. */
    private long[] window = new long[FIRST_SLOTS];
    /** The first number seen: lower ones were never counted as lost. */
    private long[] first = new long[FIRST_SLOTS];
    /** The number behind the last stale one. */
    private long[] probe = new long[FIRST_SLOTS];

    private int size;
    /** The stream of the last packet, and the number that its next one has if it comes in order. */
    private int expectedId;

    private long expected = NOTHING_EXPECTED;
    private int settledSlot;

    SequenceTable(Counter.Source counters) {
        lost = counters.counter("lost");
        late = counters.counter("late");
        reordered = counters.counter("reordered");
        duplicates = counters.counter("duplicates");
        stale = counters.counter("stale");
        restarts = counters.counter("restarts");
        streams = counters.counter("streams", Counter.Kind.GAUGE);
        untracked = counters.counter("untracked");
    }

    /** Packets went by unseen: each stream begins anew with its next one. */
    void restart() {
        ids = new int[FIRST_SLOTS];
        newest = new long[FIRST_SLOTS];
        window = new long[FIRST_SLOTS];
        first = new long[FIRST_SLOTS];
        probe = new long[FIRST_SLOTS];
        size = 0;
        streams.set(0);
        expected = NOTHING_EXPECTED;
        settledSlot = 0;
    }

    /** Takes note of one packet. */
    void see(int id, long sequence) {
        if (sequence == expected && id == expectedId) {
            expected = sequence + 1;
            return;
        }
        settle();
        int slot = find(id);
        if (window[slot] == 0) {
            if (size == MAX_STREAMS) {
                untracked.add(1);
                return;
            }
            slot = begin(slot, id, sequence);
        } else {
            long step = sequence - newest[slot];
            if (step == 1) {
                newest[slot] = sequence;
                window[slot] = window[slot] << 1 | 1;
            } else {
                outOfOrder(slot, sequence, step);
            }
        }
        settledSlot = slot;
        expectedId = id;
        expected = newest[slot] + 1;
    }

    /** Writes down the packets that came in order since the last one that did not: the common case is two compares. */
    private void settle() {
        int slot = settledSlot;
        long inOrder = expected - 1 - newest[slot];
        if (inOrder > 0) {
            newest[slot] += inOrder;
            window[slot] = inOrder < WINDOW ? window[slot] << inOrder | (1L << inOrder) - 1 : -1;
        }
    }

    private void outOfOrder(int slot, long sequence, long step) {
        if (step > 0) {
            lost.add(step - 1);
            newest[slot] = sequence;
            window[slot] = step < WINDOW ? window[slot] << step | 1 : 1;
        } else if (step > -WINDOW) {
            long bit = 1L << -step;
            if ((window[slot] & bit) != 0) {
                duplicates.add(1);
                return;
            }
            window[slot] |= bit;
            reordered.add(1);
            if (sequence - first[slot] > 0) {
                late.add(1);
            }
        } else if (sequence == probe[slot]) {
            restarts.add(1);
            newest[slot] = sequence;
            first[slot] = sequence;
            window[slot] = 1;
            probe[slot] = 0;
        } else {
            stale.add(1);
            probe[slot] = sequence + 1;
        }
    }

    private int begin(int free, int id, long sequence) {
        int slot = free;
        if (2 * (size + 1) > ids.length) {
            grow();
            slot = find(id);
        }
        size++;
        streams.set(size);
        ids[slot] = id;
        newest[slot] = sequence;
        first[slot] = sequence;
        window[slot] = 1;
        return slot;
    }

    /** Returns the slot that holds the stream, or the free one where it belongs. */
    private int find(int id) {
        int mask = ids.length - 1;
        int slot = (id * 0x9E3779B9 >>> 16 ^ id) & mask;
        while (window[slot] != 0 && ids[slot] != id) {
            slot = slot + 1 & mask;
        }
        return slot;
    }

    private void grow() {
        int[] oldIds = ids;
        long[][] old = {newest, window, first, probe};
        int slots = oldIds.length * 2;
        ids = new int[slots];
        newest = new long[slots];
        window = new long[slots];
        first = new long[slots];
        probe = new long[slots];
        for (int from = 0; from < oldIds.length; from++) {
            if (old[1][from] != 0) {
                int to = find(oldIds[from]);
                ids[to] = oldIds[from];
                newest[to] = old[0][from];
                window[to] = old[1][from];
                first[to] = old[2][from];
                probe[to] = old[3][from];
            }
        }
    }
}

package org.tamanoir.ready;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bounded queue of ints for any number of producers and consumers, after Dmitry Vyukov's bounded MPMC queue: a slot
 * says by its sequence number whose turn it is, so that a thread that stalls keeps its own slot alone, and those behind.
 *
 * <pre>
 * slot  63 .. 32: sequence, of position p: p = free for the producer, p + 1 = full, p + capacity = free again
 *       31 ..  0: the int
 * </pre>
 *
 * <p>Thread contract: any thread, without locks.
 */
final class IntRing {
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);
    /** Longs that two positions lie apart, so that they share no cache line, nor a pair of lines. */
    private static final int APART = 16;

    private static final int HEAD = APART;
    private static final int TAIL = 2 * APART;

    private final long[] positions = new long[3 * APART];
    private final long[] slots;
    private final int mask;

    /** @param capacity a power of two, at most 2^30 */
    IntRing(int capacity) {
        slots = new long[capacity];
        mask = capacity - 1;
        for (int i = 0; i < capacity; i++) {
            slots[i] = (long) i << 32;
        }
    }

    /** Puts an int in; false when the ring is full. What a later volatile read finds clear, was so behind this. */
    boolean put(int value) {
        while (true) {
            long position = (long) SLOT.getAcquire(positions, TAIL);
            int index = (int) position & mask;
            int behind = sequence((long) SLOT.getAcquire(slots, index)) - (int) position;
            if (behind == 0) {
                if (SLOT.compareAndSet(positions, TAIL, position, position + 1)) {
                    SLOT.setVolatile(slots, index, slot((int) position + 1, value));
                    return true;
                }
            } else if (behind < 0) {
                return false;
            }
        }
    }

    /**
     * Takes out the oldest ints, at most {@code limit} and as many as {@code into} has room for, by one change of the head.
     *
     * @return how many; 0 when there are none, or the oldest is on its way in
     */
    int take(int[] into, int limit) {
        while (true) {
            long position = (long) SLOT.getAcquire(positions, HEAD);
            int ahead = ahead(position);
            if (ahead < 0) {
                return 0;
            }
            if (ahead > 0) {
                continue; // Another consumer took it since.
            }
            int count = 1;
            while (count < limit && ahead(position + count) == 0) {
                count++;
            }
            if (SLOT.compareAndSet(positions, HEAD, position, position + count)) {
                for (int i = 0; i < count; i++) {
                    int index = (int) (position + i) & mask;
                    into[i] = (int) (long) SLOT.get(slots, index);
                    SLOT.setRelease(slots, index, slot((int) (position + i) + mask + 1, 0));
                }
                return count;
            }
        }
    }

    /** Returns whether the oldest int could be taken now. */
    boolean hasNext() {
        return ahead((long) SLOT.getVolatile(positions, HEAD)) >= 0;
    }

    /** Returns how far the slot of a position is: 0 = full, less = not yet, more = emptied since. */
    private int ahead(long position) {
        return sequence((long) SLOT.getVolatile(slots, (int) position & mask)) - (int) position - 1;
    }

    private static int sequence(long slot) {
        return (int) (slot >>> 32);
    }

    private static long slot(int sequence, int value) {
        return (long) sequence << 32 | value & 0xFFFF_FFFFL;
    }
}

package org.tamanoir.ready;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What is ready to run, by 64 priorities, 0 first, and in its order within one: a bounded ring for each, and a word that
 * has a bit for each ring that may hold something. What an operation costs does not depend on how many are ready.
 *
 * <p>No thread that stalls inside holds up others, but for one in the midst of {@link #put}, behind whose int those of its
 * priority that came later wait, until it goes on. A taker passes over no higher priority that was there when it began.
 * A bit is cleared by one thread at a time, under a bit of a second word that tells the others to look all the same:
 *
 * <pre>
 * put:    ring; read ready, set the bit if it is clear
 * take:   read clearing, then ready; lowest bit of either; ring; if that is empty:
 *         set clearing, or leave it to who has; ring empty? clear ready; ring not empty? set ready; clear clearing
 * </pre>
 *
 * <p>Thread contract: any thread, without locks. A ring is made with the first int of its priority; nothing is allocated
 * besides.
 */
public final class ReadyQueue {
    public static final int PRIORITIES = 64;
    /** Bounds the ints of one priority. */
    public static final int MAX_CAPACITY = 1 << 20;

    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle RING = MethodHandles.arrayElementVarHandle(IntRing[].class);
    /** In the midst of their array, so that they share no cache line with another object. */
    private static final int READY = 16;

    private static final int CLEARING = 17;

    private final long[] words = new long[3 * READY];
    private final IntRing[] rings = new IntRing[PRIORITIES];
    private final int capacity;

    /**
     * Makes an empty queue.
     *
     * @param capacity ints of one priority that find room, at most {@link #MAX_CAPACITY}; rounded up to a power of two
     */
    public ReadyQueue(int capacity) {
        if (capacity < 2 || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException("capacity " + capacity + ": must be from 2 to " + MAX_CAPACITY);
        }
        this.capacity = Integer.highestOneBit(capacity - 1) << 1;
    }

    /**
     * Puts an int behind those of its priority.
     *
     * @return false when the ring of this priority is full, or has come round to a taker that stalls in its midst: what
     *     cannot be put is the caller's
     */
    public boolean put(int value, int priority) {
        if (!ring(priority).put(value)) {
            return false;
        }
        long bit = 1L << priority;
        if (((long) WORD.getVolatile(words, READY) & bit) == 0) {
            WORD.getAndBitwiseOr(words, READY, bit);
        }
        return true;
    }

    /**
     * Takes out the oldest of the highest priority there is, of that one at most {@code limit}.
     *
     * @param into filled from its beginning
     * @return how many; 0 when all that was there when this began has been taken
     */
    public int take(int[] into, int limit) {
        return take(into, limit, PRIORITIES);
    }

    /** Takes out as above, of the first {@code priorities} alone. */
    public int take(int[] into, int limit, int priorities) {
        long clearing = (long) WORD.getVolatile(words, CLEARING); // First: its bit outlives that of the other word.
        long candidates = (clearing | (long) WORD.getVolatile(words, READY)) & -1L >>> PRIORITIES - priorities;
        while (candidates != 0) {
            int priority = Long.numberOfTrailingZeros(candidates);
            IntRing ring = ring(priority);
            int count = ring.take(into, limit);
            if (count > 0) {
                return count;
            }
            retract(ring, 1L << priority);
            candidates &= candidates - 1;
        }
        return 0;
    }

    /** Returns whether something of this priority is ready; a guess while others put and take. */
    public boolean isReady(int priority) {
        return ((long) WORD.getVolatile(words, READY) & 1L << priority) != 0;
    }

    /** Clears the bit of a ring that is empty. */
    private void retract(IntRing ring, long bit) {
        if (((long) WORD.getAndBitwiseOr(words, CLEARING, bit) & bit) != 0) {
            return; // Another thread is at it.
        }
        if (!ring.hasNext()) {
            WORD.getAndBitwiseAnd(words, READY, ~bit);
            if (ring.hasNext()) {
                WORD.getAndBitwiseOr(words, READY, bit);
            }
        }
        WORD.getAndBitwiseAnd(words, CLEARING, ~bit);
    }

    private IntRing ring(int priority) {
        IntRing there = (IntRing) RING.getAcquire(rings, priority);
        return there == null ? make(priority) : there;
    }

    private IntRing make(int priority) {
        IntRing made = new IntRing(capacity);
        IntRing other = (IntRing) RING.compareAndExchange(rings, priority, null, made);
        return other == null ? made : other;
    }
}

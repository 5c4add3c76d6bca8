package org.tamanoir.arena;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;

/**
 * One region of memory outside the heap, of {@link #SLOTS} slots of {@link Slot#BYTES} bytes. Whoever finds none free gets
 * one of its own outside the region, which works alike.
 *
 * <p>Thread contract: any thread.
 */
public final class Arena {
    /** A point for each link and one before processing, with 14 classes each, where there are 64 links. */
    static final int SLOTS = 1024;

    private final ByteBuffer region = allocate(SLOTS);
    private final BitSet taken = new BitSet(SLOTS);

    private static ByteBuffer allocate(int slots) {
        return ByteBuffer.allocateDirect(slots * Slot.BYTES + Slot.BYTES)
                .alignedSlice(Slot.BYTES)
                .order(ByteOrder.nativeOrder());
    }

    /** Takes a slot, which is all zeros. */
    public synchronized Slot take() {
        int index = taken.nextClearBit(0);
        if (index >= SLOTS) {
            return outside();
        }
        taken.set(index);
        return new Slot(region, index);
    }

    /**
     * Takes a slot back; who still reads it may see what another writes there.
     *
     * @return one outside the region, for a writer that writes on
     */
    public synchronized Slot give(Slot slot) {
        if (slot.index() == Slot.OUTSIDE) {
            return slot;
        }
        slot.clear();
        taken.clear(slot.index());
        return outside();
    }

    private static Slot outside() {
        return new Slot(allocate(1), Slot.OUTSIDE);
    }
}

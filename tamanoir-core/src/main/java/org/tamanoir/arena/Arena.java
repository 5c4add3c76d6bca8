package org.tamanoir.arena;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * One region of memory outside the heap, or in an {@link ArenaFile}, of {@link #SLOTS} slots of {@link Slot#BYTES} bytes.
 * Whoever finds none free gets one of its own outside the region, which works alike and which no other process sees.
 *
 * <p>Thread contract: any thread.
 */
public final class Arena {
    /** A point for each link and one before processing, with 14 classes each, where there are 64 links. */
    static final int SLOTS = 1024;

    private ByteBuffer region = allocate(SLOTS);
    private final BitSet taken = new BitSet(SLOTS);

    private static ByteBuffer allocate(int slots) {
        return ByteBuffer.allocateDirect(slots * Slot.BYTES + Slot.BYTES)
                .alignedSlice(Slot.BYTES)
                .order(ByteOrder.nativeOrder());
    }

    /** Has the slots stand in a file from now on, before any is taken. */
    public synchronized void moveTo(ArenaFile file) {
        if (!taken.isEmpty()) {
            throw new IllegalStateException("the arena is in use: it can move before that alone");
        }
        region = file.slots();
    }

    /** Takes a slot for a scheduling point, whose numbers are all 0. */
    public Slot take(SlotKind kind, String name) {
        return take(kind, null, name);
    }

    /**
     * Takes likewise one for a class.
     *
     * @param point the slot of the scheduling point that has the class; null: the slot is a point's
     */
    public synchronized Slot take(SlotKind kind, @Nullable Slot point, String name) {
        int index = taken.nextClearBit(0);
        if (index >= SLOTS) {
            return outside();
        }
        taken.set(index);
        Slot slot = new Slot(region, index);
        slot.label(kind, point == null ? index : point.index(), name);
        return slot;
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
        slot.label(SlotKind.FREE, 0, "");
        taken.clear(slot.index());
        return outside();
    }

    private static Slot outside() {
        return new Slot(allocate(1), Slot.OUTSIDE);
    }
}

package org.tamanoir.cluster.element;

import java.nio.ByteBuffer;

/**
 * Packets on their way through an {@link ExactMerge}. One that leaves within its batch does so from where it was read; one
 * that waits longer is copied to the slot that it has. There is a slot for each packet that may wait, and one for the
 * packet in hand.
 *
 * <p>Thread contract: one thread. Allocates nothing for a packet.
 */
final class ExactOrder implements ExactMerge.Output {
    /** Packets of a batch before those that wait are copied. */
    private static final int BATCH_PACKETS = 4_096;

    /** Takes packets, in order, and those that do not leave. */
    interface Output {
        /** Sends bytes, which stay as they are until {@link #flush}. */
        void send(ByteBuffer memory, int offset, int length);

        /** Sends all. */
        void flush();

        /** Counts a packet that does not leave. */
        void drop(ExactMerge.Ending ending);
    }

    private final ExactMerge merge;
    private final Output output;
    private final int slotBytes;
    private final ByteBuffer store;
    private final int[] offsets;
    private final int[] lengths;
    /** Whether the packet lies in the batch's memory, else in the slot's own. */
    private final boolean[] inBatch;

    private final int[] free;
    private int freeSlots;
    private final int[] batchSlots = new int[BATCH_PACKETS];
    private int batchPackets;
    private ByteBuffer batch;

    /** @param slotBytes of the longest packet */
    ExactOrder(int paths, int depth, long deadlineNs, int slotBytes, Output output) {
        int slots = paths * depth + 1;
        merge = new ExactMerge(paths, depth, deadlineNs, this);
        this.output = output;
        this.slotBytes = slotBytes;
        store = ByteBuffer.allocateDirect(slots * slotBytes);
        batch = store;
        offsets = new int[slots];
        lengths = new int[slots];
        inBatch = new boolean[slots];
        free = new int[slots];
        for (int slot = slots - 1; slot >= 0; slot--) {
            free[freeSlots++] = slot;
        }
    }

    /**
     * Takes a packet; ends with {@link #endBatch} before its memory changes.
     *
     * @param offset of what is sent of it, in {@code memory}
     * @param length of that, at most that of a slot
     */
    void offer(int path, long round, int flags, ByteBuffer memory, int offset, int length, long nowNs) {
        if (batchPackets == BATCH_PACKETS) {
            endBatch();
        }
        batch = memory;
        int slot = free[--freeSlots];
        offsets[slot] = offset;
        lengths[slot] = length;
        inBatch[slot] = true;
        batchSlots[batchPackets++] = slot;
        merge.offer(path, round, flags, slot, nowNs);
    }

    /** Sends what may leave, and copies what waits. */
    void endBatch() {
        output.flush();
        for (int i = 0; i < batchPackets; i++) {
            int slot = batchSlots[i];
            if (inBatch[slot]) {
                inBatch[slot] = false;
                store.put(slot * slotBytes, batch, offsets[slot], lengths[slot]);
                offsets[slot] = slot * slotBytes;
            }
        }
        batchPackets = 0;
    }

    /** Sends all that waits, in order. */
    void drain() {
        merge.drain();
        endBatch();
    }

    ExactMerge merge() {
        return merge;
    }

    @Override
    public void emit(int slot) {
        output.send(inBatch[slot] ? batch : store, offsets[slot], lengths[slot]);
        release(slot);
    }

    @Override
    public void drop(int slot, ExactMerge.Ending ending) {
        output.drop(ending);
        release(slot);
    }

    private void release(int slot) {
        inBatch[slot] = false;
        free[freeSlots++] = slot;
    }
}

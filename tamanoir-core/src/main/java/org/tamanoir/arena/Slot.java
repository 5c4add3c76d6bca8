package org.tamanoir.arena;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A label, and sixteen numbers of eight bytes. Each number is written and read by itself and is never seen half written;
 * two that are read one after the other may be from before a change and from after it. Reader and writer never wait for
 * each other.
 *
 * <p>Thread contract: one writer at a time, by a lock of its own; readers any thread, which see what was written soon. The
 * label is written inside the {@link Arena}'s lock.
 */
public final class Slot {
    /** Two lines of the cache, which processors fetch in pairs: a neighbour's writer costs no reader anything. */
    private static final int NUMBERS_BYTES = 128;

    public static final int FIELDS = NUMBERS_BYTES / Long.BYTES;

    // The label, as ArenaFile draws it.
    static final int CHANGE = 0;
    static final int KIND = 4;
    static final int POINT = 8;
    static final int NAME_BYTES = 12;
    static final int NAME = 16;
    static final int MAX_NAME_BYTES = 112;
    static final int NUMBERS = NAME + MAX_NAME_BYTES;

    static final int BYTES = NUMBERS + NUMBERS_BYTES;

    static final int OUTSIDE = -1;

    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer region;
    private final int index;
    private final int start;

    Slot(ByteBuffer region, int index) {
        this.region = region;
        this.index = index;
        this.start = Math.max(0, index) * BYTES + NUMBERS;
    }

    int index() {
        return index;
    }

    /** Sets a number, 0 to {@link #FIELDS} - 1; seen by others at the latest when the writer leaves its lock. */
    public void set(int field, long value) {
        LONGS.set(region, start + field * Long.BYTES, value);
    }

    /** Returns the number that was set last; allocates nothing. */
    public long get(int field) {
        return (long) LONGS.getOpaque(region, start + field * Long.BYTES);
    }

    /** Shows something else from now on, with all numbers 0. Its change is odd meanwhile. */
    void label(SlotKind kind, int point, String name) {
        int label = start - NUMBERS;
        int change = (int) INTS.get(region, label + CHANGE);
        INTS.setOpaque(region, label + CHANGE, change + 1);
        VarHandle.storeStoreFence();
        ByteBuffer text = ByteBuffer.allocate(MAX_NAME_BYTES);
        StandardCharsets.UTF_8
                .newEncoder()
                .encode(CharBuffer.wrap(name), text, true); // As many whole characters as fit.
        region.putInt(label + KIND, kind.ordinal());
        region.putInt(label + POINT, point);
        region.putInt(label + NAME_BYTES, text.position());
        region.put(label + NAME, text.array());
        for (int field = 0; field < FIELDS; field++) {
            set(field, 0);
        }
        INTS.setRelease(region, label + CHANGE, change + 2);
    }
}

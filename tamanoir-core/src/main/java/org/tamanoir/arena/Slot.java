package org.tamanoir.arena;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Sixteen numbers of eight bytes. Each is written and read by itself and is never seen half written; two that are read one
 * after the other may be from before a change and from after it. Reader and writer never wait for each other.
 *
 * <p>Thread contract: one writer at a time, by a lock of its own; readers any thread, which see what was written soon.
 */
public final class Slot {
    /** Two lines of the cache, which processors fetch in pairs: a neighbour's writer costs no reader anything. */
    public static final int BYTES = 128;

    public static final int FIELDS = BYTES / Long.BYTES;

    static final int OUTSIDE = -1;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer region;
    private final int index;
    private final int start;

    Slot(ByteBuffer region, int index) {
        this.region = region;
        this.index = index;
        this.start = Math.max(0, index) * BYTES;
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

    void clear() {
        for (int field = 0; field < FIELDS; field++) {
            set(field, 0);
        }
    }
}

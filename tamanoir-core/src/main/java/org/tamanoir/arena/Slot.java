package org.tamanoir.arena;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Sixteen numbers of eight bytes that are read together: the first counts changes, and is odd during one (a sequence
 * lock). Readers never hold up the writer.
 *
 * <p>Thread contract: one writer at a time, by a lock of its own; readers any thread.
 */
public final class Slot {
    public static final int BYTES = 128;
    /** How many numbers {@link #read} gives. */
    public static final int FIELDS = BYTES / Long.BYTES - 1;

    static final int OUTSIDE = -1;
    /** A writer that has lost its processor in the midst is not waited for. */
    private static final int MAX_TRIES = 64;

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

    /** Begins a change. */
    public void begin() {
        LONGS.setOpaque(region, start, (long) LONGS.get(region, start) + 1);
        VarHandle.storeStoreFence();
    }

    /** Sets a number, 0 to {@link #FIELDS} - 1, within a change. */
    public void set(int field, long value) {
        LONGS.set(region, start + Long.BYTES + field * Long.BYTES, value);
    }

    /** Ends a change: readers see all of it. */
    public void end() {
        LONGS.setRelease(region, start, (long) LONGS.get(region, start) + 1);
    }

    /**
     * Reads all numbers as they were at one time; allocates nothing.
     *
     * @param into at least {@link #FIELDS}
     * @return false when a change did not end meanwhile: what was read is of no use
     */
    public boolean read(long[] into) {
        for (int i = 0; i < MAX_TRIES; i++) {
            long before = (long) LONGS.getAcquire(region, start);
            for (int field = 0; field < FIELDS; field++) {
                into[field] = (long) LONGS.get(region, start + Long.BYTES + field * Long.BYTES);
            }
            VarHandle.loadLoadFence();
            if ((before & 1) == 0 && (long) LONGS.getOpaque(region, start) == before) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    void clear() {
        begin();
        for (int field = 0; field < FIELDS; field++) {
            set(field, 0);
        }
        end();
    }
}

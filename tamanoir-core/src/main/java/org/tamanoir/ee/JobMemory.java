package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.tamanoir.transport.Buffer;

/**
 * Where packets lie that leave in another order than they came in: blocks in a ring, of which each packet has one for
 * itself. Whoever looks for room goes on where the last block was put, joins those that have been given back, and passes
 * over those that are in use: a packet that stays for long is in the way of nothing but its own bytes.
 *
 * <p>Thread contract: {@link #put} one thread at a time; {@link #release} any thread.
 */
final class JobMemory {
    /** Blocks are whole units. */
    static final int UNIT_BYTES = 64;
    /** Blocks in use that are passed over for one packet, at most: a few microseconds. */
    private static final int MOST_PASSED = 1 << 12;

    private final Buffer buffer;
    private final ByteBuffer bytes;
    private final int units;
    /** By a block's first unit: how many it has, negative when it is free. Others write no more than its sign. */
    private final AtomicIntegerArray blocks;
    /** Units in use. */
    private final AtomicInteger used = new AtomicInteger();
    /** The first unit of a block. */
    private int next;

    /** @param buffer of whole units; it stays the caller's */
    JobMemory(Buffer buffer) {
        this.buffer = buffer;
        this.bytes = buffer.nio();
        this.units = buffer.capacity() / UNIT_BYTES;
        this.blocks = new AtomicIntegerArray(units);
        blocks.set(0, -units);
    }

    Buffer buffer() {
        return buffer;
    }

    /** Returns how many units a packet takes. */
    static int units(int length) {
        return (length + UNIT_BYTES - 1) / UNIT_BYTES;
    }

    /** Returns how many units are in no use, in however many pieces. */
    int freeUnits() {
        return units - used.get();
    }

    /** Copies a packet in; returns where it lies, or -1 when there is no room for it in one piece. */
    int put(ByteBuffer from, int offset, int length) {
        int wanted = units(length);
        if (used.get() + wanted > units || !find(wanted)) {
            return -1;
        }
        int rest = -blocks.getPlain(next) - wanted;
        if (rest > 0) {
            blocks.setPlain(next + wanted, -rest);
        }
        blocks.setPlain(next, wanted);
        used.addAndGet(wanted);
        int at = next * UNIT_BYTES;
        next = (next + wanted) % units;
        bytes.put(at, from, offset, length);
        return at;
    }

    /** Goes to the next free block that is large enough; false when there is none in a round. */
    private boolean find(int wanted) {
        int passed = 0;
        for (int gone = 0; gone < units && passed < MOST_PASSED; ) {
            int free = join(wanted);
            if (free >= wanted) {
                return true;
            }
            int step = free > 0 ? free : Math.abs(blocks.getPlain(next)); // Free by now, it may be.
            passed += free > 0 ? 0 : 1;
            gone += step;
            next = (next + step) % units;
        }
        return false;
    }

    /** Makes one block of the free ones that begin here, as far as so many units; returns how many it has, or 0. */
    private int join(int wanted) {
        int free = 0;
        int behind;
        while (free < wanted && next + free < units && (behind = blocks.getAcquire(next + free)) < 0) {
            free -= behind;
        }
        if (free > 0) {
            blocks.setPlain(next, -free);
        }
        return free;
    }

    /** Takes note that the packet that lies here has gone. */
    void release(int at) {
        int first = at / UNIT_BYTES;
        int count = blocks.getPlain(first);
        blocks.setRelease(first, -count); // Whoever puts a packet there comes after all that read it.
        used.addAndGet(-count);
    }
}

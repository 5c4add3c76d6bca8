package org.tamanoir.services.morph.handler;

import java.nio.ByteBuffer;

/**
 * Entries of bytes in the order in which they came, in one memory that grows to a limit. Space comes free from the oldest
 * on; freed entries between others are closed up when they take a quarter of the memory.
 *
 * <pre>
 * entry: s32 bytes, negative once it is free | what the user puts there | zeros up to a multiple of 8
 * memory: … free … | head: oldest | … | tail: free …     an entry never wraps around the end
 * </pre>
 *
 * <p>Thread contract: one thread.
 */
final class Ring {
    /** No entry. */
    static final int NONE = -1;

    private static final int ALIGNMENT = 8;
    private static final int FIRST_BYTES = 1 << 12;

    private final int limitBytes;
    private ByteBuffer memory;
    private int head;
    private int tail;
    /** Bytes from the head to the tail, of which are free. */
    private int used;

    private int dead;

    Ring(int limitBytes) {
        this.limitBytes = limitBytes & -ALIGNMENT;
        memory = ByteBuffer.allocate(Math.min(FIRST_BYTES, this.limitBytes));
    }

    /** Returns the memory; another after {@link #makeRoom}. */
    ByteBuffer memory() {
        return memory;
    }

    /** Returns the bytes of the entries, and of what is free between them. */
    int usedBytes() {
        return used;
    }

    /** Returns the place of a new entry behind the others, {@link #NONE} if there is no room for it. */
    int append(int bytes) {
        int size = bytes + ALIGNMENT - 1 & -ALIGNMENT;
        int capacity = memory.capacity();
        if (used == 0) {
            head = 0;
            tail = 0;
        }
        if (used == capacity) {
            return NONE;
        }
        if (tail >= head && capacity - tail < size && head >= size) {
            fill(tail, capacity - tail);
            tail = 0;
        }
        int room = tail >= head ? capacity - tail : head - tail;
        if (size > room) {
            return NONE;
        }
        int at = tail;
        memory.putInt(at, size);
        used += size;
        tail = wrapped(at + size);
        return at;
    }

    private void fill(int at, int bytes) {
        if (bytes > 0) {
            memory.putInt(at, -bytes);
            used += bytes;
            dead += bytes;
        }
    }

    /**
     * Makes room for an entry without giving up one, if that can be. All places are others then.
     *
     * @return false if there is none, and places are what they were
     */
    boolean makeRoom(int bytes) {
        int capacity = memory.capacity();
        if (dead >= Math.max(capacity / 4, bytes) && closeUp()) {
            return true;
        }
        if (capacity == limitBytes || bytes > limitBytes) {
            return false;
        }
        long wanted = Math.max(2L * capacity, used + (long) bytes + ALIGNMENT);
        ByteBuffer larger = ByteBuffer.allocate((int) Math.min(limitBytes, wanted));
        int to = 0;
        for (int at = oldest(); at != NONE; at = after(at)) {
            int size = memory.getInt(at);
            larger.put(to, memory, at, size);
            to += size;
        }
        memory = larger;
        head = 0;
        tail = wrapped(to);
        used = to;
        dead = 0;
        return true;
    }

    /**
     * Slides what is not free towards the oldest: where an entry goes never lies behind where it comes from.
     *
     * @return false if all stays where it was: what is free is the end that the next entry had no room in
     */
    private boolean closeUp() {
        int capacity = memory.capacity();
        int left = used;
        int to = head;
        boolean moved = false;
        used = 0;
        dead = 0;
        for (int at = head; left > 0; ) {
            int size = memory.getInt(at);
            int bytes = Math.abs(size);
            if (size > 0) {
                if (capacity - to < size) {
                    fill(to, capacity - to);
                    to = 0;
                }
                if (to != at) {
                    memory.put(to, memory, at, size);
                    moved = true;
                }
                used += size;
                to = wrapped(to + size);
            }
            left -= bytes;
            at = wrapped(at + bytes);
        }
        tail = to;
        return moved;
    }

    /** Frees an entry. */
    void free(int at) {
        int size = memory.getInt(at);
        memory.putInt(at, -size);
        dead += size;
        while (used > 0 && memory.getInt(head) < 0) {
            int bytes = -memory.getInt(head);
            used -= bytes;
            dead -= bytes;
            head = wrapped(head + bytes);
        }
    }

    /** Returns the entry that came first, {@link #NONE} if there is none. */
    int oldest() {
        return used == 0 ? NONE : head;
    }

    /** Returns the entry that came next, {@link #NONE} if there is none. */
    int after(int at) {
        int next = at;
        do {
            next = wrapped(next + Math.abs(memory.getInt(next)));
            if (next == tail) {
                return NONE;
            }
        } while (memory.getInt(next) < 0);
        return next;
    }

    private int wrapped(int at) {
        return at == memory.capacity() ? 0 : at;
    }
}

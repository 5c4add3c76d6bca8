package org.tamanoir.transport;

import org.jspecify.annotations.Nullable;

/**
 * Bytes that came over one connection and were not consumed, in a buffer of a size that fits what comes: small for a
 * quiet stream, large for a busy one.
 *
 * <p>Thread contract: the thread of the connection's loop.
 */
final class InputBuffer {
    /** Below this much room the buffer counts as full. */
    static final int MIN_ROOM_BYTES = 2048;
    /** Not more than this is moved to a small buffer so that a larger one can be given back. */
    private static final int LEFTOVER_BYTES = 4096;
    /** Reads in a row that would have fitted a small buffer before a stream counts as quiet. */
    private static final int QUIET_READS = 16;

    private final BufferPool pool;
    private @Nullable Object owner;
    /** Null when nothing is held. */
    @Nullable
    Buffer buffer;
    /** Index of the first byte not consumed. */
    int start;
    /** Index behind the last byte that came. */
    int end;

    private int nextReadBytes = BufferPool.SMALL_BYTES;
    private int quietReads;

    InputBuffer(BufferPool pool) {
        this.pool = pool;
    }

    /** Says whose bytes come from now on. */
    void ownedBy(Object owner) {
        this.owner = owner;
        if (buffer != null) {
            buffer.ownedBy(owner);
        }
    }

    private Buffer take(int wantedBytes, int leastBytes) {
        return pool.take(wantedBytes, leastBytes).ownedBy(owner);
    }

    /** Returns how many bytes are held. */
    int held() {
        return end - start;
    }

    boolean hasRoom() {
        return buffer == null || start > 0 || end < buffer.capacity();
    }

    /** Returns for how many bytes the next read should have room. */
    int nextReadBytes() {
        return nextReadBytes;
    }

    /**
     * Returns room for the next read behind what has not been consumed.
     *
     * @param continuing whether this read goes on with the one before: then nothing moves
     */
    Buffer room(int leastBytes, boolean continuing) {
        Buffer room = buffer;
        if (room == null) {
            room = take(nextReadBytes, leastBytes);
            start = 0;
            end = 0;
        } else if (held() == 0 && !room.isReferenced()) {
            room.renew();
            start = 0;
            end = 0;
            room = room.capacity() < leastBytes ? move(room, leastBytes) : room;
        } else if (!continuing && room.capacity() - end < Math.max(leastBytes, nextReadBytes / 2)) {
            room = move(room, leastBytes);
        }
        buffer = room;
        return room;
    }

    /** Moves what is held to the front, of a larger buffer if need be. */
    private Buffer move(Buffer from, int leastBytes) {
        int held = held();
        Buffer to = from;
        if (from.isReferenced() || from.capacity() < nextReadBytes || from.capacity() - held < leastBytes) {
            to = take(nextReadBytes, held + leastBytes);
        } else {
            to.renew();
        }
        to.nio().put(0, from.nio(), start, held);
        if (to != from) {
            pool.give(from);
        }
        start = 0;
        end = held;
        return to;
    }

    /** Learns from a read how large the next one should be. */
    void arrived(int bytes, int capacityBytes) {
        if (bytes == capacityBytes && nextReadBytes < BufferPool.LARGE_BYTES) {
            nextReadBytes *= 4;
            quietReads = 0;
        } else if (bytes >= BufferPool.SMALL_BYTES) {
            quietReads = 0;
        } else if (nextReadBytes > BufferPool.SMALL_BYTES && ++quietReads == QUIET_READS) {
            nextReadBytes = BufferPool.SMALL_BYTES;
            quietReads = 0;
        }
    }

    /** Has the next room be larger: this one was too small for what is there. */
    void expectMore() {
        nextReadBytes = Math.min(BufferPool.LARGE_BYTES, nextReadBytes * 4);
    }

    /** Gives back a buffer that holds nothing, or is much larger than what it holds, if nobody else uses it. */
    void shrink() {
        Buffer from = buffer;
        int held = held();
        if (from == null || from.isReferenced()) {
            return;
        }
        if (held == 0) {
            buffer = null;
        } else if (held <= LEFTOVER_BYTES && from.capacity() > BufferPool.SMALL_BYTES) {
            // Part of a packet is left of nearly every batch: with a buffer each, streams would push each other out
            // of the cache, and none would be given back.
            Buffer small;
            try {
                small = take(BufferPool.SMALL_BYTES, held);
            } catch (NoMemoryException e) {
                return; // The larger one stays.
            }
            small.nio().put(0, from.nio(), start, held);
            buffer = small;
        } else {
            return;
        }
        pool.give(from);
        start = 0;
        end = held;
    }

    /** Forgets what is held. */
    void release() {
        Buffer held = buffer;
        if (held != null) {
            buffer = null;
            start = 0;
            end = 0;
            pool.give(held);
        }
    }
}

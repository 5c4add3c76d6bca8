package org.tamanoir.transport;

import org.jspecify.annotations.Nullable;

/**
 * Octets that came over one connection and were not consumed, in a buffer of a size that fits what comes: small for a
 * quiet stream, large for a busy one.
 *
 * <p>Thread contract: the thread of the connection's loop.
 */
final class InputBuffer {
    /** Below this much room the buffer counts as full. */
    static final int MIN_ROOM_OCTETS = 2048;
    /** Not more than this is moved to a small buffer so that a larger one can be given back. */
    private static final int LEFTOVER_OCTETS = 4096;
    /** Reads in a row that would have fitted a small buffer before a stream counts as quiet. */
    private static final int QUIET_READS = 16;

    private final BufferPool pool;
    /** Null when nothing is held. */
    @Nullable
    Buffer buffer;
    /** Index of the first octet not consumed. */
    int start;
    /** Index behind the last octet that came. */
    int end;

    private int nextReadOctets = BufferPool.SMALL_OCTETS;
    private int quietReads;

    InputBuffer(BufferPool pool) {
        this.pool = pool;
    }

    /** Octets held. */
    int held() {
        return end - start;
    }

    boolean hasRoom() {
        return buffer == null || start > 0 || end < buffer.capacity();
    }

    /** How much the next read should have room for. */
    int nextReadOctets() {
        return nextReadOctets;
    }

    /**
     * Room for the next read behind what has not been consumed.
     *
     * @param continuing whether this read goes on with the one before: then nothing moves
     */
    Buffer room(int leastOctets, boolean continuing) {
        Buffer room = buffer;
        if (room == null) {
            room = pool.take(nextReadOctets, leastOctets);
            start = 0;
            end = 0;
        } else if (held() == 0 && !room.isReferenced()) {
            start = 0;
            end = 0;
            room = room.capacity() < leastOctets ? move(room, leastOctets) : room;
        } else if (!continuing && room.capacity() - end < Math.max(leastOctets, nextReadOctets / 2)) {
            room = move(room, leastOctets);
        }
        buffer = room;
        return room;
    }

    /** Moves what is held to the front, of a larger buffer if need be. */
    private Buffer move(Buffer from, int leastOctets) {
        int held = held();
        Buffer to = from;
        if (from.isReferenced() || from.capacity() < nextReadOctets || from.capacity() - held < leastOctets) {
            to = pool.take(nextReadOctets, held + leastOctets);
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
    void arrived(int octets, int capacityOctets) {
        if (octets == capacityOctets && nextReadOctets < BufferPool.LARGE_OCTETS) {
            nextReadOctets *= 4;
            quietReads = 0;
        } else if (octets >= BufferPool.SMALL_OCTETS) {
            quietReads = 0;
        } else if (nextReadOctets > BufferPool.SMALL_OCTETS && ++quietReads == QUIET_READS) {
            nextReadOctets = BufferPool.SMALL_OCTETS;
            quietReads = 0;
        }
    }

    /** The room was too small for what is there. */
    void expectMore() {
        nextReadOctets = Math.min(BufferPool.LARGE_OCTETS, nextReadOctets * 4);
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
        } else if (held <= LEFTOVER_OCTETS && from.capacity() > BufferPool.SMALL_OCTETS) {
            // Part of a packet is left of nearly every batch: with a buffer each, streams would push each other out
            // of the cache, and none would be given back.
            Buffer small = pool.take(BufferPool.SMALL_OCTETS, held);
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

package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;

/**
 * Where the packets of one thread lie while they wait: chunks, each filled from its begin to its end and given back when
 * all of its packets have left. Nothing is held while no packet waits.
 *
 * <p>Thread contract: one thread.
 */
final class PacketStore {
    private final BufferPool pool;
    private final Object owner;
    private final List<Chunk> chunks = new ArrayList<>();
    private @Nullable Chunk tail;

    /**
     * @param owner whose packets wait, as {@link Buffer#ownedBy}
     */
    PacketStore(BufferPool pool, Object owner) {
        this.pool = pool;
        this.owner = owner;
    }

    /** Where a packet lies. */
    static class Stored {
        @Nullable
        Chunk chunk;

        int offset;

        /** Returns the memory of a packet that waits. */
        final Chunk required() {
            Chunk there = chunk;
            if (there == null) {
                throw new IllegalStateException("a packet that waited has memory");
            }
            return there;
        }
    }

    /** A buffer, and how much of it is in use. */
    static final class Chunk {
        final Buffer buffer;
        final int generation;
        private final boolean optional;
        private int filled;
        private int live;

        private Chunk(Buffer buffer, boolean optional) {
            this.buffer = buffer;
            this.generation = buffer.generation();
            this.optional = optional;
        }
    }

    /**
     * Makes room for a packet at the end; false when all chunks are in use, or no memory is left for one more.
     *
     * @param maxChunks of {@link BufferPool#MEDIUM_BYTES} each, that may be in use at once
     */
    boolean reserve(int bytes, int maxChunks) {
        Chunk last = tail;
        if (last != null && last.filled + bytes <= last.buffer.capacity()) {
            return true;
        }
        trim();
        if (chunks.size() >= maxChunks) {
            return false;
        }
        // One must be there; with more of them others wait less long.
        boolean optional = !chunks.isEmpty();
        Buffer buffer = optional
                ? pool.tryTake(Math.max(bytes, BufferPool.MEDIUM_BYTES))
                : pool.take(BufferPool.MEDIUM_BYTES, bytes);
        if (buffer == null) {
            return false;
        }
        Chunk next = new Chunk(buffer.ownedBy(owner), optional);
        chunks.add(next);
        tail = next;
        return true;
    }

    /** Returns whether room was made that no packet has taken. */
    boolean hasUnused() {
        return tail != null && tail.live == 0;
    }

    /** Gives room back that no packet has taken. */
    void trim() {
        Chunk last = tail;
        if (last != null && last.live == 0) {
            give(last);
        }
    }

    /** Copies a packet to where {@link #reserve} made room for it. */
    void put(Stored item, ByteBuffer from, int offset, int bytes) {
        Chunk chunk = tail;
        if (chunk == null) {
            throw new IllegalStateException("no room was reserved");
        }
        chunk.buffer.nio().put(chunk.filled, from, offset, bytes);
        item.chunk = chunk;
        item.offset = chunk.filled;
        chunk.filled += bytes;
        chunk.live++;
    }

    /** Takes a packet out that has left. */
    void release(Stored item) {
        Chunk chunk = item.chunk;
        if (chunk == null) {
            return;
        }
        item.chunk = null;
        chunk.live--;
        if (chunk.live == 0) {
            give(chunk);
        }
    }

    /** Gives all back; packets in it that wait in a connection keep theirs until they have left. */
    void close() {
        while (!chunks.isEmpty()) {
            give(chunks.get(chunks.size() - 1));
        }
    }

    private void give(Chunk chunk) {
        if (chunk == tail) {
            tail = null;
        }
        chunks.remove(chunk);
        if (chunk.optional) {
            pool.giveOptional(chunk.buffer);
        } else {
            pool.give(chunk.buffer);
        }
    }
}

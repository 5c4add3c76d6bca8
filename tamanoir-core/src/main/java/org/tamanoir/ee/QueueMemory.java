package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;

/**
 * The memory of packets that wait: chunks, each filled from its begin to its end and given back when all of its packets
 * have left. Nothing is held while no packet waits.
 *
 * <p>Thread contract: one thread.
 */
final class QueueMemory {
    private final BufferPool pool;
    private final List<Chunk> chunks = new ArrayList<>();
    private @Nullable Chunk tail;

    QueueMemory(BufferPool pool) {
        this.pool = pool;
    }

    /** A buffer, and how much of it is in use. */
    static final class Chunk {
        final Buffer buffer;
        private int filled;
        private int live;

        private Chunk(Buffer buffer) {
            this.buffer = buffer;
        }
    }

    /**
     * Makes room for a packet at the end; false when all chunks are in use.
     *
     * @param maxChunks of {@link BufferPool#MEDIUM_OCTETS} each, that may be in use at once
     */
    boolean reserve(int octets, int maxChunks) {
        Chunk last = tail;
        if (last != null && last.filled + octets <= last.buffer.capacity()) {
            return true;
        }
        if (last != null && last.live == 0) {
            give(last);
        }
        if (chunks.size() >= maxChunks) {
            return false;
        }
        Chunk next = new Chunk(pool.take(BufferPool.MEDIUM_OCTETS, octets));
        chunks.add(next);
        tail = next;
        return true;
    }

    /** Copies a packet to where {@link #reserve} made room for it. */
    void put(LinkItem item, ByteBuffer from, int offset, int octets) {
        Chunk chunk = tail;
        if (chunk == null) {
            throw new IllegalStateException("no room was reserved");
        }
        chunk.buffer.nio().put(chunk.filled, from, offset, octets);
        item.chunk = chunk;
        item.offset = chunk.filled;
        chunk.filled += octets;
        chunk.live++;
    }

    /** The packet has left. */
    void release(LinkItem item) {
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
        pool.give(chunk.buffer);
    }
}

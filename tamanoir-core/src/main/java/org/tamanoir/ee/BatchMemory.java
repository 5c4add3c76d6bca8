package org.tamanoir.ee;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;

/**
 * The memory that the packets of one batch lie in: the buffer in which they arrived, and a scratch buffer for those
 * that grew or were made here. It is given back when the batch has left.
 *
 * <p>Thread contract: the service's thread.
 */
final class BatchMemory implements PacketSpace {
    private final BufferPool pool;
    private final Runnable drain;
    private final List<Buffer> full = new ArrayList<>();
    private @Nullable Packet inHand;
    private @Nullable Buffer arrivals;
    private @Nullable Buffer scratch;
    private int used;

    /**
     * @param drain sends what waits, and returns when it has left or never will
     */
    BatchMemory(BufferPool pool, Runnable drain) {
        this.pool = pool;
        this.drain = drain;
    }

    void arrivals(Buffer buffer) {
        arrivals = buffer;
    }

    /** The view whose packet is in hand: the memory it lies in stays as it is. */
    void inHand(Packet packet) {
        inHand = packet;
    }

    /** The buffer that the packet lies in; a packet from elsewhere is copied in first. */
    Buffer holderOf(Packet packet) {
        ByteBuffer memory = packet.buffer();
        if (arrivals != null && arrivals.nio() == memory) {
            return arrivals;
        }
        if (scratch != null && scratch.nio() == memory) {
            return scratch;
        }
        for (Buffer buffer : full) {
            if (buffer.nio() == memory) {
                return buffer;
            }
        }
        throw new IllegalStateException("the packet lies in no memory of this thread: send a copy with emit()");
    }

    boolean isScratch(Buffer buffer) {
        return buffer == scratch;
    }

    @Override
    public ByteBuffer reserve(int octets) {
        Buffer buffer = scratch;
        if (buffer == null || used + octets > buffer.capacity()) {
            if (buffer != null) {
                full.add(buffer);
                drain.run();
                giveLeft(buffer);
            }
            buffer = pool.take(BufferPool.LARGE_OCTETS, octets);
            scratch = buffer;
            used = 0;
        }
        return buffer.nio().limit(buffer.capacity()).position(used);
    }

    /**
     * Gives back what has left, so that a service may make any number of packets in one call. The packet in hand may
     * lie in one buffer, and one that is being sent and grows in the last one: these stay.
     */
    private void giveLeft(Buffer last) {
        ByteBuffer held = inHand == null ? null : inHand.buffer();
        full.removeIf(buffer -> {
            boolean left = buffer != last && buffer.nio() != held;
            if (left) {
                pool.give(buffer);
            }
            return left;
        });
    }

    @Override
    public void commit(int octets) {
        used += octets;
    }

    /** Copies octets to the end of the scratch buffer if there is one with room; where they are then, or -1. */
    int tryCopy(Buffer from, int offset, int octets) {
        Buffer buffer = scratch;
        if (buffer == null) {
            buffer = pool.take(BufferPool.LARGE_OCTETS, octets);
            scratch = buffer;
            used = 0;
        }
        if (used + octets > buffer.capacity()) {
            return -1;
        }
        int at = used;
        buffer.nio().put(at, from.nio(), offset, octets);
        used += octets;
        return at;
    }

    Buffer scratch() {
        Buffer buffer = scratch;
        if (buffer == null) {
            throw new IllegalStateException("nothing was copied");
        }
        return buffer;
    }

    /** Gives the scratch memory back; everything in it has left. */
    void recycle() {
        if (scratch != null) {
            pool.give(scratch);
            scratch = null;
            used = 0;
        }
        if (!full.isEmpty()) {
            full.forEach(pool::give);
            full.clear();
        }
    }
}

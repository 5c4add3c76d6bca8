package org.tamanoir.transport;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketLoan;
import org.tamanoir.anep.PacketSpace;

/**
 * The memory that the packets of one batch lie in: the buffer in which they arrived, and a scratch buffer for those
 * that grew or were made here. It is given back when the batch has left, which it has not while somebody
 * {@linkplain #hold holds} it.
 *
 * <p>Thread contract: the service's thread.
 */
public final class ScratchBuffers implements PacketSpace {
    private final BufferPool pool;
    private final Object owner;
    private final Thread thread;
    private final BooleanSupplier drain;
    private final List<Buffer> full = new ArrayList<>();
    private Supplier<PacketSpace> ofCopies = () -> PacketSpace.HEAP;
    private @Nullable PacketLoan inHand;
    private @Nullable Buffer arrivals;
    private @Nullable Buffer scratch;
    private int used;
    /** Ways out that have gathered packets in it and not written them. */
    private int holders;

    /**
     * @param owner whose bytes it keeps, as {@link Buffer#ownedBy}
     * @param thread the service's
     * @param drain sends what waits, and where it may wait returns true when that has left or never will
     */
    public ScratchBuffers(BufferPool pool, Object owner, Thread thread, BooleanSupplier drain) {
        this.pool = pool;
        this.owner = owner;
        this.thread = thread;
        this.drain = drain;
    }

    /** Has copies of packets grow where this says. */
    public void copiesIn(Supplier<PacketSpace> where) {
        ofCopies = where;
    }

    @Override
    public PacketSpace ofCopies() {
        return ofCopies.get();
    }

    public void arrivals(Buffer buffer) {
        arrivals = buffer;
    }

    /** Returns whose bytes lie in it. */
    public Object owner() {
        return owner;
    }

    /** Says that a way out refers to bytes that no connection has been given yet; ends with {@link #release}. */
    public void hold() {
        holders++;
    }

    /** Ends a {@link #hold}. */
    public void release() {
        holders--;
    }

    /**
     * Checks that the memory may change: nothing refers to it but connections, which keep their own references.
     *
     * @throws IllegalStateException if a way out has gathered packets that it has not written
     */
    public void checkFree() {
        if (holders > 0) {
            throw new IllegalStateException(holders + " ways out refer to memory that is to change: flush them before");
        }
    }

    private Buffer take(int bytes) {
        return pool.take(BufferPool.LARGE_BYTES, bytes).ownedBy(owner);
    }

    /** Sets the view whose packet is in hand: the memory that the packet lies in stays as it is. */
    public void inHand(PacketLoan packet) {
        inHand = packet;
    }

    /** Returns the buffer that the packet lies in; a packet from elsewhere is copied in first. */
    public Buffer holderOf(Packet packet) {
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

    /** Returns whether the batch has taken more than one buffer: it is to leave before it goes on. */
    public boolean isFull() {
        return !full.isEmpty();
    }

    public boolean isScratch(Buffer buffer) {
        return buffer == scratch;
    }

    /**
     * @throws IllegalStateException on another thread than the service's: a service that has kept its view of a packet
     *     must not take memory by it, which would be lent to two at once
     */
    @Override
    public ByteBuffer reserve(int bytes) {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException("thread " + Thread.currentThread().getName()
                    + " changes a packet that is not in its hands: use it in process() alone, or Packet.copy()");
        }
        Buffer buffer = scratch;
        while (buffer != null && used + bytes > buffer.capacity()) {
            full.add(buffer);
            scratch = null; // In one place only, whatever is thrown.
            if (drain.getAsBoolean()) {
                giveLeft(buffer);
            }
            buffer = scratch; // Short runs may have been copied meanwhile.
        }
        if (buffer == null) {
            buffer = take(bytes);
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
        checkFree();
        full.removeIf(buffer -> {
            boolean left = buffer != last && (inHand == null || !inHand.liesIn(buffer.nio()));
            if (left) {
                pool.give(buffer);
            }
            return left;
        });
    }

    @Override
    public void commit(int bytes) {
        used += bytes;
    }

    /** Copies bytes to the end of the scratch buffer if there is room, or memory; where they are then, or -1. */
    public int tryCopy(Buffer from, int offset, int bytes) {
        Buffer buffer = scratch;
        if (buffer == null) {
            try {
                buffer = take(bytes);
            } catch (NoMemoryException e) {
                return -1; // They leave from where they lie.
            }
            scratch = buffer;
            used = 0;
        }
        if (used + bytes > buffer.capacity()) {
            return -1;
        }
        int at = used;
        buffer.nio().put(at, from.nio(), offset, bytes);
        used += bytes;
        return at;
    }

    public Buffer scratch() {
        Buffer buffer = scratch;
        if (buffer == null) {
            throw new IllegalStateException("nothing was copied");
        }
        return buffer;
    }

    /** Gives the scratch memory back; everything in it has left, or lies in connections. */
    public void recycle() {
        checkFree();
        if (inHand != null) {
            inHand.leave();
        }
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

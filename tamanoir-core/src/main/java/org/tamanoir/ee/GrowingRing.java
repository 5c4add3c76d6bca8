package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.BufferPool;

/**
 * A queue between two threads that begins with a small {@link PacketRing} and goes on in a larger one when that is full,
 * up to a bound: 16 KiB, 256 KiB, then the bound. The smaller one is given back when its packets have left. Growing is
 * optional memory, see {@link BufferPool}: without it the queue is full earlier.
 *
 * <p>Thread contract: one producer, one consumer; {@link #dropAll} and {@link #free} when neither is at work.
 */
final class GrowingRing {
    private static final int FIRST_BYTES = BufferPool.SMALL_BYTES;

    private final BufferPool pool;
    private final Object owner;
    private final int limitBytes;
    /** The consumer's: the oldest that has not been given back. */
    private volatile Link first;
    /** The producer's. */
    private Link last;
    /** More was wanted when a packet was offered last, and not to be had. */
    private volatile boolean starved;

    private static final class Link {
        final Buffer memory;
        final PacketRing ring;
        /** Set once: from then on nothing is put into this ring. */
        @Nullable
        volatile Link next;

        Link(Buffer memory) {
            this.memory = memory;
            this.ring = new PacketRing(memory, FIRST_BYTES);
        }
    }

    /** What is left, one packet after another. */
    interface Taker {
        void take(ByteBuffer memory, int offset, int length);
    }

    /**
     * @param owner whose packets wait, as {@link Buffer#ownedBy}
     * @param limitBytes a power of two, from {@link PacketRing#MIN_BYTES} on
     */
    GrowingRing(BufferPool pool, Object owner, int limitBytes) {
        this.pool = pool;
        this.owner = owner;
        this.limitBytes = limitBytes;
        this.first = new Link(pool.take(FIRST_BYTES, FIRST_BYTES).ownedBy(owner));
        this.last = first;
    }

    /** Copies a packet in; false when there is no room. The producer. */
    boolean offer(ByteBuffer buffer, int offset, int length) {
        return offer(buffer, offset, length, PacketGuard.NO_PROOF);
    }

    /** Copies a packet in, as above, of whose authenticity this is known. */
    boolean offer(ByteBuffer buffer, int offset, int length, int proof) {
        if (starved) {
            starved = false;
        }
        Link to = last;
        while (!to.ring.offer(buffer, offset, length, proof)) {
            boolean wasEmpty = isReleased();
            if (wasEmpty && to.ring.offer(buffer, offset, length, proof)) {
                return true; // All has left meanwhile.
            }
            Link larger = larger(to, wasEmpty);
            if (larger == null) {
                return false;
            }
            to.next = larger;
            last = larger;
            to = larger;
        }
        return true;
    }

    private @Nullable Link larger(Link than, boolean isEmpty) {
        int bytes = than.memory.capacity();
        if (bytes >= limitBytes) {
            return null;
        }
        Buffer memory = pool.tryTake(bytes < BufferPool.LARGE_BYTES ? BufferPool.LARGE_BYTES : limitBytes);
        starved = memory == null && isEmpty;
        return memory == null ? null : new Link(memory.ownedBy(owner));
    }

    /** Returns whether the last packet offered will not fit whatever leaves, for want of memory. Any thread. */
    boolean isStarved() {
        return starved;
    }

    /** Returns whether nothing waits. The consumer. */
    boolean isEmpty() {
        Link from = first;
        boolean alone = from.next == null;
        return alone && from.ring.isEmpty();
    }

    /** Returns whether the room of everything that was put in has been given back. Any thread. */
    boolean isReleased() {
        Link from = first;
        return from.next == null && from.ring.isReleased();
    }

    /**
     * Moves to the next packet; false when none waits, or the memory changes and what was moved over before has not been
     * {@linkplain #release released}. The consumer only, as all below.
     */
    boolean next() {
        while (!first.ring.next()) {
            if (!advance()) {
                return false;
            }
        }
        return true;
    }

    /** Gives the room of all packets moved over so far back: nothing may refer to them any more. */
    void release() {
        first.ring.release();
        advance();
    }

    /** Goes on to the larger ring, if there is one and nothing of this one is in use. */
    private boolean advance() {
        Link from = first;
        Link next = from.next;
        if (next == null || !from.ring.isReleased()) {
            return false;
        }
        first = next;
        give(from);
        return true;
    }

    /** Returns the memory that the packet lies in. */
    Buffer memory() {
        return first.memory;
    }

    /** Returns the index of the packet's first byte. */
    int offset() {
        return first.ring.offset();
    }

    /** Returns the packet's length in bytes. */
    int length() {
        return first.ring.length();
    }

    /** Returns what is known of the packet's authenticity, as {@link PacketGuard#proof}. */
    int proof() {
        return first.ring.proof();
    }

    /** Moves over everything that waits; the memory stays. */
    void dropAll(Taker taker) {
        for (Link from = first; from != null; from = from.next) {
            while (from.ring.next()) {
                taker.take(from.memory.nio(), from.ring.offset(), from.ring.length());
            }
        }
    }

    /** Gives all memory back. */
    void free() {
        for (Link from = first; from != null; from = from.next) {
            give(from);
        }
    }

    private void give(Link link) {
        if (link.memory.capacity() == FIRST_BYTES) {
            pool.give(link.memory);
        } else {
            pool.giveOptional(link.memory);
        }
    }
}

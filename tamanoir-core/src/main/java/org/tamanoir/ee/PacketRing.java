package org.tamanoir.ee;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.offload.UpcallMetadata;
import org.tamanoir.transport.Buffer;

/**
 * The bounded queue of packets in front of a service's thread: a ring of bytes, in which each packet lies in one
 * piece and is processed and sent from where it lies.
 *
 * <pre>
 *       +----------------+----------------+
 *     0 | u,p | length   | port           |   length in bytes of the packet; -1 = the rest of the ring is empty
 *       +----------------+----------------+
 *     8 | address of the sender           |   16 bytes, IPv4 as ::ffff:a.b.c.d
 *       +---------------------------------+
 *    24 | if u: how it came up            |   8 bytes, see UpcallMetadata
 *       +---------------------------------+
 *    32 | if u: where it was sent         |   16 bytes
 *       +---------------------------------+
 * 24/48 | if p: proof    |                |   of its authenticity, see PacketGuard
 *       +----------------+----------------+
 * 24-56 | the packet, padded to 8 bytes   |
 *       +---------------------------------+
 * </pre>
 *
 * <p>Thread contract: any number of producers, which a lock orders; one consumer.
 */
final class PacketRing {
    /** So that the largest packet fits whatever the position. */
    static final int MIN_BYTES = 1 << 18;

    private static final int RECORD_HEADER_BYTES = 24;
    private static final int ASCENT_BYTES = 24;
    /** The bit u. */
    private static final int ASCENDED = 1 << 30;

    private static final int PROOF_BYTES = 8;
    /** The bit p. */
    private static final int PROVED = 1 << 29;

    private static final int WRAP = -1;
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(PacketRing.class, "head", long.class);
            TAIL = lookup.findVarHandle(PacketRing.class, "tail", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Buffer memory;
    private final ByteBuffer ring;
    private final int mask;
    private long head;
    private long tail;
    private long reading;
    private int record;
    private boolean closed;

    /**
     * @param memory of a power of two bytes, at least {@link #MIN_BYTES}; it stays the caller's
     */
    PacketRing(Buffer memory) {
        this(memory, MIN_BYTES);
    }

    /**
     * Makes a ring that may be too small for some packets.
     *
     * @param leastBytes a power of two
     */
    PacketRing(Buffer memory, int leastBytes) {
        int bytes = memory.capacity();
        if (bytes < leastBytes || Integer.bitCount(bytes) != 1) {
            throw new IllegalArgumentException(
                    "ring of " + bytes + " bytes: must be a power of two from " + leastBytes + " on");
        }
        this.memory = memory;
        ring = memory.nio();
        mask = bytes - 1;
    }

    /**
     * Copies a packet in; false when there is no room, or no more is taken. Any thread.
     *
     * @param port of the sender, and in the upper 16 bits what the producer wants to add to it
     */
    boolean offer(ByteBuffer buffer, int offset, int length, long high, long low, int port) {
        return offer(buffer, offset, length, high, low, port, 0, 0, 0, PacketGuard.NO_PROOF);
    }

    /**
     * Copies a datagram in, as above.
     *
     * @param port as above
     */
    boolean offer(ByteBuffer buffer, int offset, int length, Arrival from, int port) {
        return offer(
                buffer,
                offset,
                length,
                from.high(),
                from.low(),
                port,
                from.ascent(),
                from.toHigh(),
                from.toLow(),
                from.proof());
    }

    /** Copies a packet of a stream in, as above, of whose authenticity this is known. */
    boolean offer(ByteBuffer buffer, int offset, int length, int proof) {
        return offer(buffer, offset, length, 0, 0, 0, 0, 0, 0, proof);
    }

    private synchronized boolean offer(
            ByteBuffer buffer,
            int offset,
            int length,
            long high,
            long low,
            int port,
            long ascent,
            long toHigh,
            long toLow,
            int proof) {
        if (closed) {
            return false;
        }
        int flags = (ascent == 0 ? 0 : ASCENDED) | (proof == PacketGuard.NO_PROOF ? 0 : PROVED);
        int header = headerBytes(flags);
        int bytes = header + (length + 7 & ~7);
        long end = tail;
        int index = (int) end & mask;
        int untilWrap = mask + 1 - index;
        long needed = bytes <= untilWrap ? bytes : (long) untilWrap + bytes;
        if (end + needed - (long) HEAD.getAcquire(this) > mask + 1) {
            return false;
        }
        if (bytes > untilWrap) {
            ring.putInt(index, WRAP);
            end += untilWrap;
            index = 0;
        }
        ring.putInt(index, length | flags)
                .putInt(index + 4, port)
                .putLong(index + 8, high)
                .putLong(index + 16, low);
        if (ascent != 0) {
            ring.putLong(index + 24, ascent).putLong(index + 32, toHigh).putLong(index + 40, toLow);
        }
        if (proof != PacketGuard.NO_PROOF) {
            ring.putInt(index + header - PROOF_BYTES, proof);
        }
        ring.put(index + header, buffer, offset, length);
        TAIL.setRelease(this, end + bytes);
        return true;
    }

    private static int headerBytes(int flags) {
        return RECORD_HEADER_BYTES
                + ((flags & ASCENDED) == 0 ? 0 : ASCENT_BYTES)
                + ((flags & PROVED) == 0 ? 0 : PROOF_BYTES);
    }

    /** Takes no more from now on; when this returns no producer writes to the memory. Any thread. */
    synchronized void close() {
        closed = true;
    }

    /** Returns whether it takes no more. Any thread. */
    synchronized boolean isClosed() {
        return closed;
    }

    /** Returns how far the ring is filled now, for {@link #isPast}. Any thread. */
    long mark() {
        return (long) TAIL.getAcquire(this);
    }

    /** Returns whether every packet that was in when the mark was made has been moved over. The consumer. */
    boolean isPast(long mark) {
        return reading >= mark;
    }

    /** Returns whether nothing waits. The consumer, or a guess for others. */
    boolean isEmpty() {
        return reading == (long) TAIL.getAcquire(this);
    }

    /** Returns whether the room of everything that was put in has been given back. Any thread. */
    boolean isReleased() {
        return (long) HEAD.getAcquire(this) == (long) TAIL.getAcquire(this);
    }

    /** Moves to the next packet; false when none waits. The consumer only, as all below. */
    boolean next() {
        if (isEmpty()) {
            return false;
        }
        record = (int) reading & mask;
        if (ring.getInt(record) == WRAP) {
            reading += mask + 1 - record;
            record = 0;
        }
        int length = length();
        long next = reading + offset() - record + (length + 7 & ~7);
        if (length < 0 || next > (long) TAIL.getAcquire(this)) {
            throw new IllegalStateException("the queue is damaged at " + reading + ": a packet of " + length
                    + " bytes in " + ((long) TAIL.getAcquire(this) - reading));
        }
        reading = next;
        return true;
    }

    /** Gives the room of all packets moved over so far back to producers: nothing may refer to them any more. */
    void release() {
        HEAD.setRelease(this, reading);
    }

    /** Returns the memory that packets lie in. */
    Buffer memory() {
        return memory;
    }

    /** Returns the index of the packet's first byte. */
    int offset() {
        return record + headerBytes(ring.getInt(record));
    }

    /** Returns the packet's length in bytes. */
    int length() {
        return ring.getInt(record) & ~(ASCENDED | PROVED);
    }

    private boolean hasAscended() {
        return (ring.getInt(record) & ASCENDED) != 0;
    }

    /** Returns what is known of the packet's authenticity, as {@link PacketGuard#proof}. */
    int proof() {
        int flags = ring.getInt(record);
        return (flags & PROVED) == 0 ? PacketGuard.NO_PROOF : ring.getInt(record + headerBytes(flags) - PROOF_BYTES);
    }

    int port() {
        return ring.getInt(record + 4);
    }

    long addressHigh() {
        return ring.getLong(record + 8);
    }

    long addressLow() {
        return ring.getLong(record + 16);
    }

    /** Returns what is to be remembered of how the packet came up, as in {@link UpcallMetadata}; 0 = nothing. */
    long ascent() {
        return hasAscended() ? ring.getLong(record + 24) : 0;
    }

    /** Returns the upper 64 bits of the address that the packet was sent to; only where there is an {@link #ascent}. */
    long toHigh() {
        return ring.getLong(record + 32);
    }

    long toLow() {
        return ring.getLong(record + 40);
    }
}

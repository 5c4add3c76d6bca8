package org.tamanoir.ee;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.tamanoir.transport.Buffer;

/**
 * The bounded queue of packets in front of a service's thread: a ring of octets, in which each packet lies in one
 * piece and is processed and sent from where it lies.
 *
 * <pre>
 *       +----------------+----------------+
 *     0 | u | length     | port           |   length in octets of the packet; -1 = the rest of the ring is empty
 *       +----------------+----------------+
 *     8 | address of the sender           |   16 octets, IPv4 as ::ffff:a.b.c.d
 *       +---------------------------------+
 *    24 | if u: how it came up            |   8 octets, see Ascent
 *       +---------------------------------+
 *    32 | if u: where it was sent         |   16 octets
 *       +---------------------------------+
 * 24/48 | the packet, padded to 8 octets  |
 *       +---------------------------------+
 * </pre>
 *
 * <p>Thread contract: any number of producers, which a lock orders; one consumer.
 */
final class PacketRing {
    /** So that the largest packet fits whatever the position. */
    static final int MIN_OCTETS = 1 << 18;

    private static final int RECORD_HEADER_OCTETS = 24;
    private static final int ASCENT_OCTETS = 24;
    /** The bit u. */
    private static final int ASCENDED = 1 << 30;

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
     * @param memory of a power of two octets, at least {@link #MIN_OCTETS}; it stays the caller's
     */
    PacketRing(Buffer memory) {
        int octets = memory.capacity();
        if (octets < MIN_OCTETS || Integer.bitCount(octets) != 1) {
            throw new IllegalArgumentException("inbox of " + octets + " octets: must be a power of two from "
                    + MIN_OCTETS + " on, for any packet to fit");
        }
        this.memory = memory;
        ring = memory.nio();
        mask = octets - 1;
    }

    /**
     * Copies a packet in; false when there is no room, or no more is taken. Any thread.
     *
     * @param port of the sender, and in the upper 16 bits what the producer wants to add to it
     */
    boolean offer(ByteBuffer buffer, int offset, int length, long high, long low, int port) {
        return offer(buffer, offset, length, high, low, port, 0, 0, 0);
    }

    /**
     * Copies a datagram in, as above.
     *
     * @param port as above
     */
    boolean offer(ByteBuffer buffer, int offset, int length, Arrival from, int port) {
        return offer(buffer, offset, length, from.high(), from.low(), port, from.ascent(), from.toHigh(), from.toLow());
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
            long toLow) {
        if (closed) {
            return false;
        }
        int header = ascent == 0 ? RECORD_HEADER_OCTETS : RECORD_HEADER_OCTETS + ASCENT_OCTETS;
        int octets = header + (length + 7 & ~7);
        long end = tail;
        int index = (int) end & mask;
        int untilWrap = mask + 1 - index;
        long needed = octets <= untilWrap ? octets : (long) untilWrap + octets;
        if (end + needed - (long) HEAD.getAcquire(this) > mask + 1) {
            return false;
        }
        if (octets > untilWrap) {
            ring.putInt(index, WRAP);
            end += untilWrap;
            index = 0;
        }
        ring.putInt(index, ascent == 0 ? length : length | ASCENDED)
                .putInt(index + 4, port)
                .putLong(index + 8, high)
                .putLong(index + 16, low);
        if (ascent != 0) {
            ring.putLong(index + 24, ascent).putLong(index + 32, toHigh).putLong(index + 40, toLow);
        }
        ring.put(index + header, buffer, offset, length);
        TAIL.setRelease(this, end + octets);
        return true;
    }

    /** Takes no more from now on; when this returns no producer writes to the memory. Any thread. */
    synchronized void close() {
        closed = true;
    }

    /** Whether it takes no more. Any thread. */
    synchronized boolean isClosed() {
        return closed;
    }

    /** How far it is filled now, for {@link #isPast}. Any thread. */
    long mark() {
        return (long) TAIL.getAcquire(this);
    }

    /** Whether every packet that was in when the mark was made has been moved over. The consumer. */
    boolean isPast(long mark) {
        return reading >= mark;
    }

    /** Whether nothing waits. The consumer, or a guess for others. */
    boolean isEmpty() {
        return reading == (long) TAIL.getAcquire(this);
    }

    /** Whether the room of everything that was put in has been given back. Any thread. */
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
        reading += offset() - record + (length() + 7 & ~7);
        return true;
    }

    /** Gives the room of all packets moved over so far back to producers: nothing may refer to them any more. */
    void release() {
        HEAD.setRelease(this, reading);
    }

    /** The memory that packets lie in. */
    Buffer memory() {
        return memory;
    }

    /** Index of the packet's first octet. */
    int offset() {
        return record + (hasAscended() ? RECORD_HEADER_OCTETS + ASCENT_OCTETS : RECORD_HEADER_OCTETS);
    }

    /** Octets of the packet. */
    int length() {
        return ring.getInt(record) & ~ASCENDED;
    }

    private boolean hasAscended() {
        return (ring.getInt(record) & ASCENDED) != 0;
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

    /** What is to be remembered of how it came up, as in {@link Ascent}; 0 = nothing. */
    long ascent() {
        return hasAscended() ? ring.getLong(record + 24) : 0;
    }

    /** Upper 64 bits of the address that it was sent to; only where there is an {@link #ascent}. */
    long toHigh() {
        return ring.getLong(record + 32);
    }

    long toLow() {
        return ring.getLong(record + 40);
    }
}

package org.tamanoir.services.morph;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Checksum;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.format.Format;
import org.tamanoir.format.RecordView;
import org.tamanoir.message.Message;
import org.tamanoir.service.Allowance;

/**
 * The bounded queue of messages from one context to another: a ring of bytes, into which header and record are copied
 * once, and handled from where they lie.
 *
 * <pre>
 *       +----------------+----------------+
 *     0 | record, bytes  | header, bytes  |   record -1: the rest of the ring is empty
 *       +----------------+----------------+
 *     8 | arrival, ns of the node's clock |   of a release: how many messages
 *       +----------------+----------------+
 *    16 | stage          | root           |   number of the handler in the run order; -1: it leaves; -2: a release
 *       +----------------+----------------+
 *    24 | header, padded to 8 | record    |   an entry begins at a multiple of 64
 *       +---------------------------------+
 * </pre>
 *
 * <p>Formats, destinations, reasons and allowances, which are objects, lie in arrays beside it, at the entry's number of
 * 64 bytes.
 *
 * <p>Thread contract: one producer, one consumer; counts and {@link #isDrained} any.
 */
final class Ring {
    /** Stage of a message that leaves. */
    static final int LEAVES = -1;

    /** Stage of an entry that is no message: messages that were held have ended. */
    static final int RELEASE = -2;

    static final int MIN_BYTES = 1 << 12;
    static final int MAX_BYTES = 1 << 28;

    private static final int ENTRY_HEADER_BYTES = 24;
    private static final int UNIT_SHIFT = 6;
    private static final int UNIT = 1 << UNIT_SHIFT;
    private static final int WRAP = -1;
    private static final VarHandle HEAD;
    private static final VarHandle TAIL;
    private static final VarHandle MESSAGES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(Ring.class, "head", long.class);
            TAIL = lookup.findVarHandle(Ring.class, "tail", long.class);
            MESSAGES = lookup.findVarHandle(Ring.class, "messages", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ByteBuffer ring;
    private final int mask;
    private final @Nullable Format[] formats;
    private final @Nullable Object[] attachments;
    private final @Nullable Allowance[] allowances;
    private Packet header = new Packet();
    private int headerType = Anep.DEFAULT_TYPE_ID;
    private final Message message = new Message();
    private long head;
    private long tail;
    /** The producer's: messages put in so far, and what it knew of the head last. */
    private long messages;

    private long knownHead;
    /** The consumer's: messages taken so far. */
    private volatile long taken;

    private long reading;
    private int entry;

    /**
     * Makes a ring.
     *
     * @param bytes a power of two from {@value #MIN_BYTES} to {@value #MAX_BYTES}
     */
    Ring(int bytes) {
        if (bytes < MIN_BYTES || bytes > MAX_BYTES || Integer.bitCount(bytes) != 1) {
            throw new IllegalArgumentException(
                    "ring of " + bytes + " bytes: must be a power of two from " + MIN_BYTES + " to " + MAX_BYTES);
        }
        ring = ByteBuffer.allocate(bytes);
        mask = bytes - 1;
        formats = new Format[bytes >> UNIT_SHIFT];
        attachments = new Object[bytes >> UNIT_SHIFT];
        allowances = new Allowance[bytes >> UNIT_SHIFT];
    }

    /** Returns the bytes of the ring. */
    int capacity() {
        return mask + 1;
    }

    /** Returns the bytes that are taken up now. Any thread. */
    long filled() {
        return (long) TAIL.getAcquire(this) - (long) HEAD.getAcquire(this);
    }

    /** Returns how many messages lie in it. Any thread: exact where neither side is at work. */
    long queued() {
        long gone = taken;
        return Math.max(0, (long) MESSAGES.getAcquire(this) - gone);
    }

    /** Returns whether all that was put in has been handled. Any thread. */
    boolean isDrained() {
        return (long) HEAD.getAcquire(this) == (long) TAIL.getAcquire(this);
    }

    /** Returns whether a message fits at all, when the ring is empty: half of it may be one message. */
    boolean canHold(Message of) {
        return bytes(of) <= capacity() / 2;
    }

    private static long bytes(Message of) {
        return ENTRY_HEADER_BYTES
                + (of.header().headerLength() + 7 & ~7)
                + (long) of.record().length();
    }

    /** Copies a message in; false when there is no room. The producer. */
    boolean offer(Message of, int stage, boolean root) {
        RecordView record = of.record();
        Packet from = of.header();
        int headerBytes = from.headerLength();
        int recordBytes = record.length();
        int at = claim(ENTRY_HEADER_BYTES + (headerBytes + 7 & ~7) + (long) recordBytes);
        if (at < 0) {
            return false;
        }
        ring.putInt(at, recordBytes)
                .putInt(at + 4, headerBytes)
                .putLong(at + 8, of.arrivalNs())
                .putInt(at + 16, stage)
                .putInt(at + 20, root ? 1 : 0);
        int headerAt = at + ENTRY_HEADER_BYTES;
        putHeader(from, headerAt, headerBytes);
        ring.put(headerAt + (headerBytes + 7 & ~7), record.memory(), record.start(), recordBytes);
        formats[at >> UNIT_SHIFT] = record.format();
        attachments[at >> UNIT_SHIFT] = of.destination();
        // Taken along at once: what is charged to a datagram is so as long as it is in hand.
        allowances[at >> UNIT_SHIFT] =
                of.allowance() == null ? Allowance.FREE : of.allowance().keep();
        MESSAGES.setRelease(this, messages + 1);
        publish();
        return true;
    }

    /** Copies the header as that of a packet without payload. */
    private void putHeader(Packet from, int at, int bytes) {
        from.copyHeaderTo(ring, at);
        ring.putShort(at + 6, (short) bytes);
        if (from.has(Option.CHECKSUM)) {
            int field = at + from.optionOffset(Option.CHECKSUM) - from.offset();
            ring.putShort(field, (short) 0);
            ring.putShort(field, (short) ~Checksum.sum(ring, at, bytes));
        }
    }

    /** Notes that held messages have ended; false when there is no room. The producer. */
    boolean offerRelease(long count, @Nullable String reason) {
        int at = claim(ENTRY_HEADER_BYTES);
        if (at < 0) {
            return false;
        }
        ring.putInt(at, 0).putInt(at + 4, 0).putLong(at + 8, count).putInt(at + 16, RELEASE);
        attachments[at >> UNIT_SHIFT] = reason;
        publish();
        return true;
    }

    private long claimedEnd;

    /** Returns where an entry of so many bytes may be written, -1 where there is no room. */
    private int claim(long wanted) {
        if (wanted > capacity() / 2) {
            return -1; // It would fit at some places alone.
        }
        int bytes = (int) wanted + UNIT - 1 & -UNIT;
        long end = tail;
        int index = (int) end & mask;
        int untilWrap = mask + 1 - index;
        long needed = bytes <= untilWrap ? bytes : (long) untilWrap + bytes;
        if (end + needed - knownHead > mask + 1) {
            knownHead = (long) HEAD.getAcquire(this);
            if (end + needed - knownHead > mask + 1) {
                return -1;
            }
        }
        if (bytes > untilWrap) {
            ring.putInt(index, WRAP);
            end += untilWrap;
            index = 0;
        }
        claimedEnd = end + bytes;
        return index;
    }

    private void publish() {
        TAIL.setRelease(this, claimedEnd);
    }

    /** Moves to the next entry; false when there is none. The consumer only, as all below. */
    boolean next() {
        if (reading == (long) TAIL.getAcquire(this)) {
            return false;
        }
        entry = (int) reading & mask;
        if (ring.getInt(entry) == WRAP) {
            reading += mask + 1 - entry;
            entry = 0;
        }
        int bytes = ENTRY_HEADER_BYTES + (ring.getInt(entry + 4) + 7 & ~7) + ring.getInt(entry);
        reading += bytes + UNIT - 1 & -UNIT;
        return true;
    }

    /** Returns the number of the handler that the message goes to, or {@link #LEAVES} or {@link #RELEASE}. */
    int stage() {
        return ring.getInt(entry + 16);
    }

    /** Returns whether the message is what became of one that the instance was given. */
    boolean isRoot() {
        return ring.getInt(entry + 20) != 0;
    }

    /** Returns how many messages a release ends. */
    long releases() {
        return ring.getLong(entry + 8);
    }

    /** Returns why a release ends messages; null: they went into others. */
    @Nullable
    String reason() {
        return (String) attachments[entry >> UNIT_SHIFT];
    }

    /** Returns the message where it lies; the same object each time, valid until {@link #release}. */
    Message message() {
        int headerBytes = ring.getInt(entry + 4);
        int headerAt = entry + ENTRY_HEADER_BYTES;
        int type = ring.getShort(headerAt + 2) & 0xFFFF;
        if (type != headerType) {
            headerType = type; // The node's own for active packets; services are given no others.
            header = new Packet(type, PacketSpace.HEAP);
        }
        ParseFault fault = header.parse(ring, headerAt, headerBytes);
        if (fault != null) {
            throw new IllegalStateException("a header that was good is not any more: " + fault);
        }
        Format format = Objects.requireNonNull(formats[entry >> UNIT_SHIFT]);
        int recordAt = headerAt + (headerBytes + 7 & ~7);
        message.wrap(format, ring, recordAt, ring.getInt(entry), header, ring.getLong(entry + 8));
        message.setDestination((InetSocketAddress) attachments[entry >> UNIT_SHIFT]);
        message.setAllowance(allowances[entry >> UNIT_SHIFT]);
        return message;
    }

    /** Gives the room of the entry, and of those before, back: nothing may refer to them any more. */
    void release() {
        if (stage() != RELEASE) {
            taken = taken + 1;
        }
        HEAD.setRelease(this, reading);
    }
}

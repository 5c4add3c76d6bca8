package org.tamanoir.services.morph.handler;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
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

/**
 * Records that are held, with the headers that they travel under and a few numbers, in the order in which they came; found
 * by a hash. All lies in one {@link Ring}: no object for a record.
 *
 * <pre>
 * s32 bytes | s32 next of its bucket | s32 hash | s32 tag | s64 held since | s64 arrival | s32 destination | s32 header bytes
 * | s32 record bytes | s32 cells | cells: s64 each | record, up to a multiple of 8 | header
 * </pre>
 *
 * <p>Thread contract: one thread.
 */
final class HeldRecords {
    /** No record. */
    static final int NONE = Ring.NONE;

    private static final int NEXT = 4;
    private static final int HASH = 8;
    private static final int TAG = 12;
    private static final int SINCE = 16;
    private static final int ARRIVAL = 24;
    private static final int DESTINATION = 32;
    private static final int HEADER_BYTES = 36;
    private static final int RECORD_BYTES = 40;
    private static final int CELLS = 44;
    private static final int FIRST_CELL = 48;
    private static final int FIRST_BUCKETS = 64;
    /** Where a header has its Type ID and the bytes of the whole packet. */
    private static final int TYPE_ID = 2;

    private static final int PACKET_LENGTH = 6;

    private final Ring ring;
    private final int limitRecords;
    private int[] buckets = new int[FIRST_BUCKETS];
    private int count;
    private int headerTypeId = Anep.DEFAULT_TYPE_ID;
    private Packet header = new Packet(headerTypeId, PacketSpace.HEAP);
    private @Nullable InetSocketAddress[] destinations = new InetSocketAddress[1];
    private int lastDestination;

    HeldRecords(long limitBytes, long limitRecords) {
        ring = new Ring((int) limitBytes);
        this.limitRecords = (int) limitRecords;
        Arrays.fill(buckets, NONE);
    }

    /** Returns how many there are. */
    int count() {
        return count;
    }

    /** Returns the bytes that they take. */
    long bytes() {
        return ring.usedBytes() + (count == 0 ? 0 : (long) Integer.BYTES * buckets.length);
    }

    /**
     * Adds a record behind the others; places of others may change.
     *
     * @param message that it came with, and whose header, arrival and destination are kept if {@code withHeader}
     * @param cells numbers that it has besides, 0 at first
     * @return its place; {@link #NONE} if there is no room
     */
    int add(int hash, int tag, long sinceNs, Message message, boolean withHeader, RecordView record, int cells) {
        if (count == limitRecords) {
            return NONE;
        }
        int headerBytes = withHeader ? message.header().headerLength() : 0;
        int recordBytes = record.length();
        long bytes = recordAt(0, cells) + round(recordBytes) + headerBytes;
        int at = bytes > Integer.MAX_VALUE - Long.BYTES ? NONE : place((int) bytes);
        if (at == NONE) {
            return NONE;
        }
        ByteBuffer memory = ring.memory();
        memory.putInt(at + HASH, hash);
        memory.putInt(at + TAG, tag);
        memory.putLong(at + SINCE, sinceNs);
        memory.putLong(at + ARRIVAL, message.arrivalNs());
        memory.putInt(at + DESTINATION, withHeader ? keep(message.destination()) : NONE);
        memory.putInt(at + HEADER_BYTES, headerBytes);
        memory.putInt(at + RECORD_BYTES, recordBytes);
        memory.putInt(at + CELLS, cells);
        for (int i = 0; i < cells; i++) {
            putCell(at, i, 0);
        }
        int recordAt = recordAt(at, cells);
        memory.put(recordAt, record.memory(), record.start(), recordBytes);
        if (withHeader) {
            putHeader(message.header(), recordAt + round(recordBytes));
        }
        if (count == buckets.length) {
            buckets = new int[2 * count];
            link();
        } else {
            link(at);
        }
        count++;
        return at;
    }

    private static int recordAt(int at, int cells) {
        return at + FIRST_CELL + Long.BYTES * cells;
    }

    private static int round(int bytes) {
        return bytes + Long.BYTES - 1 & -Long.BYTES;
    }

    private int place(int bytes) {
        int at = ring.append(bytes);
        while (at == NONE && ring.makeRoom(bytes)) {
            link();
            at = ring.append(bytes);
        }
        return at;
    }

    /** Links all anew. */
    private void link() {
        Arrays.fill(buckets, NONE);
        for (int at = ring.oldest(); at != NONE; at = ring.after(at)) {
            link(at);
        }
    }

    private void link(int at) {
        int bucket = bucket(ring.memory().getInt(at + HASH));
        ring.memory().putInt(at + NEXT, buckets[bucket]);
        buckets[bucket] = at;
    }

    private int bucket(int hash) {
        return hash & buckets.length - 1;
    }

    /** Copies the header as that of a packet without payload. */
    private void putHeader(Packet packet, int at) {
        ByteBuffer memory = ring.memory();
        int bytes = packet.headerLength();
        packet.copyHeaderTo(memory, at);
        memory.putShort(at + PACKET_LENGTH, (short) bytes);
        if (packet.has(Option.CHECKSUM)) {
            int checksumAt = at + packet.optionOffset(Option.CHECKSUM) - packet.offset();
            memory.putShort(checksumAt, (short) 0);
            memory.putShort(checksumAt, (short) ~Checksum.sum(memory, at, bytes));
        }
    }

    private int keep(@Nullable InetSocketAddress destination) {
        if (destination == null) {
            return NONE;
        }
        // They are freed about in the order in which they came, so that the next place is mostly free.
        int size = destinations.length;
        for (int i = 0; i < size && destinations[lastDestination] != null; i++) {
            lastDestination = (lastDestination + 1) % size;
        }
        if (destinations[lastDestination] != null) {
            lastDestination = size;
            destinations = Arrays.copyOf(destinations, 2 * size);
        }
        destinations[lastDestination] = destination;
        return lastDestination;
    }

    /** Frees a record. */
    void free(int at) {
        ByteBuffer memory = ring.memory();
        int bucket = bucket(memory.getInt(at + HASH));
        int next = memory.getInt(at + NEXT);
        if (buckets[bucket] == at) {
            buckets[bucket] = next;
        } else {
            int before = buckets[bucket];
            while (memory.getInt(before + NEXT) != at) {
                before = memory.getInt(before + NEXT);
            }
            memory.putInt(before + NEXT, next);
        }
        int destination = memory.getInt(at + DESTINATION);
        if (destination != NONE) {
            destinations[destination] = null;
        }
        ring.free(at);
        count--;
    }

    /** Returns the record that came first. */
    int oldest() {
        return ring.oldest();
    }

    /** Returns the record that came next. */
    int after(int at) {
        return ring.after(at);
    }

    /** Returns a record of this hash, the newest first. */
    int first(int hash) {
        return withHash(buckets[bucket(hash)], hash);
    }

    /** Returns the next record of the hash that this one has. */
    int next(int at) {
        return withHash(ring.memory().getInt(at + NEXT), ring.memory().getInt(at + HASH));
    }

    private int withHash(int from, int hash) {
        int at = from;
        while (at != NONE && ring.memory().getInt(at + HASH) != hash) {
            at = ring.memory().getInt(at + NEXT);
        }
        return at;
    }

    int hash(int at) {
        return ring.memory().getInt(at + HASH);
    }

    int tag(int at) {
        return ring.memory().getInt(at + TAG);
    }

    long sinceNs(int at) {
        return ring.memory().getLong(at + SINCE);
    }

    long arrivalNs(int at) {
        return ring.memory().getLong(at + ARRIVAL);
    }

    long cell(int at, int cell) {
        return ring.memory().getLong(at + FIRST_CELL + Long.BYTES * cell);
    }

    void putCell(int at, int cell, long value) {
        ring.memory().putLong(at + FIRST_CELL + Long.BYTES * cell, value);
    }

    /** Points a view at the record. */
    RecordView view(int at, Format format, RecordView view) {
        ByteBuffer memory = ring.memory();
        return view.wrap(format, memory, recordAt(at, memory.getInt(at + CELLS)), memory.getInt(at + RECORD_BYTES));
    }

    /** Points a message at a record that lies anywhere, under the header that is held here. */
    Message wrap(int at, Message message, Format format, ByteBuffer memory, int start, int length, long arrivalNs) {
        ByteBuffer own = ring.memory();
        int headerAt = recordAt(at, own.getInt(at + CELLS)) + round(own.getInt(at + RECORD_BYTES));
        int typeId = own.getShort(headerAt + TYPE_ID) & 0xFFFF;
        if (typeId != headerTypeId) {
            header = new Packet(typeId, PacketSpace.HEAP);
            headerTypeId = typeId;
        }
        ParseFault fault = header.parse(own, headerAt, own.getInt(at + HEADER_BYTES));
        if (fault != null) {
            throw new IllegalStateException("the header of a good packet is not good without a payload: " + fault);
        }
        message.wrap(format, memory, start, length, header, arrivalNs);
        int destination = own.getInt(at + DESTINATION);
        message.setDestination(destination == NONE ? null : destinations[destination]);
        return message;
    }
}

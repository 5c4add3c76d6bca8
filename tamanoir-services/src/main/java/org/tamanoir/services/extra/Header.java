package org.tamanoir.services.extra;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;

/**
 * The header of a packet, parted into what all packets of its flow have and what is the packet's own: sequence number
 * and origin time. Length, checksum and egress stamp belong to neither, and are zero here. Two headers are equal if
 * the flow's part is.
 *
 * <p>Thread contract: one thread; a key of a map does not change any more.
 */
public final class Header {
    private static final int LENGTH_AT = 6;
    private static final int NONE = -1;

    private final KeyedHash hash;
    private ByteBuffer octets = ByteBuffer.allocate(128);
    private int length;
    private int typeId;
    private int part;
    private int sequenceAt = NONE;
    private int timestampsAt = NONE;
    private int checksumAt = NONE;
    private long sequence;
    private long originNs;

    /** Makes an empty one, with a hash of its own, which its copies share: of these alone are equal ones hashed alike. */
    public Header() {
        this(new KeyedHash());
    }

    private Header(KeyedHash hash) {
        this.hash = hash;
    }

    /** Takes the header of this packet in place of the one before; allocates only for one longer than all before. */
    public Header read(Packet packet) {
        return read(packet, 0);
    }

    /** Does as {@link #read(Packet)}. @param ofPart parts the flow further: packets of one flow have the same */
    Header read(Packet packet, int ofPart) {
        part = ofPart;
        length = packet.headerLength();
        if (octets.capacity() < length) {
            octets = ByteBuffer.allocate(length);
        }
        packet.copyHeaderTo(octets, 0);
        typeId = packet.typeId();
        sequenceAt = at(packet, Option.STREAM, Integer.BYTES);
        timestampsAt = at(packet, Option.TIMESTAMPS, 0);
        checksumAt = at(packet, Option.CHECKSUM, 0);
        sequence = sequenceAt == NONE ? 0 : octets.getLong(sequenceAt);
        originNs = timestampsAt == NONE ? 0 : octets.getLong(timestampsAt);
        octets.putShort(LENGTH_AT, (short) 0);
        zero(sequenceAt, Long.BYTES);
        zero(timestampsAt, 2 * Long.BYTES);
        zero(checksumAt, Integer.BYTES);
        return this;
    }

    private static int at(Packet packet, Option option, int behind) {
        return packet.has(option) ? packet.optionOffset(option) - packet.offset() + behind : NONE;
    }

    private void zero(int at, int bytes) {
        for (int i = at; at != NONE && i < at + bytes; i += Integer.BYTES) {
            octets.putInt(i, 0);
        }
    }

    /** Returns one of its own that stays as it is. */
    public Header copy() {
        Header copy = new Header(hash);
        copy.octets = ByteBuffer.allocate(length).put(0, octets, 0, length);
        copy.length = length;
        copy.typeId = typeId;
        copy.part = part;
        copy.sequenceAt = sequenceAt;
        copy.timestampsAt = timestampsAt;
        copy.checksumAt = checksumAt;
        copy.sequence = sequence;
        copy.originNs = originNs;
        return copy;
    }

    /** Returns its bytes. */
    public int length() {
        return length;
    }

    /** Returns the packet's own sequence number; 0 where it has none. */
    public long sequence() {
        return sequence;
    }

    /** Returns the packet's own origin time; 0 where it has none. */
    public long originNs() {
        return originNs;
    }

    int typeId() {
        return typeId;
    }

    /** Returns where the checksum lies; negative if there is none. */
    int checksumAt() {
        return checksumAt;
    }

    /** Writes it for a packet of {@code packetBytes} with these values of its own, at index 0; the checksum stays 0. */
    void write(ByteBuffer target, int packetBytes, long ownSequence, long ownOriginNs) {
        target.put(0, octets, 0, length).putShort(LENGTH_AT, (short) packetBytes);
        if (sequenceAt != NONE) {
            target.putLong(sequenceAt, ownSequence);
        }
        if (timestampsAt != NONE) {
            target.putLong(timestampsAt, ownOriginNs);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        if (!(other instanceof Header that) || that.length != length || that.typeId != typeId || that.part != part) {
            return false;
        }
        for (int at = 0; at < length; at += Integer.BYTES) {
            if (octets.getInt(at) != that.octets.getInt(at)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        long value = hash.add(hash.add(KeyedHash.BEGIN, typeId), part);
        for (int at = 0; at < length; at += Integer.BYTES) {
            value = hash.add(value, octets.getInt(at));
        }
        return hash.finish(value);
    }
}

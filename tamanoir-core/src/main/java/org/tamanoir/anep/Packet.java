package org.tamanoir.anep;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A view of one packet where it lies: a flyweight that is pointed at packet after packet and copies nothing. What a
 * service reads and marks, it reads and marks in the receive buffer; only a packet that grows is moved, into the
 * {@link PacketSpace}, and one that came without its header, when that is changed or the packet wanted whole. The format
 * of the header is the matter of a {@link HeaderFormat}.
 *
 * <p>A view that a service is given is valid until its {@code process} returns; {@link #copy} keeps a packet. Until
 * then it is lent: who asks for {@link #payload}, {@link #buffer} or {@link #newPayload} gets memory that has nothing
 * but this packet in it. Everything else works on the packet where it lies, and costs no copy.
 *
 * <p>Thread contract: one thread.
 */
public final class Packet extends HeaderView {
    private final PacketSpace space;
    /** Lends this view to services; null where nobody does. */
    private final @Nullable PacketLoan loan;

    /** The view is in a service's hands. */
    boolean lent;

    final BufferView payloadView = new BufferView();
    private final BufferView reservedView = new BufferView();
    final BufferView lookView = BufferView.readOnly();
    /** The memory for a new payload that the view has given away; null when there is none. */
    @Nullable
    ByteBuffer reserved;

    private int reservedOffset;
    private int reservedPayload;

    /** Makes a view for packets of Tamanoir's default Type ID, which grow onto the heap. */
    public Packet() {
        this(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
    }

    /**
     * Makes a view.
     *
     * @param tamanoirTypeId the Type ID under which private options count
     * @param space where packets go that outgrow their place
     */
    public Packet(int tamanoirTypeId, PacketSpace space) {
        this(tamanoirTypeId, space, null);
    }

    Packet(int tamanoirTypeId, PacketSpace space, @Nullable PacketLoan loan) {
        super(tamanoirTypeId, AnepHeader.FORMAT);
        this.space = space;
        this.loan = loan;
    }

    /**
     * Points this view at the packet that starts at {@code offset}, and applies receive rules 1 to 8 of ANEP.
     *
     * @param buffer big-endian; its position is not used or changed, its limit lies behind the packet
     * @param available octets from {@code offset} on: those of one datagram, or more
     * @return null when the packet is good, else the rule that it breaks; the view is then valid only for
     *     {@link #length}: what the packet claims where that much is there, else {@code available}
     */
    public @Nullable ParseFault parse(ByteBuffer buffer, int offset, int available) {
        if (lent) {
            throw new IllegalStateException("this view is the node's: parse with a new Packet()");
        }
        if (reserved != null) {
            reserved = null;
        }
        checksumStale = false;
        displaced = false;
        folded = false;
        return format.parse(this, buffer, offset, available);
    }

    @Override
    void unfold() {
        int payloadOctets = length - headerLength;
        ByteBuffer room = space.reserve(length);
        int start = room.position();
        copyTo(room, start);
        moveTo(room, start);
        format.resize(this, payloadOctets);
        space.commit(length);
    }

    /**
     * Returns the memory that the packet lies in, from {@link #offset} on. In a service: memory of the service's own
     * with this packet alone, which the node checks when the service returns, if anything in it was changed. As {@link
     * #payload}, it is left behind by what moves the packet.
     */
    public ByteBuffer buffer() {
        if (lent) {
            return loan().moved().whole(length);
        }
        join();
        return buffer;
    }

    /** Returns the index of the first octet in {@link #buffer}. */
    public int offset() {
        if (lent) {
            return 0;
        }
        join();
        return offset;
    }

    /** Copies the packet's octets to {@code at} in {@code target}, whose position and limit are not used or changed. */
    public void copyTo(ByteBuffer target, int at) {
        if (folded) {
            copyHeaderTo(target, at);
            target.put(at + headerLength, body, bodyOffset, length - headerLength);
        } else {
            target.put(at, buffer, offset, length);
        }
    }

    /** Copies the header with its options to {@code at} in {@code target}, as {@link #copyTo}. */
    public void copyHeaderTo(ByteBuffer target, int at) {
        target.put(at, buffer, offset, headerLength);
        if (folded) {
            target.putShort(at + Anep.LENGTH_AT, (short) length);
        }
    }

    /** Returns the octets of the whole packet. */
    public int length() {
        return length;
    }

    /** Returns the octets of the header with its options. */
    public int headerLength() {
        return headerLength;
    }

    /** Returns the Type ID: which execution environment the packet is for. */
    public int typeId() {
        return typeId;
    }

    /** Returns whether the Type ID is Tamanoir's, so that private options count. */
    public boolean isTamanoir() {
        return typeId == tamanoirTypeId;
    }

    /** Returns whether a node that does not know the Type ID discards the packet. */
    public boolean discardIfUnknownType() {
        return (flags & Anep.FLAG_DISCARD) != 0;
    }

    /** Returns whether more octets were available than the packet claims (datagrams: rule 4, TRAILER). */
    public boolean hasTrailer() {
        return trailer;
    }

    /** Returns whether an option that may stand once stood twice; the first one counts. */
    public boolean hasRepeatedOption() {
        return repeatedOption;
    }

    /** Returns whether the option is there. */
    public boolean has(Option option) {
        return has(option.slot());
    }

    /**
     * Returns the index in {@link #buffer} of the option's first payload octet.
     *
     * @throws IllegalStateException if the packet has no such option
     */
    public int optionOffset(Option option) {
        if (!has(option)) {
            throw new IllegalStateException("the packet has no " + option + " option: ask has() first");
        }
        return offset() + at[option.slot()] + 4;
    }

    /** Returns the service key, {@link ServiceKey#NONE} when the packet names no service. */
    public long serviceKey() {
        return has(KEY) ? buffer.getLong(at(KEY) + 4) : ServiceKey.NONE;
    }

    /**
     * Names the service that the next node shall run.
     *
     * @throws IllegalStateException if the packet has no service-key option and no room to add one
     */
    public void setServiceKey(long key) {
        if (!has(Option.SERVICE_KEY) && !addOption(Option.SERVICE_KEY)) {
            throw new IllegalStateException("packet of " + length() + " octets has no room for a service key (limit "
                    + Anep.MAX_PACKET_OCTETS + "): send it with an empty one");
        }
        putInt(KEY, 0, (int) (key >>> 32));
        putInt(KEY, 4, (int) key);
    }

    /** Returns the class of service 0–255, or -1 when the packet has none. */
    public int classOfService() {
        return has(CLASS) ? buffer.get(at(CLASS) + 4) & 0xFF : -1;
    }

    /** Returns the drop precedence 0–255, 0 when the packet has none. */
    public int dropPrecedence() {
        return has(CLASS) ? buffer.get(at(CLASS) + 5) & 0xFF : 0;
    }

    /**
     * Marks the packet in place, 0–255.
     *
     * @return false when it has no class-of-service option
     * @throws IllegalArgumentException if the class is out of range
     */
    public boolean setClassOfService(int classOfService) {
        require(classOfService, 0xFF, "class of service");
        if (!has(CLASS)) {
            return false;
        }
        putFirstByte(CLASS, classOfService);
        return true;
    }

    /** Returns the stream id, 0 when the packet has none. */
    public int streamId() {
        return has(STREAM) ? buffer.getInt(at(STREAM) + 4) : 0;
    }

    /** Returns the sequence number in its stream, -1 when the packet has none. */
    public long sequence() {
        return has(STREAM) ? buffer.getLong(at(STREAM) + 8) : -1;
    }

    /** Returns the round in a distributed element, unsigned; 0 if the packet has none. */
    public long round() {
        return has(ROUND) ? buffer.getLong(at(ROUND) + 4) : 0;
    }

    /** Returns the path in a distributed element, 0 to 65,535; -1 if the packet has none. */
    public int pathOfRound() {
        return has(ROUND) ? buffer.getShort(at(ROUND) + 12) & 0xFFFF : -1;
    }

    /** Returns the flags of the round: {@link Anep#ROUND_EMPTY} and the others; 0 if the packet has none. */
    public int roundFlags() {
        return has(ROUND) ? buffer.get(at(ROUND) + 14) & 0xFF : 0;
    }

    /**
     * Names the format of the record in the payload by an identifier that lies in {@code memory}, in place.
     *
     * @param octets of the identifier, up to 12; zeros follow
     * @return false when the packet has no option for it
     */
    public boolean setFormat(ByteBuffer memory, int from, int octets) {
        require(octets, 12, "identifier's octets");
        if (!has(FORMAT)) {
            return false;
        }
        for (int i = 0; i < 12; i += 4) {
            int word = 0;
            for (int j = i; j < i + 4; j++) {
                word = word << 8 | (j < octets ? memory.get(from + j) & 0xFF : 0);
            }
            putInt(FORMAT, i, word);
        }
        return true;
    }

    /** Returns the active hops left; 0 when the packet has no budget or leaves it to the first node. */
    public int hopBudget() {
        return has(HOPS) ? buffer.getShort(at(HOPS) + 4) & 0xFFFF : 0;
    }

    /**
     * Returns the code server of the active node that the packet comes from, as the packet claims; null when it names
     * none. An unspecified address stands for that node's own. Allocates.
     */
    public @Nullable InetSocketAddress previousNode() {
        int slot = PREVIOUS_NODE;
        return has(slot) ? PreviousNode.read(buffer, at(slot)) : null;
    }

    /** Returns the origin time in ns as the sender wrote it, 0 when there is none. */
    public long originTimeNs() {
        return has(TIMESTAMPS) ? buffer.getLong(at(TIMESTAMPS) + 4) : 0;
    }

    /** Returns the transport port at the destination identifier, 0 when the packet has none. */
    public int destinationPort() {
        return has(PORT) ? buffer.getShort(at(PORT) + 4) & 0xFFFF : 0;
    }

    /** Returns whether the packet has an IPv4 or IPv6 destination. */
    public boolean hasInternetDestination() {
        return has(DESTINATION) && isInternet(destinationScheme);
    }

    /**
     * Returns the upper 64 bits of the destination; 0 for IPv4, which stands as ::ffff:a.b.c.d. Means something only
     * where {@link #hasInternetDestination} says so.
     */
    public long destinationHigh() {
        return high(DESTINATION, destinationScheme);
    }

    /** Returns the lower 64 bits of the destination, as {@link #destinationHigh}. */
    public long destinationLow() {
        return low(DESTINATION, destinationScheme);
    }

    /** Returns whether the packet has an IPv4 or IPv6 source. */
    public boolean hasInternetSource() {
        return isInternet(getInt(SOURCE));
    }

    /** Returns the upper 64 bits of the source as the sender claims it, as {@link #destinationHigh}. */
    public long sourceHigh() {
        return high(SOURCE, getInt(SOURCE));
    }

    /** Returns the lower 64 bits of the source, as {@link #destinationHigh}. */
    public long sourceLow() {
        return low(SOURCE, getInt(SOURCE));
    }

    /** Returns the destination's address; null when the packet has none of IPv4 or IPv6. Allocates. */
    public @Nullable InetAddress destination() {
        return addressOf(DESTINATION);
    }

    /** Returns the source's address as the sender claims it; null when there is none of IPv4 or IPv6. Allocates. */
    public @Nullable InetAddress source() {
        return addressOf(SOURCE);
    }

    /**
     * Swaps source and destination identifiers in place, as an answer needs it.
     *
     * @return false when one is missing or they differ in length; the packet is then unchanged
     */
    public boolean swapEnds() {
        return format.swapEnds(this);
    }

    /** Returns the index of the first payload octet in {@link #buffer}. */
    public int payloadOffset() {
        return offset() + headerLength;
    }

    /** Returns the octets of payload, 0 to 65,527. */
    public int payloadLength() {
        return length - headerLength;
    }

    /** Returns the payload octet at this index, 0 to 255: for searches, which leave the packet where it lies. */
    public int payloadOctet(int index) {
        Objects.checkIndex(index, payloadLength());
        return (folded ? body.get(bodyOffset + index) : buffer.get(offset + headerLength + index)) & 0xFF;
    }

    /**
     * Returns the payload from position to limit, to read and to change in place; a packet with a checksum gets a new
     * one when it leaves. The same object each time: it is this view's, and as short-lived. What moves the packet, a
     * longer payload or a new option, leaves it behind: take it again then. In a service it lies in memory of the
     * service's own, see {@link #buffer}.
     */
    public ByteBuffer payload() {
        ServiceMemory own = lent ? loan().moved() : null;
        join();
        checksumStale = true;
        return own != null
                ? own.payload(headerLength, length)
                : payloadView.over(buffer, offset + headerLength, offset + length);
    }

    /**
     * Returns the whole packet, from position to limit, to read where it lies: no copy is made, also in a service, but of
     * one that came without its header, and a checksum stays as it is. The same object each time while the packets lie in the same memory; valid as long as the
     * packet. In a service an option begins at {@link #optionOffset} behind the position.
     */
    public ByteBuffer look() {
        join();
        return lookView.over(buffer, offset, offset + length);
    }

    /**
     * Replaces the payload by the octets from {@code source}'s position to its limit, and moves the position
     * there: in place when they fit, else in the packet space.
     *
     * @param source may be a part of {@link #payload}
     * @throws IllegalArgumentException if the packet would exceed 65,535 octets
     */
    public void setPayload(ByteBuffer source) {
        int octets = source.remaining();
        join();
        if (octets <= payloadLength()) {
            // Absolute, since the source may lie in this packet, or be the payload view itself.
            buffer.put(offset + headerLength, source, source.position(), octets);
            source.position(source.limit());
            format.resize(this, octets);
        } else {
            newPayload(octets).put(source);
            commitPayload(octets);
        }
    }

    /**
     * Returns memory for a new payload of up to {@code maxOctets}, while the present one can still be read; end with
     * {@link #commitPayload}, or leave it to keep the present one. Options can be set meanwhile, but not added.
     *
     * @return from position to limit; the same object as last time where the packet space is the same
     * @throws IllegalArgumentException if the packet could exceed 65,535 octets
     */
    public ByteBuffer newPayload(int maxOctets) {
        if (maxOctets < 0 || maxOctets > maxPayloadOctets()) {
            throw new IllegalArgumentException("payload of " + maxOctets + " octets: 0 to " + maxPayloadOctets()
                    + " fit behind a header of " + headerLength + "; send several packets");
        }
        join();
        if (lent) {
            reserved = loan().memory().spare(headerLength + maxOctets);
            reservedOffset = 0;
            reservedPayload = maxOctets;
            return loan().memory().newPayload(headerLength, maxOctets);
        }
        ByteBuffer room = space.reserve(headerLength + maxOctets);
        reserved = room;
        reservedOffset = room.position();
        reservedPayload = maxOctets;
        return reservedView.over(room, reservedOffset + headerLength, reservedOffset + headerLength + maxOctets);
    }

    /** Returns the largest payload that this packet's header leaves room for, in octets. */
    public int maxPayloadOctets() {
        return Anep.MAX_PACKET_OCTETS - headerLength;
    }

    /**
     * Makes the first {@code octets} of the memory that {@link #newPayload} gave the payload of this packet.
     *
     * @throws IllegalStateException if none was asked for, or the packet was moved since
     * @throws IllegalArgumentException if more octets are committed than were asked for
     */
    public void commitPayload(int octets) {
        ByteBuffer room = reserved;
        if (room == null) {
            throw new IllegalStateException(
                    "commitPayload without newPayload, or after the packet was moved: ask for the memory first");
        }
        if (octets < 0 || octets > reservedPayload) {
            throw new IllegalArgumentException(
                    "payload of " + octets + " octets: " + reservedPayload + " were asked for");
        }
        copyHeaderTo(room, reservedOffset);
        if (lent) {
            loan().turn();
        }
        moveTo(room, reservedOffset);
        reserved = null;
        format.resize(this, octets);
        if (!lent) {
            space.commit(length);
        }
    }

    /**
     * Adds a zeroed option of fixed length behind the others; this moves the packet into the packet space.
     *
     * @return false when the packet would exceed 65,535 octets; it is then unchanged
     * @throws IllegalArgumentException if the option is there already, its length varies, or it is private and
     *     the packet's Type ID is not Tamanoir's
     */
    public boolean addOption(Option option) {
        int longer = format.lengthWith(this, option);
        if (longer > Anep.MAX_PACKET_OCTETS) {
            return false;
        }
        join();
        if (lent && loan().hasMoved()) {
            // A packet that the service has octets of stays in the service's memory.
            format.addOption(this, option, loan().memory().spare(longer), 0);
            loan().turn();
        } else {
            ByteBuffer room = space.reserve(longer);
            format.addOption(this, option, room, room.position());
            space.commit(length);
        }
        reserved = null;
        return true;
    }

    /** Brings a checksum up to date that changes have made stale. The execution environment calls it on leaving. */
    public void seal() {
        format.seal(this);
    }

    /** Returns a packet of its own on the heap, for as long as it is wanted. */
    public Packet copy() {
        boolean stale = checksumStale;
        seal();
        // Who holds the payload view can go on to change the octets.
        checksumStale = stale;
        ByteBuffer own = ByteBuffer.allocate(length());
        copyTo(own, 0);
        Packet copy = new Packet(tamanoirTypeId, space.ofCopies());
        ParseFault fault = copy.parse(own, 0, length());
        if (fault != null) {
            throw new IllegalStateException("a packet that was good is not any more: " + fault);
        }
        return copy;
    }

    /** Returns where it goes when it outgrows its place. */
    public PacketSpace space() {
        return space;
    }

    /** Returns one line for logs: type, lengths, key. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "ANEP type 0x%04x, header %d, packet %d octets, service key %s",
                typeId(),
                headerLength(),
                length(),
                ServiceKey.toString(serviceKey()));
    }

    private PacketLoan loan() {
        return Objects.requireNonNull(loan);
    }
}

package org.tamanoir.anep;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A view of one ANEP packet where it lies: a flyweight that is pointed at packet after packet and copies nothing.
 * Layout: see {@link Anep}. What a service reads and marks, it reads and marks in the receive buffer; only a packet
 * that grows is moved, into the {@link PacketSpace}.
 *
 * <p>A view that a service is given is valid until its {@code process} returns; {@link #copy} keeps a packet.
 *
 * <p>Thread contract: one thread.
 */
public final class Packet {
    private static final int FIRST_OPTION = Anep.BASIC_HEADER_OCTETS;
    private static final int UNKNOWN = 0;
    /** No packet has it: its version would be 0xFF. */
    private static final long NO_SHAPE = -1;

    private static final int MAX_SHAPE_WORDS = 16;
    private static final int[] WORDS = new int[Option.slots()];

    static {
        for (Option option : Option.values()) {
            WORDS[option.slot()] = option.words();
        }
    }

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final int tamanoirTypeId;
    private final PacketSpace space;
    /** Where each option's TLV starts behind {@link #offset}, by {@link Option#slot}, where {@link #present} says so. */
    private final int[] at = new int[Option.slots()];

    /**
     * The shape of the header walked last: its first 48 bits, and the words that give each option's type, length
     * and scheme. The packets of a stream are mostly alike, and comparing is several times cheaper than walking.
     */
    private long shapeHeader = NO_SHAPE;

    /** Where each word stands behind the packet's start (upper half), and the word (lower half). */
    private final long[] shape = new long[MAX_SHAPE_WORDS];

    private int shapeWords;
    private int shapePresent;
    /** Of the destination identifier; 0 when there is none. */
    private int destinationScheme;

    private ByteBuffer buffer = NOTHING;
    private int offset;
    private int length;
    private int headerLength;
    private int flags;
    private int typeId;
    private int present;
    private boolean trailer;
    private boolean repeatedOption;
    private boolean checksumStale;
    private ByteBuffer payloadView = NOTHING;
    private ByteBuffer payloadViewOf = NOTHING;
    private @Nullable ByteBuffer reserved;
    private ByteBuffer reservedView = NOTHING;
    private ByteBuffer reservedViewOf = NOTHING;
    private int reservedOffset;
    private int reservedPayload;

    /** A view for packets of Tamanoir's default Type ID, which grow onto the heap. */
    public Packet() {
        this(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
    }

    /**
     * @param tamanoirTypeId the Type ID under which private options count
     * @param space where packets go that outgrow their place
     */
    public Packet(int tamanoirTypeId, PacketSpace space) {
        this.tamanoirTypeId = tamanoirTypeId;
        this.space = space;
    }

    /**
     * Points this view at the packet that starts at {@code offset}, and applies receive rules 1 to 8 of ANEP in
     * their order.
     *
     * @param buffer big-endian; its position is not used or changed, its limit lies behind the packet
     * @param available octets from {@code offset} on: those of one datagram, or more
     * @return null when the packet is good, else the reason to drop it; the view is then valid only for
     *     {@link #length}: what the packet claims where that much is there, else {@code available}
     */
    public @Nullable DropReason parse(ByteBuffer buffer, int offset, int available) {
        this.length = available;
        if (reserved != null) {
            reserved = null;
        }
        if (available < Anep.BASIC_HEADER_OCTETS) {
            return reject(DropReason.SHORT);
        }
        long header = buffer.getLong(offset);
        if (header >>> 56 != Anep.VERSION) {
            return reject(DropReason.VERSION);
        }
        int packetLength = (int) header & 0xFFFF;
        int headerOctets = ((int) (header >>> 16) & 0xFFFF) << 2;
        if (headerOctets < Anep.MIN_HEADER_WORDS * 4 || headerOctets > packetLength) {
            return reject(DropReason.HEADER_LENGTH);
        }
        if (packetLength > available) {
            return reject(DropReason.TRUNCATED);
        }
        if (this.buffer != buffer) {
            // Storing a reference costs a collector's barrier, and the packets of a batch share their buffer.
            this.buffer = buffer;
        }
        this.offset = offset;
        this.length = packetLength;
        this.trailer = packetLength < available;
        this.checksumStale = false;
        if (header >>> 16 == shapeHeader && hasShape(buffer, offset)) {
            present = shapePresent;
            return has(CHECKSUM) && !checksumHolds() ? reject(DropReason.CHECKSUM) : null;
        }
        this.shapeHeader = NO_SHAPE;
        this.headerLength = headerOctets;
        this.flags = (int) (header >>> 48) & 0xFF;
        this.typeId = (int) (header >>> 32) & 0xFFFF;
        return walkOptions(buffer, offset, offset + headerOctets, header >>> 16);
    }

    /** Whether the options have the types, lengths and schemes of those that were walked last. */
    private boolean hasShape(ByteBuffer buffer, int offset) {
        long[] words = shape;
        for (int i = 0, end = Math.min(shapeWords, words.length); i < end; i++) {
            long word = words[i];
            if (buffer.getInt(offset + (int) (word >>> 32)) != (int) word) {
                return false;
            }
        }
        return true;
    }

    private @Nullable DropReason walkOptions(ByteBuffer buffer, int start, int end, long first48Bits) {
        boolean privateCount = typeId == tamanoirTypeId;
        int found = 0;
        boolean repeated = false;
        boolean twoChecksums = false;
        boolean discard = false;
        boolean misfit = false;
        int next;
        shapeWords = 0;
        destinationScheme = 0;
        for (int tlv = start + FIRST_OPTION; tlv < end; tlv = next) {
            int head = buffer.getInt(tlv);
            int words = head & 0xFFFF;
            next = tlv + (words << 2);
            if (words == 0 || next > end) {
                return reject(DropReason.OPTION_LENGTH);
            }
            remember(tlv - start, head);
            int type = head >>> 16;
            if ((type & Anep.OPTION_PRIVATE) != 0 && !privateCount) {
                continue;
            }
            int slot = Option.slot(type);
            if (slot == UNKNOWN) {
                discard |= (type & Anep.OPTION_DISCARD) != 0;
                continue;
            }
            int bit = 1 << slot;
            if ((found & bit) != 0) {
                repeated = true;
                twoChecksums |= slot == CHECKSUM;
                continue;
            }
            found |= bit;
            at[slot] = tlv - start;
            int expected = WORDS[slot];
            if (expected != 0) {
                misfit |= words != expected;
            } else if (slot == SOURCE || slot == DESTINATION || slot == PREVIOUS_NODE) {
                int scheme = words < 2 ? 0 : buffer.getInt(tlv + 4);
                misfit |= words < 2 || misfits(scheme, slot, words);
                remember(tlv + 4 - start, scheme);
                if (slot == DESTINATION) {
                    destinationScheme = scheme;
                }
            }
        }
        if ((found & 1 << CHECKSUM) != 0 && (twoChecksums || !checksumHolds())) {
            return reject(DropReason.CHECKSUM);
        }
        if (discard) {
            return reject(DropReason.OPTION);
        }
        if (misfit) {
            return reject(DropReason.OPTION_FORMAT);
        }
        present = found;
        repeatedOption = repeated;
        if (!repeated && shapeWords <= MAX_SHAPE_WORDS) {
            shapePresent = found;
            shapeHeader = first48Bits;
        }
        return null;
    }

    private void remember(int relativeOffset, int word) {
        if (shapeWords < MAX_SHAPE_WORDS) {
            shape[shapeWords] = (long) relativeOffset << 32 | (word & 0xFFFF_FFFFL);
        }
        shapeWords++;
    }

    /** A packet that is dropped has no options: what was found of them may lie outside it. */
    private DropReason reject(DropReason reason) {
        present = 0;
        return reason;
    }

    private static final int SOURCE = Option.SOURCE.slot();
    private static final int DESTINATION = Option.DESTINATION.slot();
    private static final int CHECKSUM = Option.CHECKSUM.slot();
    private static final int KEY = Option.SERVICE_KEY.slot();
    private static final int CLASS = Option.CLASS_OF_SERVICE.slot();
    private static final int PREVIOUS_NODE = Option.PREVIOUS_NODE.slot();
    private static final int STREAM = Option.STREAM.slot();
    private static final int HOPS = Option.HOP_BUDGET.slot();
    private static final int TIMESTAMPS = Option.TIMESTAMPS.slot();
    private static final int PORT = Option.DESTINATION_PORT.slot();

    /** Rule 8 for options whose length depends on their scheme. */
    private static boolean misfits(int scheme, int slot, int words) {
        int extra = slot == PREVIOUS_NODE ? 1 : 0;
        return switch (scheme) {
            case Anep.SCHEME_IPV4 -> words != 3 + extra;
            case Anep.SCHEME_IPV6 -> words != 6 + extra;
            case Anep.SCHEME_802_3 -> words != 4 + extra;
            default -> false;
        };
    }

    private boolean checksumHolds() {
        // A checksum option of another length than 2 words has no checksum where one must be.
        return (buffer.getShort(at(CHECKSUM) + 2) & 0xFFFF) == Option.CHECKSUM.words()
                && Checksum.sum(buffer, offset, length) == 0xFFFF;
    }

    // ---- what the packet is -------------------------------------------------------------------------------

    /** The memory that the packet lies in, from {@link #offset} on. */
    public ByteBuffer buffer() {
        return buffer;
    }

    /** Index of the first octet in {@link #buffer}. */
    public int offset() {
        return offset;
    }

    /** Octets of the whole packet. */
    public int length() {
        return length;
    }

    /** Octets of the header with its options. */
    public int headerLength() {
        return headerLength;
    }

    /** The Type ID: which execution environment the packet is for. */
    public int typeId() {
        return typeId;
    }

    /** Whether the Type ID is Tamanoir's, so that private options count. */
    public boolean isTamanoir() {
        return typeId == tamanoirTypeId;
    }

    /** Whether a node that does not know the Type ID discards the packet. */
    public boolean discardIfUnknownType() {
        return (flags & Anep.FLAG_DISCARD) != 0;
    }

    /** Whether more octets were available than the packet claims (datagrams: rule 4, TRAILER). */
    public boolean hasTrailer() {
        return trailer;
    }

    /** Whether an option that may stand once stood twice; the first one counts. */
    public boolean hasRepeatedOption() {
        return repeatedOption;
    }

    /** Whether the option is there. */
    public boolean has(Option option) {
        return (present & 1 << option.slot()) != 0;
    }

    /**
     * Index in {@link #buffer} of the option's first payload octet.
     *
     * @throws IllegalStateException if the packet has no such option
     */
    public int optionOffset(Option option) {
        if (!has(option)) {
            throw new IllegalStateException("the packet has no " + option + " option: ask has() first");
        }
        return at(option.slot()) + 4;
    }

    /** Where the option's TLV starts in {@link #buffer}. */
    private int at(int slot) {
        return offset + at[slot];
    }

    private boolean has(int slot) {
        return (present & 1 << slot) != 0;
    }

    // ---- options ------------------------------------------------------------------------------------------

    /** The service key, {@link ServiceKey#NONE} when the packet names no service. */
    public long serviceKey() {
        return has(KEY) ? buffer.getLong(at(KEY) + 4) : ServiceKey.NONE;
    }

    /**
     * Names the service that the next node shall run.
     *
     * @throws IllegalStateException if the packet has no service-key option and no room to add one
     */
    public void setServiceKey(long key) {
        if (!has(KEY) && !addOption(Option.SERVICE_KEY)) {
            throw new IllegalStateException("packet of " + length + " octets has no room for a service key (limit "
                    + Anep.MAX_PACKET_OCTETS + "): send it with an empty one");
        }
        int field = at(KEY) + 4;
        putWord(field, (int) (key >>> 48));
        putWord(field + 2, (int) (key >>> 32));
        putWord(field + 4, (int) (key >>> 16));
        putWord(field + 6, (int) key);
    }

    /** Class of service 0–255, or -1 when the packet has none. */
    public int classOfService() {
        return has(CLASS) ? buffer.get(at(CLASS) + 4) & 0xFF : -1;
    }

    /** Drop precedence 0–255, 0 when the packet has none. */
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
        int field = at(CLASS) + 4;
        if (has(CHECKSUM)) {
            putWord(field, classOfService << 8 | buffer.get(field + 1) & 0xFF);
        } else {
            buffer.put(field, (byte) classOfService);
        }
        return true;
    }

    /** The stream id, 0 when the packet has none. */
    public int streamId() {
        return has(STREAM) ? buffer.getInt(at(STREAM) + 4) : 0;
    }

    /** The sequence number in its stream, -1 when the packet has none. */
    public long sequence() {
        return has(STREAM) ? buffer.getLong(at(STREAM) + 8) : -1;
    }

    /** Active hops left; 0 when the packet has no budget or leaves it to the first node. */
    public int hopBudget() {
        return has(HOPS) ? buffer.getShort(at(HOPS) + 4) & 0xFFFF : 0;
    }

    /**
     * Sets the hop budget in place, 0–65,535.
     *
     * @throws IllegalStateException if the packet has no such option
     * @throws IllegalArgumentException if the budget is out of range
     */
    public void setHopBudget(int hops) {
        require(hops, 0xFFFF, "hop budget");
        putWord(optionOffset(Option.HOP_BUDGET), hops);
    }

    private static void require(int value, int max, String what) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(what + " " + value + ": must be 0 to " + max);
        }
    }

    /**
     * The code server of the active node that the packet comes from, as the packet claims; null when it names none.
     * An unspecified address stands for that of the node it comes from. Allocates.
     */
    public @Nullable InetSocketAddress previousNode() {
        return has(PREVIOUS_NODE) ? PreviousNode.read(buffer, at(PREVIOUS_NODE)) : null;
    }

    /**
     * Writes this node's code server into the previous-active-node option, in place; an option of neither IPv4's nor
     * IPv6's size is zeroed. Does nothing to a packet without the option.
     */
    public void setPreviousNode(PreviousNode node) {
        if (!has(PREVIOUS_NODE)) {
            return;
        }
        int field = at(PREVIOUS_NODE) + 4;
        int octets = (buffer.getShort(field - 2) & 0xFFFF) * 4 - 4;
        boolean known = node.port != 0;
        if (octets == PreviousNode.IPV4_OCTETS) {
            putInt(field, known ? Anep.SCHEME_IPV4 : 0);
            putInt(field + 4, node.ipv4);
            putInt(field + 8, node.port << 16);
        } else if (octets == PreviousNode.IPV6_OCTETS) {
            putInt(field, known ? Anep.SCHEME_IPV6 : 0);
            putInt(field + 4, (int) (node.ipv6High >>> 32));
            putInt(field + 8, (int) node.ipv6High);
            putInt(field + 12, (int) (node.ipv6Low >>> 32));
            putInt(field + 16, (int) node.ipv6Low);
            putInt(field + 20, node.port << 16);
        } else {
            for (int at = field; at < field + octets; at += 4) {
                putInt(at, 0);
            }
        }
    }

    /** Origin time in ns as the sender wrote it, 0 when there is none. */
    public long originTimeNs() {
        return has(TIMESTAMPS) ? buffer.getLong(at(TIMESTAMPS) + 4) : 0;
    }

    /** Transport port at the destination identifier, 0 when the packet has none. */
    public int destinationPort() {
        return has(PORT) ? buffer.getShort(at(PORT) + 4) & 0xFFFF : 0;
    }

    /** Whether the packet has an IPv4 or IPv6 destination. */
    public boolean hasInternetDestination() {
        return has(DESTINATION) && (destinationScheme == Anep.SCHEME_IPV4 || destinationScheme == Anep.SCHEME_IPV6);
    }

    /**
     * Upper 64 bits of the destination; 0 for IPv4, which stands as ::ffff:a.b.c.d. Means something only where
     * {@link #hasInternetDestination} says so.
     */
    public long destinationHigh() {
        return destinationScheme == Anep.SCHEME_IPV6 ? buffer.getLong(at(DESTINATION) + 8) : 0;
    }

    /**
     * Lower 64 bits of the destination; IPv4 stands as ::ffff:a.b.c.d. Means something only where
     * {@link #hasInternetDestination} says so.
     */
    public long destinationLow() {
        return destinationScheme == Anep.SCHEME_IPV6
                ? buffer.getLong(at(DESTINATION) + 16)
                : 0xFFFF_0000_0000L | (buffer.getInt(at(DESTINATION) + 8) & 0xFFFF_FFFFL);
    }

    /** Whether the packet has an IPv4 or IPv6 source. */
    public boolean hasInternetSource() {
        int scheme = has(SOURCE) ? buffer.getInt(at(SOURCE) + 4) : 0;
        return scheme == Anep.SCHEME_IPV4 || scheme == Anep.SCHEME_IPV6;
    }

    /**
     * Upper 64 bits of the source as the sender claims it; 0 for IPv4, which stands as ::ffff:a.b.c.d. Means something
     * only where {@link #hasInternetSource} says so.
     */
    public long sourceHigh() {
        return isSourceIpv6() ? buffer.getLong(at(SOURCE) + 8) : 0;
    }

    /** Lower 64 bits of the source; IPv4 stands as ::ffff:a.b.c.d. As {@link #sourceHigh}. */
    public long sourceLow() {
        return isSourceIpv6()
                ? buffer.getLong(at(SOURCE) + 16)
                : 0xFFFF_0000_0000L | (buffer.getInt(at(SOURCE) + 8) & 0xFFFF_FFFFL);
    }

    private boolean isSourceIpv6() {
        return buffer.getInt(at(SOURCE) + 4) == Anep.SCHEME_IPV6;
    }

    /** The destination's address; null when the packet has none of IPv4 or IPv6. Allocates. */
    public @Nullable InetAddress destination() {
        return address(DESTINATION);
    }

    /** The source's address as the sender claims it; null when there is none of IPv4 or IPv6. Allocates. */
    public @Nullable InetAddress source() {
        return address(SOURCE);
    }

    private @Nullable InetAddress address(int slot) {
        int scheme = has(slot) ? buffer.getInt(at(slot) + 4) : 0;
        if (scheme != Anep.SCHEME_IPV4 && scheme != Anep.SCHEME_IPV6) {
            return null;
        }
        byte[] octets = new byte[scheme == Anep.SCHEME_IPV4 ? 4 : 16];
        buffer.get(at(slot) + 8, octets);
        try {
            return InetAddress.getByAddress(octets);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 or 16 octets are an address", e);
        }
    }

    /**
     * Swaps source and destination identifiers in place, as an answer needs it.
     *
     * @return false when one is missing or they differ in length; the packet is then unchanged
     */
    public boolean swapEnds() {
        if (!has(SOURCE) || !has(DESTINATION)) {
            return false;
        }
        int octets = (buffer.getShort(at(SOURCE) + 2) & 0xFFFF) * 4 - 4;
        if (octets != (buffer.getShort(at(DESTINATION) + 2) & 0xFFFF) * 4 - 4) {
            return false;
        }
        // The checksum is a sum of words: it does not change when words change places.
        for (int i = 0; i < octets; i += 4) {
            int source = buffer.getInt(at(SOURCE) + 4 + i);
            buffer.putInt(at(SOURCE) + 4 + i, buffer.getInt(at(DESTINATION) + 4 + i));
            buffer.putInt(at(DESTINATION) + 4 + i, source);
        }
        int scheme = buffer.getInt(at(DESTINATION) + 4);
        if (scheme != destinationScheme) {
            destinationScheme = scheme;
            shapeHeader = NO_SHAPE;
        }
        return true;
    }

    // ---- payload ------------------------------------------------------------------------------------------

    /** Index of the first payload octet in {@link #buffer}. */
    public int payloadOffset() {
        return offset + headerLength;
    }

    /** Octets of payload, 0 to 65,527. */
    public int payloadLength() {
        return length - headerLength;
    }

    /**
     * The payload from position to limit, to read and to change in place; a packet with a checksum gets a new one
     * when it leaves. The same object each time: it is this view's, and as short-lived. What moves the packet, a
     * longer payload or a new option, leaves it behind: take it again then.
     */
    public ByteBuffer payload() {
        checksumStale = true;
        if (payloadViewOf != buffer) {
            payloadView = buffer.duplicate();
            payloadViewOf = buffer;
        }
        return payloadView.order(ByteOrder.BIG_ENDIAN).limit(offset + length).position(offset + headerLength);
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
        if (octets <= payloadLength()) {
            // Absolute, since the source may lie in this packet, or be the payload view itself.
            buffer.put(payloadOffset(), source, source.position(), octets);
            source.position(source.limit());
            resize(octets);
        } else {
            newPayload(octets).put(source);
            commitPayload(octets);
        }
    }

    /**
     * Memory for a new payload of up to {@code maxOctets}, while the present one can still be read; end with
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
        ByteBuffer room = space.reserve(headerLength + maxOctets);
        int start = room.position();
        reserved = room;
        reservedOffset = start;
        reservedPayload = maxOctets;
        if (reservedViewOf != room) {
            reservedView = room.duplicate();
            reservedViewOf = room;
        }
        return reservedView
                .order(ByteOrder.BIG_ENDIAN)
                .limit(start + headerLength + maxOctets)
                .position(start + headerLength);
    }

    /** The largest payload that this packet's header leaves room for, in octets. */
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
                    "commitPayload without newPayload, or after the packet was moved: ask for" + " the memory first");
        }
        if (octets < 0 || octets > reservedPayload) {
            throw new IllegalArgumentException(
                    "payload of " + octets + " octets: " + reservedPayload + " were asked for");
        }
        room.put(reservedOffset, buffer, offset, headerLength);
        moveTo(room, reservedOffset);
        resize(octets);
        space.commit(length);
    }

    private void resize(int payloadOctets) {
        length = headerLength + payloadOctets;
        buffer.putShort(offset + 6, (short) length);
        checksumStale = true;
    }

    private void moveTo(ByteBuffer room, int start) {
        buffer = room;
        offset = start;
        reserved = null;
    }

    /**
     * Adds a zeroed option of fixed length behind the others; this moves the packet into the packet space.
     *
     * @return false when the packet would exceed 65,535 octets; it is then unchanged
     * @throws IllegalArgumentException if the option is there already, its length varies, or it is private and
     *     the packet's Type ID is not Tamanoir's
     */
    public boolean addOption(Option option) {
        int octets = option.words() * 4;
        if (octets == 0 || has(option)) {
            throw new IllegalArgumentException(option + " cannot be added: it is there already, or varies in length");
        }
        if (option.isPrivate() && !isTamanoir()) {
            throw new IllegalArgumentException(String.format(
                    "%s cannot be added: it is private to Type ID 0x%04x, the packet has 0x%04x",
                    option, tamanoirTypeId, typeId));
        }
        if (length + octets > Anep.MAX_PACKET_OCTETS) {
            return false;
        }
        ByteBuffer room = space.reserve(length + octets);
        int start = room.position();
        int tlv = start + headerLength;
        room.put(start, buffer, offset, headerLength);
        room.putInt(tlv, option.wireType() << 16 | option.words());
        for (int field = tlv + 4; field < tlv + octets; field += 4) {
            room.putInt(field, 0);
        }
        room.put(tlv + octets, buffer, offset + headerLength, length - headerLength);
        moveTo(room, start);
        headerLength += octets;
        at[option.slot()] = tlv - start;
        present |= 1 << option.slot();
        shapeHeader = NO_SHAPE;
        room.putShort(start + 4, (short) (headerLength / 4));
        resize(length + octets - headerLength);
        space.commit(length);
        return true;
    }

    // ---- checksum, copies ---------------------------------------------------------------------------------

    /** Writes a 16-bit field at an even distance from the packet's start and keeps the checksum right. */
    private void putWord(int index, int word) {
        if (has(CHECKSUM) && !checksumStale) {
            int field = at(CHECKSUM) + 4;
            int updated = Checksum.update(buffer.getShort(field), buffer.getShort(index), word);
            buffer.putShort(field, (short) updated);
        }
        buffer.putShort(index, (short) word);
    }

    private void putInt(int index, int value) {
        if (has(CHECKSUM)) {
            putWord(index, value >>> 16);
            putWord(index + 2, value);
        } else {
            buffer.putInt(index, value);
        }
    }

    /** Brings a checksum up to date that changes have made stale. The execution environment calls it on leaving. */
    public void seal() {
        if (checksumStale) {
            checksumStale = false;
            if (has(CHECKSUM)) {
                int field = at(CHECKSUM) + 4;
                buffer.putShort(field, (short) 0);
                buffer.putShort(field, (short) ~Checksum.sum(buffer, offset, length));
            }
        }
    }

    /** A packet of its own on the heap, for as long as it is wanted. */
    public Packet copy() {
        boolean stale = checksumStale;
        seal();
        // Who holds the payload view can go on to change the octets.
        checksumStale = stale;
        ByteBuffer own = ByteBuffer.allocate(length);
        own.put(0, buffer, offset, length);
        Packet copy = new Packet(tamanoirTypeId, PacketSpace.HEAP);
        DropReason fault = copy.parse(own, 0, length);
        if (fault != null) {
            throw new IllegalStateException("a packet that was good is not any more: " + fault);
        }
        return copy;
    }

    /** One line for logs: type, lengths, key. */
    @Override
    public String toString() {
        return String.format(
                "ANEP type 0x%04x, header %d, packet %d octets, service key %s",
                typeId, headerLength, length, ServiceKey.toString(serviceKey()));
    }
}

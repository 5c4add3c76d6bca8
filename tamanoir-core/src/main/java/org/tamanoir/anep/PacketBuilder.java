package org.tamanoir.anep;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;

/**
 * Builds packets: the header is encoded once, then written before each payload with its own sequence number and
 * checksum.
 *
 * <pre>{@code
 * PacketBuilder builder = new PacketBuilder()
 *         .destination(InetAddress.getByName("10.0.2.7")).service("org.tamanoir.services.Monitor")
 *         .stream(7).hopBudget(16);
 * builder.write(batch, payload);
 * }</pre>
 *
 * <p>Options stand in the order in which they were set; one that is set again is replaced. Thread contract: one
 * thread.
 */
public final class PacketBuilder {
    private ByteBuffer header = ByteBuffer.allocate(128);
    private int sequenceAt = -1;
    private int timestampAt = -1;
    private int checksumAt = -1;
    private long sequence;

    /** An empty header with Tamanoir's default Type ID. */
    public PacketBuilder() {
        header.put((byte) Anep.VERSION).put((byte) 0).putShort((short) Anep.DEFAULT_TYPE_ID);
        header.putShort((short) Anep.MIN_HEADER_WORDS).putShort((short) 0);
    }

    /**
     * A builder whose packets carry {@code template}'s header and options, each octet as it is: sequence number
     * and timestamps too, unless {@link #stream} or {@link #timestamps} is called again. A checksum is computed anew.
     */
    public static PacketBuilder like(Packet template) {
        PacketBuilder builder = new PacketBuilder();
        builder.header = ByteBuffer.allocate(template.headerLength());
        template.copyHeaderTo(builder.header, 0);
        builder.header.position(template.headerLength());
        int base = template.offset();
        if (template.has(Option.CHECKSUM)) {
            builder.checksumAt = template.optionOffset(Option.CHECKSUM) - base;
        }
        return builder;
    }

    /**
     * @param typeId 1–65,535
     * @throws IllegalArgumentException for 0, which is reserved, and out of range
     */
    public PacketBuilder typeId(int typeId) {
        require(typeId > 0 && typeId <= 0xFFFF, "Type ID", typeId, "1 to 65535");
        header.putShort(2, (short) typeId);
        return this;
    }

    /** Whether a node that does not know the Type ID discards the packet. */
    public PacketBuilder discardIfUnknownType(boolean discard) {
        header.put(1, (byte) (discard ? Anep.FLAG_DISCARD : 0));
        return this;
    }

    /** Option 1, IPv4 or IPv6. */
    public PacketBuilder source(InetAddress address) {
        return identifier(Option.SOURCE, address);
    }

    /** Option 2, IPv4 or IPv6. */
    public PacketBuilder destination(InetAddress address) {
        return identifier(Option.DESTINATION, address);
    }

    /** Private option 10, 0–65,535. */
    public PacketBuilder destinationPort(int port) {
        require(port >= 0 && port <= 0xFFFF, "port", port, "0 to 65535");
        open(Option.DESTINATION_PORT).putShort((short) port).putShort((short) 0);
        return this;
    }

    private PacketBuilder identifier(Option option, InetAddress address) {
        byte[] octets = address.getAddress();
        boolean isIpv4 = address instanceof Inet4Address;
        open(option, 4 + octets.length)
                .putInt(isIpv4 ? Anep.SCHEME_IPV4 : Anep.SCHEME_IPV6)
                .put(octets);
        return this;
    }

    /** Private option 1 for {@code name} or {@code name:version}. */
    public PacketBuilder service(String name) {
        return serviceKey(ServiceKey.of(name));
    }

    /** Private option 1; {@link ServiceKey#NONE} leaves it to be filled in on the way. */
    public PacketBuilder serviceKey(long key) {
        open(Option.SERVICE_KEY).putLong(key);
        return this;
    }

    /** Private option 2, both 0–255. */
    public PacketBuilder classOfService(int classOfService, int dropPrecedence) {
        require(classOfService >= 0 && classOfService <= 255, "class of service", classOfService, "0 to 255");
        require(dropPrecedence >= 0 && dropPrecedence <= 255, "drop precedence", dropPrecedence, "0 to 255");
        open(Option.CLASS_OF_SERVICE)
                .put((byte) classOfService)
                .put((byte) dropPrecedence)
                .putShort((short) 0);
        return this;
    }

    /**
     * Private option 3, zeroed: each active node on the way fills it in, so that the next one knows where to ask for
     * a service's code.
     *
     * @param ipv6 whether it has room for an IPv6 address, else for an IPv4 address
     */
    public PacketBuilder previousNode(boolean ipv6) {
        int octets = ipv6 ? PreviousNode.IPV6_OCTETS : PreviousNode.IPV4_OCTETS;
        open(Option.PREVIOUS_NODE, octets).put(new byte[octets]);
        return this;
    }

    /** Private option 4: packets written with this builder count up from 0. */
    public PacketBuilder stream(int streamId) {
        open(Option.STREAM).putInt(streamId);
        sequenceAt = header.position();
        header.putLong(0);
        return this;
    }

    /** The sequence number of the next packet; each packet written adds 1. */
    public PacketBuilder nextSequence(long sequence) {
        this.sequence = sequence;
        return this;
    }

    /**
     * Private option 5: the packet's round, path 0–65,535 and flags 0–255 in a distributed element, the same in each
     * packet written; {@link NodeOptions#setRound} sets another.
     */
    public PacketBuilder round(long round, int path, int flags) {
        require(path >= 0 && path <= 0xFFFF, "path", path, "0 to 65535");
        require(flags >= 0 && flags <= 0xFF, "flags of a round", flags, "0 to 255");
        open(Option.ROUND)
                .putLong(round)
                .putShort((short) path)
                .put((byte) flags)
                .put((byte) 0);
        return this;
    }

    /** Private option 7, 0–65,535; 0 leaves it to the first node. */
    public PacketBuilder hopBudget(int hops) {
        require(hops >= 0 && hops <= 0xFFFF, "hop budget", hops, "0 to 65535");
        open(Option.HOP_BUDGET).putShort((short) hops).putShort((short) 0);
        return this;
    }

    /** Private option 8: each packet carries {@link System#nanoTime} of its writing. */
    public PacketBuilder timestamps() {
        open(Option.TIMESTAMPS);
        timestampAt = header.position();
        header.putLong(0).putLong(0);
        return this;
    }

    /** Private option 9, zeroed: who sends the packet signs it there. */
    public PacketBuilder authentication() {
        open(Option.AUTHENTICATION).put(new byte[Option.AUTHENTICATION.payloadOctets()]);
        return this;
    }

    /** Public option 3: each packet carries its checksum. */
    public PacketBuilder checksum() {
        open(Option.CHECKSUM);
        checksumAt = header.position();
        header.putInt(0);
        return this;
    }

    /**
     * Any option, beside what is there already.
     *
     * @param wireType flags and type, 16 bits
     * @param payload padded with zero octets to a multiple of 4
     * @throws IllegalArgumentException if the type is out of range, or the header would exceed 65,535 octets
     */
    public PacketBuilder option(int wireType, byte[] payload) {
        require(wireType >= 0 && wireType <= 0xFFFF, "option type", wireType, "0 to 65535");
        option(wireType, payload.length).put(payload);
        while (header.position() % 4 != 0) {
            header.put((byte) 0);
        }
        return this;
    }

    private ByteBuffer open(Option option) {
        return open(option, option.payloadOctets());
    }

    private ByteBuffer open(Option option, int payloadOctets) {
        int next;
        for (int tlv = Anep.BASIC_HEADER_OCTETS; tlv < header.position(); tlv = next) {
            next = tlv + (header.getShort(tlv + 2) & 0xFFFF) * 4;
            if (Option.slot(header.getShort(tlv) & 0xFFFF) == option.slot()) {
                remove(tlv, next);
                next = tlv;
            }
        }
        return option(option.wireType(), payloadOctets);
    }

    private void remove(int from, int to) {
        int end = header.position();
        header.put(from, header, to, end - to).position(end - (to - from));
        sequenceAt = afterRemoval(sequenceAt, from, to);
        timestampAt = afterRemoval(timestampAt, from, to);
        checksumAt = afterRemoval(checksumAt, from, to);
    }

    private static int afterRemoval(int field, int from, int to) {
        return field < from ? field : field < to ? -1 : field - (to - from);
    }

    /** Writes the TLV's first word; the caller puts the payload. */
    private ByteBuffer option(int wireType, int payloadOctets) {
        int words = 1 + (payloadOctets + 3) / 4;
        int octets = header.position() + words * 4;
        require(
                octets <= Anep.MAX_PACKET_OCTETS,
                "header length",
                octets,
                "at most 65535 octets: carry less in options");
        if (header.capacity() < octets) {
            ByteBuffer larger = ByteBuffer.allocate(Math.max(octets, header.capacity() * 2));
            larger.put(header.flip());
            header = larger;
        }
        header.putShort(4, (short) (octets / 4));
        return header.putInt(wireType << 16 | words);
    }

    /** Octets of the header as built so far. */
    public int headerLength() {
        return header.position();
    }

    /**
     * Writes one packet at {@code target}'s position and moves that behind it.
     *
     * @param target big-endian
     * @param payload from its position to its limit; both stay as they are
     * @return octets of the packet
     * @throws IllegalArgumentException if header and payload exceed 65,535 octets
     * @throws BufferOverflowException if the target has no room for the packet; nothing is written
     */
    public int write(ByteBuffer target, ByteBuffer payload) {
        int headerOctets = header.position();
        int payloadOctets = payload.remaining();
        int length = headerOctets + payloadOctets;
        require(
                length <= Anep.MAX_PACKET_OCTETS,
                "packet length",
                length,
                "at most 65535 octets: send several packets");
        if (target.remaining() < length) {
            throw new BufferOverflowException();
        }
        int start = target.position();
        target.put(start, header, 0, headerOctets);
        target.putShort(start + 6, (short) length);
        if (sequenceAt >= 0) {
            target.putLong(start + sequenceAt, sequence++);
        }
        if (timestampAt >= 0) {
            target.putLong(start + timestampAt, System.nanoTime());
        }
        target.put(start + headerOctets, payload, payload.position(), payloadOctets);
        if (checksumAt >= 0) {
            target.putShort(start + checksumAt, (short) 0);
            target.putShort(start + checksumAt, (short) ~Checksum.sum(target, start, length));
        }
        target.position(start + length);
        return length;
    }

    /** One packet of its own on the heap. */
    public Packet build(ByteBuffer payload) {
        ByteBuffer octets = ByteBuffer.allocate(header.position() + payload.remaining());
        write(octets, payload);
        Packet packet = new Packet(header.getShort(2) & 0xFFFF, PacketSpace.HEAP);
        ParseFault fault = packet.parse(octets, 0, octets.capacity());
        if (fault != null) {
            throw new IllegalStateException("built a malformed packet: " + fault + "; look at its options");
        }
        return packet;
    }

    private static void require(boolean holds, String what, int value, String bound) {
        if (!holds) {
            throw new IllegalArgumentException(what + " " + value + ": must be " + bound);
        }
    }
}

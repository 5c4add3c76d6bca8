package org.tamanoir.icmp;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * An ICMP message where it lies (RFC 792, RFC 1191, RFC 4443):
 *
 * <pre>
 *   octet 0     type
 *         1     code
 *         2, 3  checksum
 *         4..7  of echoes identifier and sequence number; of "packet too big" the MTU, of IPv4 in octets 6 and 7;
 *               of "parameter problem" where the fault is, of IPv4 in octet 4
 *         8..   data, or of errors the beginning of the packet that they are about, from its IP header on
 * </pre>
 *
 * <p>Thread contract: one thread. It holds until what it was read from changes; nothing is allocated.
 */
public final class IcmpMessage {
    /** The octets in front of data, and the fewest of a message. */
    public static final int HEADER_OCTETS = 8;

    /** In place of a protocol or port of a packet that an error is about, where the error does not say it. */
    public static final int UNKNOWN = -1;

    private static final int V4_HEADER_OCTETS = 20;
    private static final int V6_HEADER_OCTETS = 40;
    private static final int FRAGMENT_OFFSET = 0x1FFF;
    private static final int TCP = 6;
    private static final int UDP = 17;
    private static final long MAPPED = 0xFFFF_0000_0000L;

    private @Nullable ByteBuffer memory;
    private int at;
    private int octets;
    private boolean isIpv6;
    private @Nullable IcmpType kind;

    /** Where the packet that an error is about has its transport header; 0 where it is not told. */
    private int transportAt;

    private int protocol;
    private boolean hasOriginal;

    /** Reads the payload of a packet that came up by a rule for ICMP, as {@link #read(ByteBuffer, int, int, boolean)}. */
    public @Nullable String read(Packet packet) {
        ByteBuffer whole = packet.look();
        boolean isV4 = packet.sourceHigh() == 0 && (packet.sourceLow() & ~0xFFFF_FFFFL) == MAPPED;
        return read(whole, whole.position() + packet.headerLength(), packet.payloadLength(), !isV4);
    }

    /**
     * Reads what lies there. The checksum is not looked at.
     *
     * @param memory big-endian
     * @return null, or in a few words what is wrong with it; nothing is to be asked of it then
     */
    public @Nullable String read(ByteBuffer memory, int at, int octets, boolean isIpv6) {
        this.memory = null;
        kind = null;
        this.octets = HEADER_OCTETS;
        if (octets < HEADER_OCTETS) {
            return octets + " octets: at least " + HEADER_OCTETS + " are wanted";
        }
        this.memory = memory;
        this.at = at;
        this.octets = octets;
        this.isIpv6 = isIpv6;
        kind = IcmpType.of(isIpv6, type(), code());
        hasOriginal = false;
        protocol = UNKNOWN;
        transportAt = 0;
        IcmpType known = kind;
        if (known != null && known.isError()) {
            readOriginal(memory, at + HEADER_OCTETS, at + octets);
        }
        return null;
    }

    /** Reads the IP header in an error as far as it is there; of IPv6 no extension headers. */
    private void readOriginal(ByteBuffer memory, int from, int end) {
        if (end - from < (isIpv6 ? V6_HEADER_OCTETS : V4_HEADER_OCTETS) || memory.get(from) >>> 4 != (isIpv6 ? 6 : 4)) {
            return;
        }
        int header = isIpv6 ? V6_HEADER_OCTETS : (memory.get(from) & 0xF) * 4;
        hasOriginal = header >= (isIpv6 ? V6_HEADER_OCTETS : V4_HEADER_OCTETS);
        if (!hasOriginal) {
            return;
        }
        protocol = memory.get(from + (isIpv6 ? 6 : 9)) & 0xFF;
        boolean begins = isIpv6 || (memory.getShort(from + 6) & FRAGMENT_OFFSET) == 0;
        if (begins && (protocol == TCP || protocol == UDP) && end - from - header >= 4) {
            transportAt = from + header;
        }
    }

    private ByteBuffer memory() {
        ByteBuffer known = memory;
        if (known == null) {
            throw new IllegalStateException("no message was read");
        }
        return known;
    }

    /** Returns the type as {@link IcmpType}; null where it is another. */
    public @Nullable IcmpType kind() {
        return kind;
    }

    /** Returns the type, 0 to 255. */
    public int type() {
        return memory().get(at) & 0xFF;
    }

    /** Returns the code, 0 to 255. */
    public int code() {
        return memory().get(at + 1) & 0xFF;
    }

    /** Returns the checksum that it came with, 0 to 65535; the node computes it anew when the message leaves. */
    public int checksum() {
        return memory().getShort(at + 2) & 0xFFFF;
    }

    /** Returns the identifier of an echo, 0 to 65535. */
    public int identifier() {
        return memory().getShort(at + 4) & 0xFFFF;
    }

    /** Returns the sequence number of an echo, 0 to 65535. */
    public int sequence() {
        return memory().getShort(at + 6) & 0xFFFF;
    }

    /** Returns the octets that a link takes, of {@link IcmpType#PACKET_TOO_BIG}, 0 to 2^32 - 1; 0 of old routers. */
    public long mtu() {
        return isIpv6 ? memory().getInt(at + 4) & 0xFFFF_FFFFL : sequence();
    }

    /** Returns how many octets are behind the header. */
    public int dataOctets() {
        return octets - HEADER_OCTETS;
    }

    /** Returns whether it is an error that has the IP header of the packet that it is about, which the others tell. */
    public boolean hasOriginal() {
        memory();
        return hasOriginal;
    }

    /** Returns the protocol behind that IP header; {@link #UNKNOWN} without it. */
    public int originalProtocol() {
        memory();
        return protocol;
    }

    /** Returns the upper 64 bits of where that packet came from; 0 of IPv4, which stands as ::ffff:a.b.c.d, and without. */
    public long originalSourceHigh() {
        return high(8);
    }

    /** Returns the lower 64 bits of that address; 0 without. */
    public long originalSourceLow() {
        return low(8, 12);
    }

    /** Returns the upper 64 bits of where that packet was going, likewise. */
    public long originalDestinationHigh() {
        return high(24);
    }

    /** Returns the lower 64 bits of that address, likewise. */
    public long originalDestinationLow() {
        return low(24, 16);
    }

    private long high(int v6) {
        return hasOriginal() && isIpv6 ? memory().getLong(at + HEADER_OCTETS + v6) : 0;
    }

    private long low(int v6, int v4) {
        if (!hasOriginal()) {
            return 0;
        }
        int ip = at + HEADER_OCTETS;
        return isIpv6 ? memory().getLong(ip + v6 + 8) : MAPPED | memory().getInt(ip + v4) & 0xFFFF_FFFFL;
    }

    /** Returns the port that a UDP datagram or TCP segment came from; {@link #UNKNOWN} where that is not told. */
    public int originalSourcePort() {
        return port(0);
    }

    /** Returns the port that it was going to, likewise. */
    public int originalDestinationPort() {
        return port(2);
    }

    private int port(int offset) {
        ByteBuffer known = memory();
        return transportAt == 0 ? UNKNOWN : known.getShort(transportAt + offset) & 0xFFFF;
    }
}

package org.tamanoir.anep;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Finds packets that stand back to back in a TCP stream. There is no mark to resynchronise on, so a basic header
 * that breaks receive rules 1 to 3 ends the connection.
 */
public final class Framing {
    /** The packet is not whole yet. */
    public static final int MORE = 0;

    /** The basic header is malformed: see {@link #fault}. */
    public static final int BROKEN = -1;

    private static final int NOT_THERE = -1;

    private Framing() {}

    /**
     * The length of the packet that starts at {@code offset}.
     *
     * @return its octets when it is whole, {@link #MORE} when octets are missing, {@link #BROKEN} when the basic
     *     header is malformed
     */
    public static int next(ByteBuffer buffer, int offset, int limit) {
        int available = limit - offset;
        if (available < Anep.BASIC_HEADER_OCTETS) {
            return MORE;
        }
        long header = buffer.getLong(offset);
        int headerWords = (int) (header >>> 16) & 0xFFFF;
        int length = (int) header & 0xFFFF;
        if (header >>> 56 != Anep.VERSION || headerWords < Anep.MIN_HEADER_WORDS || headerWords * 4 > length) {
            return BROKEN;
        }
        return length <= available ? length : MORE;
    }

    /**
     * What is wrong with the basic header at {@code offset}, of which 8 octets are there; null when nothing is.
     */
    public static @Nullable ParseFault fault(ByteBuffer buffer, int offset) {
        long header = buffer.getLong(offset);
        if (header >>> 56 != Anep.VERSION) {
            return ParseFault.VERSION;
        }
        int headerWords = (int) (header >>> 16) & 0xFFFF;
        int length = (int) header & 0xFFFF;
        return headerWords < Anep.MIN_HEADER_WORDS || headerWords * 4 > length ? ParseFault.HEADER_LENGTH : null;
    }

    /** Octets that the packet at {@code offset} claims, of which 8 are there. */
    public static int claimedLength(ByteBuffer buffer, int offset) {
        return buffer.getShort(offset + 6) & 0xFFFF;
    }

    /** Octets of the header with its options that the packet at {@code offset} claims, of which 8 are there. */
    public static int claimedHeaderLength(ByteBuffer buffer, int offset) {
        return (buffer.getShort(offset + 4) & 0xFFFF) * 4;
    }

    /**
     * The service key of the packet at {@code offset}, whose header with options is there whole; {@link
     * ServiceKey#NONE} when it names none, is not Tamanoir's or is malformed.
     */
    public static long serviceKey(ByteBuffer buffer, int offset, int tamanoirTypeId) {
        int tlv = find(Option.SERVICE_KEY, buffer, offset, tamanoirTypeId);
        boolean fits = tlv != NOT_THERE && (buffer.getShort(tlv + 2) & 0xFFFF) == Option.SERVICE_KEY.words();
        return fits ? buffer.getLong(tlv + 4) : ServiceKey.NONE;
    }

    /**
     * The code server in the previous-active-node option of the packet at {@code offset}, whose header with options
     * is there whole; null when there is none. An unspecified address stands for the one that the packet comes from.
     */
    public static @Nullable InetSocketAddress previousNode(ByteBuffer buffer, int offset, int tamanoirTypeId) {
        int tlv = find(Option.PREVIOUS_NODE, buffer, offset, tamanoirTypeId);
        return tlv == NOT_THERE ? null : PreviousNode.read(buffer, tlv);
    }

    /**
     * Where the identifier of an IPv4 or IPv6 destination starts, with its scheme, of the packet at {@code offset}, which
     * is there whole; -1 when it has none or is not Tamanoir's. Looks at no other rule.
     */
    public static int destination(ByteBuffer buffer, int offset, int tamanoirTypeId) {
        int tlv = find(Option.DESTINATION, buffer, offset, tamanoirTypeId);
        if (tlv == NOT_THERE) {
            return NOT_THERE;
        }
        boolean fits = switch (buffer.getShort(tlv + 2)) {
            case 3 -> buffer.getInt(tlv + 4) == Anep.SCHEME_IPV4;
            case 6 -> buffer.getInt(tlv + 4) == Anep.SCHEME_IPV6;
            default -> false;
        };
        return fits ? tlv + 4 : NOT_THERE;
    }

    private static int find(Option option, ByteBuffer buffer, int offset, int tamanoirTypeId) {
        if ((buffer.getShort(offset + 2) & 0xFFFF) != tamanoirTypeId) {
            return NOT_THERE;
        }
        int end = offset + claimedHeaderLength(buffer, offset);
        int tlv = offset + Anep.BASIC_HEADER_OCTETS;
        while (tlv < end) {
            int head = buffer.getInt(tlv);
            int next = tlv + (head & 0xFFFF) * 4;
            if (next == tlv || next > end) {
                return NOT_THERE;
            }
            if (Option.slot(head >>> 16) == option.slot()) {
                return tlv;
            }
            tlv = next;
        }
        return NOT_THERE;
    }
}

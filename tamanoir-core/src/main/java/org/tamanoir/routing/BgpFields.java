package org.tamanoir.routing;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * Reads the parts of BGP messages that MRT has: prefixes, path attributes, next hops (RFC 4271, section 4.3; RFC 4760).
 *
 * <pre>
 *   prefix:    | length in bits 1 | as many bytes as hold them |
 *   attribute: | flags 1 | type 1 | length 1, or 2 as the flags say | value |
 * </pre>
 *
 * <p>Thread contract: one thread.
 */
final class BgpFields {
    static final int IPV4 = 1;
    static final int IPV6 = 2;
    private static final int UNICAST = 1;

    static final int NEXT_HOP = 3;
    static final int MP_REACH = 14;
    static final int MP_UNREACH = 15;
    private static final int EXTENDED_LENGTH = 0x10;

    private int type;
    private int valueEnd;
    private long high;
    private long low;

    /** Reads an attribute's head, up to its value; false where attributes end. */
    boolean nextAttribute(ByteBuffer in, int end) {
        if (in.position() >= end) {
            return false;
        }
        int flags = in.get();
        type = in.get() & 0xFF;
        int length = (flags & EXTENDED_LENGTH) != 0 ? in.getShort() & 0xFFFF : in.get() & 0xFF;
        valueEnd = in.position() + length;
        if (valueEnd > end) {
            throw new BufferUnderflowException();
        }
        return true;
    }

    /** Returns the type of the attribute. */
    int type() {
        return type;
    }

    /** Returns the place behind the value of the attribute. */
    int valueEnd() {
        return valueEnd;
    }

    /**
     * Reads a next hop of so many bytes: IPv4, IPv6, IPv6 with a link-local one behind it; false = it is none of these, as
     * those of virtual private networks.
     */
    boolean readNextHop(ByteBuffer in, int bytes) {
        if (bytes == 4) {
            high = 0;
            low = Prefix.IPV4.low() | in.getInt() & 0xFFFF_FFFFL;
        } else if (bytes == 16 || bytes == 32) {
            high = in.getLong();
            low = in.getLong();
            in.position(in.position() + bytes - 16);
        } else {
            return false;
        }
        return true;
    }

    /** Reads family and subsequent one; 0 = prefixes that routes do not have. */
    static int unicastFamily(ByteBuffer in, int end) {
        if (in.position() + 3 > end) {
            throw new BufferUnderflowException();
        }
        int family = in.getShort();
        return in.get() == UNICAST && (family == IPV4 || family == IPV6) ? family : 0;
    }

    /** Returns the upper 64 bits of the next hop that was read last. */
    long high() {
        return high;
    }

    long low() {
        return low;
    }

    /**
     * Reads a prefix; bits behind it have no meaning. One of IPv6 in ::ffff:0:0/96 {@linkplain Prefix#isIpv4 is IPv4's}:
     * nothing that IPv6's routers say may decide about IPv4.
     *
     * @throws IllegalArgumentException in one line, if it is longer than an address
     */
    static Prefix prefix(ByteBuffer in, boolean isIpv4) {
        int length = in.get() & 0xFF;
        int max = isIpv4 ? 32 : Prefix.MAX_LENGTH;
        if (length > max) {
            throw new IllegalArgumentException("prefix length " + length + ": must be 0 to " + max);
        }
        long first = 0;
        long second = 0;
        for (int i = 0; i < (length + 7) / 8; i++) {
            long bits = in.get() & 0xFFL;
            first |= i < 8 ? bits << 56 - 8 * i : 0;
            second |= i < 8 ? 0 : bits << 120 - 8 * i;
        }
        return RouteSet.prefix(isIpv4, first & Prefix.highMask(length), second & Prefix.lowMask(length), length);
    }
}

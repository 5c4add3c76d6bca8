package org.tamanoir.transport;

import java.io.UncheckedIOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.tamanoir.routing.Addresses;

/** Addresses as two longs, the way {@link UdpBatch} and {@link UdpSender} carry them. */
final class UdpAddress {
    /** Largest payload over IPv4: 65,535 less the headers of IPv4 (20) and UDP (8). */
    static final int LIMIT_V4_BYTES = 65_507;
    /** Largest payload over IPv6 without jumbograms: 65,535 less UDP's header; IPv6's own does not count. */
    static final int LIMIT_V6_BYTES = 65_527;

    private static final long MAPPED_PREFIX = 0xFFFFL;

    private UdpAddress() {}

    static boolean isV4(long high, long low) {
        return high == 0 && low >>> 32 == MAPPED_PREFIX;
    }

    static long v4(int address) {
        return MAPPED_PREFIX << 32 | Integer.toUnsignedLong(address);
    }

    /** Returns whether the address is in fe80::/10: it means nothing without the interface, its scope. */
    static boolean isLinkLocal(long high) {
        return high >>> 54 == 0xFE80 >>> 6;
    }

    static long high(InetAddress address) {
        return address instanceof Inet6Address
                ? ByteBuffer.wrap(address.getAddress()).getLong(0)
                : 0;
    }

    static long low(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet6Address ? bytes.getLong(8) : v4(bytes.getInt(0));
    }

    static int scope(InetAddress address) {
        return address instanceof Inet6Address v6 ? v6.getScopeId() : 0;
    }

    static InetSocketAddress of(long high, long low, int port, int scope) {
        try {
            return new InetSocketAddress(address(high, low, scope), port);
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e); // only for a wrong number of bytes
        }
    }

    private static InetAddress address(long high, long low, int scope) throws UnknownHostException {
        if (isV4(high, low)) {
            return InetAddress.getByAddress(
                    ByteBuffer.allocate(4).putInt((int) low).array());
        }
        byte[] bytes = ByteBuffer.allocate(16).putLong(high).putLong(low).array();
        return isLinkLocal(high) && scope != 0
                ? Inet6Address.getByAddress(null, bytes, scope)
                : InetAddress.getByAddress(bytes);
    }

    /** Returns the unspecified address of this one's family. */
    static InetAddress anyLike(InetAddress address) {
        try {
            return InetAddress.getByAddress(new byte[address.getAddress().length]);
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e); // only for a wrong number of bytes
        }
    }

    static String text(long high, long low, int port) {
        return text(of(high, low, port & 0xFFFF, 0));
    }

    static String text(InetSocketAddress address) {
        return Addresses.text(address);
    }

    /** Returns why a datagram can never leave a socket of this family; empty when it can. */
    static String refusal(boolean v6, int length, long high, long low, int port) {
        int limitBytes = v6 ? LIMIT_V6_BYTES : LIMIT_V4_BYTES;
        if (length > limitBytes) {
            return "datagram of " + length + " bytes to " + text(high, low, port) + ": UDP carries at most "
                    + limitBytes + "; send smaller packets or use TCP";
        }
        if (isV4(high, low) == v6) {
            return "datagram to " + text(high, low, port) + ": this socket is bound to an " + (v6 ? "IPv6" : "IPv4")
                    + " address; bind one of the other family";
        }
        if (port < 1 || port > 65_535) {
            return "datagram to port " + port + ": ports are 1 to 65535";
        }
        return "";
    }
}

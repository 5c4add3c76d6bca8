package org.tamanoir.client;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/** Addresses as two longs: IPv4 stands as ::ffff:a.b.c.d. */
final class Addresses {
    private static final long IPV4_PREFIX = 0xFFFF_0000_0000L;

    private Addresses() {}

    static long high(InetAddress address) {
        byte[] octets = address.getAddress();
        return octets.length == 4 ? 0 : ByteBuffer.wrap(octets).getLong();
    }

    static long low(InetAddress address) {
        byte[] octets = address.getAddress();
        return octets.length == 4
                ? IPV4_PREFIX | ByteBuffer.wrap(octets).getInt() & 0xFFFF_FFFFL
                : ByteBuffer.wrap(octets).getLong(8);
    }

    static InetAddress of(long high, long low) {
        byte[] octets = high == 0 && low >>> 32 == IPV4_PREFIX >>> 32
                ? ByteBuffer.allocate(4).putInt((int) low).array()
                : ByteBuffer.allocate(16).putLong(high).putLong(low).array();
        return of(octets);
    }

    /** The wildcard address of {@code like}'s family. */
    static InetAddress any(InetAddress like) {
        return of(new byte[like instanceof Inet6Address ? 16 : 4]);
    }

    private static InetAddress of(byte[] octets) {
        try {
            return InetAddress.getByAddress(octets);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 or 16 octets are an address", e);
        }
    }

    /** {@code host:port}, IPv6 in brackets. */
    static String text(InetSocketAddress address) {
        String host = address.isUnresolved()
                ? address.getHostString()
                : address.getAddress().getHostAddress();
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + address.getPort();
    }
}

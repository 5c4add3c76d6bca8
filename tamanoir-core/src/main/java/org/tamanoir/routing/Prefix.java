package org.tamanoir.routing;

import java.net.InetAddress;

/**
 * An address prefix. IPv4 stands as ::ffff:a.b.c.d, so one table holds both families.
 *
 * @param high upper 64 bits, zero behind the prefix
 * @param low lower 64 bits, zero behind the prefix
 * @param length 0–128 bits; an IPv4 prefix has 96 more than it is written with
 */
public record Prefix(long high, long low, int length) {

    /**
     * {@code 10.0.0.0/8}, {@code 2001:db8::/32}, or a bare address.
     *
     * @throws IllegalArgumentException in one line, if the text is no prefix
     */
    public static Prefix parse(String text) {
        throw new UnsupportedOperationException();
    }

    /** The whole address as a prefix. */
    public static Prefix of(InetAddress address) {
        throw new UnsupportedOperationException();
    }
}

package org.tamanoir.services;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.tamanoir.anep.AddressText;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.nodeos.Rule;

/**
 * An IPv4 or IPv6 prefix to compare identifiers of packets with. IPv4 stands as ::ffff:a.b.c.d, so that a prefix of
 * either family matches addresses of its own alone, {@code ::/0} both.
 *
 * <p>Thread contract: immutable.
 */
public final class AddressPrefix {
    private static final long MAPPED = 0xFFFF_0000_0000L;

    private final long high;
    private final long low;
    private final long highMask;
    private final long lowMask;
    /** Bits of 128. */
    private final int length;

    private AddressPrefix(long high, long low, int length) {
        this.length = length;
        highMask = mask(length);
        lowMask = mask(length - 64);
        this.high = high & highMask;
        this.low = low & lowMask;
    }

    /** Returns the upper {@code bits} of 64; 0 below 0, all above 64. */
    private static long mask(int bits) {
        return bits <= 0 ? 0 : bits >= 64 ? -1 : -1L << 64 - bits;
    }

    /**
     * Returns {@code 10.0.0.0/8}, {@code 2001:db8::/32}, or a bare address; bits behind the prefix count as 0. Names
     * are not looked up.
     *
     * @throws IllegalArgumentException if the text is no prefix
     */
    public static AddressPrefix parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        byte[] bytes = AddressText.literal(address).getAddress();
        // With colons 128 bits count, though it may mean IPv4.
        int length = address.indexOf(':') < 0 ? 96 + length(text, slash, 32) : length(text, slash, 128);
        return new AddressPrefix(AddressText.high(bytes), AddressText.low(bytes), length);
    }

    private static int length(String text, int slash, int max) {
        if (slash < 0) {
            return max;
        }
        String digits = text.substring(slash + 1);
        try {
            return (int) Decimals.whole(digits, 0, max);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("prefix length " + digits + " is not 0 to " + max, e);
        }
    }

    /**
     * Returns whether the identifier is an address with this prefix. Allocates nothing.
     *
     * @param option {@link Option#SOURCE} or {@link Option#DESTINATION}
     */
    public boolean matches(Packet packet, Option option) {
        return option == Option.SOURCE
                ? packet.hasInternetSource() && matches(packet.sourceHigh(), packet.sourceLow())
                : packet.hasInternetDestination() && matches(packet.destinationHigh(), packet.destinationLow());
    }

    /** Returns a rule of a level below on this prefix. */
    Rule rule(boolean drops, Rule.Subject subject) {
        boolean isMapped = high == 0 && low >>> 32 == MAPPED >>> 32; // And so longer than 95 bits.
        byte[] bytes = isMapped
                ? ByteBuffer.allocate(4).putInt((int) low).array()
                : ByteBuffer.allocate(16).putLong(high).putLong(low).array();
        try {
            InetAddress address = InetAddress.getByAddress(bytes);
            return Rule.prefix(drops, subject, address, isMapped ? length - 96 : length);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of " + bytes.length + " bytes", e);
        }
    }

    /** Returns whether an address of these two halves, IPv4 as ::ffff:a.b.c.d, has this prefix. */
    public boolean matches(long addressHigh, long addressLow) {
        return (addressHigh & highMask) == high && (addressLow & lowMask) == low;
    }
}

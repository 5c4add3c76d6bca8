package org.tamanoir.services;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.tamanoir.anep.AddressText;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.nodeos.Rule;

/**
 * An IPv4 or IPv6 prefix to compare identifiers of packets with. IPv4 stands as ::ffff:a.b.c.d, so that a prefix of
 * either family matches addresses of its own alone, {@code ::/0} both.
 *
 * <p>Thread contract: immutable.
 */
public final class AddressPrefix {
    private static final Pattern IPV4 = Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})");
    private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");
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
        Matcher quad = IPV4.matcher(address);
        if (quad.matches()) {
            long low = MAPPED;
            for (int i = 0; i < 4; i++) {
                int octet = Integer.parseInt(quad.group(i + 1));
                if (octet > 255) {
                    throw new IllegalArgumentException(octet + " in " + address + " is over 255");
                }
                if (quad.group(i + 1).length() > 1 && quad.group(i + 1).startsWith("0")) {
                    throw new IllegalArgumentException(AddressText.problem(address));
                }
                low |= (long) octet << 24 - 8 * i;
            }
            return new AddressPrefix(0, low, 96 + length(text, slash, 32));
        }
        String problem = AddressText.problem(address);
        if (problem != null || !IPV6.matcher(address).matches()) {
            throw new IllegalArgumentException(
                    text + " is no address or prefix" + (problem == null ? "" : ": " + problem));
        }
        byte[] bytes = AddressText.literal(address).getAddress();
        ByteBuffer bits = ByteBuffer.wrap(bytes);
        boolean isMapped = bytes.length == 4;
        long high = isMapped ? 0 : bits.getLong();
        long low = isMapped ? MAPPED | bits.getInt() & 0xFFFF_FFFFL : bits.getLong();
        return new AddressPrefix(high, low, length(text, slash, 128));
    }

    private static int length(String text, int slash, int max) {
        if (slash < 0) {
            return max;
        }
        String digits = text.substring(slash + 1);
        if (!digits.matches("\\d{1,3}") || Integer.parseInt(digits) > max) {
            throw new IllegalArgumentException("prefix length " + digits + " is not 0 to " + max);
        }
        return Integer.parseInt(digits);
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

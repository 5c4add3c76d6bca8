package org.tamanoir.routing;

import java.net.InetAddress;
import java.util.regex.Pattern;
import org.tamanoir.anep.AddressText;

/**
 * An address prefix. IPv4 stands as ::ffff:a.b.c.d, so one table holds both families.
 *
 * @param high upper 64 bits, zero behind the prefix
 * @param low lower 64 bits, zero behind the prefix
 * @param length 0–128 bits; an IPv4 prefix has 96 more than it is written with
 */
public record Prefix(long high, long low, int length) {
    static final int MAX_LENGTH = 128;

    /** Bits in front of an IPv4 address where it stands as ::ffff:a.b.c.d. */
    private static final int IPV4_OFFSET = 96;

    private static final long IPV4_MAPPED = 0xFFFFL << 32;

    /** All of IPv4, written 0.0.0.0/0. */
    static final Prefix IPV4 = new Prefix(0, IPV4_MAPPED, IPV4_OFFSET);

    private static final Pattern LENGTH_TEXT = Pattern.compile("0|[1-9]\\d{0,2}");

    /**
     * Checks the length and the bits behind it.
     *
     * @throws IllegalArgumentException in one line, with the prefix that may have been meant
     */
    public Prefix {
        if (length < 0 || length > MAX_LENGTH) {
            throw new IllegalArgumentException("prefix length " + length + ": must be 0 to " + MAX_LENGTH);
        }
        long maskedHigh = high & highMask(length);
        long maskedLow = low & lowMask(length);
        if (maskedHigh != high || maskedLow != low) {
            throw new IllegalArgumentException(text(high, low, length) + ": bits behind the prefix must be zero: write "
                    + text(maskedHigh, maskedLow, length) + ", or " + text(high, low, MAX_LENGTH));
        }
    }

    /**
     * Returns {@code 10.0.0.0/8}, {@code 2001:db8::/32}, or a bare address.
     *
     * @throws IllegalArgumentException in one line, if the text is no prefix
     */
    public static Prefix parse(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        InetAddress parsed = AddressText.literal(
                address,
                text + ": no address prefix; write it as 10.0.0.0/8, 2001:db8::/32, or an address without a length");
        // A text with colons counts 128 bits, even where it means an IPv4 address: ::ffff:10.0.0.0/104 is 10.0.0.0/8.
        int offset = address.indexOf(':') < 0 ? IPV4_OFFSET : 0;
        int length = MAX_LENGTH;
        if (slash >= 0) {
            String lengthText = text.substring(slash + 1);
            if (!LENGTH_TEXT.matcher(lengthText).matches() || Integer.parseInt(lengthText) > MAX_LENGTH - offset) {
                throw new IllegalArgumentException(
                        text + ": the length behind the slash must be 0 to " + (MAX_LENGTH - offset));
            }
            length = offset + Integer.parseInt(lengthText);
        }
        return new Prefix(Addresses.high(parsed), Addresses.low(parsed), length);
    }

    /** Returns the whole address as a prefix. */
    public static Prefix of(InetAddress address) {
        return new Prefix(Addresses.high(address), Addresses.low(address), MAX_LENGTH);
    }

    /**
     * Returns the prefix of an address's first bits.
     *
     * @param bytes 4 or 16
     * @param length counted from the first of them
     * @throws IllegalArgumentException in one line, if it is longer than the address
     */
    public static Prefix of(byte[] bytes, int length) {
        if (length < 0 || length > 8 * bytes.length) {
            throw new IllegalArgumentException("prefix length " + length + ": must be 0 to " + 8 * bytes.length);
        }
        int whole = length + MAX_LENGTH - 8 * bytes.length;
        return new Prefix(AddressText.high(bytes) & highMask(whole), AddressText.low(bytes) & lowMask(whole), whole);
    }

    /** Returns whether the address is in this prefix, by its bits alone. */
    public boolean contains(long high, long low) {
        return (high & highMask(length)) == this.high && (low & lowMask(length)) == this.low;
    }

    /** Returns whether this is one address. */
    public boolean isAddress() {
        return length == MAX_LENGTH;
    }

    /** Returns whether it holds IPv4 addresses alone. */
    public boolean isIpv4() {
        return isIpv4(high, low, length);
    }

    private static boolean isIpv4(long high, long low, int length) {
        return length >= IPV4_OFFSET && isIpv4(high, low);
    }

    /** Returns whether these are the 128 bits of an IPv4 address. */
    static boolean isIpv4(long high, long low) {
        return high == 0 && low >>> 32 == 0xFFFF;
    }

    static long highMask(int length) {
        return length == 0 ? 0 : length >= 64 ? -1 : -1L << (64 - length);
    }

    static long lowMask(int length) {
        return length <= 64 ? 0 : -1L << (MAX_LENGTH - length);
    }

    /** Returns {@code a.b.c.d/n}, or {@code x:y::/n} as RFC 5952 writes IPv6; {@link #parse} reads both. */
    @Override
    public String toString() {
        return text(high, low, length);
    }

    private static String text(long high, long low, int length) {
        StringBuilder text = new StringBuilder();
        if (isIpv4(high, low, length)) {
            for (int shift = 24; shift >= 0; shift -= 8) {
                text.append(low >>> shift & 0xFF).append(shift > 0 ? '.' : '/');
            }
            return text.append(length - IPV4_OFFSET).toString();
        }
        int[] groups = new int[8];
        for (int i = 0; i < 8; i++) {
            groups[i] = (int) ((i < 4 ? high : low) >>> (48 - 16 * (i & 3))) & 0xFFFF;
        }
        // RFC 5952, section 4.2: the first of the longest runs of two and more zero groups becomes "::".
        int zerosAt = -1;
        int zeros = 1;
        for (int from = 0; from < 8; from++) {
            int run = 0;
            while (from + run < 8 && groups[from + run] == 0) {
                run++;
            }
            if (run > zeros) {
                zerosAt = from;
                zeros = run;
            }
        }
        for (int i = 0; i < 8; i++) {
            if (i == zerosAt) {
                text.append("::");
                i += zeros - 1;
            } else {
                text.append(i > 0 && text.charAt(text.length() - 1) != ':' ? ":" : "")
                        .append(Integer.toHexString(groups[i]));
            }
        }
        return text.append('/').append(length).toString();
    }
}

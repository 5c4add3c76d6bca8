package org.tamanoir.cluster.lvs;

import com.google.common.net.HostAndPort;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.routing.Prefix;

/** Addresses as ipvsadm 1.31 writes them with {@code -n}: numbers alone, no name is ever asked for. */
final class LvsText {
    private static final int WORDS = 8;
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;

    private LvsText() {}

    /** Returns {@code 10.0.0.1:3322}, {@code [fd00::1]:3322}. */
    static String endpoint(InetAddress address, int port) {
        return (address instanceof Inet6Address ? "[" + host(address) + "]" : host(address)) + ":" + port;
    }

    /**
     * Without zone; IPv6 in the short form of RFC 5952, as inet_ntop(3) does. Where the first six groups are zero glibc
     * writes the rest like an IPv4 address, {@code ::0.1.0.2}, and so does ipvsadm.
     */
    static String host(InetAddress address) {
        if (!(address instanceof Inet6Address)) {
            return address.getHostAddress();
        }
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        int[] words = new int[WORDS];
        for (int i = 0; i < WORDS; i++) {
            words[i] = Short.toUnsignedInt(bytes.getShort());
        }
        int start = longestZeros(words);
        int zeros = zerosAt(words, start);
        if (start == 0 && (zeros == 6 || zeros == 5 && words[5] == 0xffff)) {
            return (zeros == 6 ? "::" : "::ffff:") + dotted(words[6] << 16 | words[7]);
        }
        return zeros < 2 ? hex(words, 0, WORDS) : hex(words, 0, start) + "::" + hex(words, start + zeros, WORDS);
    }

    private static int longestZeros(int[] words) {
        int best = 0;
        for (int i = 1; i < WORDS; i++) {
            best = zerosAt(words, i) > zerosAt(words, best) ? i : best;
        }
        return best;
    }

    private static int zerosAt(int[] words, int start) {
        int end = start;
        while (end < WORDS && words[end] == 0) {
            end++;
        }
        return end - start;
    }

    private static String hex(int[] words, int from, int to) {
        List<String> groups = new ArrayList<>();
        for (int i = from; i < to; i++) {
            groups.add(Integer.toHexString(words[i]));
        }
        return String.join(":", groups);
    }

    private static String dotted(int bits) {
        return (bits >>> 24) + "." + (bits >>> 16 & 0xff) + "." + (bits >>> 8 & 0xff) + "." + (bits & 0xff);
    }

    /**
     * Reads an address; one with colons is an IPv6 address, even {@code ::ffff:10.0.0.1}.
     *
     * @throws IllegalArgumentException if it is none
     */
    static InetAddress address(String text) {
        if (text.indexOf('/') >= 0) {
            throw new IllegalArgumentException("'" + text + "' is no address");
        }
        Prefix whole = Prefix.parse(text);
        try {
            if (text.indexOf(':') < 0) {
                return InetAddress.getByAddress(ByteBuffer.allocate(Integer.BYTES)
                        .putInt((int) whole.low())
                        .array());
            }
            byte[] bytes = ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(whole.high())
                    .putLong(whole.low())
                    .array();
            return Inet6Address.getByAddress(null, bytes, -1);
        } catch (UnknownHostException e) { // by a wrong length alone
            throw new IllegalArgumentException("'" + text + "' is no address", e);
        }
    }

    /**
     * Reads the address of {@code 10.0.0.1:3322} or {@code [fd00::1]:3322}.
     *
     * @throws IllegalArgumentException if there is none
     */
    static InetAddress addressOf(String endpoint) {
        return address(split(endpoint).getHost());
    }

    /**
     * Reads the port of {@code 10.0.0.1:3322} or {@code [fd00::1]:3322}: 0 to 65,535.
     *
     * @throws IllegalArgumentException if there is none
     */
    static int portOf(String endpoint) {
        return split(endpoint).getPort();
    }

    private static HostAndPort split(String endpoint) {
        HostAndPort parts = HostAndPort.fromString(endpoint).requireBracketsForIPv6();
        if (!parts.hasPort() || endpoint.startsWith("[") != (parts.getHost().indexOf(':') >= 0)) {
            throw new IllegalArgumentException("'" + endpoint + "' is no address and port");
        }
        return parts;
    }

    /** Returns the prefix length that means a whole address of the kind. */
    static int bits(boolean ipv6) {
        return ipv6 ? IPV6_BITS : IPV4_BITS;
    }

    /** Returns a prefix length as {@code -M} takes it: 255.255.255.0 of 24, but 64 itself for IPv6. */
    static String mask(int prefix, boolean ipv6) {
        return ipv6 ? Integer.toString(prefix) : dotted((int) (-1L << IPV4_BITS - prefix));
    }

    /**
     * Reads it. Of a mask with gaps, which a director never makes, only the number of bits is told.
     *
     * @throws IllegalArgumentException if it is neither
     */
    static int prefix(String mask) {
        return mask.indexOf('.') < 0
                ? Integer.parseInt(mask)
                : Integer.bitCount(ByteBuffer.wrap(address(mask).getAddress()).getInt());
    }
}

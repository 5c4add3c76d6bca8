package org.tamanoir.anep;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Addresses as users write them: whole, or refused. Resolvers take 127.1, 2130706433 and 0x7f.1 for 127.0.0.1, and some of
 * them 010 for 8.
 */
public final class AddressText {
    private static final Pattern IPV4 = Pattern.compile("(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(?:\\.(?!$)|$)){4}");
    private static final Pattern IPV6 = Pattern.compile("(?!.*[0-9a-fA-F]{5})[0-9a-fA-F:.]+");
    private static final Pattern WITH_PORT = Pattern.compile("(?:\\[([^\\]]*:[^\\]]*)]|([^:]*)):(0|[1-9]\\d{0,4})");
    private static final int MAX_PORT = 65_535;
    private static final int OCTETS = 4;
    private static final int GROUPS = 8;

    private AddressText() {}

    /** Returns why a host is neither an address nor may be a name, what lacks included, in one line; null = it is one. */
    public static @Nullable String problem(String host) {
        if (host.indexOf(':') >= 0) {
            return ipv6Problem(host);
        }
        String[] labels = host.split("\\.", -1);
        String last = labels[labels.length - 1];
        boolean isName = !isNumber(last.isEmpty() && labels.length > 1 ? labels[labels.length - 2] : last);
        return isName || isWhole(host) ? null : ipv4Problem(host, labels);
    }

    /**
     * Returns the address that a text is, without asking a name server.
     *
     * @throws IllegalArgumentException in one line, if it is none
     */
    public static InetAddress literal(String text) {
        InetAddress address = isWhole(text) ? parsed(text) : null;
        if (address == null) {
            String problem = problem(text);
            throw new IllegalArgumentException(
                    problem == null ? "'" + text + "' is no address: write one as 10.0.0.1 or 2001:db8::1" : problem);
        }
        return address;
    }

    /**
     * Returns the address that a text is, as {@link #literal(String)}.
     *
     * @param refusal what is said where it is none, before what lacks
     */
    public static InetAddress literal(String text, String refusal) {
        try {
            return literal(text);
        } catch (IllegalArgumentException e) {
            String problem = problem(text);
            throw new IllegalArgumentException(refusal + (problem == null ? "" : " (" + problem + ")"), e);
        }
    }

    /**
     * Returns the address and the port, 1 to 65535, of a text such as {@code 10.0.0.8:3322} or {@code [2001:db8::8]:3322}.
     *
     * @throws IllegalArgumentException in one line, if it is none
     */
    public static InetSocketAddress withPort(String text) {
        Matcher parts = WITH_PORT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "'" + text + "' must be an address and a port, as in 10.0.0.8:3322 or [2001:db8::8]:3322");
        }
        int port = Integer.parseInt(parts.group(3));
        if (port == 0 || port > MAX_PORT) {
            throw new IllegalArgumentException(text + ": the port must be 1 to " + MAX_PORT);
        }
        return new InetSocketAddress(literal(parts.group(1) == null ? parts.group(2) : parts.group(1)), port);
    }

    /** Returns the upper half of an address of 4 or 16 octets: IPv4 stands as ::ffff:a.b.c.d. */
    public static long high(byte[] address) {
        return address.length == OCTETS ? 0 : ByteBuffer.wrap(address).getLong(0);
    }

    /** Returns its lower half. */
    public static long low(byte[] address) {
        ByteBuffer bits = ByteBuffer.wrap(address);
        return address.length == OCTETS ? 0xFFFF_0000_0000L | bits.getInt(0) & 0xFFFF_FFFFL : bits.getLong(8);
    }

    /** Returns whether a text is an address with all that belongs to it, and no zone. */
    private static boolean isWhole(String text) {
        if (text.indexOf(':') < 0) {
            return IPV4.matcher(text).matches();
        }
        int last = text.lastIndexOf(':') + 1;
        boolean isEmbedded = text.indexOf('.') >= 0;
        return IPV6.matcher(text).matches()
                && (!isEmbedded || IPV4.matcher(text.substring(last)).matches())
                && parsed(text) != null;
    }

    /** Returns an address that has been looked at; null where it is none. In brackets nothing is looked up as a name. */
    private static @Nullable InetAddress parsed(String text) {
        try {
            return InetAddress.getByName(text.indexOf(':') < 0 ? text : "[" + text + "]");
        } catch (UnknownHostException e) {
            return null;
        }
    }

    /** Returns whether resolvers take a label for a number; a host whose last one is a number is no name. */
    private static boolean isNumber(String label) {
        return !label.isEmpty() && label.chars().allMatch(digit -> Character.digit(digit, 10) >= 0)
                || label.matches("0[xX][0-9a-fA-F]*");
    }

    private static String ipv4Problem(String host, String[] labels) {
        int lacking = OCTETS - labels.length;
        String why = lacking > 0
                ? "it has " + labels.length + " of 4 octets, " + lacking + (lacking == 1 ? " lacks" : " lack")
                : lacking < 0
                        ? "it has " + labels.length + " octets, of 4"
                        : "an octet is a decimal number from 0 to 255, without zeros in front";
        return "'" + host + "' is no IPv4 address: " + why + "; write all four, as in 127.0.0.1";
    }

    private static @Nullable String ipv6Problem(String host) {
        int zone = host.indexOf('%');
        String address = zone < 0 ? host : host.substring(0, zone);
        if (isWhole(address) && zone < host.length() - 1) {
            return null;
        }
        long groups = Arrays.stream(address.split(":"))
                .filter(group -> !group.isEmpty())
                .mapToInt(group -> group.indexOf('.') < 0 ? 1 : 2)
                .sum();
        String why = groups < GROUPS && !address.contains("::")
                ? "it has " + groups + " of 8 groups, " + (GROUPS - groups)
                        + (groups == GROUPS - 1 ? " lacks" : " lack") + "; write '::' in place of zeros"
                : "write it as RFC 4291 says";
        return "'" + host + "' is no IPv6 address: " + why + ", as in ::1";
    }
}

package org.tamanoir.node.config;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.tamanoir.anep.AddressText;
import org.tamanoir.format.text.Decimals;
import org.tamanoir.routing.Addresses;

/**
 * A host with a port as users write it: {@code host:port}, {@code [v6]:port}, a host alone, or a port alone.
 * Every method throws {@link IllegalArgumentException} in one line.
 *
 * @param host empty when the text has none
 * @param port -1 when the text has none
 */
public record Endpoint(String host, int port) {
    public static final int NO_PORT = -1;
    public static final int MAX_PORT = 65_535;

    /**
     * Splits a text into host and port; a host alone may be an IPv6 address without brackets.
     *
     * @param minPort 0 where a free port may be asked for, else 1
     */
    public static Endpoint parse(String text, int minPort) {
        if (text.matches("\\d+")) {
            return new Endpoint("", port(text, text, minPort));
        }
        if (text.startsWith("[")) {
            int close = text.indexOf(']');
            if (close < 2
                    || text.lastIndexOf(':', close) < 0
                    || close + 1 < text.length() && text.charAt(close + 1) != ':') {
                throw new IllegalArgumentException(
                        "'" + text + "' is no address: [v6]:port is wanted, as in [::1]:3322");
            }
            return new Endpoint(
                    host(text.substring(1, close)),
                    close + 1 == text.length() ? NO_PORT : port(text, text.substring(close + 2), minPort));
        }
        int colon = text.indexOf(':');
        if (colon >= 0 && text.indexOf(':', colon + 1) >= 0) {
            return new Endpoint(host(text), NO_PORT);
        }
        String host = colon < 0 ? text : text.substring(0, colon);
        if (host.isEmpty() || host.chars().anyMatch(Character::isWhitespace)) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no address: host:port is wanted, as in 127.0.0.1:3322");
        }
        return new Endpoint(host(host), colon < 0 ? NO_PORT : port(text, text.substring(colon + 1), minPort));
    }

    private static String host(String host) {
        String problem = AddressText.problem(host);
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
        return host;
    }

    /**
     * The address of a socket that listens: without a host loopback, {@code *} all of IPv4, without a port the default one.
     * A group's is refused: the system would bind it, and nothing would ever come.
     */
    public static InetSocketAddress listening(String text, int defaultPort) {
        InetSocketAddress address = ofAny(text, defaultPort);
        if (isOfMany(address)) {
            throw new IllegalArgumentException(
                    "'" + text + "' is the address of many hosts: nothing here joins a group to "
                            + "listen there; name an address of this host, or have 'reflect' join the group");
        }
        return address;
    }

    /** Returns whether packets to this address go to many hosts. */
    static boolean isOfMany(InetSocketAddress address) {
        return address.getAddress().isMulticastAddress()
                || address.getAddress().getHostAddress().equals("255.255.255.255");
    }

    /** Reads the same, which may be a group's. */
    public static InetSocketAddress ofAny(String text, int defaultPort) {
        return of(text, defaultPort, 0);
    }

    /** Reads the same with a port of at least {@code minPort}. */
    static InetSocketAddress of(String text, int defaultPort, int minPort) {
        Endpoint endpoint = parse(text, minPort);
        String host = endpoint.host.isEmpty() ? "127.0.0.1" : endpoint.host.equals("*") ? "0.0.0.0" : endpoint.host;
        return new InetSocketAddress(
                new Endpoint(host, 0).address(), endpoint.port == NO_PORT ? defaultPort : endpoint.port);
    }

    /** Returns the address of one host. A name is not looked up. */
    public static InetAddress ofHost(String text) {
        String refusal = "'" + text + "' is no address of a host: an IPv4 or IPv6 address is wanted, as in 10.0.0.1; no"
                + " name, no wildcard";
        InetAddress address = AddressText.literal(text, refusal);
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            throw new IllegalArgumentException(refusal);
        }
        return address;
    }

    /** The host's address; a name is looked up. */
    public InetAddress address() {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(
                    "host '" + host + "' is unknown: give a literal address or a name that resolves", e);
        }
    }

    /** Returns the text that {@link #parse} reads as this. */
    String text() {
        boolean isV6 = host.indexOf(':') >= 0;
        return port == NO_PORT ? host : (isV6 ? "[" + host + "]" : host) + ":" + port;
    }

    /** {@code 127.0.0.1:3322}, {@code [::1]:3322}. */
    public static String toString(InetSocketAddress address) {
        return Addresses.text(address);
    }

    private static int port(String text, String port, int min) {
        try {
            return (int) Decimals.whole(port, min, MAX_PORT);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "port '" + port + "' of '" + text + "': a number from " + min + " to " + MAX_PORT + " is wanted",
                    e);
        }
    }
}

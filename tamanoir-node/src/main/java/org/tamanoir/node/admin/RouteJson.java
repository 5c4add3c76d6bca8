package org.tamanoir.node.admin;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.AddressText;
import org.tamanoir.node.config.Choice;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;

/**
 * A route as the API writes and reads it.
 *
 * @param address null = the packet's own destination
 * @param name what the certificate of the next hop at this address has to hold; null = the address
 * @param port 0 = the packet's destination-port option
 * @param transport {@code same}, {@code tcp}, {@code udp}, {@code tls} or {@code quic}
 * @param kind {@code active} or {@code host}
 * @param origin {@code operator}, which files are too, or {@code feed}, which cannot be set
 */
record RouteJson(
        String prefix,
        @Nullable String address,
        @Nullable String name,
        int port,
        String transport,
        String kind,
        String origin) {
    private static final String OPERATOR = "operator";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,253}");

    static RouteJson of(Route route) {
        NextHop hop = route.nextHop();
        return new RouteJson(
                route.prefix().toString(),
                hop.address() == null ? null : Addresses.host(hop.address()),
                hop.name(),
                hop.port(),
                Choice.word(hop.transport(), Choice.TRANSPORTS),
                Choice.word(hop.kind(), Choice.KINDS),
                route.isFed() ? "feed" : OPERATOR);
    }

    /**
     * Reads one; null when something is wrong with it, which the fields know then. No name is looked up.
     *
     * @param givenPrefix the prefix that it has to be for; null = any
     */
    static @Nullable Route read(JsonFields fields, @Nullable Prefix givenPrefix) {
        Prefix prefix = prefix(fields, givenPrefix);
        String address = fields.text("address");
        String name = fields.text("name");
        int port = fields.number("port", 0, 0xFFFF, 0);
        NextHop.Transport transport = choice(fields, "transport", Choice.TRANSPORTS, NextHop.Transport.SAME);
        NextHop.Kind kind =
                choice(fields, "kind", Choice.KINDS, address == null ? NextHop.Kind.HOST : NextHop.Kind.ACTIVE_NODE);
        String origin = fields.text("origin");
        fields.end();
        if (origin != null && !origin.equals(OPERATOR)) {
            fields.problem("origin '" + origin + "': only a route of the " + OPERATOR + " can be put; leave it out");
        }
        if (address == null && kind == NextHop.Kind.ACTIVE_NODE) {
            fields.problem("direct delivery ends at a host, not at an active node: leave the kind out, or give the "
                    + "node's address");
        }
        InetAddress hop = address == null ? null : address(fields, "address", address);
        if (name != null) {
            if (hop == null || !transport.isNamed() || !NAME.matcher(name).matches()) {
                fields.problem("name '" + name + "': the name in the certificate of the next hop at the address, up to "
                        + "253 letters, digits, dots, hyphens and underscores, is wanted, with transport tls or quic");
            } else {
                hop = named(hop, name);
            }
        }
        return prefix == null ? null : new Route(prefix, new NextHop(hop, port, transport, kind));
    }

    private static @Nullable Prefix prefix(JsonFields fields, @Nullable Prefix given) {
        String text = fields.text("prefix");
        if (text == null && given != null) {
            return given;
        }
        if (text == null) {
            fields.problem("prefix is missing: 10.0.0.0/8 or 2001:db8::/32 is wanted");
            return null;
        }
        try {
            Prefix prefix = Prefix.parse(text);
            if (given != null && !prefix.equals(given)) {
                fields.problem("prefix " + prefix + " is not that of the path, " + given + "; leave it out");
            }
            return prefix;
        } catch (IllegalArgumentException e) {
            fields.problem("prefix " + e.getMessage());
            return null;
        }
    }

    /** Reads the address in a field of this name; null when it is none, which the fields know then. No name is looked up. */
    static @Nullable InetAddress address(JsonFields fields, String name, String text) {
        String refusal = name + " '" + text + "': an IPv4 or IPv6 address is wanted, without port and prefix length";
        int zone = text.indexOf(':') < 0 ? -1 : text.indexOf('%');
        try {
            InetAddress address = AddressText.literal(zone < 0 ? text : text.substring(0, zone), refusal);
            return zone < 0 ? address : InetAddress.getByName(text);
        } catch (IllegalArgumentException e) {
            fields.problem(String.valueOf(e.getMessage()));
        } catch (UnknownHostException e) { // Of an interface that is not there.
            fields.problem(refusal);
        }
        return null;
    }

    private static InetAddress named(InetAddress address, String name) {
        try {
            return address instanceof Inet6Address local && local.getScopeId() != 0
                    ? Inet6Address.getByAddress(name, local.getAddress(), local.getScopeId())
                    : InetAddress.getByAddress(name, address.getAddress());
        } catch (UnknownHostException e) {
            throw new AssertionError("an address has 4 or 16 bytes", e);
        }
    }

    private static <T> T choice(JsonFields fields, String name, Map<String, T> words, T absent) {
        String text = fields.text(name);
        T value = text == null ? absent : words.get(text);
        if (value == null) {
            fields.problem(name + " '" + text + "': one of "
                    + String.join(", ", words.keySet().stream().sorted().toList()) + " is wanted");
            return absent;
        }
        return value;
    }
}

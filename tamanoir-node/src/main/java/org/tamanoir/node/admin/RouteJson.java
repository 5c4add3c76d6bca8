package org.tamanoir.node.admin;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.node.config.Choice;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;

/**
 * A route as the API writes and reads it.
 *
 * @param address null = the packet's own destination
 * @param port 0 = the packet's destination-port option
 * @param transport {@code same}, {@code tcp}, {@code udp} or {@code tls}
 * @param kind {@code active} or {@code host}
 * @param origin {@code operator}, which files are too, or {@code feed}; not read
 */
record RouteJson(String prefix, @Nullable String address, int port, String transport, String kind, String origin) {
    static RouteJson of(Route route) {
        NextHop hop = route.nextHop();
        return new RouteJson(
                route.prefix().toString(),
                hop.address() == null ? null : hop.address().getHostAddress(),
                hop.port(),
                Choice.word(hop.transport(), Choice.TRANSPORTS),
                Choice.word(hop.kind(), Choice.KINDS),
                route.isFed() ? "feed" : "operator");
    }

    /** Reads one; null when something is wrong with it, which the fields know then. */
    static @Nullable Route read(JsonFields fields, @Nullable Prefix givenPrefix) {
        Prefix prefix = givenPrefix == null ? prefix(fields) : givenPrefix;
        String address = fields.text("address");
        int port = fields.number("port", 0, 0xFFFF, 0);
        NextHop.Transport transport = choice(fields, "transport", Choice.TRANSPORTS, NextHop.Transport.SAME);
        NextHop.Kind kind =
                choice(fields, "kind", Choice.KINDS, address == null ? NextHop.Kind.HOST : NextHop.Kind.ACTIVE_NODE);
        fields.end();
        if (address == null && kind == NextHop.Kind.ACTIVE_NODE) {
            fields.problem("direct delivery ends at a host, not at an active node: leave the kind out, or give the "
                    + "node's address");
        }
        InetAddress hop = address == null ? null : address(fields, address);
        return prefix == null ? null : new Route(prefix, new NextHop(hop, port, transport, kind));
    }

    private static @Nullable Prefix prefix(JsonFields fields) {
        String text = fields.text("prefix");
        if (text == null) {
            fields.problem("prefix is missing: 10.0.0.0/8 or 2001:db8::/32 is wanted");
            return null;
        }
        try {
            return Prefix.parse(text);
        } catch (IllegalArgumentException e) {
            fields.problem("prefix " + e.getMessage());
            return null;
        }
    }

    private static @Nullable InetAddress address(JsonFields fields, String text) {
        try {
            Prefix.parse(text); // No name gets past it, which would be looked up below.
            if (text.indexOf('/') < 0) {
                return InetAddress.getByName(text);
            }
        } catch (IllegalArgumentException | UnknownHostException e) {
            // The line below says it.
        }
        fields.problem("address '" + text + "': an IPv4 or IPv6 address is wanted, without port and prefix length");
        return null;
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

package org.tamanoir.node.config;

import java.net.InetAddress;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;

/** The settings of a route, in a file and as a text. */
public final class RouteTable {
    /** In place of a next hop: the packet's own destination. */
    static final String DIRECT = "destination";

    static final Records<Route> ROUTES = new Records<>("routes");

    static final Setting<Prefix> TO = ROUTES.require(
            "to",
            Kind.of("`10.0.0.0/8`, `2001:db8::/32`, or an address", Prefix::parse, Prefix::toString),
            "10.0.2.0/24",
            Route::prefix);
    static final Setting<Endpoint> VIA = ROUTES.require(
            "via",
            Kind.of("address, or `destination`", RouteTable::via, Endpoint::text),
            "127.0.0.1:3323",
            route -> via(route.nextHop()));
    static final Setting<NextHop.Transport> TRANSPORT = ROUTES.add(
            "transport",
            Kind.choice(Choice.TRANSPORTS),
            NextHop.Transport.SAME,
            route -> route.nextHop().transport());
    static final Setting<Boolean> TLS = ROUTES.add("tls", Kind.flag(), false, route -> null);
    static final Setting<NextHop.Kind> KIND = ROUTES.add(
            "kind",
            Kind.choice(Choice.KINDS),
            null,
            "`active`; `host` with `via: destination`",
            route -> route.nextHop().kind());

    private RouteTable() {}

    /** Reads a next hop: {@code host:port}, a host alone, {@value #DIRECT} or {@code destination:port}. */
    static Endpoint via(String text) {
        Endpoint endpoint = Endpoint.parse(text, 1);
        if (endpoint.host().isEmpty()) {
            throw new IllegalArgumentException(
                    "'" + text + "' is a port alone: host:port is wanted, or '" + DIRECT + "' for direct delivery");
        }
        return endpoint;
    }

    /** Writes a next hop; with the name by which it was given where its certificate has to hold that. */
    private static Endpoint via(NextHop next) {
        InetAddress address = next.address();
        String name = next.name();
        String host = address == null ? DIRECT : name == null ? Addresses.host(address) : name;
        return new Endpoint(host, next.port() == 0 ? Endpoint.NO_PORT : next.port());
    }

    /**
     * Makes a route.
     *
     * @param kind null = an active node, for direct delivery a host
     */
    static Route route(Prefix prefix, Endpoint via, NextHop.Transport transport, NextHop.@Nullable Kind kind) {
        return route(prefix, via, transport, kind, Endpoint::address);
    }

    private static Route route(
            Prefix prefix,
            Endpoint via,
            NextHop.Transport transport,
            NextHop.@Nullable Kind kind,
            Function<Endpoint, InetAddress> addresses) {
        boolean direct = via.host().equals(DIRECT);
        if (direct && kind == NextHop.Kind.ACTIVE_NODE) {
            throw new IllegalArgumentException(
                    "direct delivery ends at a host, not at an active node: leave the kind out, or give the node's address");
        }
        NextHop.Kind whom = kind != null ? kind : direct ? NextHop.Kind.HOST : NextHop.Kind.ACTIVE_NODE;
        int port = via.port() == Endpoint.NO_PORT ? 0 : via.port();
        return new Route(prefix, new NextHop(direct ? null : addresses.apply(via), port, transport, whom));
    }

    /** Reads a route of the command line: {@code PREFIX=VIA[,same|tcp|udp|tls|quic][,active|host]}. */
    public static Route parse(String text) {
        return parse(text, Endpoint::address);
    }

    /** @param addresses looks up hosts */
    static Route parse(String text, Function<Endpoint, InetAddress> addresses) {
        int equals = text.indexOf('=');
        if (equals < 0) {
            throw new IllegalArgumentException("PREFIX=HOST:PORT is wanted, as in 10.0.2.0/24=127.0.0.1:3323");
        }
        String[] words = text.substring(equals + 1).split(",", -1);
        NextHop.Transport transport = null;
        NextHop.Kind kind = null;
        for (int i = 1; i < words.length; i++) {
            if (transport == null && Choice.TRANSPORTS.containsKey(words[i])) {
                transport = Choice.of(words[i], Choice.TRANSPORTS);
            } else if (kind == null) {
                kind = Choice.of(words[i], Choice.KINDS);
            } else {
                throw new IllegalArgumentException(
                        "'" + words[i] + "' is too much: one transport and one kind are wanted");
            }
        }
        return route(
                Prefix.parse(text.substring(0, equals)),
                via(words[0]),
                transport == null ? NextHop.Transport.SAME : transport,
                kind,
                addresses);
    }

    /** Reads a next hop of the command line, {@code VIA} with its words as in {@link #parse}. */
    static NextHop nextHop(String text) {
        return parse("::/0=" + text).nextHop();
    }

    /** Reads a route of a file; null when something is wrong with it, which the section's problems say then. */
    static @Nullable Route read(Section section) {
        Values route = ROUTES.read(section);
        NextHop.Transport transport = route.get(TRANSPORT);
        if (route.get(TLS)) {
            if (transport == NextHop.Transport.UDP) {
                section.problems().add(route.where(TLS), "TLS goes over TCP, not over UDP; remove one of the two");
            }
            if (transport != NextHop.Transport.QUIC) { // Which is inside TLS by itself.
                transport = NextHop.Transport.TLS;
            }
        } else if (route.isGiven(TLS) && transport == NextHop.Transport.TLS) {
            section.problems().add(route.where(TLS), "false is not what transport: tls says; remove one of the two");
        }
        Prefix prefix = route.find(TO);
        Endpoint via = route.find(VIA);
        try {
            return prefix == null || via == null ? null : route(prefix, via, transport, route.find(KIND));
        } catch (IllegalArgumentException e) {
            section.problems().add(route.where(VIA), String.valueOf(e.getMessage()));
            return null;
        }
    }
}

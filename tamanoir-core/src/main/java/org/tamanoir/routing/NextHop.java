package org.tamanoir.routing;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where packets of a route go next. A link-local address differs also by its interface. Those over TLS and QUIC differ
 * also by the name that their address was made with, which is what the certificate has to name.
 *
 * @param address null = the packet's own destination (direct delivery)
 * @param port 1–65,535, or 0 = the packet's destination-port option
 * @param transport how they go
 * @param kind who is there
 */
public record NextHop(@Nullable InetAddress address, int port, Transport transport, Kind kind) {
    /** How packets go on. */
    public enum Transport {
        /** As they came. */
        SAME,
        TCP,
        UDP,
        /** TCP inside TLS. */
        TLS,
        /** A stream over QUIC, whose connection is inside TLS. */
        QUIC;

        /** Returns whether the next hop's certificate has to hold its name. */
        public boolean isNamed() {
            return this == TLS || this == QUIC;
        }
    }

    /** Who is there. */
    public enum Kind {
        /** Another active node: spends a hop of the packet's budget. */
        ACTIVE_NODE,
        /** The end of the path: a host that runs no node. */
        HOST
    }

    /**
     * Checks the port.
     *
     * @throws IllegalArgumentException if it is not 0–65,535
     */
    public NextHop {
        if (port < 0 || port > 0xFFFF) {
            throw new IllegalArgumentException(
                    "next hop port " + port + ": must be 0 to 65535; 0 takes the port that the packet names");
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NextHop hop
                && port == hop.port
                && transport == hop.transport
                && kind == hop.kind
                && Objects.equals(address, hop.address)
                && Addresses.scope(address) == Addresses.scope(hop.address)
                && Objects.equals(name(), hop.name());
    }

    @Override
    public int hashCode() {
        return Objects.hash(address, port, transport, kind);
    }

    /**
     * Returns the name that the next hop's certificate has to hold, without a question to DNS; null = its address, or
     * there is no certificate.
     */
    public @Nullable String name() {
        if (address == null || !transport.isNamed()) {
            return null;
        }
        String name = new InetSocketAddress(address, port).getHostString();
        return name.equals(address.getHostAddress()) ? null : name;
    }
}

package org.tamanoir.ee;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.PreviousNode;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Fib;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.GatewayAddress;
import org.tamanoir.transport.QuicPort;
import org.tamanoir.transport.StreamGateway;

/** Turns destinations into next hops by the routing table. Any thread may call. */
final class NextHopResolver {
    private static final int MAX_DATAGRAM_BYTES_IPV6 = 65_487;

    private final RoutingTable routes;
    private final Set<InetSocketAddress> ownTcp = new CopyOnWriteArraySet<>();
    private final Set<InetSocketAddress> ownUdp = new CopyOnWriteArraySet<>();

    private final Set<InetSocketAddress> ownQuic = new CopyOnWriteArraySet<>();
    private volatile Supplier<@Nullable QuicPort> quic = () -> null;
    private volatile PreviousNode codeServer = PreviousNode.NONE;

    NextHopResolver(RoutingTable routes) {
        this.routes = routes;
    }

    /** Makes packets to this address end here instead of coming back in. */
    void own(StreamInfo.Transport transport, InetSocketAddress address) {
        (transport == StreamInfo.Transport.TCP ? ownTcp : ownUdp).add(address);
    }

    /** Returns whether datagrams to this address would come back in. */
    boolean isOwnUdp(InetSocketAddress target) {
        return isOwn(target, ownUdp, false);
    }

    /** Makes streams over QUIC to this address end here, too. */
    void ownQuic(InetSocketAddress address) {
        ownQuic.add(address);
    }

    /** Has next hops over QUIC be reached by what this gives; null = they cannot be reached. */
    void overQuic(Supplier<@Nullable QuicPort> port) {
        quic = port;
    }

    /** Names this node's code server to the next nodes; null = none. */
    void advertise(@Nullable InetSocketAddress address) {
        codeServer = address == null ? PreviousNode.NONE : PreviousNode.of(address);
    }

    /** Returns what the next nodes read in previous-active-node options. */
    PreviousNode codeServer() {
        return codeServer;
    }

    int generation() {
        return routes.generation();
    }

    /** Returns the routes' look-ups of now. */
    Fib fib() {
        return routes.fib();
    }

    /** Returns the route that decides about an address; null when none does. Waits while routes are being changed. */
    @Nullable
    Route deciding(long high, long low) {
        return routes.deciding(high, low);
    }

    /** Returns the port at a next hop for packets that name this one. */
    static int port(NextHop next, int port) {
        return next.port() != 0 ? next.port() : port != 0 ? port : Anep.DEFAULT_PORT;
    }

    /**
     * Makes the way to a next hop, for packets to this destination if that has no address; {@code arrival} is how packets
     * came, for routes that do not change that.
     */
    RouteCacheEntry resolve(NextHop next, long high, long low, int port, StreamInfo.Transport arrival) {
        InetAddress address = next.address() == null ? Addresses.of(high, low) : next.address();
        boolean isUdp = next.transport() == NextHop.Transport.UDP
                || (next.transport() == NextHop.Transport.SAME && arrival == StreamInfo.Transport.UDP);
        InetSocketAddress target = new InetSocketAddress(address, port(next, port));
        boolean isQuic = next.transport() == NextHop.Transport.QUIC;
        boolean isLocal = isQuic
                ? isOwn(target, ownQuic, true)
                : isUdp ? isOwn(target, ownUdp, false) : isOwn(target, ownTcp, true);
        boolean isIpv6 = address instanceof Inet6Address;
        return new RouteCacheEntry(
                next,
                isLocal ? DropReason.LOCAL : null,
                isQuic ? overQuic(target) : target,
                next.kind() == NextHop.Kind.ACTIVE_NODE,
                isUdp,
                next.transport() == NextHop.Transport.TLS,
                Addresses.high(address),
                Addresses.low(address),
                !isUdp ? Anep.MAX_PACKET_OCTETS : isIpv6 ? MAX_DATAGRAM_BYTES_IPV6 : Anep.MAX_DATAGRAM_OCTETS);
    }

    /** Makes the way to where a gateway leads. */
    RouteCacheEntry resolve(StreamGateway gateway) {
        InetSocketAddress to = new GatewayAddress(gateway);
        return new RouteCacheEntry(
                null,
                isOwn(to, ownTcp, true) ? DropReason.LOCAL : null,
                to,
                false,
                false,
                false,
                Addresses.high(to.getAddress()),
                Addresses.low(to.getAddress()),
                Anep.MAX_PACKET_OCTETS);
    }

    /** Returns the address for a stream over QUIC; null where there is no QUIC. */
    private @Nullable InetSocketAddress overQuic(InetSocketAddress target) {
        QuicPort port = quic.get();
        return port == null ? null : port.to(target.getAddress(), target.getPort());
    }

    /** Returns the hop of packets that go to {@code destination} over TCP, whatever routes say. */
    static RouteCacheEntry straight(InetSocketAddress destination) {
        long high = Addresses.high(destination.getAddress());
        long low = Addresses.low(destination.getAddress());
        return new RouteCacheEntry(null, null, destination, false, false, false, high, low, Anep.MAX_PACKET_OCTETS);
    }

    /**
     * @param dualStack whether a socket on [::] takes IPv4 as well
     */
    private static boolean isOwn(InetSocketAddress target, Set<InetSocketAddress> own, boolean dualStack) {
        InetAddress to = target.getAddress();
        int scope = Addresses.scope(to);
        for (InetSocketAddress address : own) {
            InetAddress at = address.getAddress();
            boolean sameFamily = at.getClass() == to.getClass() || (dualStack && at instanceof Inet6Address);
            if (address.getPort() != target.getPort() || !sameFamily) {
                continue;
            }
            if (at.equals(to) && (scope == 0 || scope == Addresses.scope(at))) {
                return true;
            }
            // To send to the unspecified address is to send to the loopback one.
            if (to.isAnyLocalAddress() ? at.isLoopbackAddress() : at.isAnyLocalAddress() && isOfThisHost(to, scope)) {
                return true;
            }
        }
        return false;
    }

    /** @param scope number of the interface whose address it is; 0 = any */
    private static boolean isOfThisHost(InetAddress address, int scope) {
        if (address.isLoopbackAddress()) {
            return true;
        }
        try {
            NetworkInterface device =
                    scope == 0 ? NetworkInterface.getByInetAddress(address) : NetworkInterface.getByIndex(scope);
            return device != null && device.inetAddresses().anyMatch(address::equals);
        } catch (SocketException e) {
            return false;
        }
    }
}

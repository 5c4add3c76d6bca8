package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.gateway.udp.GatewaySender;
import org.tamanoir.gateway.udp.GatewaySocket;
import org.tamanoir.routing.Addresses;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.ScarceMemory;
import org.tamanoir.transport.ScratchBuffers;

/**
 * One thread's way to the far side of a gateway for UDP. Its next hops are named by the senders through whose sockets
 * packets leave, and by the address that they were sent to.
 *
 * <p>Thread contract: the service's thread.
 */
final class GatewayEgress {
    /** Hops that are remembered; a power of two. */
    private static final int REMEMBERED = 1024;

    private final GatewaySocket gateway;
    private final GatewaySender sender;
    private final UdpEgress egress;
    private final @Nullable RouteCacheEntry[] hops = new @Nullable RouteCacheEntry[REMEMBERED];

    GatewayEgress(GatewaySocket gateway, ScratchBuffers memory, ScarceMemory scarce, Traffic traffic) {
        this.gateway = gateway;
        this.sender = gateway.newOnwardSender(scarce);
        // Each hop is for one address that its sender has spoken to: no arrival tells more.
        this.egress = gateway.localAddress().getAddress().isAnyLocalAddress()
                ? new WildcardEgress(gateway, UdpEgress.HIDDEN, sender, memory, traffic, null)
                : new UdpEgress(gateway, UdpEgress.HIDDEN, sender, memory, traffic);
    }

    boolean isOf(GatewaySocket other) {
        return gateway == other;
    }

    UdpEgress egress() {
        return egress;
    }

    /** Returns where packets of this sender go; null where that is not known. */
    @Nullable
    RouteCacheEntry hop(Arrival from) {
        RouteCacheEntry known = hops[slot(from.high(), from.low(), from.port())];
        return known != null && from.isFrom(known) && from.isOwnOf(known) ? known : null;
    }

    private static int slot(long high, long low, int port) {
        return (int) (Addresses.hash(high, low, port) >>> 54);
    }

    RouteCacheEntry newHop(Arrival from) {
        RouteCacheEntry hop = new RouteCacheEntry(
                null,
                null,
                new InetSocketAddress(Addresses.of(from.high(), from.low()), from.port()),
                false,
                true,
                false,
                from.high(),
                from.low(),
                Anep.MAX_PACKET_OCTETS);
        hop.own.set(from);
        hop.departure = egress;
        return hop;
    }

    RouteCacheEntry remember(RouteCacheEntry hop) {
        hops[slot(hop.high, hop.low, hop.port())] = hop;
        return hop;
    }

    /** Forgets all, since links have changed. */
    void forget() {
        Arrays.fill(hops, null);
    }

    /** Has a packet ready for its hop; or returns why it cannot go there. */
    @Nullable
    DropReason begin(Packet packet, RouteCacheEntry hop, long answerBytes) {
        if (packet.payloadLength() == 0) {
            return DropReason.SHORT; // Not every transport tells an empty datagram that left from one that did not.
        }
        return packet.length() > hop.maxBytes
                ? DropReason.PACKET_TOO_LONG
                : sender.begin(
                        hop.high, hop.low, hop.port(), hop.own.high(), hop.own.low(), hop.own.device(), answerBytes);
    }
}

package org.tamanoir.catalog;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.PeerNetwork;

/**
 * Where a packet came from that asks for a service which the node lacks. What the packet claims is not checked here:
 * who fetches code decides whom to ask.
 *
 * @param peer the far end of the TCP connection, or the datagram's source
 * @param previousNode the code server that the packet names in its previous-active-node option; an unspecified
 *     address (0.0.0.0, ::) means the peer's; null when it names none
 * @param isProven whether the far end really is at that address: it completed a TCP handshake; a datagram's can be forged
 */
public record Origin(InetAddress peer, @Nullable InetSocketAddress previousNode, boolean isProven) {
    /**
     * Whom what a node does for strangers is counted by.
     *
     * @param network an IPv4 address, or the first 64 bits of an IPv6 one
     * @param isProven as of {@link Origin#isProven}: who forges addresses uses up nothing of theirs
     */
    public record Party(InetAddress network, boolean isProven) {}

    /** Who asks, as far as bounds go. */
    public Party party() {
        return new Party(PeerNetwork.of(peer), isProven);
    }
}

package org.tamanoir.ee;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Where a packet came from that asks for a service which the node lacks. What the packet claims is not checked here:
 * who fetches code decides whom to ask.
 *
 * @param peer the far end of the TCP connection, or the datagram's source
 * @param previousNode the code server that the packet names in its previous-active-node option; an unspecified
 *     address (0.0.0.0, ::) means the peer's; null when it names none
 */
public record Origin(InetAddress peer, @Nullable InetSocketAddress previousNode) {}

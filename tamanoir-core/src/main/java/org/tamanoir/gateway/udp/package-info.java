/**
 * Gateways for UDP: a socket behind which each datagram that comes is the payload of a packet, and a far side where each
 * sender has a socket of his own. It needs nothing of the execution environment but {@link GatewayHost}.
 */
@NullMarked
package org.tamanoir.gateway.udp;

import org.jspecify.annotations.NullMarked;

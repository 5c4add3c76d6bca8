package org.tamanoir.plain;

import org.jspecify.annotations.Nullable;
import org.tamanoir.icmp.IcmpType;

/**
 * What a rule looks at of a UDP datagram, of the segment that begins a TCP connection, or of an ICMP message; addresses as {@code ::ffff:a.b.c.d} where they are IPv4's.
 *
 * @param destinationPort of ICMP 0
 * @param type of ICMP messages; null of other protocols, and of messages that no rule is for
 * @param mark the firewall mark, 32 bits without sign
 */
public record PlainFlow(
        PlainMatch.Protocol protocol,
        long sourceHigh,
        long sourceLow,
        long destinationHigh,
        long destinationLow,
        int destinationPort,
        @Nullable IcmpType type,
        int dscp,
        long mark,
        boolean routerAlert) {}

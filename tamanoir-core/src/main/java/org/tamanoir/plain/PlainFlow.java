package org.tamanoir.plain;

/**
 * What a rule looks at of a UDP datagram, or of the segment that begins a TCP connection; addresses as {@code ::ffff:a.b.c.d} where they are IPv4's.
 *
 * @param mark the firewall mark, 32 bits without sign
 */
public record PlainFlow(
        PlainMatch.Protocol protocol,
        long sourceHigh,
        long sourceLow,
        long destinationHigh,
        long destinationLow,
        int destinationPort,
        int dscp,
        long mark,
        boolean routerAlert) {}

package org.tamanoir.transport;

import org.tamanoir.routing.Addresses;

/** Octets of the headers in front of a datagram: UDP's (RFC 768), and IP's without options. */
public final class UdpHeaders {
    /** Behind IPv4 (RFC 791). */
    public static final int IPV4_BYTES = 20 + 8;

    /** Behind IPv6 (RFC 8200). */
    private static final int IPV6_BYTES = 40 + 8;

    private UdpHeaders() {}

    /** Returns those with this address. */
    public static int bytes(long high, long low) {
        return Addresses.isIpv4(high, low) ? IPV4_BYTES : IPV6_BYTES;
    }
}

package org.tamanoir.routing;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * Who counts as one stranger where a node bounds what it does for each. Thread contract: any thread.
 */
public final class PeerNetwork {
    /** Whoever has one IPv6 address has its /64 to choose from (RFC 4291, section 2.5.4; RFC 7421). */
    private static final int IPV6_BYTES = 8;

    private PeerNetwork() {}

    /** Returns an IPv4 address as it is, and of an IPv6 one the network: its first 64 bits, the others 0. */
    public static InetAddress of(InetAddress peer) {
        if (!(peer instanceof Inet6Address)) {
            return peer;
        }
        byte[] bytes = peer.getAddress();
        Arrays.fill(bytes, IPV6_BYTES, bytes.length, (byte) 0);
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("16 bytes are an address", e);
        }
    }
}

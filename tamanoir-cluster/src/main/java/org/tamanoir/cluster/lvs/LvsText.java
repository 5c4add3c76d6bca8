package org.tamanoir.cluster.lvs;

import java.net.Inet6Address;
import java.net.InetAddress;

/** Addresses as ipvsadm 1.31 writes them. */
final class LvsText {
    private LvsText() {}

    /** {@code 10.0.0.1:3322}, {@code [fd00::1]:3322}. */
    static String endpoint(InetAddress address, int port) {
        return (address instanceof Inet6Address ? "[" + host(address) + "]" : host(address)) + ":" + port;
    }

    /** Without zone; IPv6 in the short form of RFC 5952, as inet_ntop(3) does. */
    static String host(InetAddress address) {
        throw new UnsupportedOperationException(address.toString());
    }
}

package org.tamanoir.cluster.lvs;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Comparator;
import org.tamanoir.routing.Addresses;

/**
 * What LVS takes packets for: the key of a virtual service.
 *
 * @param address not a name, not the wildcard
 * @param port 1 to 65,535
 */
public record VirtualAddress(Protocol protocol, InetAddress address, int port) implements Comparable<VirtualAddress> {
    private static final int MAX_PORT = 65_535;

    public VirtualAddress {
        if (address.isAnyLocalAddress() || address.isMulticastAddress()) {
            throw new IllegalArgumentException(
                    Addresses.host(address) + " cannot be a virtual address: one of a host is wanted");
        }
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("port " + port + " must be 1 to " + MAX_PORT);
        }
    }

    public boolean isIpv6() {
        return address instanceof Inet6Address;
    }

    /** Returns what ipvsadm writes: {@code 10.0.0.1:3322}, {@code [fd00::1]:3322}. */
    public String endpoint() {
        return LvsText.endpoint(address, port);
    }

    @Override
    public int compareTo(VirtualAddress other) {
        return Comparator.comparing(VirtualAddress::isIpv6)
                .thenComparing(each -> each.address.getAddress(), java.util.Arrays::compareUnsigned)
                .thenComparingInt(VirtualAddress::port)
                .thenComparing(VirtualAddress::protocol)
                .compare(this, other);
    }

    /** Returns {@code tcp 10.0.0.1:3322}. */
    @Override
    public String toString() {
        return protocol.label() + " " + endpoint();
    }
}

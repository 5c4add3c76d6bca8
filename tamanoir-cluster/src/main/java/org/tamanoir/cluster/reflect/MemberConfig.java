package org.tamanoir.cluster.reflect;

import java.net.InetSocketAddress;
import org.tamanoir.routing.Addresses;

/**
 * A member as it was asked for.
 *
 * @param address that it sends from and receives at, or a multicast group that it stands for
 */
public record MemberConfig(InetSocketAddress address, Terms terms) {
    /**
     * Checks the address.
     *
     * @throws IllegalArgumentException in one line
     */
    public MemberConfig {
        if (address.isUnresolved()) {
            throw new IllegalArgumentException(
                    "member " + address.getHostString() + ": the name does not resolve; give an address");
        }
        if (address.getPort() < 1) {
            throw new IllegalArgumentException(
                    "member " + Addresses.host(address.getAddress()) + " with port 0: ports are 1 to 65535");
        }
    }
}

package org.tamanoir.cluster.element;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.tamanoir.routing.Addresses;

/**
 * A unit as a distributor sees it.
 *
 * @param path its number, 0 to 63: what stands in packets, and an aggregator goes by
 * @param address where it takes datagrams
 * @param weight its share, 0 to 1,000; 0 = no packets
 */
public record Unit(int path, InetSocketAddress address, int weight) {
    /** Checks the bounds; throws {@link IllegalArgumentException} in one line. */
    public Unit {
        if (path < 0 || path >= Rounds.MAX_PATHS) {
            throw new IllegalArgumentException("unit " + path + ": its number must be 0 to " + (Rounds.MAX_PATHS - 1));
        }
        if (weight < 0 || weight > Rounds.MAX_WEIGHT) {
            throw new IllegalArgumentException(
                    "unit " + path + ": weight " + weight + " must be 0 to " + Rounds.MAX_WEIGHT);
        }
        if (address.isUnresolved() || address.getPort() == 0) {
            throw new IllegalArgumentException(
                    "unit " + path + ": " + Addresses.text(address) + " must be a known host with a port from 1 on");
        }
    }

    InetAddress host() {
        return address.getAddress();
    }
}

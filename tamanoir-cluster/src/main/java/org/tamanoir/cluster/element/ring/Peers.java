package org.tamanoir.cluster.element.ring;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;

/** The parties' control addresses, each of one party. Immutable. */
final class Peers {
    private final Map<Integer, InetSocketAddress> addresses;
    private final Map<InetSocketAddress, Integer> parties = new HashMap<>();

    Peers(Map<Integer, InetSocketAddress> addresses) {
        this.addresses = Map.copyOf(addresses);
        addresses.forEach((party, address) -> {
            if (address.isUnresolved()) {
                throw new IllegalArgumentException(
                        "control address " + Addresses.text(address) + " has no known host: give an IP address");
            }
            Integer other = parties.put(address, party);
            if (other != null) {
                throw new IllegalArgumentException("control address " + Addresses.text(address) + " is that of "
                        + name(Math.min(other, party)) + " and " + name(Math.max(other, party))
                        + ": give each its own port");
            }
        });
    }

    private static String name(int party) {
        return party == RingPlan.DISTRIBUTOR ? "the distributor" : "unit " + party;
    }

    @Nullable
    Integer party(InetSocketAddress address) {
        return parties.get(address);
    }

    InetSocketAddress address(int party) {
        InetSocketAddress address = addresses.get(party);
        if (address == null) {
            throw new IllegalArgumentException("party " + party + " has no control address: list it");
        }
        return address;
    }

    /** Returns whether this unit is listed with this address, of 16 bytes as {@link #mapped} gives them. */
    boolean is(int unit, byte[] address, int port) {
        InetSocketAddress known = addresses.get(unit);
        return known != null && known.getPort() == port && Arrays.equals(mapped(known), address);
    }

    /** Returns 16 bytes: an IPv4 address as ::ffff:a.b.c.d. */
    static byte[] mapped(InetSocketAddress address) {
        byte[] bytes = address.getAddress().getAddress();
        if (bytes.length == 16) {
            return bytes;
        }
        return ByteBuffer.allocate(16).putLong(0).putInt(0xFFFF).put(bytes).array();
    }
}

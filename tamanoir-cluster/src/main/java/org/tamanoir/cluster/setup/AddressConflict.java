package org.tamanoir.cluster.setup;

import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether another host has an address, and tells the network that it is here: ARP probe and announcement for
 * IPv4 (RFC 5227), neighbour solicitation and advertisement for IPv6 (RFC 4861, RFC 4862).
 */
public final class AddressConflict {
    private AddressConflict() {}

    /**
     * Asks the network.
     *
     * @return the hardware address of who has it; null = nobody answered
     */
    public static @Nullable String holder(String networkInterface, InetAddress address, Duration patience)
            throws java.io.IOException {
        throw new UnsupportedOperationException();
    }

    /** Tells the network that the address is here now. */
    public static void announce(String networkInterface, InetAddress address) throws java.io.IOException {
        throw new UnsupportedOperationException();
    }
}

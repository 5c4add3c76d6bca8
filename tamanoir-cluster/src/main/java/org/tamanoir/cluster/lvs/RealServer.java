package org.tamanoir.cluster.lvs;

import java.net.InetAddress;

/**
 * A back-end in the table.
 *
 * @param port that of the virtual service unless by NAT
 * @param weight 0 to {@value #MAX_WEIGHT}; 0 = no new connections
 * @param upper connections at which it gets no further ones; 0 = no bound
 * @param lower connections at which it gets some again; 0 = three quarters of {@code upper}
 */
public record RealServer(InetAddress address, int port, Forwarding forwarding, int weight, int upper, int lower) {
    public static final int MAX_WEIGHT = 65_535;

    public RealServer {
        if (weight < 0 || weight > MAX_WEIGHT) {
            throw new IllegalArgumentException("weight " + weight + " must be 0 to " + MAX_WEIGHT);
        }
    }

    /** Returns the address and port as ipvsadm writes them. */
    public String endpoint() {
        return LvsText.endpoint(address, port);
    }
}

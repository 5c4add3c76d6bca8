package org.tamanoir.cluster.config;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.tamanoir.routing.Prefix;

/**
 * Who may register as a back-end. The token is checked before, by the server; whatever it says, a node that shows the
 * token of all nodes speaks for the address that it asks from and for no other.
 *
 * @param networks addresses that back-ends may have; empty = any
 * @param interval in which back-ends repeat their registration
 * @param expiry a registered back-end that did not repeat it for this long is forgotten once it is out
 * @param maxBackEnds registered and listed together
 */
public record RegistrationPolicy(List<Prefix> networks, Duration interval, Duration expiry, int maxBackEnds) {
    public static final RegistrationPolicy DEFAULT =
            new RegistrationPolicy(List.of(), Duration.ofSeconds(2), Duration.ofMinutes(5), 256);

    public RegistrationPolicy {
        networks = List.copyOf(networks);
    }

    /** Returns whether a back-end may have an address. */
    public boolean admits(InetAddress address) {
        Prefix whole = Prefix.of(address);
        return networks.isEmpty() || networks.stream().anyMatch(network -> network.contains(whole.high(), whole.low()));
    }
}

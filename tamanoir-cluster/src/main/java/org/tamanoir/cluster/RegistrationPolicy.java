package org.tamanoir.cluster;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.tamanoir.routing.Prefix;

/**
 * Who may register as a back-end. The token is checked before, by the server.
 *
 * @param networks addresses that back-ends may have; empty = only the one that the request comes from
 * @param interval in which back-ends repeat their registration
 * @param expiry a registered back-end that did not repeat it for this long is forgotten once it is out
 * @param maxBackEnds registered and listed together
 */
public record RegistrationPolicy(List<Prefix> networks, Duration interval, Duration expiry, int maxBackEnds) {
    private static final int MOST_BACK_ENDS = 4096;

    public static final RegistrationPolicy DEFAULT =
            new RegistrationPolicy(List.of(), Duration.ofSeconds(2), Duration.ofMinutes(5), 256);

    public RegistrationPolicy {
        networks = List.copyOf(networks);
        Bounds.check("registration.interval", interval, Duration.ofMillis(100), Duration.ofHours(1));
        Bounds.check("registration.expiry", expiry, interval, Duration.ofDays(7));
        Bounds.check("registration.max-back-ends", maxBackEnds, 1, MOST_BACK_ENDS);
    }

    /** Whether a back-end may have an address. */
    boolean admits(InetAddress address, InetAddress from) {
        if (networks.isEmpty()) {
            return address.equals(from);
        }
        Prefix whole = Prefix.of(address);
        return networks.stream().anyMatch(network -> network.contains(whole.high(), whole.low()));
    }
}

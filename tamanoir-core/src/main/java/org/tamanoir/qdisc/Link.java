package org.tamanoir.qdisc;

import java.util.List;
import java.util.Map;
import org.tamanoir.routing.Prefix;

/**
 * An outgoing link, on which departures are ordered after services have processed packets.
 *
 * @param name lower-case letters, digits, hyphens
 * @param nextHops addresses of the next hops that are reached over it; the first link that fits counts
 * @param rate bytes a second, 1 to 1e12
 * @param burst bytes that may leave at once after a pause, 256 to 4 Gi; longer packets cannot leave at all
 * @param police whether a datagram that exceeds the rate is dropped in place of waiting
 * @param discipline one of {@link Disciplines#names}
 * @param options the discipline's own
 */
public record Link(
        String name,
        List<Prefix> nextHops,
        long rate,
        long burst,
        boolean police,
        String discipline,
        Map<String, String> options) {
    public Link {
        nextHops = List.copyOf(nextHops);
        options = Map.copyOf(options);
    }
}

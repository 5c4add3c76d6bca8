package org.tamanoir.admission;

import java.util.Collections;
import java.util.Map;
import org.tamanoir.accounting.DropReason;

/**
 * The room that a node has for TCP streams.
 *
 * @param limit places: what {@code max-streams} allows, but no more than there is memory for
 * @param taken by connections and their branches, now
 * @param branches further services of connections, now; each takes a place
 * @param refused connections and branches that got no place, since the start, by reason
 * @param aborted streams that the node ended before their time, since the start, by reason
 */
public record StreamPlaces(
        int limit, int taken, int branches, Map<StreamRefusal, Long> refused, Map<DropReason, Long> aborted) {
    public StreamPlaces {
        refused = Collections.unmodifiableMap(refused);
        aborted = Collections.unmodifiableMap(aborted);
    }
}

package org.tamanoir.routing;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a feed of routes does.
 *
 * @param routes that it has now, whether they count in the table or not
 * @param unmapped of these, the ones whose gateways have no next hop
 * @param unmappedGateways the same by gateway, {@value RouteFeed#MAX_NAMED} at most
 * @param leftOut routes since all were read last that are of no use, or for which there was no room; the last reason in {@code why}
 * @param why what the last of {@code leftOut} was left out for; empty = none was
 * @param changes routes that came, changed or went since the start
 * @param changesPerSecond of the last ten seconds
 * @param lastChange null = there was none
 * @param resyncs how often all routes were read, the first time included; those that were not whole, too
 * @param fault why it is behind; null = it is not
 */
public record FeedStatus(
        int routes,
        int unmapped,
        Map<String, Integer> unmappedGateways,
        long leftOut,
        String why,
        long changes,
        double changesPerSecond,
        @Nullable Instant lastChange,
        long resyncs,
        @Nullable String fault) {
    /** Copies the map. */
    public FeedStatus {
        unmappedGateways = Map.copyOf(unmappedGateways);
    }
}

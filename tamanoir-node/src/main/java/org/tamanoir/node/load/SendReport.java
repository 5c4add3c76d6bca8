package org.tamanoir.node.load;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code send} has done.
 *
 * @param bytes of whole packets
 * @param megabytesPerSecond whole packets, 10^6 bytes
 * @param replies packets that came back
 * @param refused packets that the operating system did not take (UDP)
 * @param failures of streams that broke, one line each
 * @param records with {@code --records} alone
 * @param roundTrip with {@code --ping} alone
 */
record SendReport(
        String transport,
        String node,
        int streams,
        int firstStreamId,
        long packets,
        long bytes,
        long payloadBytes,
        double seconds,
        double packetsPerSecond,
        double megabytesPerSecond,
        long replies,
        long refused,
        List<String> failures,
        @Nullable LatencySummary roundTrip,
        @Nullable Long records) {
    boolean isWhole() {
        return failures.isEmpty() && refused == 0;
    }
}

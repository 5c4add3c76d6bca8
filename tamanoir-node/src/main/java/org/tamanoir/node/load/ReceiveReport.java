package org.tamanoir.node.load;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ParseFault;

/**
 * What {@code receive} took in.
 *
 * @param whole nothing lost, corrupt, malformed or broken off
 * @param seconds from the first packet to the last
 * @param lost of all streams; at least what {@code --count} expected and did not come
 * @param malformed packets that broke a receive rule, by reason
 * @param refused packets that were not authenticated, by reason; they are not among those of the streams
 * @param records with {@code --records} alone
 * @param brokenConnections TCP connections that did not end between two packets, one line each
 */
record ReceiveReport(
        boolean whole,
        long packets,
        long bytes,
        long payloadBytes,
        double seconds,
        double packetsPerSecond,
        double megabytesPerSecond,
        long lost,
        long reordered,
        long duplicates,
        long late,
        long unnumbered,
        long corrupt,
        long leftOut,
        Map<ParseFault, Long> malformed,
        long malformedPackets,
        Map<DropReason, Long> refused,
        long connections,
        long refusedConnections,
        List<String> brokenConnections,
        @Nullable LatencySummary latency,
        List<StreamReport> streams,
        @Nullable RecordReport records) {}

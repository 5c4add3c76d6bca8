package org.tamanoir.node.element;

import java.util.Map;
import java.util.SortedMap;
import org.tamanoir.cluster.element.Aggregator;

/**
 * What {@code aggregate} has done: in = out + dropped + held.
 *
 * @param outBytes without headers, unless packets were left whole
 * @param dropped by reasons that there were
 * @param gaps packets that never came although a later one of their path did
 * @param timeouts waits that lasted until their deadline
 * @param overflows waits that ended because a queue was full
 * @param restarts how often the order began anew
 * @param paths packets and markers that came, by path
 */
record AggregateReport(
        long in,
        long inBytes,
        long out,
        long outBytes,
        Map<Aggregator.Drop, Long> dropped,
        long held,
        long gaps,
        long timeouts,
        long overflows,
        long restarts,
        double seconds,
        double packetsPerSecond,
        String lastError,
        SortedMap<Integer, Long> paths) {
    long droppedPackets() {
        return dropped.values().stream().mapToLong(Long::longValue).sum();
    }
}

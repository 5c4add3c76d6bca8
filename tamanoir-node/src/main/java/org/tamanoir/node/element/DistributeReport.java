package org.tamanoir.node.element;

import java.util.List;
import java.util.Map;

/**
 * What {@code distribute} has done: in + made = out + dropped + held.
 *
 * @param inBytes of datagrams
 * @param made markers
 * @param outBytes of packets and markers
 * @param dropped by reasons that there were
 * @param held nothing: a batch has left when the next one is read
 * @param round of the last packet
 * @param pathLost packets that left for units which died with them, as far as the ring tells: part of out
 */
record DistributeReport(
        long in,
        long inBytes,
        long made,
        long out,
        long outBytes,
        Map<String, Long> dropped,
        long held,
        long round,
        double seconds,
        double packetsPerSecond,
        String lastError,
        long pathLost,
        List<UnitReport> units) {
    /**
     * What a unit got.
     *
     * @param packets without markers
     */
    record UnitReport(int unit, String address, int weight, long packets) {}

    long droppedPackets() {
        return dropped.values().stream().mapToLong(Long::longValue).sum();
    }
}

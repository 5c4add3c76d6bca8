package org.tamanoir.traffic;

import java.util.Map;
import org.tamanoir.accounting.DropReason;

/**
 * What crossed the node, or one instance of a service, up to now. While traffic runs the figures are read one
 * after another; at rest {@code packetsIn + packetsMade = packetsOut + dropped + held} holds exactly.
 *
 * @param packetsIn packets that came in, replies of the far side included
 * @param bytesIn bytes of those
 * @param packetsMade packets that services made themselves, and those that were made to see their way
 * @param packetsOut packets handed to the operating system, replies included
 * @param bytesOut bytes of those
 * @param held packets in the node now: in queues, and waiting for a next hop
 * @param drops packets that ended here, by reason; reasons with none are left out
 * @param anomalies packets that went on in spite of a trailer or a repeated option
 */
public record TrafficSnapshot(
        long packetsIn,
        long bytesIn,
        long packetsMade,
        long packetsOut,
        long bytesOut,
        long held,
        Map<DropReason, Long> drops,
        long anomalies) {

    /** Packets that ended here for whatever reason. */
    public long dropped() {
        return drops.values().stream().mapToLong(Long::longValue).sum();
    }
}

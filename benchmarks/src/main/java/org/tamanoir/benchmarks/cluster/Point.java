package org.tamanoir.benchmarks.cluster;

import java.util.List;
import java.util.stream.Collectors;
import org.tamanoir.benchmarks.report.Numbers;
import org.tamanoir.benchmarks.report.Rows;

/**
 * What one load came to.
 *
 * @param work that nodes did
 * @param bytes of a packet as it is sent
 * @param streams TCP connections
 * @param backEnds nodes; 0: none, senders reach receivers straight
 * @param seconds measured
 * @param packets that arrived in that time
 * @param senderNs processor time in that time
 * @param nodesNs the same of each node
 * @param receiverNs the same
 * @param divided packets of the whole run by node
 */
record Point(
        Work work,
        int bytes,
        int streams,
        int backEnds,
        double seconds,
        long packets,
        long senderNs,
        List<Long> nodesNs,
        long receiverNs,
        List<Long> divided) {
    private static final String CSV_HEAD =
            "place,service,bytes,streams,back-ends,seconds,packets,Mb/s,sender ns a packet,"
                    + "nodes ns a packet,receiver ns a packet,processors used,packets by back-end";

    double packetsPerSecond() {
        return packets / seconds;
    }

    /** Of packets as they were sent, also if they arrived smaller. */
    double megabits() {
        return packetsPerSecond() * bytes * 8 / 1e6;
    }

    double senderNsPerPacket() {
        return (double) senderNs / packets;
    }

    double nodeNsPerPacket() {
        return (double) nodesNs.stream().mapToLong(Long::longValue).sum() / packets;
    }

    double receiverNsPerPacket() {
        return (double) receiverNs / packets;
    }

    /** Processors that all three stages had. */
    double processors() {
        return (senderNsPerPacket() + nodeNsPerPacket() + receiverNsPerPacket()) * packets / seconds / 1e9;
    }

    /** How evenly nodes were used. */
    double jain() {
        return Numbers.jain(divided);
    }

    static Rows csv(String place, List<Point> points) {
        Rows csv = new Rows(CSV_HEAD);
        for (Point each : points) {
            String divided = each.divided.stream().map(String::valueOf).collect(Collectors.joining(" "));
            csv.row(
                    "%s,%s,%d,%d,%d,%.2f,%d,%.1f,%.0f,%.0f,%.0f,%.2f,%s",
                    place,
                    each.work.label(),
                    each.bytes,
                    each.streams,
                    each.backEnds,
                    each.seconds,
                    each.packets,
                    each.megabits(),
                    each.senderNsPerPacket(),
                    each.nodeNsPerPacket(),
                    each.receiverNsPerPacket(),
                    each.processors(),
                    divided);
        }
        return csv;
    }
}

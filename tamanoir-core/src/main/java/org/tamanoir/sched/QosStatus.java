package org.tamanoir.sched;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.tamanoir.accounting.DropReason;

/**
 * What quality of service has done.
 *
 * @param points in the order of the configuration: {@code pre} first, then links
 */
public record QosStatus(List<Point> points) {
    public QosStatus {
        points = List.copyOf(points);
    }

    /**
     * A place where traffic is scheduled.
     *
     * @param name {@code pre}, or the link's
     * @param discipline that orders it now
     * @param classes in the order of their priority
     */
    public record Point(String name, String discipline, List<ClassStatus> classes) {
        public Point {
            classes = List.copyOf(classes);
        }
    }

    /**
     * What one class did at one point since the point exists; counts outlive changes of the configuration.
     *
     * @param name of the class
     * @param waitingPackets that wait now: in datagram queues before processing, or for a link
     * @param waitingBytes the same in bytes
     * @param waitingTurns before processing: threads that wait for a turn now; 0 at links
     * @param servedPackets that were processed, or left over the link
     * @param servedBytes the same in bytes
     * @param processorTime before processing: what turns have cost; zero at links
     * @param share 0 to 1: of the processor time before processing, of bytes at links, since the configuration was
     *     changed last
     * @param dropped packets and bytes by reason
     * @param waiting how long turns, or packets at links, have waited
     */
    public record ClassStatus(
            String name,
            long waitingPackets,
            long waitingBytes,
            long waitingTurns,
            long servedPackets,
            long servedBytes,
            Duration processorTime,
            double share,
            Map<DropReason, Dropped> dropped,
            Waiting waiting) {}

    /** Packets and bytes. */
    public record Dropped(long packets, long bytes) {}

    /**
     * A histogram of waiting times; what did not wait counts as 0.
     *
     * @param counts by bucket: i counts what waited less than 2^i microseconds and not less than the bucket before;
     *     the last one counts the rest
     * @param totalNs the sum of all waiting times
     */
    public record Waiting(List<Long> counts, long totalNs) {
        /** Buckets; the last one begins at about 4.2 s. */
        public static final int BUCKETS = 24;

        public Waiting {
            counts = List.copyOf(counts);
        }
    }
}

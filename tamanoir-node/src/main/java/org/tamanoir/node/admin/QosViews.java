package org.tamanoir.node.admin;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.sched.QosStatus;

/** What the API shows of quality of service: fields of JSON, as openapi.yaml describes them. Any thread may call. */
final class QosViews {
    private QosViews() {}

    /** All points. */
    record Status(List<Point> points) {
        static Status of(QosStatus status) {
            return new Status(status.points().stream().map(Point::of).toList());
        }
    }

    /** A place where traffic is scheduled. */
    record Point(String name, String discipline, List<TrafficClass> classes) {
        static Point of(QosStatus.Point point) {
            return new Point(
                    point.name(),
                    point.discipline(),
                    point.classes().stream().map(TrafficClass::of).toList());
        }
    }

    /** What one class did there. */
    record TrafficClass(
            String name,
            long waitingPackets,
            long waitingBytes,
            long waitingTurns,
            long servedPackets,
            long servedBytes,
            double processorSeconds,
            double share,
            long droppedPackets,
            long droppedBytes,
            Map<String, Dropped> drops,
            Waiting waiting) {
        static TrafficClass of(QosStatus.ClassStatus status) {
            Map<String, Dropped> drops = new TreeMap<>();
            status.dropped()
                    .forEach((reason, dropped) ->
                            drops.put(reason.name(), new Dropped(dropped.packets(), dropped.bytes())));
            return new TrafficClass(
                    status.name(),
                    status.waitingPackets(),
                    status.waitingBytes(),
                    status.waitingTurns(),
                    status.servedPackets(),
                    status.servedBytes(),
                    status.processorTime().toNanos() / 1e9,
                    status.share(),
                    drops.values().stream().mapToLong(Dropped::packets).sum(),
                    drops.values().stream().mapToLong(Dropped::bytes).sum(),
                    drops,
                    Waiting.of(status.waiting()));
        }
    }

    /** Packets and bytes. */
    record Dropped(long packets, long bytes) {}

    /**
     * How long turns, or packets, waited. A quantile is the upper bound of the bucket that it lies in; null when there
     * is none, or it lies in the last bucket, which has no bound.
     */
    record Waiting(
            long count,
            double meanSeconds,
            @Nullable Double p50Seconds,
            @Nullable Double p95Seconds,
            @Nullable Double p99Seconds,
            double lastBucketSeconds,
            List<Long> counts) {
        static Waiting of(QosStatus.Waiting waiting) {
            List<Long> counts = waiting.counts();
            long count = counts.stream().mapToLong(Long::longValue).sum();
            return new Waiting(
                    count,
                    count == 0 ? 0 : waiting.totalNs() / 1e9 / count,
                    quantile(counts, count, 50),
                    quantile(counts, count, 95),
                    quantile(counts, count, 99),
                    boundSeconds(counts.size() - 2),
                    counts);
        }

        /** The end of bucket i, where the next one begins. */
        static double boundSeconds(int i) {
            return (1L << i) / 1e6;
        }

        private static @Nullable Double quantile(List<Long> counts, long count, int percent) {
            // At least so many have to lie below; rounded up without overflow for counts below 2^56.
            long wanted = (count * percent + 99) / 100;
            long below = 0;
            for (int i = 0; i < counts.size() - 1; i++) {
                below += counts.get(i);
                if (count > 0 && below >= wanted) {
                    return boundSeconds(i);
                }
            }
            return null;
        }
    }
}

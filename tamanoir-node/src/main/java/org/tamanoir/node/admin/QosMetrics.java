package org.tamanoir.node.admin;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import java.util.List;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.node.tc.TcStatus;
import org.tamanoir.sched.QosStatus;

/** Metrics of quality of service, of each class at each point. Any thread may call. */
final class QosMetrics {
    /** In which packets end at a point; they are told from the start, since a rate misses a counter's first steps. */
    private static final List<DropReason> REASONS = List.of(
            DropReason.TURN_QUEUE_FULL,
            DropReason.QUEUE_FULL,
            DropReason.QUEUE_DELAY,
            DropReason.RATE_EXCEEDED,
            DropReason.UNCLASSIFIED,
            DropReason.STARVED,
            DropReason.PACKET_TOO_LONG);

    private static final QosStatus.Dropped NONE = new QosStatus.Dropped(0, 0);

    private QosMetrics() {}

    static void add(Metrics all, QosStatus status) {
        for (QosStatus.Point point : status.points()) {
            Metrics metrics = all.group("qos_", "point", point.name());
            String help = "Points where traffic is scheduled, and what orders them; always 1.";
            metrics.with("discipline", point.discipline()).gauge("point_info", help, 1);
            point.classes().forEach(each -> add(metrics.with("class", each.name()), each));
        }
    }

    /** Adds the host's classes that rules of traffic control change. */
    static void add(Metrics all, TcStatus status) {
        for (TcStatus.Rule rule : status.rules()) {
            Metrics metrics = all.group("traffic_control_", "interface", rule.device(), "class", rule.classId());
            String help = "Whether a class of the host has another rate than was found: 1 or 0.";
            metrics.gauge("changed", help, status.dryRun() || rule.found() == null ? 0 : 1);
            metrics.gauge(
                    "usable", "Whether a rule can be used: 1 or 0.", rule.state() == TcStatus.State.UNUSABLE ? 0 : 1);
            metrics.counter("changes", "Changes of a class of the host, there and back.", rule.changes());
        }
    }

    private static void add(Metrics metrics, QosStatus.ClassStatus each) {
        metrics.gauge("waiting_packets", "Packets that wait now.", each.waitingPackets());
        metrics.gauge("waiting_bytes", "Bytes of those.", each.waitingBytes());
        metrics.gauge("waiting_turns", "Threads that wait for a turn now.", each.waitingTurns());
        metrics.counter("packets_served", "Packets that were processed, or left over the link.", each.servedPackets());
        metrics.counter("bytes_served", "Bytes of those.", each.servedBytes());
        double seconds = each.processorTime().toNanos() / 1e9;
        metrics.counter("processor_seconds", "Processor time that turns have cost.", seconds);
        String share =
                "0 to 1: share of the processor time before processing, of bytes at links, since the last change.";
        metrics.gauge("share", share, each.share());
        for (DropReason reason : DropReason.values()) {
            QosStatus.Dropped dropped = each.dropped().getOrDefault(reason, NONE);
            if (dropped != NONE || REASONS.contains(reason)) {
                Metrics drops = metrics.with("reason", reason.name());
                drops.counter("packets_dropped", "Packets that were dropped.", dropped.packets());
                drops.counter("bytes_dropped", "Bytes of those.", dropped.bytes());
            }
        }
        waiting(metrics, each.waiting());
    }

    private static void waiting(Metrics metrics, QosStatus.Waiting waiting) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        int last = waiting.counts().size() - 1;
        for (int i = 0; i <= last; i++) {
            double bound = i == last ? Double.POSITIVE_INFINITY : QosViews.Waiting.boundSeconds(i);
            buckets.bucket(bound, waiting.counts().get(i));
        }
        String help = "How long turns, or packets at links, waited; 0 for those that did not.";
        metrics.histogram("waiting_seconds", help, buckets.build(), waiting.totalNs() / 1e9);
    }
}

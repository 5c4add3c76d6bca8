package org.tamanoir.node.admin;

import java.util.List;
import org.tamanoir.anep.DropReason;
import org.tamanoir.ee.QosStatus;

/** Metrics of quality of service, of each class at each point. Any thread may call. */
final class QosFigures {
    /** In which packets end at a point; they are told from the start, since a rate misses a counter's first steps. */
    private static final List<DropReason> REASONS = List.of(
            DropReason.TURN_QUEUE_FULL,
            DropReason.QUEUE_FULL,
            DropReason.QUEUE_DELAY,
            DropReason.RATE_EXCEEDED,
            DropReason.UNCLASSIFIED,
            DropReason.STARVED,
            DropReason.PACKET_TOO_LONG);

    private QosFigures() {}

    static void add(Figures figures, QosStatus status) {
        for (QosStatus.Point point : status.points()) {
            figures.gauge(
                    "tamanoir_qos_point_info",
                    "Points where traffic is scheduled, and what orders them; always 1.",
                    1,
                    "point",
                    point.name(),
                    "discipline",
                    point.discipline());
            for (QosStatus.ClassStatus each : point.classes()) {
                String[] labels = {"point", point.name(), "class", each.name()};
                depth(figures, each, labels);
                work(figures, each, labels);
                drops(figures, each, labels);
                waiting(figures, each.waiting(), labels);
            }
        }
    }

    private static void depth(Figures figures, QosStatus.ClassStatus each, String[] labels) {
        figures.gauge("tamanoir_qos_waiting_packets", "Packets that wait now.", each.waitingPackets(), labels);
        figures.gauge("tamanoir_qos_waiting_octets", "Octets of those.", each.waitingOctets(), labels);
        figures.gauge("tamanoir_qos_waiting_turns", "Threads that wait for a turn now.", each.waitingTurns(), labels);
    }

    private static void work(Figures figures, QosStatus.ClassStatus each, String[] labels) {
        figures.counter(
                "tamanoir_qos_packets_served",
                "Packets that were processed, or left over the link.",
                each.servedPackets(),
                labels);
        figures.counter("tamanoir_qos_octets_served", "Octets of those.", each.servedOctets(), labels);
        figures.counter(
                "tamanoir_qos_processor_seconds",
                "Processor time that turns have cost.",
                each.processorTime().toNanos() / 1e9,
                labels);
        figures.gauge(
                "tamanoir_qos_share",
                "0 to 1: share of the processor time before processing, of octets at links, since the last change.",
                each.share(),
                labels);
    }

    private static void drops(Figures figures, QosStatus.ClassStatus each, String[] labels) {
        for (DropReason reason : DropReason.values()) {
            QosStatus.Dropped dropped = each.dropped().get(reason);
            if (dropped != null || REASONS.contains(reason)) {
                String[] all = {labels[0], labels[1], labels[2], labels[3], "reason", reason.name()};
                figures.counter(
                        "tamanoir_qos_packets_dropped",
                        "Packets that were dropped.",
                        dropped == null ? 0 : dropped.packets(),
                        all);
                figures.counter(
                        "tamanoir_qos_octets_dropped", "Octets of those.", dropped == null ? 0 : dropped.octets(), all);
            }
        }
    }

    private static void waiting(Figures figures, QosStatus.Waiting waiting, String[] labels) {
        int buckets = waiting.counts().size();
        double[] bounds = new double[buckets];
        long[] counts = new long[buckets];
        for (int i = 0; i < buckets; i++) {
            bounds[i] = i == buckets - 1 ? Double.POSITIVE_INFINITY : QosViews.Waiting.boundSeconds(i);
            counts[i] = waiting.counts().get(i);
        }
        figures.histogram(
                "tamanoir_qos_waiting_seconds",
                "How long turns, or packets at links, waited; 0 for those that did not.",
                bounds,
                counts,
                waiting.totalNs() / 1e9,
                labels);
    }
}

package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.tamanoir.anep.DropReason;

/**
 * What one class of traffic did at one scheduling point.
 *
 * <p>Thread contract: inside the point's lock.
 */
final class ClassCounts {
    private static final DropReason[] REASONS = DropReason.values();

    private final long[] droppedPackets = new long[REASONS.length];
    private final long[] droppedOctets = new long[REASONS.length];
    private final long[] waiting = new long[QosStatus.Waiting.BUCKETS];
    private long waitingTotalNs;
    private long servedPackets;
    private long servedOctets;
    private long processorNs;
    /** Octets or processor time at the last change of the configuration. */
    private long shareBase;

    void served(long packets, long octets) {
        servedPackets += packets;
        servedOctets += octets;
    }

    void used(long processorNs) {
        this.processorNs += processorNs;
    }

    void dropped(DropReason reason, long packets, long octets) {
        droppedPackets[reason.ordinal()] += packets;
        droppedOctets[reason.ordinal()] += octets;
    }

    void waited(long ns) {
        waited(ns, 1);
    }

    /** The same of several at once. */
    void waited(long ns, long times) {
        long us = Math.max(0, ns) / 1000;
        waiting[Math.min(QosStatus.Waiting.BUCKETS - 1, Long.SIZE - Long.numberOfLeadingZeros(us))] += times;
        waitingTotalNs += Math.max(0, ns) * times;
    }

    /** Shares count from here. */
    void configurationChanged(boolean sharesProcessors) {
        shareBase = sharesProcessors ? processorNs : servedOctets;
    }

    /** What counts for its share. */
    long sinceChange(boolean sharesProcessors) {
        return (sharesProcessors ? processorNs : servedOctets) - shareBase;
    }

    QosStatus.ClassStatus status(String name, long packets, long octets, long turns, double share) {
        Map<DropReason, QosStatus.Dropped> dropped = new EnumMap<>(DropReason.class);
        for (DropReason reason : REASONS) {
            int i = reason.ordinal();
            if (droppedPackets[i] > 0) {
                dropped.put(reason, new QosStatus.Dropped(droppedPackets[i], droppedOctets[i]));
            }
        }
        List<Long> counts = new ArrayList<>();
        for (long count : waiting) {
            counts.add(count);
        }
        return new QosStatus.ClassStatus(
                name,
                packets,
                octets,
                turns,
                servedPackets,
                servedOctets,
                Duration.of(processorNs, TimeUnit.NANOSECONDS.toChronoUnit()),
                share,
                dropped,
                new QosStatus.Waiting(counts, waitingTotalNs));
    }
}

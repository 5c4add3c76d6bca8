package org.tamanoir.sched;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.arena.Arena;
import org.tamanoir.arena.Fields;
import org.tamanoir.arena.Slot;
import org.tamanoir.qdisc.TrafficClass;

/**
 * What one class of traffic did at one scheduling point, and what of it waits there.
 *
 * <p>Thread contract: inside the point's lock.
 */
final class ClassCounts {
    private static final DropReason[] REASONS = DropReason.values();

    private final long[] droppedPackets = new long[REASONS.length];
    private final long[] droppedBytes = new long[REASONS.length];
    private final long[] waiting = new long[QosStatus.Waiting.BUCKETS];
    private long waitingTotalNs;
    private long servedPackets;
    private long servedBytes;
    private long processorNs;
    /** Bytes or processor time at the last change of the configuration. */
    private long shareBase;

    // What waits now.
    private long waitingPackets;
    private long waitingBytes;
    private long waitingTurns;
    private long runningTurns;

    // What the arena shows beside that.
    private final PointCounts point;
    private Slot slot;
    private final RecentSum recentNs = new RecentSum();
    private final RecentSum recentDrops = new RecentSum();

    ClassCounts(PointCounts point, Slot slot) {
        this.point = point;
        this.slot = slot;
    }

    /** Counts packets that come to wait, or go; then both are negative. */
    void waits(long packets, long bytes) {
        waitingPackets += packets;
        waitingBytes += bytes;
        slot.set(Fields.WAITING_BYTES, waitingBytes);
    }

    /** Counts turns that come to wait, or go. */
    void waits(long turns) {
        waitingTurns += turns;
        slot.set(Fields.TURNS_WAITING, waitingTurns);
        point.waits(turns);
    }

    /** Counts turns that begin, or end. */
    void runs(long turns) {
        runningTurns += turns;
        slot.set(Fields.TURNS_RUNNING, runningTurns);
        point.runs(turns);
    }

    boolean isIdle() {
        return waitingPackets == 0 && waitingBytes == 0 && waitingTurns == 0;
    }

    void served(long packets, long bytes) {
        servedPackets += packets;
        servedBytes += bytes;
    }

    void used(long processorNs) {
        this.processorNs += processorNs;
        recentNs.add(processorNs);
        slot.set(Fields.RECENT_NS, recentNs.sum());
        point.used(processorNs);
    }

    void dropped(DropReason reason, long packets, long bytes) {
        droppedPackets[reason.ordinal()] += packets;
        droppedBytes[reason.ordinal()] += bytes;
        recentDrops.add(packets);
        slot.set(Fields.RECENT_DROPS, recentDrops.sum());
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
        shareBase = sharesProcessors ? processorNs : servedBytes;
    }

    /** What counts for its share. */
    long sinceChange(boolean sharesProcessors) {
        return (sharesProcessors ? processorNs : servedBytes) - shareBase;
    }

    // ---- in the arena ----------------------------------------------------------------------------------------------

    Slot slot() {
        return slot;
    }

    /** Is shown no more. */
    void leave(Arena arena) {
        slot = arena.give(slot);
    }

    void configure(TrafficClass config) {
        slot.set(Fields.WEIGHT, config.weight());
        slot.set(Fields.LIMIT_BYTES, config.limitBytes());
    }

    /** Begins so many spans of time of each kind. */
    void advance(long tens, long hundreds) {
        recentNs.advance(tens);
        recentDrops.advance(hundreds);
        slot.set(Fields.RECENT_NS, recentNs.sum());
        slot.set(Fields.RECENT_DROPS, recentDrops.sum());
    }

    QosStatus.ClassStatus status(String name, double share) {
        Map<DropReason, QosStatus.Dropped> dropped = new EnumMap<>(DropReason.class);
        for (DropReason reason : REASONS) {
            int i = reason.ordinal();
            if (droppedPackets[i] > 0) {
                dropped.put(reason, new QosStatus.Dropped(droppedPackets[i], droppedBytes[i]));
            }
        }
        List<Long> counts = new ArrayList<>();
        for (long count : waiting) {
            counts.add(count);
        }
        return new QosStatus.ClassStatus(
                name,
                waitingPackets,
                waitingBytes,
                waitingTurns,
                servedPackets,
                servedBytes,
                Duration.of(processorNs, TimeUnit.NANOSECONDS.toChronoUnit()),
                share,
                dropped,
                new QosStatus.Waiting(counts, waitingTotalNs));
    }
}

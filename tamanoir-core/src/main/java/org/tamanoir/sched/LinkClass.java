package org.tamanoir.sched;

import java.util.LinkedHashSet;
import java.util.Set;
import org.tamanoir.qdisc.TrafficClass;

/**
 * One class of traffic at one link, under one configuration.
 *
 * <p>Thread contract: inside the link's lock, but for {@link #isFull} and what never changes.
 */
final class LinkClass {
    final LinkContent content;
    /** Its place in the configuration, and its flow in the discipline. */
    final int index;

    final ClassCounts counts;
    private final TrafficClass config;
    private final Set<LinkQueue<?>> awaitingRoom = new LinkedHashSet<>();
    /** Stand in the discipline. */
    private long queuedPackets;

    private long queuedBytes;
    private volatile boolean full;

    LinkClass(LinkContent content, int index, TrafficClass config, ClassCounts counts) {
        this.content = content;
        this.index = index;
        this.config = config;
        this.counts = counts;
    }

    void queued(int bytes) {
        queuedPackets++;
        queuedBytes += bytes;
        // Packets of a usual size stop short of the limit in bytes.
        if (queuedPackets >= config.limitPackets() || queuedBytes >= config.limitBytes() - config.limitBytes() / 16) {
            full = true;
        }
    }

    /**
     * Takes note that one has left the discipline: reopens the class if it was full and is down to 3/4 of its limits, and
     * wakes those who wait; returns whether it did.
     */
    boolean unqueued(int bytes) {
        queuedPackets--;
        queuedBytes -= bytes;
        if (!full || queuedPackets > config.limitPackets() * 3L / 4 || queuedBytes > config.limitBytes() / 4 * 3) {
            return false;
        }
        dissolve();
        return true;
    }

    /** A packet has found no room. */
    void refused() {
        full = queuedPackets > 0; // Otherwise it is not this class's queue that is full.
    }

    boolean hasRoom(int bytes) {
        return queuedPackets < config.limitPackets() && queuedBytes + bytes <= config.limitBytes();
    }

    /** Wakes the queue's owner when there is room again. */
    void awaitRoom(LinkQueue<?> queue) {
        full = true;
        awaitingRoom.add(queue);
    }

    void awaitsNoMore(LinkQueue<?> queue) {
        awaitingRoom.remove(queue);
    }

    /** Nobody has to wait for room in it any more. */
    void dissolve() {
        full = false;
        awaitingRoom.forEach(LinkQueue::wake);
        awaitingRoom.clear();
    }

    /** Returns whether its packets have reached a limit, and not sunk well below it since. Any thread. */
    boolean isFull() {
        return full;
    }
}

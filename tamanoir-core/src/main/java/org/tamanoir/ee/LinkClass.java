package org.tamanoir.ee;

import java.util.LinkedHashSet;
import java.util.Set;
import org.tamanoir.qdisc.TrafficClass;

/**
 * One class of traffic at one link.
 *
 * <p>Thread contract: inside the link's lock, but for {@link #isFull}.
 */
final class LinkClass {
    final ClassCounts counts = new ClassCounts();
    private final Set<LinkQueue> awaitingRoom = new LinkedHashSet<>();
    private TrafficClass config;
    private int index;
    /** Wait for the link, in the discipline or behind packets of other classes. */
    private long waitingPackets;

    private long waitingOctets;
    /** Stand in the discipline. */
    private long queuedPackets;

    private long queuedOctets;
    private volatile boolean full;

    LinkClass(TrafficClass config, int index) {
        this.config = config;
        this.index = index;
    }

    /** Takes new settings, while nothing stands in the discipline; what waits is counted anew. */
    void change(TrafficClass config, int index) {
        this.config = config;
        this.index = index;
        counts.configurationChanged(false);
        waitingPackets = 0;
        waitingOctets = 0;
    }

    String name() {
        return config.name();
    }

    /** Its place in the configuration, and its flow in the discipline. */
    int index() {
        return index;
    }

    // ---- what waits ------------------------------------------------------------------------------------------------

    void begins(int octets) {
        waitingPackets++;
        waitingOctets += octets;
    }

    void ends(int octets) {
        waitingPackets--;
        waitingOctets -= octets;
    }

    void queued(int octets) {
        queuedPackets++;
        queuedOctets += octets;
        // Packets of a usual size stop short of the limit in octets.
        if (queuedPackets >= config.limitPackets()
                || queuedOctets >= config.limitOctets() - config.limitOctets() / 16) {
            full = true;
        }
    }

    /** One has left the discipline, perhaps to come back at once. */
    void unqueued(int octets) {
        queuedPackets--;
        queuedOctets -= octets;
    }

    /** Whether it was full and has room again, which those who wait are told: it is down to 3/4 of its limits. */
    boolean hasRoomAgain() {
        if (!full || queuedPackets > config.limitPackets() * 3L / 4 || queuedOctets > config.limitOctets() / 4 * 3) {
            return false;
        }
        dissolve();
        return true;
    }

    /** A packet has found no room. */
    void refused() {
        full = queuedPackets > 0; // Otherwise it is not this class's queue that is full.
    }

    boolean hasRoom(int octets) {
        return queuedPackets < config.limitPackets() && queuedOctets + octets <= config.limitOctets();
    }

    /** Wakes the queue's owner when there is room again. */
    void awaitRoom(LinkQueue queue) {
        full = true;
        awaitingRoom.add(queue);
    }

    void awaitsNoMore(LinkQueue queue) {
        awaitingRoom.remove(queue);
    }

    /** Nobody has to wait for room in it any more. */
    void dissolve() {
        full = false;
        awaitingRoom.forEach(LinkQueue::wake);
        awaitingRoom.clear();
    }

    /** Whether its packets have reached a limit, and not sunk well below it since. Any thread. */
    boolean isFull() {
        return full;
    }

    QosStatus.ClassStatus status(double share) {
        return counts.status(name(), waitingPackets, waitingOctets, 0, share);
    }
}

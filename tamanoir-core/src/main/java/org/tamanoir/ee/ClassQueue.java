package org.tamanoir.ee;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.sched.WaitingGrants;

/**
 * The order and the counts of the datagrams of one class that wait for a turn of their service.
 *
 * <p>Thread contract: the service's thread.
 */
final class ClassQueue {
    private final ArrayDeque<ClassQueues.Waiting> datagrams = new ArrayDeque<>();
    private final int limitPackets;
    private final long limitBytes;
    private long bytes;
    private long waitsSinceNs;
    private long droppedPackets;
    private long droppedBytes;
    private long toldPackets;
    private long toldBytes;

    ClassQueue(TrafficClass limits) {
        this.limitPackets = limits.limitPackets();
        this.limitBytes = limits.limitBytes();
    }

    boolean isEmpty() {
        return datagrams.isEmpty();
    }

    int packets() {
        return datagrams.size();
    }

    long bytes() {
        return bytes;
    }

    /** Returns when it was empty last. */
    long waitsSinceNs() {
        return waitsSinceNs;
    }

    boolean hasRoom(int length) {
        return datagrams.size() < limitPackets && bytes + length <= limitBytes;
    }

    /** Counts a datagram for which there was no room. */
    void refused(int length) {
        droppedPackets++;
        droppedBytes += length;
    }

    /**
     * Puts a datagram behind all others.
     *
     * @param sinceNs when it began to wait, or one before it
     */
    void add(ClassQueues.Waiting datagram, long sinceNs) {
        if (datagrams.isEmpty()) {
            waitsSinceNs = sinceNs;
        }
        datagrams.add(datagram);
        bytes += datagram.length;
    }

    /** Takes the oldest datagram out; null when none waits. */
    ClassQueues.@Nullable Waiting poll() {
        ClassQueues.Waiting first = datagrams.poll();
        if (first != null) {
            bytes -= first.length;
        }
        return first;
    }

    /** Tells the scheduling point what has changed since this was called last. */
    void tell(WaitingGrants grants, int classIndex) {
        if (packets() != toldPackets || bytes != toldBytes) {
            grants.queued(classIndex, packets() - toldPackets, bytes - toldBytes);
            toldPackets = packets();
            toldBytes = bytes;
        }
        if (droppedPackets > 0) {
            grants.dropped(classIndex, DropReason.TURN_QUEUE_FULL, droppedPackets, droppedBytes);
            droppedPackets = 0;
            droppedBytes = 0;
        }
    }
}

package org.tamanoir.sched;

import java.util.Arrays;
import org.tamanoir.qdisc.TrafficClass;

/**
 * The room in the queue of one class at a link, and which classes of turns are held back for want of it. A service may
 * change the class of a packet, so a queue holds back the classes whose packets come to wait in it, its <em>feeders</em>,
 * and not the class of its own name.
 *
 * <p>All feeders are held back when the queue is filled to 15/16 of its limits. When it is down to 3/4, or when all that
 * stood in it has left, its room is divided in proportion to the weights by which the feeders share turns. Each feeder may
 * use up its part, and is then held back until the next division. A part that is overdrawn shortens the next one. A part
 * that is not used lapses: the next division comes earlier, and the others have what was left. So the feeders share the
 * bytes of the queue by the max-min rule, whatever a turn costs, however many threads a class has, and whichever class has
 * the first turn; and no feeder is held back for what others have sent while something of its part is left. Between two
 * divisions 1/32 of the queue leaves at least, in which all feeders can have a turn: else one whose turn is late would
 * lose its part to those that come first.
 *
 * <p>A queue that several classes feed is filled no further than one stream alone can fill it. A stream processes nothing
 * while it has as much as it may waiting at the link. In a longer queue that is less than the part of its class may be,
 * and the class would count as one that wants less.
 *
 * <p>Packets that need no turn, since they ask for no service, are one feeder more, of the weight of the queue's class:
 * streams wait while their part is used up, datagrams are dropped. Where turns go by order and not by weights ({@code fifo},
 * {@code pq}) all classes of turns together are one feeder, of the same weight: the discipline says which of them comes
 * first.
 *
 * <p>Thread contract: inside the link's lock.
 */
final class QueueRoom {
    /** The last sixteenth of a queue is for packets that are processed while it fills up. */
    private static final int RESERVE = 16;
    /** One part in so many of a queue leaves between two divisions. */
    private static final int PAUSE = 32;

    private static final long WITHOUT_TURN = 1L << LinkItem.NO_TURN;

    private final TrafficClass limits;
    /** Replaces the limit of bytes while several classes feed the queue; never above it. */
    private final long sharedBytes;
    /** Whether all classes of turns are the feeder 0. */
    private final boolean isOrdered;
    /** By feeder. */
    private final long[] weights = new long[Long.SIZE];
    /** What is left of each feeder's part, in bytes; negative = overdrawn. */
    private final long[] partBytes = new long[Long.SIZE];

    private long packets;
    private long bytes;
    /** Bit i = packets that turns of class i have processed have come since the queue was empty. */
    private long turnClasses;
    /** Bit i = packets of feeder i have come since then. */
    private long feeders;
    /** Bit i = feeder i has used up its part, or the queue is full. */
    private long heldBack;

    private boolean divided;
    /** Bytes that were divided last. */
    private long dividedBytes;
    /** Bytes that have to leave before the next division. */
    private long pauseBytes;
    /** Packets that leave before a class that is held back has a chance again, however full the queue is. */
    private long patiencePackets;

    /**
     * The room of an empty queue.
     *
     * @param limits of the queue's class
     * @param index of that class
     * @param turnWeights by which classes share turns; empty where they do not
     * @param streamBytes of packets that one stream can have waiting at the link in any case
     */
    QueueRoom(TrafficClass limits, int index, long[] turnWeights, long streamBytes) {
        this.limits = limits;
        this.sharedBytes = Math.min(limits.limitBytes(), streamBytes / (RESERVE - 1) * RESERVE);
        this.isOrdered = turnWeights.length == 0;
        weights[0] = 1;
        weights[LinkItem.NO_TURN] = isOrdered ? 1 : turnWeights[index];
        System.arraycopy(turnWeights, 0, weights, 0, turnWeights.length);
    }

    /** Returns the classes of turns that are held back, a bit each. */
    long heldBack() {
        if (isOrdered) {
            return (heldBack & 1) == 0 ? 0 : turnClasses;
        }
        return heldBack & turnClasses;
    }

    /** Returns whether packets that need no turn have used up their part. */
    boolean isUsedUp(int turnClass) {
        return divided && turnClass == LinkItem.NO_TURN && (heldBack & WITHOUT_TURN) != 0;
    }

    boolean hasRoom(int packetBytes) {
        return packets < limits.limitPackets() && bytes + packetBytes <= limits.limitBytes();
    }

    /**
     * A packet comes to wait.
     *
     * @param turnClass of the turn that it was processed in, or {@link LinkItem#NO_TURN}
     */
    void come(int turnClass, int packetBytes) {
        packets++;
        bytes += packetBytes;
        int feeder = feederOf(turnClass);
        boolean isNew = (feeders >>> feeder & 1) == 0;
        know(turnClass);
        if (divided) {
            long left = isNew ? part(feeder, totalWeight()) : partBytes[feeder];
            partBytes[feeder] = Math.max(-limitBytes(), left - packetBytes);
            if (partBytes[feeder] <= 0) {
                hold(1L << feeder);
            }
        }
        if (isFilled()) {
            hold(feeders);
        }
    }

    private int feederOf(int turnClass) {
        return isOrdered && turnClass != LinkItem.NO_TURN ? 0 : turnClass;
    }

    private void know(int turnClass) {
        feeders |= 1L << feederOf(turnClass);
        if (turnClass != LinkItem.NO_TURN) {
            turnClasses |= 1L << turnClass;
        }
    }

    /** A packet of a turn of this class has found no room. */
    void refuse(int turnClass) {
        // Where it is empty it is not this queue that is full, and nothing would leave to make room.
        if (packets > 0 && !isUsedUp(turnClass)) {
            know(turnClass);
            hold(feeders);
        }
    }

    /** A packet that came is not taken by the discipline. Returns the same as {@link #leave}. */
    boolean takeBack(int turnClass, int packetBytes) {
        if (divided) {
            partBytes[feederOf(turnClass)] += packetBytes;
        }
        patiencePackets++; // It makes no room by leaving.
        pauseBytes += packetBytes;
        return leave(packetBytes);
    }

    /** A packet has left. Returns whether there is room for who waits for it, among them the classes held back before. */
    boolean leave(int packetBytes) {
        packets--;
        bytes -= packetBytes;
        patiencePackets--;
        pauseBytes -= packetBytes;
        if (packets == 0) {
            forget();
            return true;
        }
        boolean isLow = packets <= limits.limitPackets() * 3L / 4 && bytes <= limitBytes() / 4 * 3;
        if (!isLow && patiencePackets > 0) {
            return false;
        }
        if (heldBack != 0) {
            if (pauseBytes > 0) {
                return false;
            }
            divide();
        }
        return true;
    }

    /** Holds nothing back, and forgets who fed the queue. */
    void forget() {
        turnClasses = 0;
        feeders = 0;
        heldBack = 0;
        divided = false;
        pauseBytes = 0;
        Arrays.fill(partBytes, 0);
    }

    private boolean isFilled() {
        if (divided) {
            return packets >= limits.limitPackets() || bytes >= limitBytes();
        }
        return packets >= limits.limitPackets() - limits.limitPackets() / RESERVE
                || bytes >= limitBytes() - limitBytes() / RESERVE;
    }

    private void hold(long which) {
        if (heldBack == 0) {
            patiencePackets = packets;
        }
        if (turnClasses != 0) { // Else nobody shares the queue.
            heldBack |= which;
        }
    }

    private void divide() {
        patiencePackets = packets;
        long before = heldBack;
        heldBack = 0;
        divided = true;
        long capacity = capacityBytes();
        pauseBytes = capacity / PAUSE;
        dividedBytes = Math.max(capacity / RESERVE, capacity - capacity / RESERVE - bytes);
        long total = totalWeight();
        for (long left = feeders; left != 0; left &= left - 1) {
            int feeder = Long.numberOfTrailingZeros(left);
            long part = part(feeder, total);
            boolean wasHeldBack = (before >>> feeder & 1) != 0;
            partBytes[feeder] = part + (wasHeldBack ? Math.min(part, partBytes[feeder]) : 0);
            if (partBytes[feeder] <= 0) {
                heldBack |= 1L << feeder;
            }
        }
    }

    /** Returns how many bytes the queue takes of packets as long as those that are there. */
    private long capacityBytes() {
        return Math.min(limitBytes(), limits.limitPackets() * Math.max(1, bytes / packets));
    }

    /** Returns the bytes at which the queue counts as full: what has come already may exceed it. */
    private long limitBytes() {
        return Long.bitCount(turnClasses | feeders & WITHOUT_TURN) > 1 ? sharedBytes : limits.limitBytes();
    }

    private long part(int feeder, long totalWeight) {
        return Math.max(1, dividedBytes * weights[feeder] / totalWeight);
    }

    private long totalWeight() {
        long total = 0;
        for (long left = feeders; left != 0; left &= left - 1) {
            total += weights[Long.numberOfTrailingZeros(left)];
        }
        return total;
    }
}

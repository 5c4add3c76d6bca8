package org.tamanoir.qdisc;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;

/** A first-in-first-out queue for each flow, linked through the items, with the flow's limits. */
final class FairQueues {
    private final @Nullable Item[] heads;
    private final @Nullable Item[] tails;
    private final int[] flowPackets;
    private final long[] flowOctets;
    private final int[] limitPackets;
    private final long[] limitOctets;
    private final Drops drops;
    private int packets;
    private long octets;

    FairQueues(String discipline, List<FlowConfig> flows, Drops drops) {
        int count = flows.size();
        if (count == 0) {
            throw new IllegalArgumentException("discipline " + discipline + ": there is no flow; give at least one");
        }
        this.heads = new Item[count];
        this.tails = new Item[count];
        this.flowPackets = new int[count];
        this.flowOctets = new long[count];
        this.limitPackets = flows.stream().mapToInt(FlowConfig::limitPackets).toArray();
        this.limitOctets = flows.stream().mapToLong(FlowConfig::limitOctets).toArray();
        this.drops = drops;
    }

    int packets() {
        return packets;
    }

    long octets() {
        return octets;
    }

    /** The queue of a flow: an unknown one that has to be taken goes with the last. */
    int queueOf(int flow) {
        return flow >= 0 && flow < heads.length ? flow : heads.length - 1;
    }

    /** Whether the item may be appended; otherwise it has been dropped. One that must not be is marked in its place. */
    boolean admits(Item item) {
        int queue = queueOf(item.flow);
        if (queue != item.flow) {
            return admitsBeyondLimit(item, DropReason.UNCLASSIFIED);
        }
        if (flowPackets[queue] >= limitPackets[queue] || item.size > limitOctets[queue] - flowOctets[queue]) {
            return admitsBeyondLimit(item, DropReason.QUEUE_FULL);
        }
        return true;
    }

    private boolean admitsBeyondLimit(Item item, DropReason reason) {
        if (item.mayDrop) {
            drops.dropped(item, reason);
            return false;
        }
        item.mark();
        return true;
    }

    /** Puts an item at the end of a queue; whether it is the only one there. */
    boolean append(int queue, Item item) {
        Item tail = tails[queue];
        item.next = null;
        tails[queue] = item;
        flowPackets[queue]++;
        flowOctets[queue] += item.size;
        packets++;
        octets += item.size;
        if (tail == null) {
            heads[queue] = item;
            return true;
        }
        tail.next = item;
        return false;
    }

    /** The first item of a queue. */
    @Nullable
    Item head(int queue) {
        return heads[queue];
    }

    /** Takes the first item out of a queue that has one. */
    Item remove(int queue) {
        Item item = heads[queue];
        if (item == null) {
            throw new IllegalStateException("queue " + queue + " is empty");
        }
        Item next = item.next;
        heads[queue] = next;
        item.next = null;
        if (next == null) {
            tails[queue] = null;
        }
        flowPackets[queue]--;
        flowOctets[queue] -= item.size;
        packets--;
        octets -= item.size;
        return item;
    }

    /** Takes all items out, queue after queue. */
    void drain(Consumer<Item> taker) {
        for (int queue = 0; queue < heads.length; queue++) {
            while (heads[queue] != null) {
                taker.accept(remove(queue));
            }
        }
    }
}

package org.tamanoir.qdisc;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;

/**
 * A queue for each flow, each with its own limits: what arrives at a full one is dropped, as is what has no flow.
 *
 * <p>Thread contract: one thread at a time.
 */
final class FlowQueues {
    private final ItemQueue[] queues;
    private final int[] limitPackets;
    private final long[] limitOctets;
    private final Drops drops;
    private int packets;
    private long octets;

    FlowQueues(String discipline, List<FlowConfig> flows, Drops drops) {
        if (flows.isEmpty()) {
            throw new IllegalArgumentException("discipline " + discipline + ": there is no flow; give at least one");
        }
        queues = new ItemQueue[flows.size()];
        limitPackets = new int[flows.size()];
        limitOctets = new long[flows.size()];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new ItemQueue();
            limitPackets[i] = flows.get(i).limitPackets();
            limitOctets[i] = flows.get(i).limitOctets();
        }
        this.drops = drops;
    }

    /** Takes the item into its flow's queue; false when that was full, or there is none, and the item is dropped. */
    boolean enqueue(Item item, long nowNs) {
        int flow = item.flow;
        item.enqueuedAt(nowNs);
        if (flow < 0 && item.mayDrop) {
            drops.dropped(item, DropReason.UNCLASSIFIED);
            return false;
        }
        ItemQueue queue = queues[flow];
        if (!queue.takes(item, limitPackets[flow], limitOctets[flow])) {
            drops.dropped(item, DropReason.QUEUE_FULL);
            return false;
        }
        queue.add(item);
        packets++;
        octets += item.size;
        return true;
    }

    /** The oldest of a flow, which stays. */
    @Nullable
    Item peek(int flow) {
        return queues[flow].peek();
    }

    /** The oldest of a flow, which leaves. */
    @Nullable
    Item poll(int flow) {
        Item item = queues[flow].poll();
        if (item != null) {
            packets--;
            octets -= item.size;
        }
        return item;
    }

    boolean isEmpty(int flow) {
        return queues[flow].isEmpty();
    }

    int packets() {
        return packets;
    }

    long octets() {
        return octets;
    }

    /** Gives all, flow by flow. */
    void drain(Consumer<Item> taker) {
        for (int flow = 0; flow < queues.length; flow++) {
            Item item = poll(flow);
            while (item != null) {
                taker.accept(item);
                item = poll(flow);
            }
        }
    }
}

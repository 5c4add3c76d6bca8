package org.tamanoir.qdisc;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * A queue for each flow, each with its own limits: what arrives at a full one is dropped, as is what has no flow.
 *
 * <p>Thread contract: one thread at a time.
 */
final class FlowQueues {
    private final ItemQueue[] queues;
    private final int[] limitPackets;
    private final long[] limitBytes;
    private final Drops drops;
    private int packets;
    private long bytes;

    FlowQueues(String discipline, List<FlowConfig> flows, Drops drops) {
        if (flows.isEmpty()) {
            throw new IllegalArgumentException("discipline " + discipline + ": there is no flow; give at least one");
        }
        queues = new ItemQueue[flows.size()];
        limitPackets = new int[flows.size()];
        limitBytes = new long[flows.size()];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new ItemQueue();
            limitPackets[i] = flows.get(i).limitPackets();
            limitBytes[i] = flows.get(i).limitBytes();
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
        if (!queue.takes(item, limitPackets[flow], limitBytes[flow])) {
            drops.dropped(item, DropReason.QUEUE_FULL);
            return false;
        }
        queue.add(item);
        packets++;
        bytes += item.size;
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
            bytes -= item.size;
        }
        return item;
    }

    /** Takes one out; returns whether it was the oldest of its flow. */
    boolean remove(Item item) {
        ItemQueue queue = queues[item.flow];
        boolean wasFirst = queue.peek() == item;
        queue.remove(item);
        packets--;
        bytes -= item.size;
        return wasFirst;
    }

    boolean isEmpty(int flow) {
        return queues[flow].isEmpty();
    }

    int packets() {
        return packets;
    }

    long bytes() {
        return bytes;
    }
}

package org.tamanoir.qdisc;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * {@code fq-codel} (RFC 8290): items are spread over many queues by their hash; the queues are served by deficit round
 * robin, those that have just got something before the others, and each is controlled by CoDel. When all together hold
 * too much, the one that holds most loses items from its head. Options: {@code flows} (queues), {@code limit} (packets),
 * {@code memory} (bytes), {@code quantum} (bytes), {@code drop-batch} (packets), {@code target}, {@code interval}.
 *
 * <p>Items that fit no class are dropped, unless they must not be. Items that must not be dropped count towards the
 * limits, but only the others are shed.
 */
final class FqCoDel implements QueueingDiscipline {
    static final String NAME = "fq-codel";
    private static final String FLOWS = "flows";
    private static final String LIMIT = "limit";
    private static final String MEMORY = "memory";
    private static final String QUANTUM = "quantum";
    private static final String DROP_BATCH = "drop-batch";
    /** Bounds the rounds that a packet of 64 KiB may have to wait for. */
    private static final int MIN_QUANTUM = 64;

    private final CoDelQueue[] queues;
    private final long[] deficit;
    /** Bytes that may be dropped. */
    private final long[] sheddable;

    private final FlowList fresh;
    private final FlowList old;
    private final boolean[] listed;

    private final int limitPackets;
    private final long limitBytes;
    private final int quantum;
    private final int dropBatch;
    private final Drops drops;
    private final Forward clock = new Forward();
    private int packets;
    private long bytes;
    private long sheddableBytes;

    FqCoDel(DisciplineConfig config, Drops drops) {
        Options options = new Options(
                NAME,
                config.options(),
                DROP_BATCH,
                FLOWS,
                CoDelQueue.INTERVAL,
                LIMIT,
                MEMORY,
                QUANTUM,
                CoDelQueue.TARGET);
        limitPackets = (int) options.number(LIMIT, 10_240, 1, Integer.MAX_VALUE);
        limitBytes = options.number(MEMORY, 32 << 20, 1, 1L << 40);
        quantum = (int) options.number(QUANTUM, 1514, MIN_QUANTUM, 1 << 30);
        dropBatch = (int) options.number(DROP_BATCH, 64, 1, 1 << 20);
        int flows = (int) options.number(FLOWS, 1024, 1, 1 << 16);
        this.drops = drops;
        queues = new CoDelQueue[flows];
        queues[0] = CoDelQueue.of(options, this::dropped);
        Arrays.setAll(queues, i -> i == 0 ? queues[0] : queues[0].another());
        deficit = new long[flows];
        sheddable = new long[flows];
        int[] following = new int[flows];
        fresh = new FlowList(following);
        old = new FlowList(following);
        listed = new boolean[flows];
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        item.enqueuedAt(clock.at(nowNs));
        if (item.flow < 0 && item.mayDrop) {
            drops.dropped(item, DropReason.UNCLASSIFIED);
            return;
        }
        int flow = flowOf(item.hash);
        queues[flow].add(item);
        count(item, flow, 1);
        if (!listed[flow]) {
            listed[flow] = true;
            fresh.addLast(flow);
            deficit[flow] = quantum;
        }
        while ((packets > limitPackets || bytes > limitBytes) && sheddableBytes > 0) {
            shed();
        }
    }

    /** Drops half of the queue that holds most, or a batch. Looking for it is paid for by what is dropped at once. */
    private void shed() {
        int most = 0;
        for (int flow = 1; flow < sheddable.length; flow++) {
            if (sheddable[flow] > sheddable[most]) {
                most = flow;
            }
        }
        long half = Math.max(1, sheddable[most] / 2);
        queues[most].queue().shed(half, dropBatch, this::dropped, DropReason.QUEUE_FULL);
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        long reckonedNs = clock.at(nowNs);
        while (true) {
            FlowList list = fresh.isEmpty() ? old : fresh;
            int flow = list.first();
            if (flow == FlowList.NONE) {
                return null;
            }
            if (deficit[flow] <= 0) {
                deficit[flow] += quantum;
                list.removeFirst();
                old.addLast(flow);
                continue;
            }
            Item item = queues[flow].dequeue(reckonedNs);
            if (item != null) {
                count(item, flow, -1);
                deficit[flow] -= item.size;
                return item;
            }
            list.removeFirst();
            if (list == fresh) {
                old.addLast(flow); // else a flow that comes and goes would stay ahead of the others
            } else {
                listed[flow] = false;
            }
        }
    }

    private void dropped(Item item, DropReason reason) {
        count(item, flowOf(item.hash), -1);
        drops.dropped(item, reason);
    }

    private void count(Item item, int flow, int sign) {
        long size = (long) sign * item.size;
        packets += sign;
        bytes += size;
        if (item.mayDrop) {
            sheddable[flow] += size;
            sheddableBytes += size;
        }
    }

    /** The queue for a hash: its upper half, after mixing, scaled to the number of queues. */
    private int flowOf(long hash) {
        return (int) ((hash * 0x9E3779B97F4A7C15L >>> 32) * queues.length >>> 32);
    }

    @Override
    public int packets() {
        return packets;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    /** A queue that is empty now leaves its list when it is visited. */
    @Override
    public void remove(Item item, long nowNs) {
        int flow = flowOf(item.hash);
        queues[flow].queue().remove(item);
        count(item, flow, -1);
    }

    /** Bytes that a hash's queue may still send in its visit. */
    long deficit(long hash) {
        return deficit[flowOf(hash)];
    }

    /** Whether a hash's queue stands on the list of those that have just got something. */
    boolean isNew(long hash) {
        return contains(fresh, flowOf(hash));
    }

    /** Whether a hash's queue stands on the list of the others. */
    boolean isOld(long hash) {
        return contains(old, flowOf(hash));
    }

    private static boolean contains(FlowList list, int flow) {
        for (int at = list.first(); at != FlowList.NONE; at = list.after(at)) {
            if (at == flow) {
                return true;
            }
        }
        return false;
    }
}

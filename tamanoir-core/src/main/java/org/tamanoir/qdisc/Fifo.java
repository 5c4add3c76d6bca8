package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * {@code fifo}: one queue for all flows, which drops what arrives while it is full. Options: {@code limit-packets},
 * {@code limit-bytes}.
 */
final class Fifo implements QueueingDiscipline {
    static final String NAME = "fifo";

    private final ItemQueue queue = new ItemQueue();
    private final int limitPackets;
    private final long limitBytes;
    private final Drops drops;

    Fifo(DisciplineConfig config, Drops drops) {
        Options options = new Options(NAME, config.options(), Limits.BYTES, Limits.PACKETS);
        Limits limits = Limits.of(NAME, config, options);
        limitPackets = limits.packets();
        limitBytes = limits.bytes();
        this.drops = drops;
    }

    /** Takes an item whatever the limits say. */
    void take(Item item) {
        queue.add(item);
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        item.enqueuedAt(nowNs);
        if (queue.takes(item, limitPackets, limitBytes)) {
            queue.add(item);
        } else {
            drops.dropped(item, DropReason.QUEUE_FULL);
        }
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        return queue.poll();
    }

    @Override
    public int packets() {
        return queue.packets();
    }

    @Override
    public long bytes() {
        return queue.bytes();
    }

    @Override
    public void remove(Item item, long nowNs) {
        queue.remove(item);
    }
}

package org.tamanoir.qdisc;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;

/**
 * {@code fifo}: one queue for all flows, which drops what arrives while it is full. Options: {@code limit-packets},
 * {@code limit-octets}.
 */
final class Fifo implements QueueingDiscipline {
    static final String NAME = "fifo";

    private final ItemQueue queue = new ItemQueue();
    private final int limitPackets;
    private final long limitOctets;
    private final Drops drops;

    Fifo(DisciplineConfig config, Drops drops) {
        Options options = new Options(NAME, config.options(), Limits.OCTETS, Limits.PACKETS);
        Limits limits = Limits.of(NAME, config, options);
        limitPackets = limits.packets();
        limitOctets = limits.octets();
        this.drops = drops;
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        item.enqueuedAt(nowNs);
        if (queue.takes(item, limitPackets, limitOctets)) {
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
    public long octets() {
        return queue.octets();
    }

    @Override
    public void drain(Consumer<Item> taker) {
        queue.drain(taker);
    }
}

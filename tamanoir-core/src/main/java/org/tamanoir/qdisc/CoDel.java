package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * {@code codel}: one queue for all flows whose standing delay is controlled (RFC 8289). Options: {@code target} and
 * {@code interval}, and {@code limit-packets} and {@code limit-bytes} as those of {@code fifo}.
 */
final class CoDel implements QueueingDiscipline {
    static final String NAME = "codel";

    private final CoDelQueue queue;
    private final Limits limits;
    private final Drops drops;
    private final Forward clock = new Forward();

    CoDel(DisciplineConfig config, Drops drops) {
        Options options = new Options(
                NAME, config.options(), CoDelQueue.INTERVAL, Limits.BYTES, Limits.PACKETS, CoDelQueue.TARGET);
        limits = Limits.of(NAME, config, options);
        queue = CoDelQueue.of(options, drops);
        this.drops = drops;
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        item.enqueuedAt(clock.at(nowNs));
        if (queue.queue().takes(item, limits.packets(), limits.bytes())) {
            queue.add(item);
        } else {
            drops.dropped(item, DropReason.QUEUE_FULL);
        }
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        return queue.dequeue(clock.at(nowNs));
    }

    @Override
    public int packets() {
        return queue.queue().packets();
    }

    @Override
    public long bytes() {
        return queue.queue().bytes();
    }

    @Override
    public void remove(Item item, long nowNs) {
        queue.queue().remove(item);
    }
}

package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;

/**
 * Holds the order of another discipline to a token bucket: the item at its head waits until there are tokens for all
 * its bytes. A head that was chosen counts as being served: what arrives meanwhile does not overtake it.
 *
 * <p>With {@code police}, an item that may be dropped and finds too few tokens on arrival is dropped,
 * {@link org.tamanoir.accounting.DropReason#RATE_EXCEEDED}, in place of waiting. Tokens that those inside need are not there
 * for it.
 *
 * <p>Thread contract: one thread at a time.
 */
public final class Shaper implements QueueingDiscipline {
    private final QueueingDiscipline inner;
    private final TokenBucket bucket;
    private final boolean police;
    private final Drops drops;
    /** The head: chosen, waits for tokens. */
    private @Nullable Item head;

    /**
     * Items larger than the bucket must not be enqueued: they are dropped, {@code PACKET_TOO_LONG}, whether they may be
     * or not, since they could never leave.
     */
    public Shaper(QueueingDiscipline inner, TokenBucket bucket, boolean police, Drops drops) {
        this.inner = inner;
        this.bucket = bucket;
        this.police = police;
        this.drops = drops;
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        item.requireFree();
        if (item.size > bucket.burst()) {
            drop(item, DropReason.PACKET_TOO_LONG, nowNs);
        } else if (police && item.mayDrop && bucket.readyNs(bytes() + item.size, nowNs) != nowNs) {
            drop(item, DropReason.RATE_EXCEEDED, nowNs);
        } else {
            inner.enqueue(item, nowNs);
        }
    }

    private void drop(Item item, DropReason reason, long nowNs) {
        item.enqueuedAt(nowNs);
        drops.dropped(item, reason);
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        Item item = chosen(nowNs);
        if (item == null || !bucket.take(item.size, nowNs)) {
            return null;
        }
        headLeaves(item);
        return item;
    }

    private void headLeaves(Item item) {
        head = null;
        item.leave(this);
    }

    /** The head; the bucket may have become smaller than what waits since that came in. */
    private @Nullable Item chosen(long nowNs) {
        Item item = head;
        if (item != null && item.size > bucket.burst()) {
            headLeaves(item);
            drops.dropped(item, DropReason.PACKET_TOO_LONG);
        }
        while (head == null && (item = inner.dequeue(nowNs)) != null) {
            if (item.size > bucket.burst()) {
                drops.dropped(item, DropReason.PACKET_TOO_LONG);
            } else {
                item.enter(this);
                head = item;
            }
        }
        return head;
    }

    @Override
    public int packets() {
        return inner.packets() + (head == null ? 0 : 1);
    }

    @Override
    public long bytes() {
        return inner.bytes() + (head == null ? 0 : head.size);
    }

    @Override
    public long readyNs(long nowNs) {
        Item item = chosen(nowNs);
        return item == null ? inner.readyNs(nowNs) : bucket.readyNs(item.size, nowNs);
    }

    @Override
    public void charge(int flow, long rest) {
        inner.charge(flow, rest);
    }

    /** Returns the item that was chosen and waits for tokens; null when there is none. */
    public @Nullable Item head() {
        return head;
    }

    @Override
    public void remove(Item item, long nowNs) {
        if (item == head) {
            headLeaves(item);
            inner.charge(item.flow, -item.size);
        } else {
            inner.remove(item, nowNs);
        }
    }
}

package org.tamanoir.qdisc;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds the order of another discipline to a token bucket: the item at its head waits until there are tokens for all
 * its octets. A head that was chosen counts as being served: what arrives meanwhile does not overtake it.
 *
 * <p>With {@code police}, an item that may be dropped and finds too few tokens on arrival is dropped,
 * {@link org.tamanoir.anep.DropReason#RATE_EXCEEDED}, in place of waiting.
 */
public final class Shaper implements QueueingDiscipline {
    /** Items larger than the bucket must not be enqueued: they are dropped, {@code PACKET_TOO_LONG}. */
    public Shaper(QueueingDiscipline inner, TokenBucket bucket, boolean police, Drops drops) {
        throw new UnsupportedOperationException();
    }

    /** Takes tokens for a packet that need not queue, because nothing waits; false when it has to be enqueued. */
    public boolean pass(long octets, long nowNs) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void enqueue(Item item, long nowNs) {
        throw new UnsupportedOperationException();
    }

    @Override
    public @Nullable Item dequeue(long nowNs) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int packets() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long octets() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long readyNs(long nowNs) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void drain(Consumer<Item> taker) {
        throw new UnsupportedOperationException();
    }
}

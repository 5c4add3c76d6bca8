package org.tamanoir.qdisc;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Decides the order in which items of several flows are served, and which are dropped. Every item that is enqueued
 * comes out exactly once: from {@link #dequeue}, from {@link #drain}, or at the {@link Drops} that the discipline was
 * made with. Items of one flow come out in the order in which they came in. Ties: the smaller flow index, then the
 * order of arrival.
 *
 * <p>Time is what callers say it is: nanoseconds on any clock. A clock that steps back counts as standing still.
 *
 * <p>Thread contract: one thread at a time; there is no lock, thread or clock inside.
 */
public interface QueueingDiscipline {
    /**
     * Takes an item. It, or others in its place, may be dropped at once; with {@link Item#mayDrop} false it never is.
     */
    void enqueue(Item item, long nowNs);

    /** The item to be served now; null when there is none, or none that may go yet ({@link #readyNs} tells when). */
    @Nullable
    Item dequeue(long nowNs);

    /** Items inside. */
    int packets();

    /** The sum of their sizes. */
    long octets();

    /** The earliest time at which {@link #dequeue} can give an item: {@code nowNs} or later; the maximum when empty. */
    default long readyNs(long nowNs) {
        return packets() == 0 ? Long.MAX_VALUE : nowNs;
    }

    /**
     * An item that was dequeued cost more, or less, than its size said: its flow is charged the rest. For turns, whose
     * cost is known only afterwards. Disciplines that do not share by size have nothing to do.
     *
     * @param flow index of the flow
     * @param rest what it cost minus its size; may be negative
     */
    default void charge(int flow, long rest) {}

    /** Takes all items out, drops none, and keeps the order within each flow; for when another discipline follows. */
    void drain(Consumer<Item> taker);
}

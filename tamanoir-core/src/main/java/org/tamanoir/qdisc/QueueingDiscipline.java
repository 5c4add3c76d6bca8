package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;

/**
 * Decides the order in which items of several flows are served, and which are dropped. Every item that is enqueued
 * comes out exactly once: from {@link #dequeue} or {@link #remove}, or at the {@link Drops} that the discipline was made
 * with. What {@link Disciplines} makes checks a part of that for every discipline, those of users
 * too: an item that stands in one is refused, and a discipline that throws, or gives what does not stand in it, is
 * replaced. An item that a discipline never gives back waits until its owner removes it, or another discipline has
 * followed for the stall time. Items
 * of one flow come out in the order in which they came in. Ties: the smaller flow index, then the order of arrival.
 *
 * <p>Time is what callers say it is: nanoseconds on any clock. A clock that steps back counts as standing still.
 *
 * <p>Thread contract: one thread at a time; there is no lock, thread or clock inside.
 */
public interface QueueingDiscipline {
    /**
     * Takes an item. It, or others in its place, may be dropped at once; with {@link Item#mayDrop} false it never is.
     *
     * @throws IllegalStateException if the item stands in a discipline; nothing is changed then
     */
    void enqueue(Item item, long nowNs);

    /** The item to be served now; null when there is none, or none that may go yet ({@link #readyNs} tells when). */
    @Nullable
    Item dequeue(long nowNs);

    /** Items inside. */
    int packets();

    /** The sum of their sizes. */
    long bytes();

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

    /**
     * Takes an item out that stands in it: it is its owner's again, and its flow is charged nothing for it. The others
     * keep their order within each flow.
     *
     * @param item that stands in it
     */
    void remove(Item item, long nowNs);
}

package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.qdisc.Item;

/**
 * A packet that waits for a link, in its owner's memory.
 *
 * <p>Thread contract: what the scheduler writes is inside the link's lock; the rest is the owner's thread's.
 */
final class LinkItem extends Item {
    final LinkQueue queue;
    /** The next one in the list that it stands in: its queue's, what has come back, or the spare ones. */
    @Nullable
    LinkItem behind;

    // Of the scheduler.
    @Nullable
    LinkClass trafficClass;

    int octets;
    long sinceNs;
    /** Stands in the discipline. */
    boolean submitted;
    /** May leave, once those before it in an ordered queue have. */
    boolean granted;
    /** Why it may not leave; null = it may. */
    @Nullable
    DropReason reason;

    // Of the owner.
    QueueMemory.@Nullable Chunk chunk;
    int offset;
    /** The way of a datagram, once it may leave, and where it goes from there. */
    @Nullable
    Departure way;

    long high;
    long low;
    int port;

    LinkItem(LinkQueue queue) {
        this.queue = queue;
    }

    /** Its class while it waits. */
    LinkClass currentClass() {
        LinkClass known = trafficClass;
        if (known == null) {
            throw new IllegalStateException("an item that waits has a class");
        }
        return known;
    }
}

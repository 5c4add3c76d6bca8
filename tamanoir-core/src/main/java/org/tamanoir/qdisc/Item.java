package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;

/**
 * What a {@link QueueingDiscipline} orders: a packet that waits for its departure, or a turn on a processor. Owners
 * extend it with what they need to know. It carries the links and tags of the built-in disciplines, so that queueing
 * allocates nothing; it may stand in one discipline at a time, once, and is not described anew while it does.
 *
 * <p>Thread contract: that of the discipline it stands in.
 */
public class Item {
    int flow;
    int size;
    long hash;
    boolean mayDrop;
    boolean marked;
    long enqueuedNs;

    /** The discipline that it stands in. */
    private @Nullable QueueingDiscipline place;

    // Of the account of all that stand there, in the order of arrival.
    @Nullable
    Item older;

    @Nullable
    Item newer;

    // Of the discipline's queues.
    @Nullable
    Item next;

    @Nullable
    Item previous;

    /** Virtual start. */
    long start;
    /** Virtual finish. */
    long finish;

    /**
     * Says what it is, before it is enqueued.
     *
     * @param flow index of the flow or class, from 0; -1 = no class matches
     * @param size bytes of the packet, or nanoseconds that a turn is expected to take; 1 and more
     * @param hash of what {@code fq-codel} keeps apart: the stream, or the ends of the packet
     * @param mayDrop false = it waits whatever the limits say, and is marked where it would have been dropped; its owner
     *     bounds how many of these there are
     * @throws IllegalStateException if it stands in a discipline
     */
    public final void describe(int flow, int size, long hash, boolean mayDrop) {
        requireFree();
        this.flow = flow;
        this.size = size;
        this.hash = hash;
        this.mayDrop = mayDrop;
        this.marked = false;
    }

    /** Index of the flow or class; -1 = no class matches. */
    public final int flow() {
        return flow;
    }

    /** Bytes, or nanoseconds. */
    public final int size() {
        return size;
    }

    /** What {@code fq-codel} tells flows by. */
    public final long hash() {
        return hash;
    }

    /** Whether a discipline may drop it. */
    public final boolean mayDrop() {
        return mayDrop;
    }

    /** Whether a discipline would have dropped it, had it been allowed to. */
    public final boolean isMarked() {
        return marked;
    }

    /** Says that it would have been dropped. For disciplines. */
    public final void mark() {
        marked = true;
    }

    /** When it was enqueued. */
    public final long enqueuedNs() {
        return enqueuedNs;
    }

    /** Notes when it is enqueued. For disciplines, first of all in {@link QueueingDiscipline#enqueue}. */
    public final void enqueuedAt(long nowNs) {
        enqueuedNs = nowNs;
    }

    /** Whether it stands in a discipline. */
    public final boolean isEnqueued() {
        return place != null;
    }

    final boolean standsIn(QueueingDiscipline discipline) {
        return place == discipline;
    }

    /** Takes its place, of which it has one at a time: linked twice it would be lost, or lead round in a circle. */
    final void enter(QueueingDiscipline discipline) {
        requireFree();
        place = discipline;
    }

    /** Leaves its place. */
    final void leave(QueueingDiscipline discipline) {
        if (place != discipline) {
            throw new IllegalStateException(text() + " does not stand in the discipline that it is taken from");
        }
        place = null;
    }

    final void requireFree() {
        if (place != null) {
            throw new IllegalStateException(
                    text() + " stands in a discipline already: it may once; take it out before it is used again");
        }
    }

    private String text() {
        return "an item of flow " + flow + " and size " + size;
    }
}

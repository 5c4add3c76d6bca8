package org.tamanoir.qdisc;

import org.jspecify.annotations.Nullable;

/**
 * What a {@link QueueingDiscipline} orders: a packet that waits for its departure, or a turn on a processor. Owners
 * extend it with what they need to know. It carries the links and tags of the built-in disciplines, so that queueing
 * allocates nothing; it may stand in one discipline at a time.
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

    // Of the discipline that it stands in.
    @Nullable
    Item next;

    /** Virtual start. */
    long start;
    /** Virtual finish. */
    long finish;

    /**
     * Says what it is, before it is enqueued.
     *
     * @param flow index of the flow or class, from 0; -1 = no class matches
     * @param size octets of the packet, or nanoseconds that a turn is expected to take; 1 and more
     * @param hash of what {@code fq-codel} keeps apart: the stream, or the ends of the packet
     * @param mayDrop false = it waits whatever the limits say, and is marked where it would have been dropped; its owner
     *     bounds how many of these there are
     */
    public final void describe(int flow, int size, long hash, boolean mayDrop) {
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

    /** Octets, or nanoseconds. */
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
}

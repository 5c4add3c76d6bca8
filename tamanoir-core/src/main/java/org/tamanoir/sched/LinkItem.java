package org.tamanoir.sched;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.qdisc.Item;

/**
 * A packet that waits for a link, in its owner's memory.
 *
 * <p>Thread contract: what the scheduler writes is inside the link's lock; the rest is the owner's thread's.
 */
public final class LinkItem<P> extends Item {
    /** Stands for the class of a turn where a packet was processed in none. The 64th class, if there is one, shares it. */
    public static final int NO_TURN = Long.SIZE - 1;

    final LinkQueue<P> queue;
    private final P stored;
    /** The next one in the list that it stands in: its queue's, what has come back, or the spare ones. */
    @Nullable
    LinkItem<P> behind;

    // Of the scheduler.
    @Nullable
    LinkClass trafficClass;

    /** Place of the class of the turn that it was processed in, or {@link #NO_TURN}; the owner's until it waits. */
    int turnClass = NO_TURN;

    int bytes;
    long sinceNs;
    /** Stands in the discipline. */
    boolean submitted;
    /** May leave, once those before it in an ordered queue have. */
    boolean granted;
    /** Why it may not leave; null = it may. */
    @Nullable
    DropReason reason;
    /** A gated discipline is to be told when it has left. */
    boolean underWay;

    LinkItem(LinkQueue<P> queue, P stored) {
        this.queue = queue;
        this.stored = stored;
    }

    /** Returns where its owner keeps the packet. */
    public P stored() {
        return stored;
    }

    /** Says of which class the turn was that its packet was processed in, or {@link #NO_TURN}; before it waits. */
    public void processedIn(int classOfTurn) {
        turnClass = classOfTurn;
    }

    /** Returns the next one in the list that it stands in. */
    public @Nullable LinkItem<P> behind() {
        return behind;
    }

    /** Puts a list behind it, once it has come back to its owner. */
    public void putBehind(@Nullable LinkItem<P> list) {
        behind = list;
    }

    /** Returns the bytes of the packet. */
    public int bytes() {
        return bytes;
    }

    /** Returns why it may not leave; null = it may. */
    public @Nullable DropReason reason() {
        return reason;
    }

    /** Returns whether the link is to be told when it has left, and forgets it. */
    public boolean takeUnderWay() {
        boolean was = underWay;
        underWay = false;
        return was;
    }

    /** Makes it its owner's again. */
    void giveBack() {
        queue.giveBack(this);
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

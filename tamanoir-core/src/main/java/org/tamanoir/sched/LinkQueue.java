package org.tamanoir.sched;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.qdisc.GatedDiscipline;

/**
 * The packets of one owner that wait for one link, each in the order that the discipline gives it. What the link has
 * granted, or the discipline has dropped, comes back in a list that the owner takes.
 *
 * <p>Thread contract: inside the link's lock, but for {@link #hasReturned} and what is the owner's.
 */
public class LinkQueue<P> {
    /** Spare items kept; more are left to the garbage collector. */
    private static final int MAX_SPARE = 1024;

    private final Runnable wake;
    private final Supplier<P> stores;
    private @Nullable LinkItem<P> firstReturned;
    private @Nullable LinkItem<P> lastReturned;
    private volatile boolean hasReturned;
    /** Woken for what came back since it took last. */
    private boolean woken;
    /** Its owner wants nothing back any more. */
    private boolean withdrawn;

    /** Is told when packets have left; null = none has to be. */
    private @Nullable GatedDiscipline gated;
    /** Packets that it gave and that have not left. */
    private int underWay;

    // The owner's.
    private @Nullable LinkItem<P> spare;
    private int spares;

    /**
     * @param wake makes the owner look; it must not block
     * @param stores makes what the owner keeps a packet by
     */
    public LinkQueue(Runnable wake, Supplier<P> stores) {
        this.wake = wake;
        this.stores = stores;
    }

    // ---- the link's side -------------------------------------------------------------------------------------------

    /** The item is the owner's again. */
    final void giveBack(LinkItem<P> item) {
        item.behind = null;
        if (lastReturned == null) {
            firstReturned = item;
        } else {
            lastReturned.behind = item;
        }
        lastReturned = item;
        hasReturned = true;
    }

    /** Has the owner take what has come back, once. */
    final void wakeIfReturned() {
        if (hasReturned && !woken) {
            woken = true;
            wake();
        }
    }

    /** Has the owner look. */
    final void wake() {
        wake.run();
    }

    /** Returns this queue if its packets must not overtake each other; else null. */
    @Nullable
    OrderedLinkQueue<P> ordered() {
        return null;
    }

    final boolean isWithdrawn() {
        return withdrawn;
    }

    final void withdraw() {
        withdrawn = true;
        departed(Integer.MAX_VALUE);
    }

    /** Takes note that a gated discipline has given an item. */
    final void departs(LinkItem<?> item, GatedDiscipline by) {
        item.underWay = true;
        gated = by;
        underWay++;
    }

    /** Tells the discipline that so many packets have left, or ended; all that there are at most. */
    final void departed(int packets) {
        int told = Math.min(packets, underWay);
        if (gated != null && told > 0) {
            underWay -= told;
            gated.departed(told);
        }
    }

    /** Items that came back, linked; null when there are none. */
    final @Nullable LinkItem<P> takeReturned() {
        LinkItem<P> first = firstReturned;
        firstReturned = null;
        lastReturned = null;
        hasReturned = false;
        woken = false;
        return first;
    }

    // ---- the owner's side ------------------------------------------------------------------------------------------

    /** Whether items have come back. Takes no lock. */
    public final boolean hasReturned() {
        return hasReturned;
    }

    /** An item of this queue. */
    public final LinkItem<P> newItem() {
        LinkItem<P> item = spare;
        if (item == null) {
            return new LinkItem<>(this, stores.get());
        }
        spare = item.behind;
        spares--;
        item.behind = null;
        return item;
    }

    /** The item stands nowhere and is not needed any more. */
    public final void recycle(LinkItem<P> item) {
        if (spares < MAX_SPARE) {
            item.behind = spare;
            spare = item;
            spares++;
        }
    }
}

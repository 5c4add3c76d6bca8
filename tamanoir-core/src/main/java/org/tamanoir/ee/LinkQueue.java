package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;

/**
 * The packets of one owner that wait for one link, each in the order that the discipline gives it. What the link has
 * granted, or the discipline has dropped, comes back in a list that the owner takes.
 *
 * <p>Thread contract: inside the link's lock, but for {@link #hasReturned} and what is the owner's.
 */
class LinkQueue {
    /** Spare items kept; more are left to the garbage collector. */
    private static final int MAX_SPARE = 1024;

    private final Runnable wake;
    private @Nullable LinkItem firstReturned;
    private @Nullable LinkItem lastReturned;
    private volatile boolean hasReturned;
    /** Woken for what came back since it took last. */
    private boolean woken;
    /** Its owner wants nothing back any more. */
    private boolean withdrawn;

    // The owner's.
    private @Nullable LinkItem spare;
    private int spares;

    /**
     * @param wake makes the owner look; it must not block
     */
    LinkQueue(Runnable wake) {
        this.wake = wake;
    }

    // ---- the link's side -------------------------------------------------------------------------------------------

    /** The item is the owner's again. */
    final void giveBack(LinkItem item) {
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

    final boolean isWithdrawn() {
        return withdrawn;
    }

    final void withdraw() {
        withdrawn = true;
    }

    /** Items that came back, linked; null when there are none. */
    final @Nullable LinkItem takeReturned() {
        LinkItem first = firstReturned;
        firstReturned = null;
        lastReturned = null;
        hasReturned = false;
        woken = false;
        return first;
    }

    // ---- the owner's side ------------------------------------------------------------------------------------------

    /** Whether items have come back. Takes no lock. */
    final boolean hasReturned() {
        return hasReturned;
    }

    /** An item of this queue. */
    final LinkItem newItem() {
        LinkItem item = spare;
        if (item == null) {
            return new LinkItem(this);
        }
        spare = item.behind;
        spares--;
        item.behind = null;
        return item;
    }

    /** The item stands nowhere and is not needed any more. */
    final void recycle(LinkItem item) {
        item.way = null;
        if (spares < MAX_SPARE) {
            item.behind = spare;
            spare = item;
            spares++;
        }
    }
}

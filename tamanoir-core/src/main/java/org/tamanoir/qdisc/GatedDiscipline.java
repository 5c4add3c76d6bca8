package org.tamanoir.qdisc;

import java.util.function.BooleanSupplier;
import org.tamanoir.anep.Packet;

/**
 * A discipline of a link that lets packets go by what happens elsewhere, as by the token of a ring. All packets go
 * through it, also while nothing waits, and it is told when they have left the node.
 *
 * <p>Thread contract: that of {@link QueueingDiscipline}, but for {@link #tag}.
 */
public interface GatedDiscipline extends QueueingDiscipline {
    /**
     * Returns what the discipline has to know of a datagram, as its {@link Item#hash}; 0 = it goes at once, and
     * {@link #departed} does not tell of it. Any thread.
     */
    long tag(Packet packet);

    /**
     * Takes note that packets that it gave have been sent, or have ended otherwise.
     *
     * @param packets those that it is {@linkplain #isTold told} of
     */
    void departed(int packets);

    /** Returns whether others wait until packets that it gave have left: then they are to leave at once. Any thread. */
    boolean awaitsDeparture();

    /** Takes note that it is asked no more, since it has failed: what it held leaves as it came. */
    void abandoned();

    /** Returns whether a discipline is told when an item has left: a datagram with a tag. */
    static boolean isTold(Item item) {
        return item.mayDrop() && item.hash() != 0;
    }

    /** The link that it stands in. */
    interface Gate {
        /** Returns its name. */
        String name();

        /**
         * Changes what may go, while nobody else asks the discipline, and then lets that go. Any thread.
         *
         * @return what the change returns
         */
        boolean change(BooleanSupplier change);

        /** Returns whether packets still go over the link. Any thread. */
        boolean isOpen();
    }

    /** What opens gates, in a node. */
    interface Opener {
        /**
         * Takes a discipline that is used from now on.
         *
         * @throws IllegalArgumentException in one line, if it cannot: packets leave as they come then
         */
        void attach(GatedDiscipline discipline, Gate gate);
    }
}

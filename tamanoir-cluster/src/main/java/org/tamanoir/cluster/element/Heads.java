package org.tamanoir.cluster.element;

import org.tamanoir.accounting.DropReason;

/** A queue of packets with rounds, as the sender sees it: first in, first out. Thread contract: the sender's. */
public interface Heads {
    /** Returns the round of the oldest packet, unsigned; 0 = none waits. */
    long headRound();

    /** Takes the oldest packet out and sends it; {@link FctSender#sent} follows when it has gone. */
    void send();

    /** Takes the oldest packet out and drops it. */
    void drop(DropReason reason);
}

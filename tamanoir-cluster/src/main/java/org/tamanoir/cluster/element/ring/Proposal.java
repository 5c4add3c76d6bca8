package org.tamanoir.cluster.element.ring;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/** A view that is sent, three times T1 apart, to those that answered, until all of them have taken it. */
final class Proposal {
    private static final int TRIES = 3;

    final RingView view;
    private final Set<Integer> missing;
    private final Wire wire;
    private int tries;
    private long retryNs;

    Proposal(RingView view, Collection<Integer> voters, Wire wire) {
        this.view = view;
        this.missing = new HashSet<>(voters);
        this.wire = wire;
    }

    /** Sends it; returns false when that has been done in vain. */
    boolean send(long nowNs, long t1Ns) {
        if (tries++ == TRIES) {
            return false;
        }
        retryNs = nowNs + t1Ns;
        missing.forEach(voter -> wire.send(voter, new Message.Ring(view)));
        return true;
    }

    long deadlineNs() {
        return retryNs;
    }

    void taken(int voter) {
        missing.remove(voter);
    }

    boolean isTaken() {
        return missing.isEmpty();
    }
}

package org.tamanoir.services.extra.multicast;

/** A next hop of a node of the tree. Thread contract: one thread. */
final class Branch {
    private final int index;
    private final Peer peer;
    private final boolean isFixed;
    private long token;
    private long refreshedNs;

    /** Makes one. @param isFixed the operator has named it, so it need not refresh its wish */
    Branch(int index, Peer peer, boolean isFixed, long token) {
        this.index = index;
        this.peer = peer;
        this.isFixed = isFixed;
        this.token = token;
    }

    /** Returns its bit in sets of branches. */
    long bit() {
        return 1L << index;
    }

    int index() {
        return index;
    }

    Peer peer() {
        return peer;
    }

    boolean isFixed() {
        return isFixed;
    }

    long token() {
        return token;
    }

    long refreshedNs() {
        return refreshedNs;
    }

    /** Takes note that it wants to be one still. @param shown what it has shown to be reached by, and knows so */
    void refresh(long shown, long nowNs) {
        token = shown;
        refreshedNs = nowNs;
    }
}

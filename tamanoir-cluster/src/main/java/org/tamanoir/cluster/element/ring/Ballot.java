package org.tamanoir.cluster.element.ring;

/**
 * What a view is known by. Of two, that of the newer epoch holds; of one epoch, that of the lower master: so of any two
 * candidates all voters end with the same.
 */
record Ballot(int epoch, int master) {
    /** Older than all. */
    static final Ballot NONE = new Ballot(Epoch.NONE, RingPlan.DISTRIBUTOR);

    boolean newer(Ballot than) {
        return Epoch.newer(epoch, than.epoch) || epoch == than.epoch && master < than.master;
    }
}

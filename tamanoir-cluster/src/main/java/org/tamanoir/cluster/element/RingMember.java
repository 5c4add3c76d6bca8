package org.tamanoir.cluster.element;

/**
 * A unit's sender, as its ring sees it. Thread contract: the ring's thread.
 */
public interface RingMember {
    /** A token has come, from the unit before this one. It has passed all checks but that of its serial number. */
    void token(Token token);

    /** The time that was asked for last has passed. */
    void timer();

    /** A packet of this round waits in another unit, which the idle ring's master did not know (WAKE). */
    void wake(long headRound);

    /**
     * Another view of the ring holds from now on.
     *
     * @param epoch of it, 0 to 65,535
     * @param master whether this unit injects the token
     * @param units how many units there are; 1 = no token is needed
     * @param round as which the ring begins; 0 = as it was
     */
    void view(int epoch, boolean master, int units, long round);

    /** There is no valid view, as without a majority: everything is sent as it comes (mode NONE), until the next view. */
    void alone();

    /** Returns where it stands; any thread. */
    State state();

    /**
     * Where a sender stands.
     *
     * @param lastSerial of the last token
     * @param round up to which it may send
     * @param queued packets that wait
     * @param newest the largest round of a packet that it got
     * @param drained whether it got its last packet and has sent all
     */
    record State(long lastSerial, long round, int queued, long newest, boolean drained) {}
}

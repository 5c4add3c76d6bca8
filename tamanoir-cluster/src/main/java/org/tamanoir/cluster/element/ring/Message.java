package org.tamanoir.cluster.element.ring;

import org.tamanoir.cluster.element.RingMember;

/** The ring's messages but for the token, which goes by itself because it is the frequent one. */
sealed interface Message {
    /** A unit has waited longer than holdMax: the master ends its pause (FCTW). */
    record Wake(int unit, long headRound) implements Message {}

    /**
     * Where a party stands: a question (FCTP), which is answered by the same (FCTQ).
     *
     * @param unit that says it, or {@link RingPlan#DISTRIBUTOR}
     * @param master of its view, {@link RingPlan#DISTRIBUTOR} = it has none. Not in the specification: of two rings with
     *     the same epoch it shows the units of one what a voter of both is in
     * @param nonce of the question that it puts or answers, so that a recorded answer is none to another; 0 = nobody asked.
     *     Not in the specification
     * @param state of its sender; the epoch of its view in the last serial's upper 16 bits. Units of earlier versions have
     *     how many packets they have sent in place of the newest round, which is lower than any round by a clock
     */
    record Report(boolean answer, int unit, int flags, int master, long nonce, RingMember.State state)
            implements Message {
        /** It has no view. */
        static final int JOINS = 1;
        /** It wants to leave. */
        static final int LEAVES = 2;
        /** It got its last packet and has sent all. */
        static final int DRAINED = 4;
        /** Its sender passes no tokens on: it is to be left out until it joins. Not in the specification. */
        static final int STUCK = 8;

        boolean is(int flag) {
            return (flags & flag) != 0;
        }

        /** Returns whether no view is to have it. */
        boolean goes() {
            return is(DRAINED) || is(STUCK);
        }

        /** Returns whether it has a place in a ring, as the one that goes has no more. */
        boolean inRing() {
            return !is(JOINS) && !goes();
        }

        boolean leads() {
            return inRing() && master == unit;
        }

        /** Returns that of its view. */
        Ballot ballot() {
            return new Ballot(epoch(), master);
        }

        int epoch() {
            return Epoch.of(state.lastSerial());
        }
    }

    /** Which ring holds from now on (FCTR). */
    record Ring(RingView view) implements Message {}

    /** A voter has taken the view of this epoch (FCTA). */
    record Taken(int epoch, int unit) implements Message {}
}

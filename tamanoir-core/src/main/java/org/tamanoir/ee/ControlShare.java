package org.tamanoir.ee;

/**
 * How many control packets may go before others: a tenth of all, since any sender can give its packets this class. A
 * pause of theirs allows {@value #BURST} in a row.
 *
 * <p>Thread contract: one thread at a time.
 */
final class ControlShare {
    static final int BURST = 32;
    /** For one control packet. */
    private static final int OTHERS = 9;

    /** In other packets. */
    private int credit = BURST * OTHERS;

    /** Returns whether a control packet may go first now. */
    boolean admits() {
        return credit >= OTHERS;
    }

    /** Counts a control packet that goes first. */
    void control() {
        credit = Math.max(0, credit - OTHERS);
    }

    /** Counts another packet. */
    void other() {
        credit = Math.min(BURST * OTHERS, credit + 1);
    }
}

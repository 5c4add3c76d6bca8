package org.tamanoir.cluster.element;

/**
 * How a sender handles the token.
 *
 * @param unit its number in the ring, 0 and up
 * @param discard whether what is late is dropped (DISCARD); else it is sent (LENIENT)
 * @param holdBudget packets that units may send on one turn of the token while they hold it, 0 to 65,535
 * @param barrierNs for which a unit waits for its packet of the last round, before it passes the token; 0 = not at all
 * @param holdMaxNs for which the master waits for a packet before it goes by what waits in other units
 * @param idleMaxNs for which it keeps the token while nothing waits anywhere; as {@code holdMaxNs} = there is no idle
 *     state, and no WAKE
 * @param atOnce packets that may be on their way at once, 1 and more; a token is handled between two such bunches
 */
public record FctSettings(
        int unit, boolean discard, int holdBudget, long barrierNs, long holdMaxNs, long idleMaxNs, int atOnce) {
    private static final int MAX_BUDGET = 65_535;
    private static final long MAX_WAIT_NS = 10_000_000_000L;

    /** @throws IllegalArgumentException in one line, if something is out of its bounds */
    public FctSettings {
        require("unit", unit, 0, MAX_BUDGET);
        require("hold budget", holdBudget, 0, MAX_BUDGET);
        require("barrier (ns)", barrierNs, 0, MAX_WAIT_NS);
        require("hold-max (ns)", holdMaxNs, 1, MAX_WAIT_NS);
        require("idle-max (ns)", idleMaxNs, holdMaxNs, MAX_WAIT_NS);
        require("packets at once", atOnce, 1, MAX_BUDGET);
    }

    private static void require(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " " + value + ": must be " + least + " to " + most);
        }
    }
}

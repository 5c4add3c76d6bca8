package org.tamanoir.cluster;

import java.util.Locale;

/**
 * Where a back-end is in its life.
 *
 * <pre>
 *   JOINING --successes--> UP --failures--> DOWN --successes--> UP
 *                          UP --flapLimit--> HELD --flapHold--> DOWN
 *   UP, JOINING --drain--> DRAINING --no streams, or deadline--> DRAINED --join--> JOINING
 * </pre>
 */
public enum BackEndState {
    /** New: not in the table until its health is known. */
    JOINING,
    /** Takes streams. */
    UP,
    /** Does not answer, or says that it is not ready: out of the table. */
    DOWN,
    /** Went down too often: out of the table for a while. */
    HELD,
    /** Weight 0: its streams go on, new ones go elsewhere. */
    DRAINING,
    /** Out of the table until told to join. */
    DRAINED;

    /** Returns the name in lower case. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}

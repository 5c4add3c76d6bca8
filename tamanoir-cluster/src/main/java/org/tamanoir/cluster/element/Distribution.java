package org.tamanoir.cluster.element;

/** How packets are divided among the units of a round (section 2). */
public enum Distribution {
    /** Exactly one packet a round for each unit, in the order of the units: for units that are alike. */
    ROUND_ROBIN,
    /** As many packets of a round for a unit as its weight says, in smooth order: for unequal units, and slow rings. */
    WEIGHTED,
    /** No or one packet a round for each unit, and a marker in place of none: for an aggregator of exact order. */
    EXACT,
    /** All packets of one key take one path, the others fill up: for packets that need each other. */
    STICKY
}

package org.tamanoir.sapf;

/** Why a node binds no selector to a flow: its number on the wire is one more than its place here. */
enum Refused {
    /** The node takes no packets in SAPF. */
    NOT_ACCEPTED,
    /** What was to be bound is no header of ANEP. */
    MALFORMED,
    /** The header is longer than the node binds. */
    TOO_LONG,
    /** The source has {@value IssuedSelectors#PER_SOURCE} selectors, all of them in use. */
    SOURCE_FULL,
    /** The node has none left. */
    FULL;

    int number() {
        return ordinal() + 1;
    }
}

package org.tamanoir.cluster.element.ring;

/** Why a datagram at a control socket was dropped. */
public enum Refusal {
    /** It came from an address that is none of the ring's, or speaks for another party or for addresses that are not theirs. */
    ADDRESS,
    /** It is none of the ring's messages, or has not their length. */
    FORM,
    /** It belongs to a ring with another number. */
    RING,
    /** Its tag is not of the ring's key. */
    TAG
}

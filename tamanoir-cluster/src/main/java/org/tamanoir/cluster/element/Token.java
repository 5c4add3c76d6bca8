package org.tamanoir.cluster.element;

/**
 * The Fast Circulating Token: packets of rounds up to {@link #round} may be sent.
 *
 * @param serial grows with each turn of the ring; the epoch of the ring in its upper 16 bits
 * @param round 1 and up, unsigned; 0 = none may be sent yet
 * @param minHead the lowest round that waits at the head of a unit's queue, collected on the way; 0 = nothing waits
 * @param roundTripUs how long the last turn took, in µs; for information
 * @param holdBudget packets that units may still send on its way while they hold it
 * @param origin the unit that injected it
 */
public record Token(long serial, long round, long minHead, int roundTripUs, int holdBudget, int origin) {}

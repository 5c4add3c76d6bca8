package org.tamanoir.service;

/** What becomes of packets for which a service is missing, or which made it throw. */
public enum FailurePolicy {
    /** The packet is dropped under a named reason; the stream goes on. */
    DROP,
    /** The packet goes on along its route as it came; the service works on a copy of each packet, which is its price. */
    PASS,
    /** The packet is dropped and its TCP connection closed; over UDP the same as {@link #DROP}. */
    CLOSE
}

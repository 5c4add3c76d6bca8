package org.tamanoir.anep;

import java.nio.ByteBuffer;

/**
 * The header that all packets of a flow have, octet for octet but for their length, where each of them came with
 * {@value #OCTETS} octets in its place.
 *
 * <p>Thread contract: immutable.
 */
public interface Fold {
    /** What stands in front of each payload, in octets. */
    int OCTETS = 8;

    /** Returns the octets of the header. */
    int octets();

    /** Writes the header of a packet of that many octets; up to four octets behind it are overwritten. */
    void write(ByteBuffer memory, int at, int length);
}

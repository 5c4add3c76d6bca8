package org.tamanoir.sapf;

import java.nio.ByteBuffer;

/** Copies payloads from one buffer to another, both big-endian. */
final class Octets {
    /** Octets that a copy may write behind its end. */
    static final int SLACK = 7;

    /** Up to here words are copied, which costs less than the call of the copying loop; measured. */
    private static final int FEW = 128;

    private Octets() {}

    /** Copies octets; overwrites up to {@link #SLACK} behind the copy, for which there must be room. */
    static void copy(ByteBuffer from, int at, ByteBuffer to, int start, int octets) {
        if (octets <= FEW && at + octets + SLACK <= from.limit()) {
            for (int i = 0; i < octets; i += 8) {
                to.putLong(start + i, from.getLong(at + i));
            }
        } else {
            to.put(start, from, at, octets);
        }
    }
}

package org.tamanoir.sapf;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Fold;

/**
 * The header that all packets of a flow have, octet for octet, but for their length. Word i of 64 bits stands for its
 * octets 8i to 8i + 7, the length being 0; of a header of 4 octets more the last word is filled up with zeros.
 *
 * <p>Thread contract: immutable.
 */
final class HeaderTemplate implements Fold {
    /** The longest that is bound, in octets: what a binding may cost its node. */
    static final int MAX_OCTETS = 256;

    private static final long LENGTH = 0xFFFF;
    private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

    private final int octets;
    private final long[] words;

    private HeaderTemplate(int octets, long[] words) {
        this.octets = octets;
        this.words = words;
    }

    /** Returns the header of the ANEP packet that lies there; null when it is none, or longer than may be bound. */
    static @Nullable HeaderTemplate of(ByteBuffer memory, int at, int available) {
        int octets = octets(memory, at, available);
        if (octets == 0) {
            return null;
        }
        long[] words = new long[octets + 7 >>> 3];
        for (int i = 0; i < octets >>> 3; i++) {
            words[i] = memory.getLong(at + 8 * i);
        }
        if ((octets & 4) != 0) {
            words[words.length - 1] = (long) memory.getInt(at + octets - 4) << 32;
        }
        words[0] &= ~LENGTH;
        return new HeaderTemplate(octets, words);
    }

    /** Returns the octets of the header of the ANEP packet that lies there; 0 when it is none that can be bound. */
    static int octets(ByteBuffer memory, int at, int available) {
        if (available < Anep.BASIC_HEADER_OCTETS || memory.get(at) != Anep.VERSION) {
            return 0;
        }
        int octets = (memory.getShort(at + 4) & 0xFFFF) << 2;
        boolean isBound = octets >= Anep.MIN_HEADER_WORDS * 4 && octets <= Math.min(MAX_OCTETS, available);
        return isBound ? octets : 0;
    }

    /** Returns a hash of so many octets of a header, but for its length. */
    static long hash(ByteBuffer memory, int at, int octets) {
        long hash = (memory.getLong(at) & ~LENGTH) * MIX;
        for (int i = 8; i + 8 <= octets; i += 8) {
            hash = (Long.rotateLeft(hash, 23) ^ memory.getLong(at + i)) * MIX;
        }
        if ((octets & 4) != 0) {
            hash = (Long.rotateLeft(hash, 23) ^ memory.getInt(at + octets - 4)) * MIX;
        }
        return hash ^ hash >>> 32;
    }

    @Override
    public int octets() {
        return octets;
    }

    /** Returns whether this is the header of the packet of that many octets, and the packet fills them. */
    boolean isOf(ByteBuffer memory, int at, int length) {
        if (length < octets || memory.getLong(at) != (words[0] | length)) {
            return false;
        }
        int whole = octets >>> 3;
        for (int i = 1; i < whole; i++) {
            if (memory.getLong(at + 8 * i) != words[i]) {
                return false;
            }
        }
        return (octets & 4) == 0 || memory.getInt(at + octets - 4) == (int) (words[whole] >>> 32);
    }

    @Override
    public void write(ByteBuffer memory, int at, int length) {
        memory.putLong(at, words[0] | length);
        for (int i = 1; i < words.length; i++) {
            memory.putLong(at + 8 * i, words[i]);
        }
    }

    /** Writes the header alone, with its own length for the packet's. */
    void writeAlone(ByteBuffer memory, int at) {
        writeExactly(memory, at, octets);
    }

    /** Writes the header of a packet of that many octets, and nothing behind it. */
    void writeExactly(ByteBuffer memory, int at, int length) {
        memory.putLong(at, words[0] | length);
        for (int i = 1; i < octets >>> 3; i++) {
            memory.putLong(at + 8 * i, words[i]);
        }
        if ((octets & 4) != 0) {
            memory.putInt(at + octets - 4, (int) (words[words.length - 1] >>> 32));
        }
    }
}

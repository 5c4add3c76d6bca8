package org.tamanoir.benchmarks.soak;

/**
 * Gives each byte of each flow its value: 8 bytes in a row are an invertible function of flow and position, so that
 * bytes found where they do not belong name the flow and the position that they come from.
 *
 * <pre>
 *   word = mix(flow << 32 | position / 8, xor seed), big-endian
 * </pre>
 *
 * <p>Immutable; any thread.
 */
final class Content {
    /** Odd, so that multiplying by it can be undone; from SplitMix64 (Steele and others, 2014). */
    private static final long FACTOR = 0xBF58476D1CE4E5B9L;

    private static final long INVERSE = inverse(FACTOR);
    private static final int WORD = Long.BYTES;
    private static final long MAX_INDEX = 0xFFFF_FFFFL;

    private final long seed;

    Content(long seed) {
        this.seed = seed;
    }

    /** Newton's iteration: each step doubles the bits that are right, from 3 to 96. */
    private static long inverse(long odd) {
        long found = odd;
        for (int i = 0; i < 5; i++) {
            found *= 2 - odd * found;
        }
        return found;
    }

    private long word(int flow, long index) {
        long word = (((long) flow << 32 | index) ^ seed) * FACTOR;
        return (word ^ word >>> 32) * FACTOR;
    }

    private long unmix(long word) {
        long half = word * INVERSE;
        return (half ^ half >>> 32) * INVERSE ^ seed;
    }

    /** Writes the bytes of a flow from a position on; a flow has 2^35 of them. */
    void fill(int flow, long position, byte[] into, int offset, int length) {
        long word = 0;
        for (int i = 0; i < length; i++) {
            long at = position + i;
            if (i == 0 || at % WORD == 0) {
                word = word(flow, at / WORD);
            }
            into[offset + i] = (byte) (word >>> 56 - at % WORD * 8);
        }
    }

    /** Returns how many bytes are right before the first wrong one; {@code length} = all are. */
    int match(int flow, long position, byte[] found, int offset, int length) {
        long word = 0;
        for (int i = 0; i < length; i++) {
            long at = position + i;
            if (i == 0 || at % WORD == 0) {
                word = word(flow, at / WORD);
            }
            if (found[offset + i] != (byte) (word >>> 56 - at % WORD * 8)) {
                return i;
            }
        }
        return length;
    }

    /** Returns the value of one byte. */
    byte octet(int flow, long position) {
        return (byte) (word(flow, position / WORD) >>> 56 - position % WORD * 8);
    }

    /** Says where bytes come from that stand at {@code offset}: two words in a row of one flow tell. */
    String origin(byte[] found, int offset, int end) {
        for (int from = offset; from <= end - 2 * WORD && from < offset + WORD; from++) {
            long first = unmix(read(found, from));
            long second = unmix(read(found, from + WORD));
            if (second - first == 1 && (first & MAX_INDEX) != MAX_INDEX) {
                long position = (first & MAX_INDEX) * WORD - (from - offset);
                return "bytes of flow %d from its offset %d on%s"
                        .formatted(
                                (int) (first >>> 32),
                                Math.max(0, position),
                                position < 0 ? ", behind " + -position + " others" : "");
            }
        }
        return "bytes of no flow";
    }

    private static long read(byte[] from, int offset) {
        long word = 0;
        for (int i = 0; i < WORD; i++) {
            word = word << 8 | from[offset + i] & 0xFF;
        }
        return word;
    }
}

package org.tamanoir.anep;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The Internet checksum (RFC 1071) and its incremental update (RFC 1624, equation 3). Sums are one's complement
 * sums of big-endian 16-bit words; an odd octet at the end counts as the high half of a word.
 */
public final class Checksum {
    private Checksum() {}

    /**
     * The one's complement sum before the final complement: 0xFFFF for a packet with a correct checksum.
     *
     * @param buffer big-endian; position and limit are not used or changed
     * @throws IndexOutOfBoundsException if the range is not inside the buffer
     */
    public static int sum(ByteBuffer buffer, int offset, int length) {
        assert buffer.order() == ByteOrder.BIG_ENDIAN;
        long sum = 0;
        int at = offset;
        int end = offset + length;
        // Each step adds two 32-bit halves: 2^31 steps would be needed to overflow the 64-bit accumulator.
        for (int last = end - 8; at <= last; at += 8) {
            long word = buffer.getLong(at);
            sum += (word >>> 32) + (word & 0xFFFF_FFFFL);
        }
        if (end - at >= 4) {
            sum += buffer.getInt(at) & 0xFFFF_FFFFL;
            at += 4;
        }
        if (end - at >= 2) {
            sum += buffer.getShort(at) & 0xFFFF;
            at += 2;
        }
        if (at < end) {
            sum += (buffer.get(at) & 0xFF) << 8;
        }
        return fold(sum);
    }

    /** Folds carries until 16 bits remain. */
    static int fold(long sum) {
        sum = (sum >>> 32) + (sum & 0xFFFF_FFFFL);
        sum = (sum >>> 32) + (sum & 0xFFFF_FFFFL);
        int folded = (int) ((sum >>> 16) + (sum & 0xFFFF));
        folded = (folded >>> 16) + (folded & 0xFFFF);
        return (folded >>> 16) + (folded & 0xFFFF);
    }

    /**
     * The checksum after one 16-bit word at an even distance from the packet's start changed:
     * HC' = ~(~HC + ~m + m').
     */
    static int update(int checksum, int oldWord, int newWord) {
        return ~fold((long) (~checksum & 0xFFFF) + (~oldWord & 0xFFFF) + (newWord & 0xFFFF)) & 0xFFFF;
    }
}

package org.tamanoir.routing;

import java.util.Arrays;

/**
 * Consecutive ranges of addresses that have one hop index each, the first beginning where the list does; neighbours
 * differ. Addresses stand in 128 bits from the left, those of IPv4 in the first 32.
 *
 * <p>Thread contract: one thread.
 */
final class RangeList {
    long[] highs = new long[64];
    long[] lows = new long[64];
    char[] hops = new char[64];
    int count;

    long bytes() {
        return 18L * hops.length;
    }

    void clear() {
        count = 0;
    }

    /** Begins a range at or behind the start of the last one, of which nothing is left if both begin at the same. */
    void begin(long high, long low, int hop) {
        if (count > 0 && highs[count - 1] == high && lows[count - 1] == low) {
            count--;
        }
        if (count > 0 && hops[count - 1] == hop) {
            return;
        }
        if (count == hops.length) {
            highs = Arrays.copyOf(highs, 2 * count);
            lows = Arrays.copyOf(lows, 2 * count);
            hops = Arrays.copyOf(hops, 2 * count);
        }
        highs[count] = high;
        lows[count] = low;
        hops[count++] = (char) hop;
    }
}

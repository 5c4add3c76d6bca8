package org.tamanoir.routing;

import java.util.Arrays;

/**
 * The longest-prefix rule worked out beforehand, for small tables: nested prefixes cut the address space into ranges,
 * at most two a prefix, and each range has the hop of its innermost prefix. A look-up is then a binary search among
 * the ranges' first addresses, which is what Lampson, Srinivasan and Varghese ("IP lookups using multiway and
 * multicolumn search", 1999) do with more columns. The first few bits of an address, as many as make about one bucket a
 * range, say between which ranges to search.
 *
 * <p>Immutable: any thread may call.
 */
final class AddressRanges extends HopSearch {
    private static final int MAX_BUCKET_BITS = 20;

    /** First addresses; the signs are turned, so that signed comparisons order them. */
    private final long[] highs;

    private final long[] lows;
    private final char[] hops;

    /** By the first bits of an address: the range that the lowest such address is in; one more at the end. */
    private final int[] buckets;

    private final int shift;

    AddressRanges(Rib rib) {
        RangeList ranges = new RangeList();
        rib.ranges(0, 0, 0, ranges);
        int count = ranges.count;
        highs = Arrays.copyOf(ranges.highs, count);
        lows = Arrays.copyOf(ranges.lows, count);
        hops = Arrays.copyOf(ranges.hops, count);
        int bits = Math.max(1, Math.min(MAX_BUCKET_BITS, Integer.SIZE - Integer.numberOfLeadingZeros(count - 1)));
        shift = Long.SIZE - bits;
        buckets = new int[(1 << bits) + 1];
        int range = 0;
        for (int bucket = 0; bucket < 1 << bits; bucket++) {
            long first = (long) bucket << shift;
            while (range < count - 1 && isAtOrBefore(highs[range + 1], lows[range + 1], first)) {
                range++;
            }
            buckets[bucket] = range;
        }
        buckets[1 << bits] = count - 1;
        for (int i = 0; i < count; i++) {
            highs[i] ^= Long.MIN_VALUE;
            lows[i] ^= Long.MIN_VALUE;
        }
    }

    private static boolean isAtOrBefore(long high, long low, long first) {
        int order = Long.compareUnsigned(high, first);
        return order < 0 || order == 0 && low == 0;
    }

    @Override
    int hop(long high, long low) {
        long[] starts = highs;
        int bucket = (int) (high >>> shift);
        int from = buckets[bucket];
        int to = buckets[bucket + 1] + 1;
        long key = high ^ Long.MIN_VALUE;
        while (to - from > 1) {
            int middle = (from + to) >>> 1;
            long start = starts[middle];
            if (start < key || start == key && lows[middle] <= (low ^ Long.MIN_VALUE)) {
                from = middle;
            } else {
                to = middle;
            }
        }
        return hops[from];
    }

    @Override
    boolean update(Rib rib, long high, long low, int length) {
        return false;
    }

    @Override
    long bytes() {
        return 18L * hops.length + 4L * buckets.length;
    }
}

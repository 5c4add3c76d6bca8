package org.tamanoir.routing;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The longest-prefix rule worked out beforehand: nested prefixes cut the address space into ranges, at most two a
 * prefix, and each range has the next hop of its innermost prefix. A look-up is then a binary search among the
 * ranges' first addresses, which is what Lampson, Srinivasan and Varghese ("IP lookups using multiway and
 * multicolumn search", 1999) do with more columns.
 *
 * <p>IPv4 is a prefix without a next hop unless a route says otherwise, so that no shorter prefix reaches into it.
 * Its addresses differ in their last 32 bits alone and are searched apart: the first few of those bits, as many as
 * make about one bucket a range, say between which ranges to search.
 *
 * <p>Immutable: any thread may call.
 */
final class AddressRanges {
    /** 4 MiB of buckets at most. */
    private static final int MAX_BUCKET_BITS = 20;

    /** First addresses in unsigned order; each range ends before the next one. */
    private final long[] highs;

    private final long[] lows;
    private final @Nullable NextHop[] hops;

    /** By the first bits of an IPv4 address: the range that the lowest such address is in; one more at the end. */
    private final int[] ipv4Buckets;

    private final int ipv4Shift;

    private AddressRanges(Builder from) {
        highs = Arrays.copyOf(from.highs, from.count);
        lows = Arrays.copyOf(from.lows, from.count);
        hops = Arrays.copyOf(from.hops, from.count);
        int range = search(Prefix.IPV4.high(), Prefix.IPV4.low());
        int lastRange = search(Prefix.IPV4.high(), Builder.lastLow(Prefix.IPV4));
        int bits = Math.min(MAX_BUCKET_BITS, Integer.SIZE - Integer.numberOfLeadingZeros(lastRange - range));
        ipv4Shift = Integer.SIZE - bits;
        ipv4Buckets = new int[(1 << bits) + 1];
        for (int bucket = 0; bucket < 1 << bits; bucket++) {
            long first = Prefix.IPV4.low() | (long) bucket << ipv4Shift;
            while (range < lastRange && lows[range + 1] <= first) {
                range++;
            }
            ipv4Buckets[bucket] = range;
        }
        ipv4Buckets[1 << bits] = lastRange;
    }

    /** @param routes each prefix once and before those inside it, by first address */
    static AddressRanges of(Route[] routes) {
        Builder builder = new Builder(2 * routes.length + 4);
        boolean ipv4Opened = false;
        for (Route route : routes) {
            Prefix prefix = route.prefix();
            if (!ipv4Opened && isBehindIpv4Start(prefix)) {
                ipv4Opened = true;
                if (!prefix.equals(Prefix.IPV4)) {
                    builder.open(Prefix.IPV4, null);
                }
            }
            builder.open(prefix, route.nextHop());
        }
        if (!ipv4Opened) {
            builder.open(Prefix.IPV4, null);
        }
        builder.closeAll();
        return new AddressRanges(builder);
    }

    /** Returns whether the prefix stands at or behind 0.0.0.0/0; none that is wider begins at its first address. */
    private static boolean isBehindIpv4Start(Prefix prefix) {
        return prefix.high() != 0 || Long.compareUnsigned(prefix.low(), Prefix.IPV4.low()) >= 0;
    }

    @Nullable
    NextHop lookup(long high, long low) {
        return hops[Prefix.isIpv4(high, low) ? searchIpv4(low) : search(high, low)];
    }

    /** Searches among IPv4, which is positive in 64 bits: the comparison needs no care for signs. */
    private int searchIpv4(long low) {
        long[] starts = lows;
        int bucket = (int) ((low & 0xFFFF_FFFFL) >>> ipv4Shift);
        int from = ipv4Buckets[bucket];
        int to = ipv4Buckets[bucket + 1] + 1;
        while (to - from > 1) {
            int middle = (from + to) >>> 1;
            if (starts[middle] <= low) {
                from = middle;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /** Returns the last range that begins at or before the address; the first one begins at ::. */
    private int search(long high, long low) {
        int from = 0;
        int to = highs.length;
        while (to - from > 1) {
            int middle = (from + to) >>> 1;
            int order = Long.compareUnsigned(highs[middle], high);
            if (order < 0 || order == 0 && Long.compareUnsigned(lows[middle], low) <= 0) {
                from = middle;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /** Goes over nested prefixes with a stack of those that are open. */
    private static final class Builder {
        private final long[] highs;
        private final long[] lows;
        private final @Nullable NextHop[] hops;
        private int count;

        /** Prefixes nest at most as deep as they are long. */
        private final Prefix[] openPrefixes = new Prefix[Prefix.MAX_LENGTH + 1];

        private final @Nullable NextHop[] openHops = new NextHop[Prefix.MAX_LENGTH + 1];
        private int depth;

        Builder(int capacity) {
            highs = new long[capacity];
            lows = new long[capacity];
            hops = new NextHop[capacity];
            begin(0, 0, null);
        }

        void open(Prefix prefix, @Nullable NextHop hop) {
            while (depth > 0 && !openPrefixes[depth - 1].contains(prefix.high(), prefix.low())) {
                close();
            }
            openPrefixes[depth] = prefix;
            openHops[depth++] = hop;
            begin(prefix.high(), prefix.low(), hop);
        }

        void closeAll() {
            while (depth > 0) {
                close();
            }
        }

        /** Closes the innermost prefix: behind it the one around it begins again. */
        private void close() {
            Prefix closed = openPrefixes[--depth];
            long low = lastLow(closed) + 1;
            long high = (closed.high() | ~Prefix.highMask(closed.length())) + (low == 0 ? 1 : 0);
            if (low != 0 || high != 0) {
                begin(high, low, depth > 0 ? openHops[depth - 1] : null);
            }
        }

        /** Begins a range, in place of one of no address that begins at the same. */
        private void begin(long high, long low, @Nullable NextHop hop) {
            boolean again = count > 0 && highs[count - 1] == high && lows[count - 1] == low;
            int at = again ? count - 1 : count++;
            highs[at] = high;
            lows[at] = low;
            hops[at] = hop;
        }

        static long lastLow(Prefix prefix) {
            return prefix.low() | ~Prefix.lowMask(prefix.length());
        }
    }
}

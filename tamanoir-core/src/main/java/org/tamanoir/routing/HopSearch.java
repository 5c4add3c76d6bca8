package org.tamanoir.routing;

/**
 * Look-ups of one family by hop index. Addresses stand in 128 bits from the left, those of IPv4 in the first 32.
 *
 * <p>Thread contract: any thread may search; {@link #update} is for one thread at a time. A search meanwhile finds
 * what was right before the change or what is right behind it.
 */
abstract class HopSearch {
    /** Look-ups of a batch between two looks at the default route. */
    static final int CHUNK = 64;

    private static final int SLICE_BITS = 8;
    private static final int NUMBER = 0xFFFF;

    /** Of what is changed in place: the default route's hop index in the lower 16 bits, above them how often it changed. */
    private volatile int fallback;

    /**
     * Returns what addresses lead to that no other prefix holds, for {@link #or}. A look-up reads it first, and again
     * when it has read its cells: if it is another one by then the look-up begins anew, so that cell and default route
     * are those of one moment.
     */
    final int fallback() {
        return fallback;
    }

    /** Returns a hop index, or that of the default route in place of 0; without a branch, for those of a batch differ. */
    static int or(int hop, int fallback) {
        return hop | fallback & NUMBER & hop - 1 >> 31;
    }

    /** Follows a change of the default route. */
    final void followDefault(Rib rib) {
        fallback = (fallback & ~NUMBER) + NUMBER + 1 | rib.get(0, 0, 0);
    }

    /** Returns the hop index of an address, 0 = none. */
    abstract int hop(long high, long low);

    /** Looks up {@code count} addresses of IPv4. */
    void hops(int[] addresses, char[] hops, int count) {
        for (int i = 0; i < count; i++) {
            hops[i] = (char) hop((long) addresses[i] << 32, 0);
        }
    }

    /** Looks up {@code count} addresses of IPv6. */
    void hops(long[] highs, long[] lows, char[] hops, int count) {
        for (int i = 0; i < count; i++) {
            hops[i] = (char) hop(highs[i], lows[i]);
        }
    }

    /** Follows a change of this prefix in the table; returns false when the search is to be made anew instead. */
    final boolean follow(Rib rib, long high, long low, int length) {
        return length == 0 || length >= SLICE_BITS ? update(rib, high, low, length) : updateSlices(rib, high, length);
    }

    /** Updates all inside a prefix by parts, so that the ranges of none of them take much memory. */
    final boolean updateSlices(Rib rib, long high, int length) {
        for (long slice = 0; slice < 1 << SLICE_BITS - length; slice++) {
            if (!update(rib, high | slice << 64 - SLICE_BITS, 0, SLICE_BITS)) {
                return false;
            }
        }
        return true;
    }

    /** Follows, as {@link #follow}, a change of a prefix of 0 bits or of 8 at least. */
    abstract boolean update(Rib rib, long high, long low, int length);

    /** Returns the bytes that it holds, those that changes need among them. */
    abstract long bytes();
}

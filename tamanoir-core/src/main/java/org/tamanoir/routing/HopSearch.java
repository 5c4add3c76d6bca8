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
    abstract void hops(int[] addresses, char[] hops, int count);

    /** Looks up {@code count} addresses of IPv6. */
    abstract void hops(long[] highs, long[] lows, char[] hops, int count);

    /** Follows a change of this prefix in the table; returns false when the search is to be made anew instead. */
    abstract boolean update(Rib rib, long high, long low, int length);

    /** Returns the bytes that it holds. */
    abstract long bytes();
}

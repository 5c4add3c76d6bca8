package org.tamanoir.routing;

/**
 * Look-ups of one family by hop index. Addresses stand in 128 bits from the left, those of IPv4 in the first 32.
 *
 * <p>Thread contract: any thread may search; {@link #update} is for one thread at a time. A search meanwhile finds
 * what was right before the change or what is right behind it.
 */
abstract class HopSearch {
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

package org.tamanoir.routing;

import org.jspecify.annotations.Nullable;

/**
 * Look-ups as a {@link RoutingTable} answers them: from an address to the index of a next hop, and from that to the
 * next hop. An index means the same next hop for as long as this object is used; others may number them differently.
 * Changes of the table may show here or not: who wants to see them gets it anew. It keeps up to 48 MiB alive: do not
 * hold it while waiting.
 *
 * <p>Thread contract: any thread may call; nothing waits or allocates, but for 1 KiB at a thread's first batch.
 */
public final class Fib {
    final HopSearch ipv4;
    final HopSearch ipv6;
    final @Nullable NextHop[] hops;
    final int generation;

    Fib(HopSearch ipv4, HopSearch ipv6, @Nullable NextHop[] hops, int generation) {
        this.ipv4 = ipv4;
        this.ipv6 = ipv6;
        this.hops = hops;
        this.generation = generation;
    }

    /** Returns the index of an address's next hop, 0 = none; IPv4 stands as ::ffff:a.b.c.d. */
    public int lookup(long high, long low) {
        return Prefix.isIpv4(high, low) ? ipv4.hop(low << 32, 0) : ipv6.hop(high, low);
    }

    /** Returns the index of an IPv4 address's next hop, 0 = none. */
    public int lookup4(int address) {
        return ipv4.hop((long) address << 32, 0);
    }

    /** Returns the index of an IPv6 address's next hop, 0 = none; not for IPv4-mapped addresses. */
    public int lookup6(long high, long low) {
        return ipv6.hop(high, low);
    }

    /** Looks up the first {@code count} IPv4 addresses, which do not wait for each other's memory. */
    public void lookup4(int[] addresses, char[] hops, int count) {
        ipv4.hops(addresses, hops, count);
    }

    /** Looks up the first {@code count} IPv6 addresses, none of them IPv4-mapped. */
    public void lookup6(long[] highs, long[] lows, char[] hops, int count) {
        ipv6.hops(highs, lows, hops, count);
    }

    /** Returns the next hop of an index, null = index 0, or one that this table has not given. */
    public @Nullable NextHop hop(int index) {
        return index < hops.length ? hops[index] : null;
    }

    /** Returns a number that changes with every change of the table. */
    public int generation() {
        return generation;
    }

    /** Returns the bytes of memory that look-ups use. */
    public long bytes() {
        return ipv4.bytes() + ipv6.bytes() + 4L * hops.length;
    }
}

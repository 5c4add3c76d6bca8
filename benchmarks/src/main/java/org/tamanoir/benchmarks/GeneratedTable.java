package org.tamanoir.benchmarks;

import org.tamanoir.routing.RoutingTable;

/**
 * A routing table like an Internet router's, as {@code benchmarks routes} writes it, and what it announces.
 *
 * <p>Thread contract: any thread.
 */
public final class GeneratedTable {
    private final FibTable made;

    /**
     * Makes about these many prefixes; the same for the same seed.
     *
     * @param ipv4 at least one
     */
    public GeneratedTable(int ipv4, int ipv6, long seed) {
        made = new FibTable(RouteGenerator.ipv4(ipv4, seed), RouteGenerator.ipv6(ipv6, seed), 0, 0, seed);
    }

    /** Returns the table. */
    public RoutingTable table() {
        return made.table;
    }

    /** Returns how many prefixes there are, of both families. */
    public int routes() {
        return made.ipv4.count + made.ipv6.count;
    }

    /** Returns how many prefixes of IPv4 there are. */
    public int ipv4() {
        return made.ipv4.count;
    }

    /**
     * Returns an address inside a prefix of IPv4.
     *
     * @param prefix 0 to {@link #ipv4} − 1
     * @param random its low bits fill what the prefix leaves open
     */
    public int address(int prefix, int random) {
        int length = made.ipv4.lengths[prefix];
        return (int) (made.ipv4.prefixes[prefix] >>> 32) | (length == 32 ? 0 : random & -1 >>> length);
    }
}

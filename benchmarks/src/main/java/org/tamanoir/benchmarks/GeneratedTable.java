package org.tamanoir.benchmarks;

import java.util.Arrays;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.routing.RoutingTable;

/**
 * A routing table like an Internet router's, as {@code benchmarks routes} writes it, and what it announces.
 *
 * <p>Thread contract: any thread.
 */
public final class GeneratedTable {
    private final RouteGenerator four;
    private final int routes;
    private final RoutingTable table = new RoutingTable();

    /**
     * Makes about these many prefixes; the same for the same seed.
     *
     * @param ipv4 at least one
     */
    public GeneratedTable(int ipv4, int ipv6, long seed) {
        four = RouteGenerator.ipv4(ipv4, seed);
        RouteGenerator six = RouteGenerator.ipv6(ipv6, seed);
        routes = four.count + six.count;
        NextHop[] hops = new NextHop[RouteGenerator.HOPS + 1];
        Arrays.setAll(hops, i -> FibFigures.hop(Math.max(1, i)));
        RouteSet set = new RouteSet();
        put(set, true, four, hops);
        put(set, false, six, hops);
        table.replace(set);
    }

    private static void put(RouteSet set, boolean isIpv4, RouteGenerator routes, NextHop[] hops) {
        for (int i = 0; i < routes.count; i++) {
            Prefix prefix = FibFigures.prefix(isIpv4, routes, i);
            set.put(prefix, hops[routes.hops[i]]);
        }
    }

    /** Returns the table. */
    public RoutingTable table() {
        return table;
    }

    /** Returns how many prefixes there are, of both families. */
    public int routes() {
        return routes;
    }

    /** Returns how many prefixes of IPv4 there are. */
    public int ipv4() {
        return four.count;
    }

    /**
     * Returns an address inside a prefix of IPv4.
     *
     * @param prefix 0 to {@link #ipv4} − 1
     * @param random its low bits fill what the prefix leaves open
     */
    public int address(int prefix, int random) {
        int length = four.lengths[prefix];
        return (int) (four.prefixes[prefix] >>> 32) | (length == 32 ? 0 : random & -1 >>> length);
    }
}

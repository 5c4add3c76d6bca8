package org.tamanoir.routing;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * A prefix that one state of a test has for itself, in a table that many share: a large table has up to 32 MiB, and
 * states are made by the million. Around it a default route leads to the old next hop.
 */
final class Spot {
    static final NextHop OLD = hop(1);
    private static final long IPV4_MAPPED = 0xFFFFL << 32;
    /** Prefixes beside those of the states: enough for a table that is changed in place. */
    private static final int OTHERS = 2100;
    /** States for a table: fewer than it has groups and numbers of next hops. */
    private static final int STATES = 30_000;
    /** Fewer than fill a trie, which would be made anew each time. */
    private static final int STATES_IPV6 = 2_000;
    /** So many that the writer comes in between, few enough for one that has lost its processor. */
    private static final int LOOK_UPS = 10_000;

    private static @Nullable RoutingTable shared;
    private static int used;

    final RoutingTable table;
    final NextHop hop;
    private final long high;
    private final long low;

    private Spot(RoutingTable table, int number, boolean isIpv4) {
        this.table = table;
        hop = hop(number + 2);
        // A /24 or a /20 for each, which is a cell of the direct table.
        high = isIpv4 ? 0 : 0x2000L << 48 | (long) number << 44;
        low = isIpv4 ? IPV4_MAPPED | 10L << 24 | (long) number << 8 : 0;
    }

    /** Returns a place that nobody has had. A process has those of one family. */
    static synchronized Spot next(boolean isIpv4) {
        if (shared == null || used == (isIpv4 ? STATES : STATES_IPV6)) {
            List<Route> routes = new ArrayList<>();
            routes.add(new Route(Prefix.parse(isIpv4 ? "0.0.0.0/0" : "::/0"), OLD));
            for (long i = 0; i < OTHERS; i++) {
                routes.add(new Route(
                        isIpv4
                                ? new Prefix(0, IPV4_MAPPED | 1L << 24 | i << 8, 96 + 24)
                                : new Prefix(0x3FFFL << 48 | i, 0, 127), // makes room for ranges of /64s
                        OLD));
            }
            shared = new RoutingTable(routes);
            used = 0;
        }
        return new Spot(shared, used++, isIpv4);
    }

    static NextHop hop(int port) {
        return new NextHop(InetAddress.getLoopbackAddress(), port, NextHop.Transport.UDP, NextHop.Kind.HOST);
    }

    /** Returns the prefix of this length that has the first address. */
    Prefix prefix(int length) {
        return new Prefix(high, low, length);
    }

    /** Adds the prefix of this length that has the first address. */
    void add(int length) {
        table.add(new Route(prefix(length), hop));
    }

    /** Adds the IPv6 prefix behind that one. */
    void addBeside(int length) {
        table.add(new Route(new Prefix(high | 1L << 64 - length, low, length), hop));
    }

    /** Looks the first address up until it leads elsewhere than before, and once more. */
    void watch(String before, LL_Result seen) {
        watch(() -> table.lookup(high, low), hop, before, seen);
    }

    static void watch(Supplier<@Nullable NextHop> lookUp, NextHop hop, String before, LL_Result seen) {
        String found = before;
        for (int i = 0; i < LOOK_UPS && found.equals(before); i++) {
            found = name(lookUp.get(), hop);
        }
        seen.r1 = found;
        seen.r2 = name(lookUp.get(), hop);
    }

    private static String name(@Nullable NextHop found, NextHop hop) {
        return found == null ? "none" : found.equals(OLD) ? "old" : found.equals(hop) ? "new" : "other";
    }
}

package org.tamanoir.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Fib;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.routing.RoutingTable;

/**
 * The table that is measured, and how: times are processor times of this thread, which other programs lengthen by taking
 * caches, not by taking turns.
 *
 * <p>Thread contract: one thread.
 */
final class FibTable {
    static final int KEYS = 1 << 20;

    /** Work that is measured. */
    interface Work {
        void run() throws IOException;
    }

    final RouteGenerator ipv4;
    final RouteGenerator ipv6;
    final int rounds;
    final int changes;
    final NextHop[] hops = new NextHop[RouteGenerator.HOPS + 1];
    final RoutingTable table = new RoutingTable();
    final Random random;
    /** A file of BGP updates; null = one is made. */
    @Nullable
    Path updates;

    /**
     * Makes a table.
     *
     * @param rounds of 1,048,576 look-ups, of which the best counts
     * @param changes prefixes that are changed
     */
    FibTable(RouteGenerator ipv4, RouteGenerator ipv6, int rounds, int changes, long seed) {
        this.ipv4 = ipv4;
        this.ipv6 = ipv6;
        this.rounds = rounds;
        this.changes = changes;
        random = new Random(seed);
        Arrays.setAll(hops, i -> hop(Math.max(1, i)));
        table.replace(routes());
    }

    static NextHop hop(int number) {
        return new NextHop(
                Addresses.of(0, 0xFFFF_C633_6400L | number), 3322, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);
    }

    /** Returns all routes anew. */
    RouteSet routes() {
        RouteSet set = new RouteSet();
        for (RouteGenerator routes : new RouteGenerator[] {ipv4, ipv6}) {
            for (int i = 0; i < routes.count; i++) {
                set.put(routes.prefix(i), hops[routes.hops[i]]);
            }
        }
        return set;
    }

    /** Returns a next hop by chance. */
    NextHop anyHop() {
        return hops[1 + random.nextInt(RouteGenerator.HOPS)];
    }

    Prefix anyPrefix() {
        int i = random.nextInt(ipv4.count + ipv6.count);
        return i < ipv4.count ? ipv4.prefix(i) : ipv6.prefix(i - ipv4.count);
    }

    /** Returns by the number of a next hop the index that look-ups give now; 0 where no route leads to it. */
    int[] indexes() {
        Fib fib = table.fib();
        int[] indexes = new int[hops.length];
        for (int number = 1; number < hops.length; number++) {
            for (int index = 1; index <= hops.length && indexes[number] == 0; index++) {
                indexes[number] = hops[number].equals(fib.hop(index)) ? index : 0;
            }
        }
        return indexes;
    }

    /** Returns IPv4 addresses. */
    int[] keys4(boolean areAnnounced) {
        int[] keys = new int[KEYS];
        Arrays.setAll(keys, i -> areAnnounced ? (int) (inside(ipv4) >>> 32) : random.nextInt());
        return keys;
    }

    /** Returns the upper halves of IPv6 addresses. */
    long[] keys6(boolean areAnnounced) {
        long[] keys = new long[KEYS];
        Arrays.setAll(keys, i -> areAnnounced ? inside(ipv6) : 1L << 61 | random.nextLong() >>> 3);
        return keys;
    }

    /** Returns a random address in a random prefix. */
    private long inside(RouteGenerator routes) {
        int i = random.nextInt(routes.count);
        return routes.prefixes[i] | random.nextLong() >>> routes.lengths[i] & (routes.lengths[i] == 64 ? 0 : -1);
    }

    /** Returns what the table adds to the heap; makes it anew. */
    long heapBytes() {
        table.replace(new RouteSet());
        long without = usedBytes();
        table.replace(routes());
        return usedBytes() - without;
    }

    private static long usedBytes() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    static long processorNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** Returns the best of some rounds, in nanoseconds. */
    static double bestNs(int rounds, Work work) throws IOException {
        double best = Double.MAX_VALUE;
        for (int round = 0; round < rounds; round++) {
            long start = processorNs();
            work.run();
            best = Math.min(best, processorNs() - start);
        }
        return best;
    }

    /** Returns nanoseconds a look-up, where the work is of {@link #KEYS}. */
    double bestNs(Work work) throws IOException {
        return bestNs(rounds, work) / KEYS;
    }

    /** Returns whether a bound is kept, for the report. */
    static String verdict(boolean holds) {
        return holds ? ", holds" : ", MISSED";
    }
}

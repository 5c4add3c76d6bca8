package org.tamanoir.benchmarks;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.tamanoir.benchmarks.report.Plot;
import org.tamanoir.benchmarks.report.Rows;
import org.tamanoir.benchmarks.report.Section;
import org.tamanoir.benchmarks.report.Series;
import org.tamanoir.routing.AllRanges;
import org.tamanoir.routing.Fib;

/** Look-ups by structure, uniform addresses and random ones inside random prefixes. */
final class FibLookups {
    private static final String BATCH = "batch";
    private static final String SINGLE = "single";
    private static final String CHAIN = "one after the other";
    private static final String TREE = "TreeMap";
    private static final String RANGES = "ranges";
    private static final List<String> ADDRESSES = List.of("uniform", "announced");
    /** TreeMap is slow enough to be measured by fewer. */
    private static final int TREE_SHARE = 16;

    private FibLookups() {}

    static void ipv4(FibTable table, Section section) throws IOException {
        Fib fib = table.table.fib();
        TreeMap<Integer, Integer> tree = ranges(fib);
        AllRanges ranges = new AllRanges(table.routes());
        Rows rows = new Rows("addresses | structure | ns | million a second");
        Series plot = new Series();
        for (String addresses : ADDRESSES) {
            int[] keys = table.keys4(addresses.equals("announced"));
            char[] hops = new char[FibTable.KEYS];
            TreeMap<String, Double> took = new TreeMap<>();
            took.put(BATCH, table.bestNs(() -> fib.lookup4(keys, hops, hops.length)));
            took.putAll(FibPeers.ipv4(table, keys, hops, section));
            took.put(RANGES, table.bestNs(() -> ranges.lookup4(keys, hops, hops.length)));
            took.put(SINGLE, table.bestNs(() -> {
                for (int i = 0; i < keys.length; i++) {
                    hops[i] = (char) fib.lookup4(keys[i]);
                }
            }));
            took.put(CHAIN, table.bestNs(() -> {
                int hop = 0;
                for (int key : keys) {
                    hop = fib.lookup4(key ^ hop & 1);
                }
                hops[0] = (char) hop;
            }));
            took.put(
                    TREE,
                    TREE_SHARE
                            * table.bestNs(() -> {
                                for (int i = 0; i < keys.length; i += TREE_SHARE) {
                                    hops[i] = (char) (int) tree.floorEntry(keys[i] ^ Integer.MIN_VALUE)
                                            .getValue();
                                }
                            }));
            ratio(section, "IPv4 " + addresses, took, FibPeers.DIR24, 0.7);
            ratio(section, "IPv4 " + addresses, took, FibPeers.SCALAR, 1.0);
            ratio(section, "IPv4 " + addresses, took, FibPeers.AVX512, 0);
            ratio(section, "IPv4 " + addresses, took, TREE, 20);
            ratio(section, "IPv4 " + addresses, took, RANGES, 5);
            section.find(
                    "IPv4 " + addresses + ", one after the other",
                    "at most 40 ns",
                    "%.1f ns%s",
                    took.get(CHAIN),
                    FibTable.verdict(took.get(CHAIN) <= 40));
            add(addresses, took, rows, plot);
        }
        int[] keys = table.keys4(false);
        char[] hops = new char[FibTable.KEYS];
        long bytes = allocated(() -> fib.lookup4(keys, hops, hops.length));
        section.find(
                "allocated by %,d look-ups".formatted(hops.length),
                "0 bytes",
                "%,d bytes%s",
                bytes,
                FibTable.verdict(bytes == 0));
        finish(table, section, rows, plot);
    }

    static void ipv6(FibTable table, Section section) throws IOException {
        Fib fib = table.table.fib();
        AllRanges ranges = new AllRanges(table.routes());
        Random random = new Random(1);
        Rows rows = new Rows("addresses | structure | ns | million a second");
        Series plot = new Series();
        for (String addresses : ADDRESSES) {
            long[] highs = table.keys6(addresses.equals("announced"));
            long[] lows = random.longs(highs.length).toArray();
            char[] hops = new char[highs.length];
            TreeMap<String, Double> took = new TreeMap<>();
            took.put(BATCH, table.bestNs(() -> fib.lookup6(highs, lows, hops, hops.length)));
            took.putAll(FibPeers.ipv6(table, highs, lows, hops, section));
            took.put(RANGES, table.bestNs(() -> ranges.lookup6(highs, lows, hops, hops.length)));
            took.put(CHAIN, table.bestNs(() -> {
                int hop = 0;
                for (int i = 0; i < highs.length; i++) {
                    hop = fib.lookup6(highs[i] ^ hop & 1, lows[i]);
                }
                hops[0] = (char) hop;
            }));
            ratio(section, "IPv6 " + addresses, took, FibPeers.SCALAR, 0.6);
            ratio(section, "IPv6 " + addresses, took, FibPeers.AVX512, 0);
            ratio(section, "IPv6 " + addresses, took, RANGES, 4);
            add(addresses, took, rows, plot);
        }
        finish(table, section, rows, plot);
    }

    /** @param least that the batch's rate has to be of the other's; 0 = no bound */
    private static void ratio(Section section, String what, Map<String, Double> took, String other, double least) {
        Double ours = took.get(BATCH);
        Double theirs = took.get(other);
        if (ours == null || theirs == null) {
            return;
        }
        double ratio = theirs / ours;
        section.find(
                what + ", rate of a batch to " + other,
                least == 0 ? "–" : String.format(Locale.ROOT, "at least %.1f", least),
                "%.2f (%.2f and %.2f ns)%s",
                ratio,
                ours,
                theirs,
                least == 0 ? "" : FibTable.verdict(ratio >= least));
    }

    private static void add(String addresses, Map<String, Double> took, Rows rows, Series plot) {
        took.forEach((name, ns) -> {
            rows.row("%s | %s | %.2f | %.1f", addresses, name, ns, 1000 / ns);
            if (!name.equals(SINGLE) && !name.endsWith(CHAIN)) {
                plot.add(name, 1000 / ns);
            }
        });
    }

    private static void finish(FibTable table, Section section, Rows rows, Series plot) throws IOException {
        section.say(
                "Rounds of %,d look-ups, the best of %d by the thread's processor time. Batches do not wait for each other's "
                        + "memory; one after the other each waits for the hop of the one before. DPDK looks up bulks of 64, and the sum "
                        + "of its hops is compared with ours.",
                FibTable.KEYS, table.rounds);
        section.table(rows).plot("", Plot.bars("Look-ups", "million a second", ADDRESSES, plot));
    }

    /** Returns the ranges of /24s, by their first addresses. */
    private static TreeMap<Integer, Integer> ranges(Fib fib) {
        TreeMap<Integer, Integer> ranges = new TreeMap<>();
        int last = -1;
        for (int i = 0; i < 1 << 24; i++) {
            int hop = fib.lookup4(i << 8);
            if (hop != last) {
                last = hop;
                ranges.put((i << 8) ^ Integer.MIN_VALUE, hop);
            }
        }
        return ranges;
    }

    /** Returns what this thread allocates; the least of some runs, for what the JVM itself does is no look-up. */
    private static long allocated(Runnable work) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        long least = Long.MAX_VALUE;
        for (int run = 0; run < 3; run++) {
            long before = threads.getThreadAllocatedBytes(self);
            work.run();
            least = Math.min(least, threads.getThreadAllocatedBytes(self) - before);
        }
        return least;
    }
}

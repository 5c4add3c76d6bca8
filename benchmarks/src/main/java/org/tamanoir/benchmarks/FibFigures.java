package org.tamanoir.benchmarks;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.Fib;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.routing.RoutingTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code benchmarks fib}: a full routing table, looked up and changed, beside a DIR-24-8 in C and a TreeMap. */
@Command(
        name = "fib",
        mixinStandardHelpOptions = true,
        description =
                "Measures a full routing table, made by 'routes': look-ups beside C and TreeMap, changes, memory.")
final class FibFigures implements Callable<Integer> {
    private static final int KEYS = 1 << 20;

    @Option(names = "--ipv4", description = "Prefixes of IPv4. Default: 1000000.")
    private int ipv4 = 1_000_000;

    @Option(names = "--ipv6", description = "Prefixes of IPv6. Default: 200000.")
    private int ipv6 = 200_000;

    @Option(names = "--seed", description = "Of the table and of the addresses. Default: 1.")
    private long seed = 1;

    @Option(names = "--rounds", description = "Rounds of 1,048,576 look-ups; the best counts. Default: 15.")
    private int rounds = 15;

    @Option(names = "--changes", description = "Prefixes changed one by one. Default: 100000.")
    private int changes = 100_000;

    private final PrintStream out = System.out;
    private Random random = new Random(0);

    FibFigures() {}

    static NextHop hop(int number) {
        return new NextHop(
                Addresses.of(0, 0xFFFF_C633_6400L | number), 3322, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE);
    }

    static Prefix prefix(boolean isIpv4, RouteGenerator routes, int i) {
        return isIpv4
                ? new Prefix(0, 0xFFFFL << 32 | routes.prefixes[i] >>> 32, routes.lengths[i] + 96)
                : new Prefix(routes.prefixes[i], 0, routes.lengths[i]);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        random = new Random(seed);
        RouteGenerator four = RouteGenerator.ipv4(ipv4, seed);
        RouteGenerator six = RouteGenerator.ipv6(ipv6, seed);
        NextHop[] hops = new NextHop[RouteGenerator.HOPS + 1];
        Arrays.setAll(hops, i -> hop(Math.max(1, i)));
        RoutingTable table = new RoutingTable();
        long before = processorNs();
        RouteSet set = new RouteSet();
        for (int i = 0; i < four.count; i++) {
            set.put(prefix(true, four, i), hops[four.hops[i]]);
        }
        for (int i = 0; i < six.count; i++) {
            set.put(prefix(false, six, i), hops[six.hops[i]]);
        }
        long put = processorNs();
        table.replace(set);
        line(
                "%,d IPv4 and %,d IPv6 prefixes, seed %d; put in %.2f s of processor time, look-ups made in %.2f s, %.1f MiB of them",
                four.count,
                six.count,
                seed,
                (put - before) / 1e9,
                (processorNs() - put) / 1e9,
                table.fib().bytes() / 1048576.0);
        Path folder = Files.createTempDirectory("tamanoir-fib");
        try {
            lookups4(table, four, folder);
        } finally {
            MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        }
        lookups6(table, six);
        change(table, four, six, hops);
        return 0;
    }

    private void line(String format, Object... arguments) {
        out.println(String.format(Locale.ROOT, format, arguments));
    }

    private long inside(RouteGenerator routes) {
        int i = random.nextInt(routes.count);
        return routes.prefixes[i] | random.nextLong() >>> routes.lengths[i] & (routes.lengths[i] == 64 ? 0 : -1);
    }

    private void lookups4(RoutingTable table, RouteGenerator routes, Path folder)
            throws IOException, InterruptedException {
        Fib fib = table.fib();
        TreeMap<Integer, Integer> ranges = new TreeMap<>();
        int last = -1;
        int[] cells = new int[1 << 24];
        for (int i = 0; i < cells.length; i++) {
            cells[i] = fib.lookup4(i << 8);
            if (cells[i] != last) {
                last = cells[i];
                ranges.put((i << 8) ^ Integer.MIN_VALUE, last);
            }
        }
        for (boolean isAnnounced : new boolean[] {false, true}) {
            int[] keys = new int[KEYS];
            for (int i = 0; i < KEYS; i++) {
                keys[i] = isAnnounced ? (int) (inside(routes) >>> 32) : random.nextInt();
            }
            char[] hops = new char[KEYS];
            double batch = best(() -> fib.lookup4(keys, hops, KEYS));
            double single = best(() -> {
                for (int i = 0; i < KEYS; i++) {
                    hops[i] = (char) fib.lookup4(keys[i]);
                }
            });
            double chain = best(() -> {
                int hop = 0;
                for (int i = 0; i < KEYS; i++) {
                    hop = fib.lookup4(keys[i] ^ hop & 1);
                }
                hops[0] = (char) hop;
            });
            double tree = best(() -> {
                        for (int i = 0; i < KEYS; i += 16) {
                            Map.Entry<Integer, Integer> entry = ranges.floorEntry(keys[i] ^ Integer.MIN_VALUE);
                            hops[i] = (char) (int) entry.getValue();
                        }
                    })
                    * 16;
            line(
                    "IPv4 %s: batch %.2f ns, single %.2f ns, one after the other %.1f ns, TreeMap %.0f ns (%.0f x batch)",
                    isAnnounced ? "announced" : "uniform", batch, single, chain, tree, tree / batch);
            double[] c = c(folder, cells, keys);
            if (c != null) {
                line(
                        "  C DIR-24-8: %.2f ns, one after the other %.1f ns; the batch has %.2f of its rate",
                        c[0], c[1], c[0] / batch);
            }
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        int[] keys = new int[KEYS];
        char[] hops = new char[KEYS];
        long bytes = threads.getThreadAllocatedBytes(self);
        fib.lookup4(keys, hops, KEYS);
        line("allocated in %,d look-ups: %,d bytes", KEYS, threads.getThreadAllocatedBytes(self) - bytes);
    }

    private void lookups6(RoutingTable table, RouteGenerator routes) {
        Fib fib = table.fib();
        for (boolean isAnnounced : new boolean[] {false, true}) {
            long[] highs = new long[KEYS];
            long[] lows = new long[KEYS];
            for (int i = 0; i < KEYS; i++) {
                highs[i] = isAnnounced ? inside(routes) : 1L << 61 | random.nextLong() >>> 3;
                lows[i] = random.nextLong();
            }
            char[] hops = new char[KEYS];
            double batch = best(() -> fib.lookup6(highs, lows, hops, KEYS));
            double chain = best(() -> {
                int hop = 0;
                for (int i = 0; i < KEYS; i++) {
                    hop = fib.lookup6(highs[i] ^ hop & 1, lows[i]);
                }
                hops[0] = (char) hop;
            });
            line(
                    "IPv6 %s: batch %.2f ns, one after the other %.1f ns",
                    isAnnounced ? "announced" : "uniform", batch, chain);
        }
    }

    /** Returns nanoseconds of processor time a look-up: what else runs takes no time, only cache. */
    private double best(Runnable work) {
        double best = Double.MAX_VALUE;
        for (int round = 0; round < rounds; round++) {
            long start = processorNs();
            work.run();
            best = Math.min(best, (processorNs() - start) / (double) KEYS);
        }
        return best;
    }

    private static long processorNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private double @Nullable [] c(Path folder, int[] cells, int[] keys) throws IOException, InterruptedException {
        String missing = InPlace.missing();
        if (missing != null) {
            line("  C DIR-24-8: left out: %s", missing);
            return null;
        }
        Path program = InPlace.compileSource("dir24.c", folder);
        Path cellFile = write(folder.resolve("cells"), cells);
        Path keyFile = write(folder.resolve("keys"), keys);
        Process process = new ProcessBuilder(
                        program.toString(), cellFile.toString(), keyFile.toString(), String.valueOf(rounds))
                .redirectErrorStream(true)
                .start();
        String[] words = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).split(" ");
        if (process.waitFor() != 0) {
            throw new IOException("dir24 ended with " + process.exitValue());
        }
        return new double[] {Double.parseDouble(words[0]), Double.parseDouble(words[1])};
    }

    private static Path write(Path file, int[] words) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(4 * words.length).order(ByteOrder.nativeOrder());
        bytes.asIntBuffer().put(words);
        return Files.write(file, bytes.array());
    }

    /** Withdraws prefixes and announces them again, with another next hop. */
    private void change(RoutingTable table, RouteGenerator four, RouteGenerator six, NextHop[] hops) {
        for (int kind = 0; kind < 3; kind++) {
            RouteGenerator routes = kind < 2 ? four : six;
            int each = changes / 3;
            long[] took = new long[2 * each];
            int n = 0;
            for (int i = 0; i < each; ) {
                int at = random.nextInt(routes.count);
                if (kind < 2 && routes.lengths[at] >= 24 != (kind == 0)) {
                    continue;
                }
                i++;
                Prefix prefix = prefix(kind < 2, routes, at);
                long start = processorNs();
                table.remove(prefix);
                long removed = processorNs();
                table.add(new Route(prefix, hops[1 + random.nextInt(RouteGenerator.HOPS)]));
                took[n++] = removed - start;
                took[n++] = processorNs() - removed;
            }
            long sum = Arrays.stream(took).sum();
            Arrays.sort(took);
            line(
                    "changes, %s: mean %.1f us, p50 %.1f us, p99 %.1f us, p99.9 %.0f us, most %.0f us",
                    kind == 0 ? "IPv4 /24 and longer" : kind == 1 ? "IPv4 shorter" : "IPv6",
                    sum / 1e3 / took.length,
                    took[took.length / 2] / 1e3,
                    took[took.length * 99 / 100] / 1e3,
                    took[(int) (took.length * 0.999)] / 1e3,
                    took[took.length - 1] / 1e3);
        }
    }
}

package org.tamanoir.benchmarks;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.benchmarks.netns.Shell;
import org.tamanoir.benchmarks.report.Section;

/**
 * Look-ups in C, compiled here and told the same routes and addresses by files: a DIR-24-8 without anything else, and
 * DPDK's rte_fib and rte_fib6 in bulks of 64.
 *
 * <p>Thread contract: one thread.
 */
final class FibPeers {
    static final String DIR24 = "C DIR-24-8";
    static final String DIR24_CHAIN = "C DIR-24-8, one after the other";
    static final String SCALAR = "DPDK scalar";
    static final String AVX512 = "DPDK AVX-512";

    /** Nothing of the host but 1 GiB of memory; with leave to use AVX-512, which EAL else keeps to 256 bits. */
    private static final List<String> EAL = List.of(
            "--no-huge",
            "--no-pci",
            "--no-shconf",
            "--no-telemetry",
            "--log-level=error",
            "--force-max-simd-bitwidth=512",
            "-l",
            "0",
            "-m",
            "1024",
            "--");

    private FibPeers() {}

    /** Returns nanoseconds a look-up of IPv4 by the peers' names. What is not there is said in the section. */
    static Map<String, Double> ipv4(FibTable table, int[] keys, char[] hops, Section section) throws IOException {
        Map<String, Double> took = new LinkedHashMap<>();
        String missing = InPlace.missing();
        if (missing != null) {
            section.say("Left out: C DIR-24-8 and DPDK, " + missing + ".");
            return took;
        }
        inFolder(folder -> {
            int[] cells = new int[1 << 24];
            for (int i = 0; i < cells.length; i++) {
                cells[i] = table.table.fib().lookup4(i << 8);
            }
            String program = InPlace.compileSource("dir24.c", folder).toString();
            String[] words = Shell.run(List.of(
                            program,
                            write(folder, "cells", cells, ByteOrder.nativeOrder()),
                            write(folder, "keys", keys, ByteOrder.nativeOrder()),
                            "" + table.rounds))
                    .split(" ");
            took.put(DIR24, Double.parseDouble(words[0]));
            took.put(DIR24_CHAIN, Double.parseDouble(words[1]));
            int[] indexes = table.indexes();
            int[] routes = new int[3 * table.ipv4.count];
            for (int i = 0; i < table.ipv4.count; i++) {
                routes[3 * i] = (int) (table.ipv4.prefixes[i] >>> 32);
                routes[3 * i + 1] = table.ipv4.lengths[i];
                routes[3 * i + 2] = indexes[table.ipv4.hops[i]];
            }
            dpdk(table, folder, "4", write(folder, "routes", routes, ByteOrder.nativeOrder()), hops, section, took);
        });
        return took;
    }

    /** Returns the same of IPv6, where there is only DPDK. */
    static Map<String, Double> ipv6(FibTable table, long[] highs, long[] lows, char[] hops, Section section)
            throws IOException {
        Map<String, Double> took = new LinkedHashMap<>();
        inFolder(folder -> {
            int[] keys = new int[4 * highs.length];
            for (int i = 0; i < highs.length; i++) {
                address(keys, 4 * i, highs[i], lows[i]);
            }
            int[] indexes = table.indexes();
            int[] routes = new int[6 * table.ipv6.count];
            boolean swaps = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
            for (int i = 0; i < table.ipv6.count; i++) {
                address(routes, 6 * i, table.ipv6.prefixes[i], 0);
                int length = table.ipv6.lengths[i];
                int hop = indexes[table.ipv6.hops[i]];
                routes[6 * i + 4] = swaps ? Integer.reverseBytes(length) : length;
                routes[6 * i + 5] = swaps ? Integer.reverseBytes(hop) : hop;
            }
            write(folder, "keys", keys, ByteOrder.BIG_ENDIAN);
            dpdk(table, folder, "6", write(folder, "routes", routes, ByteOrder.BIG_ENDIAN), hops, section, took);
        });
        return took;
    }

    private static void address(int[] words, int at, long high, long low) {
        words[at] = (int) (high >>> 32);
        words[at + 1] = (int) high;
        words[at + 2] = (int) (low >>> 32);
        words[at + 3] = (int) low;
    }

    private static void dpdk(
            FibTable table,
            Path folder,
            String family,
            String routes,
            char[] hops,
            Section section,
            Map<String, Double> took)
            throws IOException {
        String missing = missing();
        if (missing != null) {
            section.say("Left out: DPDK, " + missing + ".");
            return;
        }
        List<String> options = new ArrayList<>();
        for (String each : List.of("--cflags", "--libs")) {
            options.addAll(List.of(
                    Shell.run(List.of("pkg-config", each, "libdpdk")).trim().split("\\s+")));
        }
        List<String> command = new ArrayList<>();
        command.add(InPlace.compileSource("rte_fib.c", folder, options.toArray(String[]::new))
                .toString());
        command.addAll(EAL);
        command.addAll(List.of(family, routes, folder.resolve("keys").toString(), "" + table.rounds));
        long sum = 0;
        for (char hop : hops) {
            sum += hop;
        }
        for (String line : Shell.run(command).split("\n")) {
            String[] words = line.split(" ");
            if (Long.parseLong(words[2]) != sum) {
                throw new IOException("DPDK's hops are others: their sum is " + words[2] + ", not " + sum);
            }
            took.put(words[0].equals("scalar") ? SCALAR : AVX512, Double.parseDouble(words[1]));
        }
    }

    private static @Nullable String missing() {
        if (InPlace.missing() != null) {
            return InPlace.missing();
        }
        try {
            Shell.run(List.of("pkg-config", "--exists", "libdpdk"));
            return null;
        } catch (IOException e) {
            return "pkg-config finds no libdpdk; install libdpdk-dev";
        }
    }

    private interface InFolder {
        void run(Path folder) throws IOException;
    }

    private static void inFolder(InFolder work) throws IOException {
        Path folder = Files.createTempDirectory("tamanoir-fib");
        try {
            work.run(folder);
        } finally {
            MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    private static String write(Path folder, String name, int[] words, ByteOrder order) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(4 * words.length).order(order);
        bytes.asIntBuffer().put(words);
        return Files.write(folder.resolve(name), bytes.array()).toString();
    }
}

package org.tamanoir.benchmarks;

import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntFunction;

/**
 * A full table of both families whose routes lead to few next hops, and destinations inside its prefixes with the next
 * hop that a plain search finds. Thread contract: one thread.
 */
final class DestinationTable {
    /** Of a destination in a file: the upper and the lower 64 bits of its address, and the number of its next hop. */
    static final int RECORD_BYTES = 2 * Long.BYTES + Integer.BYTES;

    private static final int SHORTEST = 8;
    private static final int LONGEST = 64;
    private static final long IPV4_MAPPED = 0xFFFFL << 32;

    private final RouteGenerator[] tables;
    private final long seed;
    private final int nextHops;

    DestinationTable(int ipv4, int ipv6, long seed, int nextHops) {
        tables = new RouteGenerator[] {RouteGenerator.ipv4(ipv4, seed), RouteGenerator.ipv6(ipv6, seed)};
        this.seed = seed;
        this.nextHops = nextHops;
    }

    private static RouteGenerator of(RouteGenerator[] tables, boolean isIpv4) {
        return tables[isIpv4 ? 0 : 1];
    }

    int count(boolean isIpv4) {
        return of(tables, isIpv4).count;
    }

    /** Writes a line for each route of a family: its prefix between these words. */
    void writeRoutes(BufferedWriter out, String before, boolean isIpv4, IntFunction<String> behind) throws IOException {
        RouteGenerator table = of(tables, isIpv4);
        for (int i = 0; i < table.count; i++) {
            out.write(before + table.prefix(i) + behind.apply(table.hops[i] % nextHops) + "\n");
        }
    }

    /** Writes destinations: random addresses inside random prefixes. */
    void writeDestinations(Path file, boolean isIpv4, int destinations) throws IOException {
        RouteGenerator table = of(tables, isIpv4);
        List<Map<Long, Integer>> hops = new ArrayList<>();
        for (int length = 0; length <= LONGEST; length++) {
            hops.add(new HashMap<>());
        }
        for (int i = 0; i < table.count; i++) {
            hops.get(table.lengths[i]).put(table.prefixes[i], table.hops[i] % nextHops);
        }
        Random random = new Random(seed);
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            for (int n = 0; n < destinations; n++) {
                int i = random.nextInt(table.count);
                int length = table.lengths[i];
                long address = table.prefixes[i] | (length == LONGEST ? 0 : random.nextLong() >>> length);
                out.writeLong(isIpv4 ? 0 : address);
                out.writeLong(isIpv4 ? IPV4_MAPPED | address >>> 32 : random.nextLong());
                out.writeInt(search(hops, address));
            }
        }
    }

    private static int search(List<Map<Long, Integer>> byLength, long address) {
        for (int length = LONGEST; length >= SHORTEST; length--) {
            Integer hop = byLength.get(length).get(address & -1L << (LONGEST - length));
            if (hop != null) {
                return hop;
            }
        }
        throw new IllegalStateException("no prefix has its own address");
    }
}

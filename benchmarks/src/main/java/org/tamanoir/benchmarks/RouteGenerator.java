package org.tamanoir.benchmarks;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.tamanoir.routing.Prefix;

/**
 * Makes tables like those of Internet routers. Counts by length are those of a tier-1 router's table (gaissmai/bart's
 * test data, January 2024); 51 % of IPv4's prefixes and 57 % of IPv6's lie inside another one, and neighbours stand in
 * runs of 2 to 8, which half the time lead to the same next hop. Next hops are Zipf-distributed over 255.
 *
 * <p>Thread contract: one thread.
 */
final class RouteGenerator {
    static final int HOPS = 255;

    /** IPv4's prefixes by length, 8 to 32, in hundredths of a percent. */
    private static final int[] IPV4 = {
        1, 0, 1, 1, 3, 6, 13, 23, 150, 91, 153, 276, 473, 563, 1204, 1070, 5962, 1, 0, 0, 0, 0, 0, 0, 10
    };
    /** IPv6's prefixes by length, 28 to 48. */
    private static final int[] IPV6 = {
        19, 273, 41, 18, 1408, 183, 163, 65, 374, 55, 101, 86, 838, 56, 144, 63, 897, 97, 190, 197, 4714
    };
    /** The blocks of the regional registries by their first 16 bits, and their lengths. */
    private static final int[][] BLOCKS = {
        {0x2001, 16}, {0x2400, 12}, {0x2600, 12}, {0x2800, 12}, {0x2a00, 12}, {0x2c00, 12}
    };

    private final Random random;
    private final boolean isIpv4;
    private final double[] zipf = new double[HOPS];
    private final Set<Long> known = new HashSet<>();
    /** Prefixes from the left. */
    long[] prefixes = new long[1024];

    byte[] lengths = new byte[1024];
    short[] hops = new short[1024];
    int count;

    private RouteGenerator(boolean isIpv4, long seed) {
        this.isIpv4 = isIpv4;
        random = new Random(seed);
        double sum = 0;
        for (int i = 0; i < HOPS; i++) {
            sum += 1.0 / (i + 1);
            zipf[i] = sum;
        }
    }

    /** Makes about this many prefixes of IPv4; the same for the same seed. */
    static RouteGenerator ipv4(int routes, long seed) {
        RouteGenerator made = new RouteGenerator(true, seed);
        made.fill(IPV4, 8, routes);
        return made;
    }

    /** Makes about this many prefixes of IPv6; those longer than /48, 0.21 %, are /64. */
    static RouteGenerator ipv6(int routes, long seed) {
        RouteGenerator made = new RouteGenerator(false, seed);
        made.fill(IPV6, 28, routes);
        made.fillLength(64, routes * 21 / 10_000);
        return made;
    }

    /** Returns a prefix as routes have it. */
    Prefix prefix(int i) {
        return isIpv4
                ? new Prefix(0, 0xFFFFL << 32 | prefixes[i] >>> 32, lengths[i] + 96)
                : new Prefix(prefixes[i], 0, lengths[i]);
    }

    private void fill(int[] shares, int shortest, int routes) {
        for (int i = 0; i < shares.length; i++) {
            fillLength(shortest + i, (int) Math.round(routes * (double) shares[i] / 10_000));
        }
    }

    private void fillLength(int length, int wanted) {
        int shorter = count;
        int end = count + wanted;
        // Where all places of a length are taken, as of /8, it stays below.
        for (int tries = 0; count < end && tries < 100 * wanted; tries++) {
            boolean isInside = shorter > 0 && random.nextInt(100) < (isIpv4 ? 51 : 57);
            int cover = isInside ? random.nextInt(shorter) : -1;
            long base = isInside ? prefixes[cover] : block();
            int fixed = isInside ? lengths[cover] : isIpv4 ? 8 : 16;
            long step = 1L << (64 - length);
            long first = base | (random.nextLong() >>> fixed) & -step;
            int run = 1 + random.nextInt(8);
            boolean isAlike = random.nextBoolean();
            int hop = hop();
            for (int i = 0; i < run && count < end; i++) {
                long prefix = first + i * step;
                boolean leaves = fixed > 0 && (prefix ^ base) >>> (64 - fixed) != 0;
                if (!leaves && known.add(prefix ^ length)) {
                    add(prefix, length, isAlike ? hop : hop());
                }
            }
        }
    }

    private void add(long prefix, int length, int hop) {
        if (count == hops.length) {
            prefixes = Arrays.copyOf(prefixes, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
            hops = Arrays.copyOf(hops, 2 * count);
        }
        prefixes[count] = prefix;
        lengths[count] = (byte) length;
        hops[count++] = (short) hop;
    }

    /** Returns the beginning of a block that is in use. */
    private long block() {
        if (!isIpv4) {
            int[] block = BLOCKS[random.nextInt(BLOCKS.length)];
            int more = block[1] == 16 ? 0 : random.nextInt(1 << (16 - block[1]));
            return (long) (block[0] | more) << 48;
        }
        int share = random.nextInt(1000);
        int first = share < 469
                ? 1 + random.nextInt(126)
                : share < 766 ? 128 + random.nextInt(64) : 192 + random.nextInt(32);
        return (long) first << 56;
    }

    private int hop() {
        int at = Arrays.binarySearch(zipf, random.nextDouble() * zipf[HOPS - 1]);
        return 1 + Math.min(HOPS - 1, at >= 0 ? at : -at - 1);
    }
}

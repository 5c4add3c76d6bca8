package org.tamanoir.benchmarks.emulate;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.tamanoir.benchmarks.GeneratedTable;

/** Where packets of a model go: addresses inside announced prefixes of IPv4. Thread contract: one thread. */
interface Destinations {
    /** How often prefixes are asked for. */
    enum Kind {
        /** Each as often as the others. */
        UNIFORM,
        /** All to one address: what looking up costs is not in it. */
        ONE,
        /** The k-th of a drawn order 1/k as often as the first. */
        ZIPF
    }

    /** Returns the next address. */
    int next(SplittableRandom random);

    static Destinations of(Kind kind, GeneratedTable table, long seed) {
        if (kind == Kind.ONE) {
            int only = table.address(0, 1);
            return random -> only;
        }
        if (kind == Kind.UNIFORM) {
            return random -> table.address(random.nextInt(table.ipv4()), random.nextInt());
        }
        int count = table.ipv4();
        int[] order = new int[count];
        double[] sums = new double[count];
        SplittableRandom drawn = new SplittableRandom(seed);
        for (int i = 0; i < count; i++) {
            int other = drawn.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
            sums[i] = (i == 0 ? 0 : sums[i - 1]) + 1.0 / (i + 1);
        }
        return random -> {
            int at = Arrays.binarySearch(sums, random.nextDouble() * sums[count - 1]);
            return table.address(order[Math.min(count - 1, at < 0 ? -at - 1 : at)], random.nextInt());
        };
    }
}

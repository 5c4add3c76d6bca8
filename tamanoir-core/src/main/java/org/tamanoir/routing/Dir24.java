package org.tamanoir.routing;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * IPv4 by one access to memory, or two where a prefix is longer than 24 bits (Gupta, Lin, McKeown, "Routing lookups in
 * hardware at memory access speeds", 1998): 32 MiB, and 512 bytes for each /24 with longer prefixes.
 *
 * <pre>
 *   cell of the first 24 bits: | 0 | hop index, 15 bits |  or  | 1 | group, 15 bits |, which has 256 hop indexes;
 * hop index 0 = that of the default route
 * </pre>
 *
 * <p>A /24 keeps its group when the longer prefixes are withdrawn, and no other gets it: who has read a cell reads
 * from a group of the same addresses. A change stores each cell once; a new group is whole before its cell names it.
 */
final class Dir24 extends HopSearch {
    static final int MAX_INDEX = 0x7FFF;
    private static final int GROUP = 0x8000;
    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(char[].class);

    private final char[] cells = new char[1 << 24];
    private final char[][] groups = new char[MAX_INDEX + 1][];
    private final RangeList ranges = new RangeList();
    /** The /24 that several ranges share, while they come. */
    private final char[] shared = new char[256];

    private int groupCount;

    private Dir24() {}

    /** Returns whether no more /24s hold longer prefixes than there may be groups. */
    static boolean fits(Rib rib) {
        long[] last = {-1};
        int[] count = new int[1];
        rib.walk(0, 0, 0, Rib.Position.START, (high, low, length, hop) -> {
            if (length > 24 && high >>> 40 != last[0]) {
                last[0] = high >>> 40;
                count[0]++;
            }
            return count[0] <= MAX_INDEX + 1;
        });
        return count[0] <= MAX_INDEX + 1;
    }

    /** Returns look-ups of prefixes that fit. */
    static Dir24 of(Rib rib) {
        Dir24 made = new Dir24();
        made.updateSlices(rib, 0, 0);
        made.followDefault(rib);
        return made;
    }

    @Override
    int hop(long high, long low) {
        return hop((int) (high >>> 32));
    }

    private int hop(int address) {
        char cell = (char) CELL.getAcquire(cells, address >>> 8);
        return (short) cell > 0 ? cell : groupOrDefault(address);
    }

    private int groupOrDefault(int address) {
        int fallback;
        int hop;
        do {
            fallback = fallback();
            char cell = (char) CELL.getAcquire(cells, address >>> 8);
            hop = cell < GROUP ? cell : inGroup(cell, address);
        } while (fallback != fallback());
        return or(hop, fallback);
    }

    private char inGroup(char cell, int address) {
        return (char) CELL.getAcquire(groups[cell & MAX_INDEX], address & 0xFF);
    }

    /** Reads all cells of a chunk first, which the compiler unrolls, and then the few groups. */
    @Override
    void hops(int[] addresses, char[] into, int count) {
        char[] cells = this.cells;
        for (int from = 0; from < count; from += CHUNK) {
            int end = Math.min(from + CHUNK, count);
            int fallback;
            do {
                fallback = fallback();
                int all = 0;
                for (int i = from; i < end; i++) {
                    char cell = cells[addresses[i] >>> 8];
                    all |= cell;
                    into[i] = (char) or(cell, fallback);
                }
                VarHandle.acquireFence(); // before what the cells name, and the default route
                if (all >= GROUP) {
                    for (int i = from; i < end; i++) {
                        if (into[i] >= GROUP) {
                            into[i] = (char) or(inGroup(into[i], addresses[i]), fallback);
                        }
                    }
                }
            } while (fallback != fallback());
        }
    }

    @Override
    boolean update(Rib rib, long high, long low, int length) {
        if (length == 0) {
            followDefault(rib);
            return true;
        }
        int chunkLength = Math.min(length, 24);
        long first = high & Prefix.highMask(chunkLength);
        long last = first | ~Prefix.highMask(chunkLength);
        rib.ranges(first, 0, chunkLength, ranges);
        for (int i = 0; i < ranges.count; i++) {
            long end = i + 1 < ranges.count ? ranges.highs[i + 1] - 1 : last;
            if (!fill(ranges.highs[i] >>> 32, end >>> 32, ranges.hops[i])) {
                return false;
            }
        }
        return true;
    }

    /** Has the addresses from {@code first} to {@code last} lead to this hop; those of one /24 come in order. */
    private boolean fill(long first, long last, char hop) {
        for (long address = first; address <= last; ) {
            int cell = (int) (address >>> 8);
            long end = Math.min(last, address | 0xFF);
            if ((address & 0xFF) == 0 && (end & 0xFF) == 0xFF) {
                set(cell, hop);
            } else {
                Arrays.fill(shared, (int) address & 0xFF, ((int) end & 0xFF) + 1, hop);
                if ((end & 0xFF) == 0xFF && !share(cell)) {
                    return false;
                }
            }
            address = end + 1;
        }
        return true;
    }

    private void set(int cell, char hop) {
        char now = cells[cell];
        if (now >= GROUP) {
            char[] group = groups[now & MAX_INDEX];
            for (int i = 0; i < group.length; i++) {
                CELL.setRelease(group, i, hop);
            }
        } else if (now != hop) {
            CELL.setRelease(cells, cell, hop);
        }
    }

    /** Has a /24 lead where {@link #shared} does; false when there are no more groups. */
    private boolean share(int cell) {
        char now = cells[cell];
        if (now >= GROUP) {
            char[] group = groups[now & MAX_INDEX];
            for (int i = 0; i < group.length; i++) {
                CELL.setRelease(group, i, shared[i]);
            }
            return true;
        }
        if (groupCount > MAX_INDEX) {
            return false;
        }
        groups[groupCount] = shared.clone();
        CELL.setRelease(cells, cell, (char) (GROUP | groupCount++));
        return true;
    }

    @Override
    long bytes() {
        return 2L * cells.length + 4L * groups.length + 528L * groupCount + ranges.bytes();
    }
}

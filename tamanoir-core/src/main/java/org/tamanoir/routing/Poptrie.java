package org.tamanoir.routing;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Look-ups by the upper 64 bits of an address (Asai, Ohara, "Poptrie: a compressed trie with population count for
 * fast and scalable software IP routing table lookup", SIGCOMM 2015): the first bits choose a cell of a direct table,
 * six more at a time a slot of a node, whose children and leaves are counted in bit vectors. A leaf whose /64 has
 * longer prefixes says so, and a hash table has the ranges of that /64, which the paper does not have.
 *
 * <pre>
 *   cell: number of a node, or a negative number whose last 16 bits are a leaf
 *   node: vectors[2n] the slots with a child, vectors[2n + 1] the slots at which a new leaf begins;
 *         bases[2n] the first child, bases[2n + 1] the first leaf
 *   leaf: hop index, 15 bits, 0 = that of the default route; or LONGER
 * </pre>
 *
 * <p>Nodes and leaves are written once, into space behind those before, until it is full; then all is made anew. A
 * change writes the nodes between the cell and its prefix again, with what lies inside the prefix, and stores the cell
 * last; one of a prefix as short as a cell all that the prefix covers. A /64 keeps its place in the hash table.
 */
final class Poptrie extends HopSearch {
    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle TAIL = MethodHandles.arrayElementVarHandle(Tail[].class);
    private static final int LEAF = 1 << 31;
    private static final char LONGER = 0x8000;
    private static final int STRIDE = 6;
    /** Room beyond three times what a table needs when it is made. */
    private static final int SPARE = 1 << 14;

    /** The ranges of a /64, by the lower 64 bits, of which the signs are turned. */
    private record Tail(long high, long[] lows, char[] hops) {
        char hop(long low) {
            int at = Arrays.binarySearch(lows, low ^ Long.MIN_VALUE);
            return hops[at >= 0 ? at : -at - 2];
        }

        long bytes() {
            return 64 + 10L * lows.length;
        }
    }

    /** The contents of 64 slots: a leaf each, or a node as it will stand in the arrays. */
    private static final class Level {
        final char[] values = new char[64];
        final long[] children = new long[64];
        final long[] leafStarts = new long[64];
        final int[] firstChildren = new int[64];
        final int[] firstLeaves = new int[64];
        long nodes;

        boolean isNode(int slot) {
            return (nodes >>> slot & 1) != 0;
        }

        void leaf(int slot, char value) {
            nodes &= ~(1L << slot);
            values[slot] = value;
        }

        void node(int slot, long vector, long leafVector, int firstChild, int firstLeaf) {
            nodes |= 1L << slot;
            children[slot] = vector;
            leafStarts[slot] = leafVector;
            firstChildren[slot] = firstChild;
            firstLeaves[slot] = firstLeaf;
        }
    }

    /** State of changes, apart from what look-ups read: a processor that reads would wait for each change of it. */
    private static final class Writer {
        int nodeCount;
        int leafCount;
        int tailCount;
        long tailBytes;
        /** Whether others read: arrays are not replaced any more. */
        boolean isPublished;
        /** The cell, and up to eight nodes deep. */
        final Level[] levels = new Level[10];

        final RangeList ranges = new RangeList();
        /** The ranges again, by their upper 64 bits, with leaves. */
        long[] starts = new long[64];

        char[] values = new char[64];
        int count;

        Writer() {
            Arrays.setAll(levels, level -> new Level());
        }
    }

    private final int directBits;
    private final int[] cells;
    private long[] vectors = new long[2 * SPARE];
    private int[] bases = new int[2 * SPARE];
    private char[] leaves = new char[SPARE];
    private @Nullable Tail[] tails = new Tail[64];
    private final Writer writer = new Writer();

    private Poptrie(int directBits) {
        this.directBits = directBits;
        cells = new int[1 << directBits];
        // Before the first change all is one leaf: no hop.
        Arrays.fill(cells, LEAF);
    }

    /** Returns look-ups of these prefixes; 18 bits direct suit IPv4 (1 MiB), 20 IPv6 (4 MiB). */
    static Poptrie of(Rib rib, int directBits) {
        Poptrie made = new Poptrie(directBits);
        made.updateSlices(rib, 0, 0);
        made.vectors = Arrays.copyOf(made.vectors, 2 * (3 * made.writer.nodeCount + SPARE));
        made.bases = Arrays.copyOf(made.bases, 2 * (3 * made.writer.nodeCount + SPARE));
        made.leaves = Arrays.copyOf(made.leaves, 3 * made.writer.leafCount + SPARE);
        while (made.tails.length < 8 * made.writer.tailCount) {
            made.growTails(); // also withdrawn /64s keep their place
        }
        made.followDefault(rib);
        made.writer.isPublished = true;
        return made;
    }

    @Override
    int hop(long high, long low) {
        int hop = find(high, low);
        return hop != 0 ? hop : orDefault(high, low);
    }

    private int orDefault(long high, long low) {
        int fallback;
        int hop;
        do {
            fallback = fallback();
            hop = find(high, low);
        } while (fallback != fallback());
        return or(hop, fallback);
    }

    private int find(long high, long low) {
        int entry = (int) CELL.getAcquire(cells, (int) (high >>> (64 - directBits)));
        long key = high << directBits;
        while (entry >= 0) {
            int slot = (int) (key >>> 58);
            long vector = vectors[2 * entry];
            if ((vector >>> slot & 1) == 0) {
                long leaf = vectors[2 * entry + 1] & (2L << slot) - 1;
                char value = leaves[bases[2 * entry + 1] + Long.bitCount(leaf) - 1];
                return value == LONGER ? longer(high, low) : value;
            }
            entry = bases[2 * entry] + Long.bitCount(vector & (1L << slot) - 1);
            key <<= STRIDE;
        }
        char value = (char) entry;
        return value == LONGER ? longer(high, low) : value;
    }

    private int longer(long high, long low) {
        Tail tail = (Tail) TAIL.getAcquire(tails, place(high));
        return tail == null ? 0 : tail.hop(low);
    }

    /** Returns where the tail of a /64 is or would be; tables are at most half full. */
    private int place(long high) {
        int mask = tails.length - 1;
        int at = (int) (high * 0x9E37_79B9_7F4A_7C15L >>> 32) & mask;
        while (true) {
            Tail there = (Tail) TAIL.getAcquire(tails, at);
            if (there == null || there.high == high) {
                return at;
            }
            at = at + 1 & mask;
        }
    }

    @Override
    void hops(int[] addresses, char[] into, int n) {
        for (int from = 0; from < n; from += CHUNK) {
            int end = Math.min(from + CHUNK, n);
            int fallback;
            do {
                fallback = fallback();
                for (int i = from; i < end; i++) {
                    into[i] = (char) or(find((long) addresses[i] << 32, 0), fallback);
                }
            } while (fallback != fallback());
        }
    }

    /** Reads all cells of a chunk first, without a branch, and then what lies behind them. */
    @Override
    void hops(long[] highs, long[] lows, char[] into, int n) {
        int[] cells = this.cells;
        int shift = 64 - directBits;
        for (int from = 0; from < n; from += CHUNK) {
            int end = Math.min(from + CHUNK, n);
            int fallback;
            do {
                fallback = fallback();
                int all = 0;
                for (int i = from; i < end; i++) {
                    int entry = cells[(int) (highs[i] >>> shift)];
                    int leaf = entry | ~entry >> 31;
                    all |= leaf;
                    into[i] = (char) or((char) leaf, fallback);
                }
                if ((all & LONGER) != 0) {
                    for (int i = from; i < end; i++) {
                        if (into[i] >= LONGER) {
                            into[i] = (char) or(find(highs[i], lows[i]), fallback);
                        }
                    }
                }
                VarHandle.acquireFence(); // before the default route
            } while (fallback != fallback());
        }
    }

    @Override
    boolean update(Rib rib, long high, long low, int length) {
        if (length == 0) {
            followDefault(rib);
            return true;
        }
        int chunkLength = Math.min(length, directBits);
        long first = high & Prefix.highMask(chunkLength);
        int old = cells[(int) (first >>> (64 - directBits))];
        if (length > directBits && old >= 0) {
            return recompile(0, 0, old, first, directBits, rib, high, Math.min(length, 64))
                    && publish((int) (first >>> (64 - directBits)));
        }
        rib.ranges(first, 0, chunkLength, writer.ranges);
        if (!toLeaves()) {
            return false;
        }
        int cell = (int) (first >>> (64 - directBits));
        int end = cell + (1 << (directBits - chunkLength));
        int from = 0;
        for (; cell < end; cell++) {
            long start = (long) cell << (64 - directBits);
            from = rangeOf(start, from);
            if (!compile(0, 0, start, directBits, from) || !publish(cell)) {
                return false;
            }
        }
        return true;
    }

    /** Stores what level 0 has in a cell; false when there is no room. */
    private boolean publish(int cell) {
        int entry = LEAF | writer.levels[0].values[0];
        if (writer.levels[0].isNode(0)) {
            if (!hasRoom(1, 0)) {
                return false;
            }
            entry = writer.nodeCount++;
            write(entry, writer.levels[0], 0);
        }
        if (cells[cell] != entry) {
            CELL.setRelease(cells, cell, entry);
        }
        return true;
    }

    /** Turns ranges into leaves of whole /64s; those that are cut get their tail. False when there is no room. */
    private boolean toLeaves() {
        writer.count = 0;
        for (int i = 0; i < writer.ranges.count; ) {
            long high = writer.ranges.highs[i];
            if (writer.ranges.lows[i] == 0 && (i + 1 == writer.ranges.count || writer.ranges.highs[i + 1] != high)) {
                begin(high, writer.ranges.hops[i++]);
                continue;
            }
            int from = writer.ranges.lows[i] == 0 ? i : i - 1;
            while (i < writer.ranges.count && writer.ranges.highs[i] == high) {
                i++;
            }
            long[] lows = Arrays.copyOfRange(writer.ranges.lows, from, i);
            lows[0] = 0;
            for (int k = 0; k < lows.length; k++) {
                lows[k] ^= Long.MIN_VALUE;
            }
            if (!put(new Tail(high, lows, Arrays.copyOfRange(writer.ranges.hops, from, i)))) {
                return false;
            }
            begin(high, LONGER);
            if (high + 1 != 0) {
                begin(high + 1, writer.ranges.hops[i - 1]);
            }
        }
        return true;
    }

    private void begin(long start, char value) {
        if (writer.count > 0 && writer.starts[writer.count - 1] == start) {
            writer.count--;
        }
        if (writer.count > 0 && writer.values[writer.count - 1] == value) {
            return;
        }
        if (writer.count == writer.starts.length) {
            writer.starts = Arrays.copyOf(writer.starts, 2 * writer.count);
            writer.values = Arrays.copyOf(writer.values, 2 * writer.count);
        }
        writer.starts[writer.count] = start;
        writer.values[writer.count++] = value;
    }

    private boolean put(Tail tail) {
        int at = place(tail.high);
        Tail before = tails[at];
        if (before == null) {
            if (2 * (writer.tailCount + 1) > tails.length) {
                if (writer.isPublished) {
                    return false;
                }
                growTails();
                at = place(tail.high);
            }
            writer.tailCount++;
        }
        writer.tailBytes += tail.bytes() - (before == null ? 0 : before.bytes());
        TAIL.setRelease(tails, at, tail);
        return true;
    }

    private void growTails() {
        @Nullable Tail[] old = tails;
        tails = new Tail[2 * old.length];
        for (Tail moved : old) {
            if (moved != null) {
                tails[place(moved.high)] = moved;
            }
        }
    }

    /** Returns the range that holds this address, which is not before range {@code from}. */
    private int rangeOf(long address, int from) {
        int range = from;
        while (range + 1 < writer.count && Long.compareUnsigned(writer.starts[range + 1], address) <= 0) {
            range++;
        }
        return range;
    }

    /** Returns whether another range begins at or before this address. */
    private boolean isCut(int range, long last) {
        return range + 1 < writer.count && Long.compareUnsigned(writer.starts[range + 1], last) <= 0;
    }

    /** Compiles the ranges of what lies behind the first {@code depth} bits into a slot; false when there is no room. */
    private boolean compile(int level, int slot, long first, int depth, int from) {
        if (!isCut(from, last(first, depth))) {
            writer.levels[level].leaf(slot, writer.values[from]);
            return true;
        }
        int range = from;
        for (int inner = 0; inner < 64; inner++) {
            long start = first | (long) inner << 58 >>> depth;
            range = rangeOf(start, range);
            if (!compile(level + 1, inner, start, depth + STRIDE, range)) {
                return false;
            }
        }
        return finish(level, slot);
    }

    /**
     * Compiles a node into a slot again after a change of one prefix inside it; what the prefix does not reach stays
     * where it is. False when there is no room.
     */
    private boolean recompile(int level, int slot, int node, long first, int depth, Rib rib, long high, int length) {
        Level inner = writer.levels[level + 1];
        load(node, inner);
        int changed = (int) (high << depth >>> 58);
        long start = first | (long) changed << 58 >>> depth;
        if (length > depth + STRIDE && inner.isNode(changed)) {
            int child = bases[2 * node] + Long.bitCount(vectors[2 * node] & (1L << changed) - 1);
            return recompile(level + 1, changed, child, start, depth + STRIDE, rib, high, length)
                    && finish(level, slot);
        }
        rib.ranges(start, 0, Math.min(length, depth + STRIDE), writer.ranges);
        if (!toLeaves()) {
            return false;
        }
        int end = changed + (length > depth + STRIDE ? 1 : 1 << (depth + STRIDE - length));
        int range = 0;
        for (; changed < end; changed++) {
            start = first | (long) changed << 58 >>> depth;
            range = rangeOf(start, range);
            if (!compile(level + 1, changed, start, depth + STRIDE, range)) {
                return false;
            }
        }
        return finish(level, slot);
    }

    private void load(int node, Level into) {
        long children = vectors[2 * node];
        int child = bases[2 * node];
        int leaf = bases[2 * node + 1] - 1;
        for (int slot = 0; slot < 64; slot++) {
            leaf += (int) (vectors[2 * node + 1] >>> slot & 1);
            if ((children >>> slot & 1) == 0) {
                into.leaf(slot, leaves[leaf]);
            } else {
                into.node(slot, vectors[2 * child], vectors[2 * child + 1], bases[2 * child], bases[2 * child + 1]);
                child++;
            }
        }
    }

    /** Makes a node of the level behind, in a slot of this one; a leaf, where all is alike. False when there is no room. */
    private boolean finish(int level, int slot) {
        Level inner = writer.levels[level + 1];
        int leaf = -1;
        long leafStarts = 0;
        int firstChild = writer.nodeCount;
        int firstLeaf = writer.leafCount;
        if (!hasRoom(64, 64)) {
            return false;
        }
        for (int i = 0; i < 64; i++) {
            if (inner.isNode(i)) {
                write(writer.nodeCount++, inner, i);
            } else if (inner.values[i] != leaf) {
                leaf = inner.values[i];
                leafStarts |= 1L << i;
                leaves[writer.leafCount++] = inner.values[i];
            }
        }
        if (inner.nodes == 0 && Long.bitCount(leafStarts) == 1) {
            writer.leafCount = firstLeaf;
            writer.levels[level].leaf(slot, inner.values[0]);
        } else {
            writer.levels[level].node(slot, inner.nodes, leafStarts, firstChild, firstLeaf);
        }
        return true;
    }

    private void write(int node, Level from, int slot) {
        vectors[2 * node] = from.children[slot];
        vectors[2 * node + 1] = from.leafStarts[slot];
        bases[2 * node] = from.firstChildren[slot];
        bases[2 * node + 1] = from.firstLeaves[slot];
    }

    /** Returns the last address with these first bits; behind 64 there is nothing. */
    private static long last(long first, int depth) {
        return depth >= 64 ? first : first | -1L >>> depth;
    }

    private boolean hasRoom(int moreNodes, int moreLeaves) {
        boolean nodesFit = 2 * (writer.nodeCount + moreNodes) <= vectors.length;
        boolean leavesFit = writer.leafCount + moreLeaves <= leaves.length;
        if (!writer.isPublished && !nodesFit) {
            vectors = Arrays.copyOf(vectors, 2 * vectors.length);
            bases = Arrays.copyOf(bases, 2 * bases.length);
        }
        if (!writer.isPublished && !leavesFit) {
            leaves = Arrays.copyOf(leaves, 2 * leaves.length);
        }
        return !writer.isPublished || nodesFit && leavesFit;
    }

    @Override
    long bytes() {
        return 4L * cells.length
                + 8L * vectors.length
                + 4L * bases.length
                + 2L * leaves.length
                + 4L * tails.length
                + writer.tailBytes
                + writer.ranges.bytes()
                + 10L * writer.starts.length;
    }
}

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
 *   node: nodes[3n] the slots with a child, nodes[3n + 1] the slots at which a new leaf begins,
 *         nodes[3n + 2] | first child, 32 bits | first leaf, 32 bits |
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
    /** Longs of a node, which stand together: they are read from one line of the cache, or two. */
    private static final int NODE = 3;

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
        final long[] bases = new long[64];
        long nodes;

        boolean isNode(int slot) {
            return (nodes >>> slot & 1) != 0;
        }

        void leaf(int slot, char value) {
            nodes &= ~(1L << slot);
            values[slot] = value;
        }

        void node(int slot, long vector, long leafVector, long base) {
            nodes |= 1L << slot;
            children[slot] = vector;
            leafStarts[slot] = leafVector;
            bases[slot] = base;
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

    /** What a thread notes of the chunk that it looks up. */
    private static final class Batch {
        /** Addresses of IPv4 as those of IPv6 stand. */
        final long[] highs = new long[CHUNK];
        /** The places in the chunk of addresses that have a node to read, and these nodes. */
        final int[] waiting = new int[CHUNK];

        final int[] entries = new int[CHUNK];
    }

    private static final ThreadLocal<Batch> BATCH = ThreadLocal.withInitial(Batch::new);

    private final int directBits;
    private final int[] cells;
    private long[] nodes = new long[NODE * SPARE];
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
        made.nodes = Arrays.copyOf(made.nodes, NODE * (3 * made.writer.nodeCount + SPARE));
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
            int node = NODE * entry;
            int slot = (int) (key >>> 58);
            long children = nodes[node];
            long base = nodes[node + 2];
            if ((children >>> slot & 1) == 0) {
                char value = leaves[(int) base + Long.bitCount(nodes[node + 1] & (2L << slot) - 1) - 1];
                return value == LONGER ? longer(high, low) : value;
            }
            entry = (int) (base >>> 32) + Long.bitCount(children & (1L << slot) - 1);
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
    void hops(int[] addresses, char[] into, int count) {
        Batch batch = BATCH.get();
        for (int from = 0; from < count; from += CHUNK) {
            int n = Math.min(CHUNK, count - from);
            for (int i = 0; i < n; i++) {
                batch.highs[i] = (long) addresses[from + i] << 32;
            }
            hops(batch, batch.highs, batch.highs, 0, into, from, n);
        }
    }

    @Override
    void hops(long[] highs, long[] lows, char[] into, int count) {
        Batch batch = BATCH.get();
        for (int from = 0; from < count; from += CHUNK) {
            hops(batch, highs, lows, from, into, from, Math.min(CHUNK, count - from));
        }
    }

    /**
     * Reads the cells of all addresses of a chunk, then their nodes level by level. No branch depends on what is read:
     * the processor would guess wrong how deep an address goes, and not have begun to read for the next ones.
     */
    private void hops(Batch batch, long[] highs, long[] lows, int from, char[] into, int intoFrom, int count) {
        int[] cells = this.cells;
        long[] nodes = this.nodes;
        char[] leaves = this.leaves;
        int[] waiting = batch.waiting;
        int[] entries = batch.entries;
        int shift = 64 - directBits;
        int fallback;
        do {
            fallback = fallback();
            int more = 0;
            for (int i = 0; i < count; i++) {
                int entry = cells[(int) (highs[from + i] >>> shift)];
                into[intoFrom + i] = (char) entry;
                entries[more] = entry;
                waiting[more] = i;
                more += ~entry >>> 31;
            }
            VarHandle.acquireFence(); // before what the cells name, and the default route
            for (int depth = directBits; more > 0; depth += STRIDE) {
                int now = more;
                more = 0;
                for (int k = 0; k < now; k++) {
                    int i = waiting[k];
                    int node = NODE * entries[k];
                    long slot = highs[from + i] << depth >>> 58;
                    long children = nodes[node];
                    long base = nodes[node + 2];
                    int isNode = (int) (children >>> slot & 1);
                    int leaf = (int) base + Long.bitCount(nodes[node + 1] << 63 - slot) - 1;
                    into[intoFrom + i] = leaves[leaf & isNode - 1];
                    entries[more] = (int) (base >>> 32) + Long.bitCount(children << 63 - slot) - isNode;
                    waiting[more] = i;
                    more += isNode;
                }
            }
            int all = 0;
            for (int i = intoFrom; i < intoFrom + count; i++) {
                all |= into[i];
                into[i] = (char) or(into[i], fallback);
            }
            if (all >= LONGER) {
                for (int i = 0; i < count; i++) {
                    if (into[intoFrom + i] == LONGER) {
                        into[intoFrom + i] = (char) or(longer(highs[from + i], lows[from + i]), fallback);
                    }
                }
            }
            VarHandle.acquireFence();
        } while (fallback != fallback());
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
            int child = (int) (nodes[NODE * node + 2] >>> 32) + Long.bitCount(nodes[NODE * node] & (1L << changed) - 1);
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
        long children = nodes[NODE * node];
        long leafStarts = nodes[NODE * node + 1];
        int child = NODE * (int) (nodes[NODE * node + 2] >>> 32);
        int leaf = (int) nodes[NODE * node + 2] - 1;
        for (int slot = 0; slot < 64; slot++) {
            leaf += (int) (leafStarts >>> slot & 1);
            if ((children >>> slot & 1) == 0) {
                into.leaf(slot, leaves[leaf]);
            } else {
                into.node(slot, nodes[child], nodes[child + 1], nodes[child + 2]);
                child += NODE;
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
            writer.levels[level].node(slot, inner.nodes, leafStarts, (long) firstChild << 32 | firstLeaf);
        }
        return true;
    }

    private void write(int node, Level from, int slot) {
        nodes[NODE * node] = from.children[slot];
        nodes[NODE * node + 1] = from.leafStarts[slot];
        nodes[NODE * node + 2] = from.bases[slot];
    }

    /** Returns the last address with these first bits; behind 64 there is nothing. */
    private static long last(long first, int depth) {
        return depth >= 64 ? first : first | -1L >>> depth;
    }

    private boolean hasRoom(int moreNodes, int moreLeaves) {
        boolean nodesFit = NODE * (writer.nodeCount + moreNodes) <= nodes.length;
        boolean leavesFit = writer.leafCount + moreLeaves <= leaves.length;
        if (!writer.isPublished && !nodesFit) {
            nodes = Arrays.copyOf(nodes, 2 * nodes.length);
        }
        if (!writer.isPublished && !leavesFit) {
            leaves = Arrays.copyOf(leaves, 2 * leaves.length);
        }
        return !writer.isPublished || nodesFit && leavesFit;
    }

    @Override
    long bytes() {
        return 4L * cells.length
                + 8L * nodes.length
                + 2L * leaves.length
                + 4L * tails.length
                + writer.tailBytes
                + writer.ranges.bytes()
                + 10L * writer.starts.length;
    }
}

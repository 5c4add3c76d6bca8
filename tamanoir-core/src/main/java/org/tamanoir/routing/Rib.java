package org.tamanoir.routing;

import java.util.Arrays;

/**
 * The prefixes of one family, each with a hop index: a binary trie without nodes of one child that are no prefix
 * (Morrison, "PATRICIA", 1968), in one int array. It knows what lies inside a prefix and what a withdrawn one
 * uncovers. Prefixes stand in 128 bits from the left, those of IPv4 in the first 32.
 *
 * <pre>
 *   node n, from n * stride:
 *   | key, 1 word (IPv4) or 4 | length: 8 bits, hop: 24 bits, 0 = no prefix | child 0 | child 1 |
 * </pre>
 *
 * <p>That is 16 bytes a node for IPv4 and 28 for IPv6; n prefixes make at most 2n - 1 nodes. Node 0 is none; its
 * first child is the root.
 *
 * <p>Thread contract: one thread at a time.
 */
final class Rib {
    /** What {@link #walk} meets. */
    interface Visitor {
        /** Takes a prefix; returns false to end the walk. */
        boolean visit(long high, long low, int length, int hop);
    }

    /** A place in the order of {@link #walk}. */
    record Position(long high, long low, int length) {
        /** Stands before all prefixes. */
        static final Position START = new Position(0, 0, -1);

        /** Compares an address with the one here: negative = it comes before. */
        int compare(long otherHigh, long otherLow) {
            int order = Long.compareUnsigned(otherHigh, high);
            return order != 0 ? order : Long.compareUnsigned(otherLow, low);
        }
    }

    private static final int HOP_BITS = 24;
    private static final int HOP_MASK = (1 << HOP_BITS) - 1;

    private final int keyWords;
    private final int stride;
    private int[] nodes;
    private int end = 1;
    /** Nodes to use again, linked by their first child. */
    private int free;

    private int size;

    /** @param keyBits 32 or 128 */
    Rib(int keyBits) {
        keyWords = keyBits / 32;
        stride = keyWords + 3;
        nodes = new int[16 * stride];
    }

    /** Returns how many prefixes there are. */
    int size() {
        return size;
    }

    /** Puts a prefix, which is zero behind its length; returns the hop that it had, 0 = it is new. */
    int put(long high, long low, int length, int hop) {
        int slot = child(0, 0);
        while (true) {
            int node = nodes[slot];
            if (node == 0) {
                int leaf = allocate(high, low, length, hop);
                nodes[slot] = leaf;
                break;
            }
            int nodeLength = length(node);
            int common = Math.min(common(node, high, low), Math.min(nodeLength, length));
            if (common == nodeLength && nodeLength == length) {
                int old = hop(node);
                nodes[meta(node)] = length << HOP_BITS | hop;
                size += old == 0 ? 1 : 0;
                return old;
            }
            if (common == nodeLength) {
                slot = child(node, bit(high, low, nodeLength));
                continue;
            }
            int side = bit(high(node), low(node), common);
            int above;
            if (common == length) {
                above = allocate(high, low, length, hop);
            } else {
                above = allocate(high & Prefix.highMask(common), low & Prefix.lowMask(common), common, 0);
                int leaf = allocate(high, low, length, hop);
                nodes[child(above, 1 - side)] = leaf;
            }
            nodes[child(above, side)] = node;
            nodes[slot] = above;
            break;
        }
        size++;
        return 0;
    }

    /** Removes a prefix; returns the hop that it had, 0 = there is none. */
    int remove(long high, long low, int length) {
        int aboveSlot = 0;
        int slot = child(0, 0);
        while (isAbove(nodes[slot], high, low, length)) {
            aboveSlot = slot;
            slot = child(nodes[slot], bit(high, low, length(nodes[slot])));
        }
        int node = nodes[slot];
        if (node == 0 || length(node) != length || common(node, high, low) < length || hop(node) == 0) {
            return 0;
        }
        int hop = hop(node);
        size--;
        nodes[meta(node)] = length << HOP_BITS;
        if (lift(slot) && nodes[slot] == 0 && aboveSlot != 0 && hop(nodes[aboveSlot]) == 0) {
            lift(aboveSlot);
        }
        return hop;
    }

    /** Puts its only child, or nothing, in a node's place; false when it has two. */
    private boolean lift(int slot) {
        int node = nodes[slot];
        int left = nodes[child(node, 0)];
        int right = nodes[child(node, 1)];
        if (left != 0 && right != 0) {
            return false;
        }
        nodes[slot] = left != 0 ? left : right;
        nodes[child(node, 0)] = free;
        free = node;
        return true;
    }

    /** Returns the hop of exactly this prefix, 0 = there is none. */
    int get(long high, long low, int length) {
        int node = nodes[child(0, 0)];
        while (isAbove(node, high, low, length)) {
            node = nodes[child(node, bit(high, low, length(node)))];
        }
        return node != 0 && length(node) == length && common(node, high, low) >= length ? hop(node) : 0;
    }

    /** Returns the length of the longest prefix that holds an address, -1 = there is none. */
    int longest(long high, long low) {
        int longest = -1;
        int node = nodes[child(0, 0)];
        while (node != 0 && common(node, high, low) >= length(node)) {
            longest = hop(node) != 0 ? length(node) : longest;
            node = length(node) == 32 * keyWords ? 0 : nodes[child(node, bit(high, low, length(node)))];
        }
        return longest;
    }

    /**
     * Fills the list with the ranges of a prefix's addresses, whether there is such a prefix or not. Those that the
     * default route alone holds have 0, unless the prefix is 0 bits long.
     */
    void ranges(long high, long low, int length, RangeList into) {
        into.clear();
        int node = nodes[child(0, 0)];
        int hop = 0;
        while (isAbove(node, high, low, length)) {
            hop = hop(node) != 0 && length(node) > 0 ? hop(node) : hop;
            node = nodes[child(node, bit(high, low, length(node)))];
        }
        into.begin(high, low, hop);
        if (node != 0 && length(node) >= length && common(node, high, low) >= length) {
            ranges(node, hop, into);
        }
        int last = into.count - 1;
        boolean inside = (into.highs[last] & Prefix.highMask(length)) == high
                && (into.lows[last] & Prefix.lowMask(length)) == low;
        into.count -= inside ? 0 : 1;
    }

    /** Recurs at most as deep as a key is long. */
    private void ranges(int node, int outer, RangeList into) {
        int own = hop(node);
        int hop = own != 0 ? own : outer;
        into.begin(high(node), low(node), hop);
        for (int side = 0; side < 2; side++) {
            int child = nodes[child(node, side)];
            if (child != 0) {
                ranges(child, hop, into);
            }
        }
        long lowBehind = (low(node) | ~Prefix.lowMask(length(node))) + 1;
        long highBehind = (high(node) | ~Prefix.highMask(length(node))) + (lowBehind == 0 ? 1 : 0);
        if (own != 0 && (highBehind | lowBehind) != 0) {
            into.begin(highBehind, lowBehind, outer);
        }
    }

    /**
     * Visits the prefixes inside one, and itself, by first address, the wider first; those that come behind {@code
     * after}, which need not be there. Steps over whole branches before it.
     */
    void walk(long high, long low, int length, Position after, Visitor visitor) {
        int node = nodes[child(0, 0)];
        while (isAbove(node, high, low, length)) {
            node = nodes[child(node, bit(high, low, length(node)))];
        }
        if (node != 0 && length(node) >= length && common(node, high, low) >= length) {
            walk(node, after, visitor);
        }
    }

    private boolean walk(int node, Position after, Visitor visitor) {
        if (node == 0) {
            return true;
        }
        long high = high(node);
        long low = low(node);
        int length = length(node);
        if (after.compare(high | ~Prefix.highMask(length), low | ~Prefix.lowMask(length)) < 0) {
            return true;
        }
        int order = after.compare(high, low);
        boolean isBehind = order > 0 || order == 0 && length > after.length;
        return (!isBehind || hop(node) == 0 || visitor.visit(high, low, length, hop(node)))
                && walk(nodes[child(node, 0)], after, visitor)
                && walk(nodes[child(node, 1)], after, visitor);
    }

    /** Returns whether a node is there, shorter than this prefix, and holds it. */
    private boolean isAbove(int node, long high, long low, int length) {
        return node != 0 && length(node) < length && common(node, high, low) >= length(node);
    }

    private int allocate(long high, long low, int length, int hop) {
        int node = free;
        if (node != 0) {
            free = nodes[child(node, 0)];
        } else {
            if ((end + 1) * stride > nodes.length) {
                nodes = Arrays.copyOf(nodes, nodes.length + (nodes.length >> 1) / stride * stride);
            }
            node = end++;
        }
        int at = node * stride;
        nodes[at] = (int) (high >>> 32);
        if (keyWords > 1) {
            nodes[at + 1] = (int) high;
            nodes[at + 2] = (int) (low >>> 32);
            nodes[at + 3] = (int) low;
        }
        nodes[meta(node)] = length << HOP_BITS | hop;
        nodes[child(node, 0)] = 0;
        nodes[child(node, 1)] = 0;
        return node;
    }

    private int meta(int node) {
        return node * stride + keyWords;
    }

    /** Returns where the number of a child stands. */
    private int child(int node, int side) {
        return node * stride + keyWords + 1 + side;
    }

    private int length(int node) {
        return nodes[meta(node)] >>> HOP_BITS;
    }

    private int hop(int node) {
        return nodes[meta(node)] & HOP_MASK;
    }

    private long high(int node) {
        int at = node * stride;
        return (long) nodes[at] << 32 | (keyWords > 1 ? nodes[at + 1] & 0xFFFF_FFFFL : 0);
    }

    private long low(int node) {
        int at = node * stride + 2;
        return keyWords > 1 ? (long) nodes[at] << 32 | nodes[at + 1] & 0xFFFF_FFFFL : 0;
    }

    /** Returns how many first bits of a node's key and an address are alike. */
    private int common(int node, long high, long low) {
        long difference = high(node) ^ high;
        return difference != 0
                ? Long.numberOfLeadingZeros(difference)
                : 64 + Long.numberOfLeadingZeros(low(node) ^ low);
    }

    private static int bit(long high, long low, int at) {
        return (int) ((at < 64 ? high : low) >>> (63 - at)) & 1;
    }
}

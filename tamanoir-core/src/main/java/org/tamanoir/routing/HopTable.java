package org.tamanoir.routing;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Next hops by number, 1 to {@value #MAX}; 0 is none. A number never comes to mean another next hop. A next hop of the
 * feed has another number than the same one of an operator, so that a route's number says where it is from.
 *
 * <p>Thread contract: one thread at a time puts; others read what {@link #shared} returned.
 */
final class HopTable {
    /** What 15 bits of a cell can say. */
    static final int MAX = Dir24.MAX_INDEX;

    private final Map<NextHop, Integer> indexes = new HashMap<>();
    private final Map<NextHop, Integer> fedIndexes = new HashMap<>();
    private final BitSet fed = new BitSet();
    private @Nullable NextHop[] hops = new @Nullable NextHop[8];
    private int count = 1;

    /** Returns the number of a next hop, which gets one if it has none; 0 when there are no more. */
    int put(NextHop hop, boolean isFed) {
        Map<NextHop, Integer> indexes = isFed ? fedIndexes : this.indexes;
        Integer known = indexes.get(hop);
        if (known != null) {
            return known;
        }
        if (count > MAX) {
            return 0;
        }
        if (count == hops.length) {
            hops = Arrays.copyOf(hops, Math.min(2 * count, MAX + 1));
        }
        hops[count] = hop;
        fed.set(count, isFed);
        int index = count++; // before a map that may have the entry though it had no memory to grow
        indexes.put(hop, index);
        return index;
    }

    NextHop get(int index) {
        return Objects.requireNonNull(hops[index]);
    }

    boolean isFed(int index) {
        return fed.get(index);
    }

    /**
     * Returns the next hops by number for readers.
     *
     * @param inPlace whether they find numbers that are put later, too
     */
    @Nullable
    NextHop[] shared(boolean inPlace) {
        if (inPlace && hops.length <= MAX) {
            hops = Arrays.copyOf(hops, MAX + 1);
        }
        return hops;
    }
}

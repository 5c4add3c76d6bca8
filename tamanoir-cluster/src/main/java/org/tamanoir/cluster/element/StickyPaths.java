package org.tamanoir.cluster.element;

/**
 * The paths of keys met lately. Each key has two places; the one that was used longer ago goes to a new key, so that some
 * thousand keys stay at a time. A key that was forgotten is a new one.
 *
 * <p>Thread contract: one thread. Allocates nothing.
 */
final class StickyPaths {
    private static final int SETS = 2_048;
    private static final int SHIFT = 64 - Integer.numberOfTrailingZeros(SETS);

    private final long[] keys = new long[2 * SETS];
    /** Path + 1; 0 = the place is free. */
    private final byte[] paths = new byte[2 * SETS];

    private final long[] used = new long[2 * SETS];
    private long uses;

    /** Returns the path of a key; -1 when it is not known. */
    int find(long key) {
        int place = placeOf(key);
        if (keys[place] != key) {
            return -1;
        }
        used[place] = ++uses;
        return paths[place] - 1;
    }

    /** Remembers the path of a key that was just looked for. */
    void put(long key, int path) {
        int place = placeOf(key);
        keys[place] = key;
        paths[place] = (byte) (path + 1);
        used[place] = ++uses;
    }

    /** Returns the place of a key, or that of the two which was used longer ago. */
    private int placeOf(long key) {
        int first = (int) (key * 0x9E3779B97F4A7C15L >>> SHIFT) * 2;
        if (keys[first] == key) {
            return first;
        }
        return keys[first + 1] == key || used[first + 1] < used[first] ? first + 1 : first;
    }
}

package org.tamanoir.format;

import java.util.Arrays;

/** Where what lies at places of a source was put: a map from long to int that is used again and again. */
final class PlaceMap {
    private long[] keys = new long[64];
    private int[] values = new int[64];
    private int size;

    void clear() {
        if (size > 0) {
            Arrays.fill(keys, 0);
            size = 0;
        }
    }

    private int find(long[] in, long key) {
        int mask = in.length - 1;
        int at = (int) (key * 0x9E3779B97F4A7C15L >>> 32) & mask;
        while (in[at] != 0 && in[at] != key) {
            at = at + 1 & mask;
        }
        return at;
    }

    /** Returns where it was put; -1 if it was not. */
    int get(long key) {
        int at = find(keys, key);
        return keys[at] == key ? values[at] : -1;
    }

    /** Remembers a place; the key is not 0. */
    void put(long key, int value) {
        if (2 * size >= keys.length) {
            long[] larger = new long[2 * keys.length];
            int[] moved = new int[larger.length];
            for (int i = 0; i < keys.length; i++) {
                if (keys[i] != 0) {
                    int at = find(larger, keys[i]);
                    larger[at] = keys[i];
                    moved[at] = values[i];
                }
            }
            keys = larger;
            values = moved;
        }
        int at = find(keys, key);
        size += keys[at] == 0 ? 1 : 0;
        keys[at] = key;
        values[at] = value;
    }
}

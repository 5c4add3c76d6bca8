package org.tamanoir.sapf;

/**
 * Hashes of headers that came once, the last few of each set: a flow begins with the second packet of its header, so one
 * alone costs nothing. Flows stand in sets of as many, so that those whose hashes meet have room beside each other.
 *
 * <p>Thread contract: one thread.
 */
final class SeenHeaders {
    static final int WAYS = 4;

    /** Of each set the last first. */
    private final long[] hashes;

    /** @param places a power of two */
    SeenHeaders(int places) {
        hashes = new long[places];
    }

    /** Returns the first place of a hash's set. */
    int set(long hash) {
        return (int) hash & hashes.length - WAYS;
    }

    /** Returns whether the hash is among the last of its set; from now on it is. */
    boolean wasSeen(long hash, int set) {
        for (int place = set; place < set + WAYS; place++) {
            if (hashes[place] == hash) {
                return true;
            }
        }
        System.arraycopy(hashes, set, hashes, set + 1, WAYS - 1);
        hashes[set] = hash;
        return false;
    }
}

package org.tamanoir.cluster.reflect;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * What passed in the last 2 s, by a hash of 64 bits, so that a loop of reflectors ends: {@value #WAYS} places for each
 * of {@value #SETS} remainders, of which the oldest gives way. More than {@value #ENTRIES} packets in 2 s push others
 * out early; a loop takes milliseconds. One thread.
 */
final class Seen {
    static final long HORIZON_NS = TimeUnit.SECONDS.toNanos(2);

    /** Of RTCP: a request for a key frame is the same bytes each time. */
    static final long RTCP_HORIZON_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final int WAYS = 4;
    private static final int SETS = 1 << 14;
    private static final int ENTRIES = WAYS * SETS;

    private final long[] keys = new long[ENTRIES];
    private final long[] timesNs = new long[ENTRIES];
    private final boolean[] used = new boolean[ENTRIES];

    /** Notes that it passes; true if it did within the horizon, 2 s at most. */
    boolean isAgain(long key, long nowNs, long horizonNs) {
        int first = ((int) (key >>> 40) & SETS - 1) * WAYS;
        int oldest = first;
        for (int i = first; i < first + WAYS; i++) {
            if (used[i] && keys[i] == key) {
                boolean again = nowNs - timesNs[i] < horizonNs;
                timesNs[i] = again ? timesNs[i] : nowNs;
                return again;
            }
            if (used[oldest] && (!used[i] || timesNs[i] - timesNs[oldest] < 0)) {
                oldest = i;
            }
        }
        keys[oldest] = key;
        timesNs[oldest] = nowNs;
        used[oldest] = true;
        return false;
    }

    /** Returns a hash of a datagram's first bytes. */
    static long hash(long seed, ByteBuffer buffer, int at, int bytes) {
        long hash = seed;
        int i = 0;
        for (; bytes - i >= 8; i += 8) {
            hash = mix(hash, buffer.getLong(at + i));
        }
        for (; i < bytes; i++) {
            hash = mix(hash, buffer.get(at + i));
        }
        return hash;
    }

    /** Mixes the words of a key (the finalizer of MurmurHash3, Appleby). */
    static long mix(long a, long b) {
        long hash = a * 0x9E3779B97F4A7C15L ^ b;
        hash = (hash ^ hash >>> 33) * 0xFF51AFD7ED558CCDL;
        hash = (hash ^ hash >>> 33) * 0xC4CEB9FE1A85EC53L;
        return hash ^ hash >>> 33;
    }
}

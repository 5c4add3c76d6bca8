package org.tamanoir.benchmarks.cluster;

import java.util.List;

/**
 * How experiments run.
 *
 * @param quick fewer sizes, stream counts and rounds
 * @param seconds that throughput is measured for at each point
 * @param measurements what they share
 */
record Settings(boolean quick, double seconds, Measurements measurements) {
    /** Of packets whose throughput is swept, in bytes; the last is the paper's. */
    static List<Integer> sizes(boolean quick) {
        return quick ? List.of(1400, 8192) : List.of(200, 1400, 8192);
    }

    /** Streams at once. */
    static List<Integer> streams(boolean quick) {
        return quick ? List.of(1, 3, 24) : List.of(1, 2, 3, 6, 12, 24);
    }

    /** The same where processors are emulated. */
    static List<Integer> streamsInGuest(boolean quick) {
        return quick ? List.of(1, 24) : List.of(1, 3, 6, 24);
    }

    /** The paper's packets of 8 KB. */
    static final int PAPER_BYTES = 8192;

    /** The most streams of the paper. */
    static final int PAPER_STREAMS = 24;
}

package org.tamanoir.cluster.element;

/**
 * The beginning of a distributor, which stands in the upper bits of each of its rounds: rounds of a later start are so above
 * all rounds of earlier ones, and whoever sees one knows that it belongs to another start.
 *
 * <pre>
 *   63  62                            27 26                     0
 *  +---+--------------------------------+------------------------+
 *  | 0 | eighths of a second since 1970 | number of the round    |
 *  |   | at the start, times two        | since the start        |
 *  +---+--------------------------------+------------------------+
 * </pre>
 *
 * <p>Numbers run over into the bits above them, by one after 134,217,728 rounds, which are still of the same beginning;
 * another one is at least two above, by {@link #above(long)} four, so that a start that still goes on then may run over, too. Up
 * to 2³¹ rounds a second these bits grow slower than the clock, and until the year 2106 they fit.
 *
 * <p>Pure. Any thread.
 */
final class Beginning {
    private static final int NUMBER_BITS = 27;
    /** The highest round that may be given: another beginning still fits above it. */
    static final long MAX_ROUND = Long.MAX_VALUE >>> NUMBER_BITS + 3 << NUMBER_BITS + 3;

    private static final long MS = 125;

    /**
     * Bits of the clock that a beginning above another one has, which is up to 2.3 hours later for them. Of two starts that
     * have heard of the same round the later one is below where these bits ran over between the two.
     */
    private static final int PHASE_BITS = 16;

    private Beginning() {}

    /** Returns the first round of a distributor that starts at this time, in ms since 1970. */
    static long at(long timeMs) {
        return Math.max(1, timeMs / MS << NUMBER_BITS + 1);
    }

    /** Returns the first round of the next beginning above a round. */
    static long above(long round) {
        return (round >>> NUMBER_BITS) + 5 >>> 1 << NUMBER_BITS + 1;
    }

    /**
     * Returns the first round of a distributor that has heard of a round and starts at this time, in ms since 1970: that of
     * its clock, where it is above the round; else of the beginnings above the round the next one with the lower bits of the
     * clock. Another start that has heard of the same, and not of the first one, so begins elsewhere.
     */
    static long above(long round, long timeMs) {
        long least = above(round);
        long ahead = (at(timeMs) - least) & (1L << NUMBER_BITS + 1 + PHASE_BITS) - 1;
        return Math.max(at(timeMs), least + (ahead >>> NUMBER_BITS + 1 << NUMBER_BITS + 1));
    }

    /** Returns whether a later round is of another beginning than an earlier one. */
    static boolean isAnother(long earlier, long later) {
        return (later >>> NUMBER_BITS) - (earlier >>> NUMBER_BITS) > 1;
    }

    /** Returns the first round with the beginning of this one, which is 1 and up. */
    static long first(long round) {
        return Math.max(1, round >>> NUMBER_BITS << NUMBER_BITS);
    }
}

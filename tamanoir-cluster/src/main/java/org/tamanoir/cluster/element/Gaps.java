package org.tamanoir.cluster.element;

import java.util.Arrays;
import org.tamanoir.anep.Anep;

/**
 * Counts the packets, markers among them, that never came although a later one of their path did: each path has one in
 * each round, from the round in which the distributor began it to that in which it ended.
 *
 * <p>A packet that comes behind a later one of its path is no gap any more, in time or late, if it is at most {@value
 * #MEMORY} rounds behind. What was missing when a distributor or a path ended is not known, and not counted.
 *
 * <p>Pure. Thread contract: one thread. Allocates nothing for a packet.
 */
final class Gaps {
    /** Rounds of a path that are remembered: 8 KiB for each path. */
    static final int MEMORY = 65_536;

    /** By path, a bit for each of the last rounds, by its lowest bits: whether the packet came. */
    private final long[][] came;
    /** The first and the last round that each path has shown since it began; 0 = none yet. */
    private final long[] firsts;

    private final long[] tops;
    /** The first round of a path that was announced, by the last announcement; 0 = none was. */
    private final long[] begins;

    private final boolean[] ended;
    /** The first round of the distributor's start, where it came; 0 = it did not. */
    private long start;

    private long count;

    Gaps(int paths) {
        came = new long[paths][MEMORY / Long.SIZE];
        firsts = new long[paths];
        tops = new long[paths];
        begins = new long[paths];
        ended = new boolean[paths];
    }

    /** Notes the first round of a start of the distributor; 0 = none of its packets has come. */
    void begin(long first) {
        start = first;
    }

    /** Notes that a path has packets from this round on. */
    void announce(int path, long first) {
        begins[path] = first;
    }

    /** Notes a packet of a path. */
    void came(int path, long round, int flags) {
        long top = tops[path];
        long[] bits = came[path];
        if (round > top) {
            long from = expected(path, top, round);
            if (from != top + 1) {
                firsts[path] = from;
            }
            count += round - from;
            forget(bits, Math.max(from, round - MEMORY + 1), round);
            tops[path] = round;
            ended[path] = (flags & Anep.ROUND_PATH_ENDS) != 0;
            set(bits, round);
        } else if (round >= firsts[path] && top - round < MEMORY && !isSet(bits, round)) {
            count--;
            set(bits, round);
        }
    }

    /** Returns the first round of which a path was to show a packet behind {@code top}, at most {@code round}. */
    private long expected(int path, long top, long round) {
        if (begins[path] > top && isOfSameStart(begins[path], round)) {
            return begins[path];
        }
        if (!isOfSameStart(top, round)) {
            return isOfSameStart(start, round) ? start : round;
        }
        return ended[path] ? round : top + 1;
    }

    /** Returns whether a round that is known, 0 = none, is of the same start of the distributor as a later one. */
    private static boolean isOfSameStart(long known, long round) {
        return known != 0 && known <= round && !Beginning.isAnother(known, round);
    }

    private static void forget(long[] bits, long from, long until) {
        if (until - from >= MEMORY - 1) {
            Arrays.fill(bits, 0);
        }
        for (long round = from; round < until; round++) {
            bits[word(round)] &= ~(1L << round);
        }
    }

    private static void set(long[] bits, long round) {
        bits[word(round)] |= 1L << round;
    }

    private static boolean isSet(long[] bits, long round) {
        return (bits[word(round)] & 1L << round) != 0;
    }

    private static int word(long round) {
        return (int) (round & MEMORY - 1) / Long.SIZE;
    }

    /** Returns the last round that a path has shown in its turn or late; 0 = none yet. */
    long top(int path) {
        return tops[path];
    }

    long count() {
        return count;
    }
}

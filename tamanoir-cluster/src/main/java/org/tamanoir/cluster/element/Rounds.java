package org.tamanoir.cluster.element;

import java.util.Arrays;
import org.tamanoir.anep.Anep;

/**
 * Gives packets their rounds and paths (section 2): rounds are numbered one by one, each packet of a round has a path. What
 * numbers begin with is told by {@link Beginning}.
 *
 * <p>In rounds by weight the path with the largest credit is next: each pick adds its weight to every path's credit and
 * takes the sum of all weights from that of the path picked, as nginx does and, in another order, LVS's {@code wrr}. Of a
 * round of s packets a path of weight w so gets s · w / Σw, less than one packet off, and never several in a row where
 * others wait. Rounds of exact order have a packet for the path of the largest weight, for another one of weight w in w of
 * as many rounds as that weight. What the first one has says so: nothing of an earlier
 * start follows on its path.
 *
 * <p>Weights change, and paths come and go, with the round that begins next. A path that goes gets a last marker, in the
 * first round without it, unless nobody knows of it yet. In exact order a path that comes has its first packet a round later: before, a marker on each
 * path announces it, which reaches whoever puts the paths together before anything that the new path may make wait.
 *
 * <p>Pure: no clock, no socket. Thread contract: one thread. Allocates nothing for a packet.
 */
final class Rounds {
    /** Weight of a path that is not there. */
    static final int ABSENT = -1;
    /** Weight of a path that goes: it gets a last marker, and is absent from then on. */
    static final int LEAVING = -2;

    static final int MAX_PATHS = 64;
    static final int MAX_WEIGHT = 1_000;
    static final int MAX_SIZE = 65_536;

    private static final int LAST_MARKER = Anep.ROUND_EMPTY | Anep.ROUND_LAST | Anep.ROUND_PATH_ENDS;

    /** Sends what the rounds need beside packets. */
    interface Markers {
        /**
         * Sends a marker, which is ahead of the packet that is being placed.
         *
         * @param way the path that it takes
         * @param path the one that it is about: another one where that is announced
         */
        void send(int way, int path, long round, int flags);
    }

    private final Distribution distribution;
    private final int size;
    private final Markers markers;
    private final int[] wanted;
    private final int[] weights;
    private final long[] credits;
    /** Whether a path is there that has not been announced. */
    private final boolean[] comes;

    private final byte[] order;
    private final int[] lastPlaces;
    private final StickyPaths sticky = new StickyPaths();
    private boolean changed;
    /** Whether the order of the round before holds again: all credits are as they were when it began. */
    private boolean repeats;

    /** Of this start of the distributor. */
    private long firstRound;

    private int sum;
    private int largest;
    private long round;
    private int places;
    private int place;
    private int flags;

    /**
     * Begins before the first round.
     *
     * @param size packets of a round by weight or with sticky keys, 1 to 65,536; the others have one for each path
     * @param paths how many there can be, 1 to 64; none is there yet
     * @param firstRound 1 and up
     */
    Rounds(Distribution distribution, int size, int paths, long firstRound, Markers markers) {
        this.distribution = distribution;
        this.size = size;
        this.markers = markers;
        wanted = new int[paths];
        weights = new int[paths];
        credits = new long[paths];
        comes = new boolean[paths];
        lastPlaces = new int[paths];
        order = new byte[Math.max(size, paths)];
        Arrays.fill(wanted, ABSENT);
        Arrays.fill(weights, ABSENT);
        this.firstRound = firstRound;
        round = firstRound - 1;
    }

    /** Sets a path's weight from the next round on: 0 to 1,000, of which 0 gets no packets, {@link #LEAVING} or {@link #ABSENT}. */
    void weight(int path, int weight) {
        changed |= wanted[path] != weight;
        wanted[path] = weight;
    }

    /** Begins anew with this round, if it is above the last one, of which what is missing gets its markers. */
    void beginAnew(long first) {
        if (first > round) {
            endRound();
            round = first - 1;
            firstRound = first;
        }
    }

    /** Ends the round early, with markers where each path has one packet, and has changes hold at once. */
    void endRound() {
        for (; place < places; place++) {
            if (distribution == Distribution.ROUND_ROBIN || distribution == Distribution.EXACT) {
                mark(order[place]);
            }
        }
        if (changed) {
            applyChanges();
        }
    }

    /**
     * Places the next packet.
     *
     * @param key of the packets that stay together, where keys are sticky
     * @return its path; -1 when no path takes packets
     */
    int next(long key) {
        while (place == places) { // A round in which paths are announced may have no packet.
            if (!beginRound()) {
                return -1;
            }
        }
        int path = distribution == Distribution.STICKY ? pathOf(key) : order[place];
        boolean isLast = distribution == Distribution.STICKY ? place == places - 1 : place == lastPlaces[path];
        flags = (isLast ? Anep.ROUND_LAST : 0) | first();
        place++;
        return path;
    }

    /** Returns the round of the packet placed last. */
    long round() {
        return round;
    }

    /** Returns the flags of the packet placed last; where keys are sticky, only the last of a round is known as one. */
    int flags() {
        return flags;
    }

    /** Returns false, and begins none, when no path takes packets. */
    private boolean beginRound() {
        if (changed) {
            applyChanges();
        }
        if (sum == 0) {
            return false;
        }
        round++;
        place = 0;
        if (repeats) {
            return true;
        }
        places = 0;
        switch (distribution) {
            case ROUND_ROBIN -> orderAll();
            case WEIGHTED -> orderByWeight();
            case EXACT -> orderExactly();
            case STICKY -> {
                places = size;
                limitCredits();
            }
        }
        return true;
    }

    /** Sends a marker in place of a path's packet. */
    private void mark(int path) {
        markers.send(path, path, round, Anep.ROUND_EMPTY | Anep.ROUND_LAST | first());
    }

    /** Returns the flag of the first round, where that is this one, in exact order. */
    private int first() {
        return round == firstRound && distribution == Distribution.EXACT ? Anep.ROUND_FIRST : 0;
    }

    private void applyChanges() {
        boolean announces = distribution == Distribution.EXACT && places > 0; // At first all paths are waited for.
        changed = false;
        repeats = false;
        sum = 0;
        largest = 0;
        for (int path = 0; path < weights.length; path++) {
            if (wanted[path] == LEAVING) {
                wanted[path] = ABSENT;
                if (weights[path] != ABSENT && !comes[path]) {
                    markers.send(path, path, round + 1, LAST_MARKER);
                }
            }
            comes[path] = wanted[path] != ABSENT && (comes[path] || announces && weights[path] == ABSENT);
            weights[path] = wanted[path];
            sum += Math.max(0, weights[path]);
            largest = Math.max(largest, weights[path]);
        }
        // Of exact order the paths begin in turn, so that the rounds are of about one size.
        long before = 0;
        for (int path = 0; path < weights.length; path++) {
            credits[path] = distribution == Distribution.EXACT && largest > 0 ? before % largest : 0;
            before += Math.max(0, weights[path]);
        }
    }

    private void orderAll() {
        for (int path = 0; path < weights.length; path++) {
            if (weights[path] > 0) {
                add(path);
            }
        }
        repeats = true;
    }

    private void orderByWeight() {
        boolean beganEven = isEven();
        for (int i = 0; i < size; i++) {
            int path = richest();
            credits[path] -= sum;
            add(path);
        }
        repeats = beganEven && isEven();
    }

    private boolean isEven() {
        for (long credit : credits) {
            if (credit != 0) {
                return false;
            }
        }
        return true;
    }

    /** Lets a path make up for one round at most: keys may have kept it from packets for long. */
    private void limitCredits() {
        long limit = (long) size * sum;
        for (int path = 0; path < credits.length; path++) {
            credits[path] = Math.max(-limit, Math.min(limit, credits[path]));
        }
    }

    private void orderExactly() {
        for (int path = 0; path < weights.length; path++) {
            if (weights[path] == ABSENT) {
                continue;
            }
            if (comes[path]) {
                comes[path] = false;
                announce(path);
                continue;
            }
            credits[path] += weights[path];
            if (credits[path] >= largest) {
                credits[path] -= largest;
                add(path);
            } else {
                mark(path);
            }
        }
    }

    /** Announces a path on all, its own among them: others may have come with it. */
    private void announce(int path) {
        for (int way = 0; way < weights.length; way++) {
            if (weights[way] != ABSENT) {
                markers.send(way, path, round, Anep.ROUND_EMPTY | Anep.ROUND_PATH_BEGINS);
            }
        }
    }

    private void add(int path) {
        lastPlaces[path] = places;
        order[places++] = (byte) path;
    }

    /** Returns the path with the largest credit, after all have got their weight's. */
    private int richest() {
        int richest = -1;
        for (int path = 0; path < weights.length; path++) {
            if (weights[path] > 0) {
                credits[path] += weights[path];
                if (richest < 0 || credits[path] > credits[richest]) {
                    richest = path;
                }
            }
        }
        return richest;
    }

    private int pathOf(long key) {
        int path = richest();
        int known = sticky.find(key);
        if (known >= 0 && weights[known] > 0) {
            path = known;
        } else {
            sticky.put(key, path);
        }
        credits[path] -= sum;
        return path;
    }
}

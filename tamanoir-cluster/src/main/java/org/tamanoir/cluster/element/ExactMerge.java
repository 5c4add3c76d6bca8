package org.tamanoir.cluster.element;

import java.util.Arrays;
import org.tamanoir.anep.Anep;

/**
 * Puts the packets of several paths into the order in which they were distributed (section 8): round by round, and path
 * by path in each. What has come too late for its turn is dropped, so that nothing ever leaves out of order.
 *
 * <p>The packet whose turn it is has a deadline as soon as another one waits for it. When that has passed, or a later
 * round of its path has come, the packet counts as lost. A path that has missed three deadlines in a row is not waited
 * for until it shows something: in time, or late, which gets it one more deadline, the next time after twice as many late
 * packets. A path that joins is waited for from the round after the one in which a marker announced it, on the other
 * paths, which are ahead of it. When a path's queue is full the wait ends at once: what is late then are
 * packets of the path that lags, in place of packets of those that do not.
 *
 * <p>Rounds are numbered one by one. So where no path is there and a later round shows, an earlier one may be on its way: of
 * a path that was announced on its own way alone, since no other one was there. It has a deadline, too.
 *
 * <p>A round says in its upper bits which start of the distributor it belongs to ({@link Beginning}). That alone begins the
 * order anew: what waits of the start before leaves first, and what comes of it afterwards is late, however much it is.
 * Nothing is ever taken for a new start because of its number.
 *
 * <p>A packet more than {@value #PROOF} rounds ahead says nothing about those before it until a second one of its path is
 * there, and one more than {@value #WINDOW} ahead has no deadline begin until then, so that a single packet that was damaged
 * does not move the order. A packet of the first round of a start, which says so, needs no second one. So it is at first, when
 * the order has no beginning yet: rounds are counted from 0 then. Where the next packet of the path is none of those behind
 * it, up to {@value #MAX_STRAYS} such packets are given up as late: paths keep their order, so that they are none of the
 * stream's, and do not stand there until another damaged one comes. A packet behind another that its path has shown, as
 * one that came twice, says nothing about that.
 *
 * <p>Pure: time is given, packets are numbers of the caller's. Thread contract: one thread. Allocates nothing for a
 * packet; a packet costs one step, and its queue's length where its path was reordered.
 */
final class ExactMerge {
    /** Rounds that a packet may be ahead by itself: more than half a second of 100,000 packets/s. */
    static final long WINDOW = 65_536;

    /** Rounds before a packet that it proves lost on its path by itself. */
    static final int PROOF = 1_024;

    /** Packets far ahead that are given up when their path goes on elsewhere; more of them are a stream's. */
    private static final int MAX_STRAYS = 2;

    /** Deadlines in a row that a path may miss. */
    static final int PATIENCE = 3;

    private static final int MAX_PROBE = 1_024;

    static final long NEVER = Long.MAX_VALUE;

    /** Why a packet does not leave. */
    enum Ending {
        /** It stands for an empty round. */
        MARKER,
        /** Its turn has passed, it is of an earlier start of the distributor, or it came twice. */
        LATE
    }

    /** Takes the packets that the merge is given back. */
    interface Output {
        /** Sends a packet: all before it in the order have been sent, or are lost. */
        void emit(int packet);

        /** Takes back a packet that does not leave. */
        void drop(int packet, Ending ending);
    }

    private final int paths;
    private final int depth;
    private final long deadlineNs;
    private final Output output;
    /** By path, each a ring of {@link #depth}, sorted by round. */
    private final long[][] rounds;

    private final int[][] packets;
    private final byte[][] flags;
    private final int[] heads;
    private final int[] sizes;
    private final boolean[] awaited;
    /** The round from which a path is waited for that was announced, by the last announcement. */
    private final long[] begins;

    private final int[] missed;
    /** Late packets of a path that is not waited for, and how many there have to be for another try. */
    private final int[] lates;

    private final int[] probes;
    private final Gaps gaps;

    /** The first round of the distributor's start; 0 = the order has not begun. */
    private long start;

    private long round;
    private int path;
    private int held;
    private long dueNs = NEVER;

    private long timeouts;
    private long overflows;
    private long restarts;

    /**
     * @param paths 1 to {@link Rounds#MAX_PATHS}
     * @param depth packets that wait of a path at most, 2 and up: a full queue is never that of a single one far ahead
     * @param deadlineNs how long a packet is waited for
     */
    ExactMerge(int paths, int depth, long deadlineNs, Output output) {
        this.paths = paths;
        this.depth = depth;
        this.deadlineNs = deadlineNs;
        this.output = output;
        rounds = new long[paths][depth];
        packets = new int[paths][depth];
        flags = new byte[paths][depth];
        heads = new int[paths];
        sizes = new int[paths];
        awaited = new boolean[paths];
        begins = new long[paths];
        missed = new int[paths];
        lates = new int[paths];
        probes = new int[paths];
        gaps = new Gaps(paths);
        Arrays.fill(begins, NEVER);
    }

    /**
     * Takes a packet, and gives all that may leave now to the output, perhaps this one.
     *
     * @param path 0 to the number of paths, less 1
     * @param round 1 and up
     * @param packet the caller's until it comes back
     */
    void offer(int path, long round, int flags, int packet, long nowNs) {
        if (round < start) {
            drop(path, round, flags, packet);
            return;
        }
        if ((flags & Anep.ROUND_PATH_BEGINS) != 0) {
            announce(path, round + 1);
            output.drop(packet, Ending.MARKER);
            return;
        }
        if (round > gaps.top(path)) { // A packet that came twice does not show where its path goes on.
            giveUpStrays(path, round);
        }
        while (sizes[path] == depth && !isLate(path, round)) {
            overflows++;
            goOn();
            advance(nowNs, false);
        }
        if (isLate(path, round)) {
            comeLate(path, round, flags);
            drop(path, round, flags, packet);
            return;
        }
        expect(path, round);
        if (!insert(path, round, flags, packet)) {
            output.drop(packet, Ending.LATE);
        }
        advance(nowNs, false);
    }

    /** Drops what waits of a path alone, or with one more, far ahead, if the packet that comes next of the path is elsewhere. */
    private void giveUpStrays(int path, long next) {
        while (sizes[path] > 0 && isStray(path, sizes[path] - 1, next)) {
            int first = sizes[path] - 1;
            while (first > 0 && roundAt(path, first) - roundAt(path, first - 1) <= PROOF) {
                if (sizes[path] - --first > MAX_STRAYS || !isStray(path, first, next)) {
                    return;
                }
            }
            while (sizes[path] > first) {
                held--;
                output.drop(packets[path][slot(path, --sizes[path])], Ending.LATE);
            }
        }
    }

    private long roundAt(int path, int place) {
        return rounds[path][slot(path, place)];
    }

    /** Returns whether a packet that waits would be far out of its path's order, where this round is the one behind it. */
    private boolean isStray(int path, int place, long next) {
        long its = roundAt(path, place);
        boolean isPassed = its - round > PROOF && its - next > PROOF;
        boolean isLeft = its - round > WINDOW && next - its > WINDOW;
        return (isPassed || isLeft) && (flags[path][slot(path, place)] & Anep.ROUND_FIRST) == 0;
    }

    private void drop(int path, long round, int flags, int packet) {
        if ((flags & Anep.ROUND_PATH_BEGINS) != 0) {
            gaps.announce(path, round + 1);
        } else {
            gaps.came(path, round, flags);
        }
        output.drop(packet, Ending.LATE);
    }

    /**
     * Begins the order of a start of the distributor.
     *
     * @param first the lowest round of it that is there; more than a queue's length behind its first one, it is where the
     *     order is joined
     */
    private void begin(long first) {
        start = Beginning.first(first);
        round = first - start <= depth ? start : first - depth;
        path = 0;
        gaps.begin(first == start ? start : 0);
        for (int p = 0; p < paths; p++) {
            if (begins[p] <= round) {
                begins[p] = NEVER;
            }
            awaited[p] = begins[p] == NEVER;
            missed[p] = 0;
            lates[p] = 0;
            probes[p] = 1;
        }
    }

    /** Has a path be waited for from this round on, or from now on if that is over. */
    private void announce(int path, long first) {
        awaited[path] = isAwaited(path); // What it had when it was there before may still come.
        begins[path] = first;
        missed[path] = 0;
        gaps.announce(path, first);
    }

    private boolean isAwaited(int path) {
        return awaited[path] || round >= begins[path];
    }

    /** Waits no more for a path, until it was announced to begin. */
    private void giveUp(int path) {
        awaited[path] = false;
        if (round >= begins[path]) {
            begins[path] = NEVER;
        }
        missed[path] = 0;
    }

    private boolean isLate(int path, long round) {
        return round < this.round || round == this.round && path < this.path;
    }

    /**
     * Waits once more for a path that is late, whose packets may come all in time if it is waited for; but no more for one
     * that says that it ends.
     */
    private void comeLate(int path, long round, int flags) {
        if ((flags & Anep.ROUND_PATH_ENDS) != 0) {
            if (sizes[path] == 0 && (begins[path] == NEVER || begins[path] <= round)) {
                giveUp(path);
            }
        } else if (!isAwaited(path) && ++lates[path] >= probes[path]) {
            lates[path] = 0;
            probes[path] = Math.min(2 * probes[path], MAX_PROBE);
            missed[path] = PATIENCE - 1;
            awaited[path] = true;
        }
    }

    /** Notes that a path shows something in time. */
    private void expect(int path, long round) {
        missed[path] = 0;
        lates[path] = 0;
        probes[path] = 1;
        awaited[path] |= round < begins[path] || isAwaited(path);
    }

    /** Returns false when the round is there already. */
    private boolean insert(int path, long round, int flags, int packet) {
        long[] ring = rounds[path];
        int at = slot(path, sizes[path]);
        for (int i = sizes[path]; i > 0; i--) {
            int before = slot(path, i - 1);
            if (ring[before] <= round) {
                if (ring[before] == round) {
                    closeUp(path, i);
                    return false;
                }
                break;
            }
            ring[at] = ring[before];
            packets[path][at] = packets[path][before];
            this.flags[path][at] = this.flags[path][before];
            at = before;
        }
        ring[at] = round;
        packets[path][at] = packet;
        this.flags[path][at] = (byte) flags;
        sizes[path]++;
        held++;
        return true;
    }

    /** Moves what was moved to make room at this place back. */
    private void closeUp(int path, int place) {
        for (int i = place; i < sizes[path]; i++) {
            int at = slot(path, i);
            int behind = slot(path, i + 1);
            rounds[path][at] = rounds[path][behind];
            packets[path][at] = packets[path][behind];
            flags[path][at] = flags[path][behind];
        }
    }

    private int slot(int path, int place) {
        int at = heads[path] + place;
        return at < depth ? at : at - depth;
    }

    /**
     * Gives the output what leaves because its deadline has passed; to be called when all that has come was offered, so
     * that a pause of the caller counts against nobody.
     */
    void expire(long nowNs) {
        if (dueNs != NEVER) {
            advance(nowNs, true);
        }
    }

    /** Returns when {@link #expire} has something to do; {@link #NEVER} when nothing waits. */
    long dueNs() {
        return dueNs;
    }

    /** Gives the output all that waits, in order, and waits for nothing. */
    void drain() {
        while (held > 0) {
            goOn();
            take();
            step();
        }
    }

    private void advance(long nowNs, boolean expires) {
        while (held > 0) {
            if (isHere(path)) {
                take();
                step();
                continue;
            }
            if (isAllFar()) {
                break;
            }
            if (start == 0) {
                begin(leastHead());
                continue;
            }
            long next = path == 0 ? nextRound() : round;
            boolean isKnown = next == round || isAnyAwaited();
            if (!isKnown || next == round && !isProvenLost(path) && isAwaited(path)) {
                if (dueNs == NEVER) {
                    dueNs = nowNs + deadlineNs;
                }
                if (!expires || nowNs - dueNs < 0) {
                    return;
                }
                timeouts++;
                if (isKnown && ++missed[path] == PATIENCE) {
                    giveUp(path);
                }
            }
            if (next == round) {
                step();
            } else {
                skipTo(next);
            }
        }
        dueNs = NEVER;
    }

    private void step() {
        dueNs = NEVER;
        if (++path == paths) {
            path = 0;
            round++;
        }
    }

    /** Takes the head of the path in turn, which has the round in turn. */
    private void take() {
        int head = heads[path];
        heads[path] = slot(path, 1);
        sizes[path]--;
        held--;
        gaps.came(path, round, flags[path][head]);
        if ((flags[path][head] & Anep.ROUND_PATH_ENDS) != 0 && sizes[path] == 0) {
            giveUp(path);
        }
        if ((flags[path][head] & Anep.ROUND_EMPTY) != 0) {
            output.drop(packets[path][head], Ending.MARKER);
        } else {
            output.emit(packets[path][head]);
        }
    }

    /** Returns the next round of which something is there or may come; this one, if something of it is waited for. */
    private long nextRound() {
        long next = leastHead();
        for (int p = 0; p < paths; p++) {
            boolean isLost = isProvenLost(p);
            if (isHere(p) || !isLost && isAwaited(p)) {
                return round;
            }
            next = isLost ? next : Math.min(next, begins[p]);
        }
        return next;
    }

    /** Returns whether a path is there in this round, as far as is known. */
    private boolean isAnyAwaited() {
        for (int p = 0; p < paths; p++) {
            if (isAwaited(p)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the path's packet of the round in turn is there. */
    private boolean isHere(int path) {
        return sizes[path] > 0 && headRound(path) == round;
    }

    /** Returns whether what the path shows says that its packet of this round, which is not there, will not come. */
    private boolean isProvenLost(int path) {
        return shows(path, PROOF);
    }

    /** Returns whether of no path more waits than one packet that is far ahead, and may be none of the stream's. */
    private boolean isAllFar() {
        for (int p = 0; p < paths; p++) {
            if (shows(p, WINDOW)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether what waits of a path is sure: several packets, one of a first round, or one that is so many rounds at
     * most ahead of the one in turn, or of that from which the path was announced, if that is no farther ahead itself.
     */
    private boolean shows(int path, long rounds) {
        if (sizes[path] != 1) {
            return sizes[path] > 1;
        }
        long from = begins[path] - round <= rounds ? Math.max(round, begins[path]) : round;
        return headRound(path) - from <= rounds || (flags[path][heads[path]] & Anep.ROUND_FIRST) != 0;
    }

    /** Goes to the packet that is next in order, whatever is missing before it. */
    private void goOn() {
        dueNs = NEVER;
        while (true) {
            for (; path < paths; path++) {
                if (isHere(path)) {
                    return;
                }
            }
            path = 0;
            skipTo(leastHead());
        }
    }

    /** Goes to the beginning of a later round. */
    private void skipTo(long next) {
        dueNs = NEVER;
        if (start == 0) {
            begin(next);
        } else if (Beginning.isAnother(round, next)) {
            restarts++;
            begin(next);
        } else {
            round = next;
        }
    }

    private long leastHead() {
        long least = NEVER;
        for (int p = 0; p < paths; p++) {
            if (sizes[p] > 0) {
                least = Math.min(least, headRound(p));
            }
        }
        return least;
    }

    private long headRound(int path) {
        return rounds[path][heads[path]];
    }

    /** Returns how many packets wait. */
    int held() {
        return held;
    }

    /** Returns how many packets did not come although a later one of their path did. */
    long gaps() {
        return gaps.count();
    }

    /** Returns how many deadlines have passed. */
    long timeouts() {
        return timeouts;
    }

    /** Returns how many waits ended because a queue was full. */
    long overflows() {
        return overflows;
    }

    /** Returns how often the order has begun anew. */
    long restarts() {
        return restarts;
    }
}

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
 * <p>Rounds that a stranger makes up do limited harm. One that is more than {@value #WINDOW} away from the one in turn is
 * dropped; one that is more than {@value #PROOF} ahead says nothing about those before it until a second one of its path
 * is there. Two forged packets of a path have its genuine ones be late, and two of each path have all be late, until as
 * many of a path in a row as there are paths, twice, and one more, have come from far away, or far behind what their path
 * showed before, as when a distributor starts anew (RFC 3550, A.1, does so with sequence numbers). Then all that waits
 * leaves, and the order begins anew: only there something leaves behind a later round.
 *
 * <p>Pure: time is given, packets are numbers of the caller's. Thread contract: one thread. Allocates nothing for a
 * packet; a packet costs one step, and its queue's length where its path was reordered.
 */
final class ExactMerge {
    /** Rounds that the next packet may be away from the one in turn: more than half a second of 100,000 packets/s. */
    static final long WINDOW = 65_536;

    /** Rounds before a packet that it proves lost on its path by itself. */
    static final int PROOF = 1_024;

    /** Deadlines in a row that a path may miss. */
    static final int PATIENCE = 3;

    private static final int MAX_PROBE = 1_024;

    static final long NEVER = Long.MAX_VALUE;

    /** Why a packet does not leave. */
    enum Ending {
        /** It stands for an empty round. */
        MARKER,
        /** Its turn has passed, or it came twice. */
        LATE,
        /** Its round is too far away from the one in turn. */
        FAR
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
    /** The first round in which each path's packets count as lost when they do not come; 0 = not known yet. */
    private final long[] since;

    /** The latest round that each path has shown. */
    private final long[] tops;
    /** Packets of each path in a row that came far behind that. */
    private final int[] strays;

    private boolean begun;
    private long round = 1;
    private int path;
    private int held;
    private long dueNs = NEVER;
    private long farRound;
    private int farPackets;

    private long gaps;
    private long timeouts;
    private long overflows;
    private long restarts;

    /**
     * @param paths 1 to {@link Rounds#MAX_PATHS}
     * @param depth packets that wait of a path at most
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
        since = new long[paths];
        tops = new long[paths];
        strays = new int[paths];
        Arrays.fill(awaited, true);
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
        if (!begun) {
            begin(round);
        } else if (Math.abs(round - this.round) > WINDOW) {
            if (!isNewOrder(round)) {
                output.drop(packet, Ending.FAR);
                return;
            }
            beginAnew(round);
        } else if (isLate(path, round) && round < tops[path] - PROOF && ++strays[path] > 2 * paths) {
            beginAnew(round);
        }
        farPackets = 0;
        if ((flags & Anep.ROUND_PATH_BEGINS) != 0) {
            announce(path, round + 1);
            output.drop(packet, Ending.MARKER);
            return;
        }
        while (sizes[path] == depth && !isLate(path, round)) {
            overflows++;
            goOn();
            advance(nowNs, false);
        }
        if (isLate(path, round)) {
            expectAgain(path);
            output.drop(packet, Ending.LATE);
            return;
        }
        expect(path, round);
        if (!insert(path, round, flags, packet)) {
            output.drop(packet, Ending.LATE);
        }
        advance(nowNs, false);
    }

    private void beginAnew(long first) {
        drain();
        restarts++;
        begin(first);
    }

    private void begin(long first) {
        boolean fromTheStart = first <= depth;
        begun = true;
        round = fromTheStart ? 1 : first - depth;
        path = 0;
        Arrays.fill(since, fromTheStart ? 1 : 0);
        Arrays.fill(awaited, true);
        Arrays.fill(begins, NEVER);
        Arrays.fill(missed, 0);
        Arrays.fill(probes, 1);
        Arrays.fill(tops, 0);
        Arrays.fill(strays, 0);
    }

    private boolean isNewOrder(long round) {
        farPackets = Math.abs(round - farRound) > WINDOW ? 1 : farPackets + 1;
        farRound = round;
        return farPackets > 2 * paths;
    }

    /** Has a path be waited for from this round on, or from now on if that is over. */
    private void announce(int path, long first) {
        begins[path] = first;
        missed[path] = 0;
        if (!awaited[path]) {
            since[path] = first;
        }
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
        since[path] = begins[path] == NEVER ? 0 : begins[path];
    }

    private boolean isLate(int path, long round) {
        return round < this.round || round == this.round && path < this.path;
    }

    /** Waits once more for a path that is late: its packets may come all in time if it is waited for. */
    private void expectAgain(int path) {
        if (!isAwaited(path) && ++lates[path] >= probes[path]) {
            lates[path] = 0;
            probes[path] = Math.min(2 * probes[path], MAX_PROBE);
            missed[path] = PATIENCE - 1;
            awaited[path] = true;
            since[path] = 0;
        }
    }

    /** Notes that a path shows something in time. */
    private void expect(int path, long round) {
        missed[path] = 0;
        lates[path] = 0;
        probes[path] = 1;
        strays[path] = 0;
        tops[path] = Math.max(tops[path], round);
        awaited[path] = true;
        if (since[path] == 0) {
            since[path] = round;
        }
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
            if (path == 0) {
                skipLostRounds();
            }
            if (sizes[path] > 0 && headRound(path) == round) {
                take();
            } else if (isProvenLost(path)) {
                countGap();
            } else if (isAwaited(path)) {
                if (dueNs == NEVER) {
                    dueNs = nowNs + deadlineNs;
                }
                if (!expires || nowNs - dueNs < 0) {
                    return;
                }
                timeouts++;
                if (++missed[path] == PATIENCE) {
                    giveUp(path);
                }
            }
            step();
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
        if ((flags[path][head] & Anep.ROUND_PATH_ENDS) != 0 && sizes[path] == 0) {
            giveUp(path);
        }
        if ((flags[path][head] & Anep.ROUND_EMPTY) != 0) {
            output.drop(packets[path][head], Ending.MARKER);
        } else {
            output.emit(packets[path][head]);
        }
    }

    /** Goes to the next round of which something is there, if nothing else is waited for. */
    private void skipLostRounds() {
        long next = leastHead();
        for (int p = 0; p < paths; p++) {
            boolean isLost = isProvenLost(p);
            if (!isLost && isAwaited(p) || sizes[p] > 0 && headRound(p) == round) {
                return;
            }
            next = isLost ? next : Math.min(next, begins[p]);
        }
        skipTo(next);
    }

    /** Returns whether what the path shows says that its packet of this round, which is not there, will not come. */
    private boolean isProvenLost(int path) {
        return sizes[path] > 1 || sizes[path] == 1 && headRound(path) - Math.max(round, since[path]) <= PROOF;
    }

    /** Goes to the packet that is next in order, whatever is missing before it. */
    private void goOn() {
        dueNs = NEVER;
        for (; path < paths; path++) {
            if (sizes[path] > 0) {
                if (headRound(path) == round) {
                    return;
                }
                countGap();
            }
        }
        path = 0;
        round++;
        skipTo(leastHead());
        goOn();
    }

    /** Goes from the beginning of a round to that of another. */
    private void skipTo(long next) {
        for (int p = 0; p < paths; p++) {
            if (sizes[p] > 0 && since[p] != 0) {
                gaps += Math.max(0, next - Math.max(since[p], round));
            }
        }
        round = next;
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

    /** Counts the packet of the path in turn as lost, since a later one is there. */
    private void countGap() {
        if (since[path] != 0 && round >= since[path]) {
            gaps++;
        }
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
        return gaps;
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

package org.tamanoir.node.element;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.element.Distributor;
import org.tamanoir.cluster.element.Sprayer;
import org.tamanoir.cluster.element.Unit;
import org.tamanoir.cluster.element.ring.RingWatch;
import org.tamanoir.node.cli.Output;

/**
 * The distributor's part in the ring: units get packets from when the ring has them until it has them no more, or they ask
 * for no more. Without a ring all get packets all the time.
 *
 * <p>Thread contract: the distributor's thread; {@link #begin} before it, {@link #close} behind it.
 */
final class RingPart implements Distributor.Membership, AutoCloseable {
    /** Between two looks at what units say, which they do some five times a second. */
    private static final long LOOK_NS = 50_000_000;
    /** How long units have to answer before the first datagram is taken. */
    private static final long PATIENCE_NS = 5_000_000_000L;

    private static final long POLL_NS = 10_000_000;
    /**
     * How far rounds of another distributor may be ahead; they begin by the clock, 2³¹ a second, so that is one 12 days fast.
     * Who can send to a unit can have it report any round: one farther ahead was made up.
     */
    private static final long MAX_ROUNDS_AHEAD = 1L << 51;
    /** By which the rounds of two starts differ, by the clock. */
    private static final long ROUNDS_A_DAY = 86_400L << 31;
    /** Packets that a unit's link holds. */
    private static final int QUEUE_PACKETS = 500;
    /** Steps in which a weight follows what waits; weights are that many times what was asked for, where they may. */
    private static final int STEPS = 16;

    private static final int MAX_WEIGHT = 1_000;

    /**
     * A unit that gets packets.
     *
     * @param round the last one without it
     * @param packets for it before that
     */
    private record Joined(long round, long packets) {}

    private final @Nullable RingWatch watch;
    private final Collection<Unit> units;
    private final boolean adapts;
    private final Output output;
    private final int largestWeight;
    private final Map<Integer, Joined> in = new HashMap<>();
    private List<Integer> known = List.of();
    private long nextLookNs = System.nanoTime();
    private long pathLost;

    RingPart(@Nullable RingWatch watch, Collection<Unit> units, boolean adapts, Output output) {
        this.watch = watch;
        this.units = units;
        this.adapts = adapts;
        this.output = output;
        this.largestWeight = units.stream().mapToInt(Unit::weight).max().orElse(0);
    }

    /** Leaves all units out until the ring has them; waits for their first word, bounded. */
    void begin(Sprayer sprayer) {
        if (watch == null) {
            return;
        }
        units.forEach(unit -> sprayer.remove(unit.path()));
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (watch.units().size() < units.size() && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(POLL_NS);
        }
        if (watch.units().size() < units.size()) {
            output.message("distribute: of the ring's units only " + watch.units() + " have answered within "
                    + PATIENCE_NS / 1_000_000_000 + " s; the others get packets once they do");
        }
        update(sprayer);
    }

    @Override
    public void update(Sprayer sprayer) {
        if (watch == null || watch.units() == known && System.nanoTime() - nextLookNs < 0) {
            return;
        }
        known = watch.units();
        nextLookNs = System.nanoTime() + LOOK_NS;
        for (Unit unit : units) {
            RingWatch.Unit report = watch.unit(unit.path());
            boolean leaves = report != null && report.leaving();
            if (report != null && known.contains(unit.path()) && !leaves) {
                join(sprayer, unit, report);
                continue;
            }
            Joined joined = in.remove(unit.path());
            if (joined != null && leaves) {
                sprayer.leave(unit.path());
            } else if (joined != null) {
                sprayer.remove(unit.path());
                pathLost += lost(
                        sprayer.packets(unit.path()) - joined.packets(),
                        joined.round(),
                        sprayer.round(),
                        report == null ? 0 : report.round());
            }
        }
    }

    private void join(Sprayer sprayer, Unit unit, RingWatch.Unit report) {
        boolean isNew = !in.containsKey(unit.path());
        if (isNew) {
            String unheard = unheard(unit.path(), Math.max(report.round(), report.newest()), sprayer.round());
            if (unheard != null) {
                output.message(unheard);
            }
            long heard = newest(report.round(), report.newest(), sprayer.round());
            if (heard != sprayer.round()) {
                sprayer.beginAbove(heard);
                in.replaceAll((path, joined) -> new Joined(sprayer.round(), sprayer.packets(path)));
            }
            in.put(unit.path(), new Joined(sprayer.round(), sprayer.packets(unit.path())));
        }
        if (isNew || adapts) {
            sprayer.weight(unit.path(), adapts ? weight(unit.weight(), largestWeight, report.queued()) : unit.weight());
        }
    }

    /**
     * Returns the largest of the rounds that a unit reports which another distributor gave, above the own ones; the own if
     * none is.
     *
     * @param sent up to which it may send, unsigned: of what has come since the token was lost it says nothing
     * @param got of a packet, unsigned: that may be any round
     */
    static long newest(long sent, long got, long own) {
        return Math.max(isAhead(sent, own) ? sent : own, isAhead(got, own) ? got : own);
    }

    /** Returns what is to be said of a round that a unit reports, too far ahead to be followed; null if it is not. */
    static @Nullable String unheard(int unit, long reported, long own) {
        if (reported <= own || isAhead(reported, own)) {
            return null;
        }
        long days = (reported - own) / ROUNDS_A_DAY;
        return "distribute: unit " + unit + " reports round " + reported + ", " + days + " days ahead of this clock, "
                + MAX_ROUNDS_AHEAD / ROUNDS_A_DAY
                + " at most are followed: if the clock is behind, aggregate --exact drops"
                + " all as LATE, so set it and start distribute again; if it is right, somebody made the round up";
    }

    /** Returns whether a round that a unit reports, unsigned, is one of another distributor, above the own ones. */
    static boolean isAhead(long reported, long own) {
        return reported > own && reported - own <= MAX_ROUNDS_AHEAD;
    }

    /**
     * Returns a unit's weight, in proportion to those that were asked for, the less the more packets wait in it.
     *
     * @param asked its own, 0 to 1,000
     * @param largest of all units
     */
    static int weight(int asked, int largest, int queued) {
        if (asked == 0) {
            return 0;
        }
        int room = Math.max(0, QUEUE_PACKETS - queued);
        int steps = Math.max(1, STEPS * room / QUEUE_PACKETS);
        int full = Math.min(MAX_WEIGHT, largest * STEPS);
        return Math.max(1, asked * steps * full / (largest * STEPS));
    }

    /**
     * Returns how many of a unit's packets are of rounds that it has not confirmed, by what it got a round on the average.
     *
     * @param packets for it
     * @param joined the last round before them
     * @param last the last round
     * @param confirmed by the unit, unsigned
     */
    static long lost(long packets, long joined, long last, long confirmed) {
        long rounds = Math.max(1, last - joined);
        long kept = Long.compareUnsigned(confirmed, last) > 0 ? last : Math.max(confirmed, joined);
        return Math.min(packets, (last - kept) * ((packets + rounds - 1) / rounds));
    }

    /** Returns the packets that were lost with units. */
    long pathLost() {
        return pathLost;
    }

    @Override
    public void close() throws IOException {
        if (watch != null) {
            watch.close();
        }
    }
}

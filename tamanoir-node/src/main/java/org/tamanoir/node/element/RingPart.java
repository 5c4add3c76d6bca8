package org.tamanoir.node.element;

import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
    /** Rounds that are left out above one that another distributor may have given. */
    private static final long RESTART_ROUNDS = 1_000;
    /** Packets that a unit's link holds. */
    private static final int QUEUE_PACKETS = 500;
    /** Steps in which a weight follows what waits; weights are that many times what was asked for, 1,000 at most. */
    private static final int STEPS = 16;

    private static final int MAX_WEIGHT = 1_000;

    private final @Nullable RingWatch watch;
    private final Collection<Unit> units;
    private final boolean adapts;
    private final Set<Integer> in = new HashSet<>();
    private List<Integer> known = List.of();
    private long nextLookNs = System.nanoTime();
    private long firstRound;
    private long pathLost;

    RingPart(@Nullable RingWatch watch, Collection<Unit> units, boolean adapts) {
        this.watch = watch;
        this.units = units;
        this.adapts = adapts;
    }

    /** Leaves all units out until the ring has them; waits for their first word, bounded. */
    void begin(Sprayer sprayer, Output output) {
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
        firstRound = sprayer.round() + 1;
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
            } else if (in.remove(unit.path())) {
                if (leaves) {
                    sprayer.leave(unit.path());
                } else {
                    sprayer.remove(unit.path());
                    pathLost += lost(sprayer, unit, report);
                }
            }
        }
    }

    private void join(Sprayer sprayer, Unit unit, RingWatch.Unit report) {
        if (in.add(unit.path())) {
            if (report.round() > sprayer.round()) {
                sprayer.beginAbove(report.round() + RESTART_ROUNDS);
            }
            sprayer.weight(unit.path(), weight(unit, report));
        } else if (adapts) {
            sprayer.weight(unit.path(), weight(unit, report));
        }
    }

    private int weight(Unit unit, RingWatch.Unit report) {
        if (!adapts || unit.weight() == 0) {
            return unit.weight();
        }
        int room = Math.max(0, QUEUE_PACKETS - report.queued());
        int steps = Math.max(1, STEPS * room / QUEUE_PACKETS);
        return Math.min(MAX_WEIGHT, unit.weight() * steps);
    }

    /** Returns the packets of rounds that a unit got and did not confirm, by what it got a round on the average. */
    private long lost(Sprayer sprayer, Unit unit, RingWatch.@Nullable Unit report) {
        long packets = sprayer.packets(unit.path());
        long rounds = Math.max(1, sprayer.round() - firstRound + 1);
        long confirmed = report == null ? firstRound - 1 : Math.max(report.round(), firstRound - 1);
        long unconfirmed = Math.max(0, sprayer.round() - confirmed);
        return Math.min(packets, unconfirmed * ((packets + rounds - 1) / rounds));
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

package org.tamanoir.sched;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.qdisc.DisciplineConfig;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.qdisc.FlowConfig;
import org.tamanoir.qdisc.GuardedDiscipline;
import org.tamanoir.qdisc.Item;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;

/**
 * The grants that are asked for under one configuration and not given: in its discipline; parked, while a link's queue
 * holds their class back; or deferred, while their owner has another one.
 *
 * <p>Thread contract: inside the scheduler's lock, but for what is public: any thread.
 */
public final class WaitingGrants {
    private static final Logger LOG = LoggerFactory.getLogger(TurnScheduler.class);

    private final TurnScheduler scheduler;
    private final Predicate<String> heldBack;
    private final PointCounts counts;
    private final GuardedDiscipline discipline;
    private final List<TurnClass> classes = new ArrayList<>();
    /** Of each grant in the discipline. */
    private final int size;

    private int deferred;
    private int parked;

    /**
     * @param pre of the configuration
     * @param heldBack whether a class, by its name, gets no turns now
     * @param counts by whose classes it counts
     * @throws IllegalArgumentException if the discipline cannot be made; nothing is changed then
     */
    WaitingGrants(
            TurnScheduler scheduler,
            QosConfig config,
            PreProcessing pre,
            Predicate<String> heldBack,
            PointCounts counts) {
        this.scheduler = scheduler;
        this.heldBack = heldBack;
        this.counts = counts;
        this.size = (int) Math.min(Integer.MAX_VALUE, pre.quantum().toNanos());
        List<FlowConfig> flows = config.classes().stream()
                .map(each -> new FlowConfig(each.weight(), Integer.MAX_VALUE, Long.MAX_VALUE))
                .toList();
        this.discipline = Disciplines.createForTurns(
                pre.discipline(),
                new DisciplineConfig(flows, pre.processors() * 1_000_000_000L, pre.options()),
                (line, failure) -> LOG.error("scheduling before processing: {}", line, failure));
        counts.change(config);
        config.classes()
                .forEach(each -> classes.add(new TurnClass(this, each.name(), counts.of(each.name()), classes.size())));
    }

    /** Returns the scheduler that grants them. */
    public TurnScheduler scheduler() {
        return scheduler;
    }

    /** Counts what has come into, or gone from, a service's queue of datagrams. */
    public void queued(int classIndex, long packets, long bytes) {
        synchronized (scheduler) {
            classAt(classIndex).counts.waits(packets, bytes);
        }
    }

    /** Counts packets that ended before they were processed. */
    public void dropped(int classIndex, DropReason reason, long packets, long bytes) {
        synchronized (scheduler) {
            classAt(classIndex).counts.dropped(reason, packets, bytes);
        }
    }

    TurnClass classAt(int index) {
        return classes.get(index);
    }

    // ---- in --------------------------------------------------------------------------------------------------------

    /** Has a grant wait, unless its owner is gone. */
    void put(CpuGrant grant, long nowNs) {
        TurnClass of = grant.ofClass();
        if (grant.owner.isGone()) {
            grant.become(CpuGrant.State.IDLE);
        } else if (heldBack.test(of.name)) {
            park(grant, of);
        } else {
            enqueue(grant, of, nowNs);
        }
    }

    private void park(CpuGrant grant, TurnClass of) {
        grant.become(CpuGrant.State.PARKED);
        of.parked.add(grant);
        parked++;
        of.counts.waits(1);
    }

    private void enqueue(CpuGrant grant, TurnClass of, long nowNs) {
        grant.describe(of.index, size, of.index, false);
        discipline.enqueue(grant, nowNs);
        grant.become(CpuGrant.State.WAITING);
        of.counts.waits(1);
    }

    /** Puts into the discipline, in the order in which they were asked for, the grants that need not be parked any more. */
    void unpark(long nowNs) {
        List<CpuGrant> free = new ArrayList<>();
        for (TurnClass each : classes) {
            if (!each.parked.isEmpty() && !heldBack.test(each.name)) {
                free.addAll(each.parked);
            }
        }
        free.sort(Comparator.comparingLong(grant -> grant.requestedNs));
        for (CpuGrant grant : free) {
            withdraw(grant, nowNs);
            enqueue(grant, grant.ofClass(), nowNs);
        }
    }

    // ---- out -------------------------------------------------------------------------------------------------------

    /** Takes out one that waits, wherever it stands; its owner sees no change before it becomes something else. */
    void withdraw(CpuGrant grant, long nowNs) {
        switch (grant.state()) {
            case WAITING -> {
                discipline.remove(grant, nowNs);
                grant.ofClass().counts.waits(-1);
            }
            case PARKED -> {
                grant.ofClass().parked.remove(grant);
                parked--;
                grant.ofClass().counts.waits(-1);
            }
            case DEFERRED -> {
                grant.owner.deferred.remove(grant);
                deferred--;
            }
            case IDLE, RUNNING, OVERDUE ->
                throw new IllegalStateException(
                        "a grant that is " + grant.state() + " is withdrawn: only one that waits may be");
        }
    }

    /** Takes out all but those that are deferred, in the order in which they were asked for, parked ones last. */
    List<CpuGrant> takeAll(long nowNs) {
        List<CpuGrant> all = new ArrayList<>();
        for (Item item : discipline.items()) {
            all.add((CpuGrant) item);
        }
        classes.forEach(each -> all.addAll(each.parked));
        all.forEach(grant -> withdraw(grant, nowNs));
        return all;
    }

    /** Takes out the next one that may run; null when none may. Those that may not yet are parked or deferred. */
    @Nullable
    CpuGrant next(long nowNs) {
        CpuGrant grant;
        while ((grant = (CpuGrant) discipline.dequeue(nowNs)) != null) {
            TurnClass of = grant.ofClass();
            of.counts.waits(-1);
            if (!grant.owner.mayRun(grant)) {
                discipline.charge(of.index, -grant.size());
                grant.become(CpuGrant.State.DEFERRED);
                grant.owner.deferred.add(grant);
                deferred++;
            } else if (heldBack.test(of.name)) {
                discipline.charge(of.index, -grant.size());
                park(grant, of);
            } else {
                return grant;
            }
        }
        return null;
    }

    /** Charges a class for what a grant has cost, but for the size that it was charged when it was given. */
    void charge(CpuGrant grant, long costNs) {
        discipline.charge(grant.ofClass().index, costNs - grant.size());
    }

    /** Returns whether grants wait that are not parked. */
    boolean isContended() {
        // A thread with a deferred grant has to end the one that it has when its quantum is over.
        return deferred > 0 || discipline.packets() > 0;
    }

    boolean isEmpty() {
        return parked == 0 && !isContended();
    }

    /** Returns the earliest time at which {@link #next} can give one. */
    long readyNs(long nowNs) {
        return discipline.readyNs(nowNs);
    }
}

package org.tamanoir.sched;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.arena.Arena;
import org.tamanoir.arena.Slot;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;

/**
 * The scheduling point before processing: grants turns on the processors to service threads, in the order of a queueing
 * discipline, and charges each class with what its turns have cost.
 *
 * <p>What stands in the discipline is a {@link CpuGrant} that is asked for; its size is the quantum. What it cost more or
 * less is charged when it ends. A thread whose quantum is over ends its turn and asks for the next in one step, so that
 * its class counts as backlogged all the time.
 *
 * <p>A turn whose quantum is over in the midst of a packet, while others wait, is to be given back at the service's next
 * checkpoint, and the packet waits for the next one. A turn that lasts {@link #overdueNs} then, since the service comes to
 * no checkpoint, loses its processor to the others: a service that does not return stops nobody else.
 *
 * <p>Thread contract: any thread; a turn's own methods its owner's.
 */
public final class TurnScheduler {
    private static final Logger LOG = LoggerFactory.getLogger(TurnScheduler.class);
    /** A turn that lasts longer than so many quanta, while others wait, is overdue. */
    private static final long OVERDUE_QUANTA = 10;
    /** And longer than this, since a thread may stand still for a moment without a fault of its service. */
    private static final long OVERDUE_NS = 20_000_000;

    /** A thread that comes to no checkpoint is not asked to for so long: while one is asked, all look at each of theirs. */
    private static final long DEAF_NS = 1_000_000_000;

    /** Between looks of the timer, whatever a discipline says. */
    private static final long LEAST_SLEEP_NS = 10_000;

    private static final long NEVER = Long.MAX_VALUE;

    private final QosTimer timer;
    private final Predicate<String> heldBack;
    private final LongSupplier clock;
    private final LongSupplier processorClock;
    private final Preemption preemption;
    private final QosTimer.Task watch = new QosTimer.Task() {
        @Override
        public void due() {
            look();
        }
    };

    private final PointCounts counts;
    /** By configuration, the oldest first; the last is that which holds, the others have something waiting. */
    private final List<WaitingGrants> succession = new ArrayList<>();

    private String discipline = "";
    private final Processors processors = new Processors();
    /** When the timer looks next. */
    private long armedNs = NEVER;
    /** Turns are to be given back at checkpoints. */
    private boolean preempting;

    private volatile long quantumNs = PreProcessing.DEFAULT_QUANTUM.toNanos();
    /** Whether turns that run should look at the clock: others wait. */
    private volatile boolean contended;

    private volatile boolean closed;

    /**
     * @param heldBack whether a class, by its name, gets no turns now because its packets find no room at a link
     * @param clock in ns
     * @param processorClock what the calling thread has used of a processor, in ns
     * @param preemption asks services to give turns back; called inside the lock
     * @param arena that shows it
     */
    TurnScheduler(
            QosTimer timer,
            Predicate<String> heldBack,
            LongSupplier clock,
            LongSupplier processorClock,
            Preemption preemption,
            Arena arena) {
        this.preemption = preemption;
        this.counts = PointCounts.ofTurns(arena);
        this.timer = timer;
        this.heldBack = heldBack;
        this.clock = clock;
        this.processorClock = processorClock;
        timer.add(watch);
    }

    // ---- configuration ---------------------------------------------------------------------------------------------

    /**
     * Schedules so from now on. What waits is granted first, in the order of the configuration under which it was asked
     * for; what is asked for under the new one waits until then, or until what is left there may not run.
     */
    WaitingGrants change(QosConfig next) {
        PreProcessing pre = next.pre();
        if (pre == null) {
            throw new IllegalArgumentException("no scheduling before processing: close() the point");
        }
        WaitingGrants made;
        List<TurnOwner> woken;
        synchronized (this) {
            made = new WaitingGrants(this, next, pre, heldBack, counts);
            succession.add(made);
            discipline = pre.discipline();
            quantumNs = pre.quantum().toNanos();
            processors.change(pre.processors());
            counts.processors(pre.processors());
            woken = grant(clock.getAsLong(), null);
        }
        wake(woken);
        return made;
    }

    /** A class that was held back may be so no more. */
    void recheck() {
        List<TurnOwner> woken;
        synchronized (this) {
            if (closed) {
                return;
            }
            long now = clock.getAsLong();
            succession.forEach(each -> each.unpark(now));
            woken = grant(now, null);
        }
        wake(woken);
    }

    /** Grants everything that waits, and all that will be asked for. */
    void close() {
        List<TurnOwner> woken = new ArrayList<>();
        synchronized (this) {
            closed = true;
            contended = false;
            if (preempting) {
                preempt(false);
            }
            counts.close();
            for (WaitingGrants each : succession) {
                for (CpuGrant turn : each.takeAll(clock.getAsLong())) {
                    grantFreely(turn);
                    woken.add(turn.owner);
                }
            }
        }
        timer.remove(watch);
        wake(woken);
    }

    private static void grantFreely(CpuGrant turn) {
        turn.become(CpuGrant.State.RUNNING);
        turn.owner.runs(turn);
    }

    // ---- turns; the owner's thread ---------------------------------------------------------------------------------

    /**
     * Asks for a turn that is idle.
     *
     * @param wanted its class, of a configuration that may have been replaced since
     * @return whether it was granted at once
     * @throws IllegalStateException if it is not idle; nothing is changed then
     */
    boolean request(CpuGrant turn, TurnClass wanted) {
        List<TurnOwner> woken;
        synchronized (this) {
            if (!turn.isIdle()) {
                throw new IllegalStateException("a turn that is " + turn.state()
                        + " is asked for: only one that is idle may be; release it before");
            }
            if (!turn.known) {
                turn.known = true;
                turn.owner.turns.add(turn);
            }
            turn.belongsTo(wanted);
            if (closed) {
                grantFreely(turn);
                return true;
            }
            long now = clock.getAsLong();
            turn.requestedNs = now;
            put(turn, now);
            woken = grant(now, turn.owner);
        }
        wake(woken);
        return turn.isGranted();
    }

    /**
     * Ends a turn and asks for the next, in one step.
     *
     * @param costNs what it has cost
     * @param inMidst of a packet: the owner can use no turn of another class before
     * @return whether the next was granted at once
     */
    boolean yield(CpuGrant turn, long costNs, boolean inMidst) {
        List<TurnOwner> woken;
        synchronized (this) {
            if (closed) {
                return true;
            }
            long now = clock.getAsLong();
            turn.owner.inMidstOf(inMidst ? turn : null);
            end(turn, costNs, now);
            turn.requestedNs = now;
            put(turn, now);
            woken = grant(now, turn.owner);
        }
        wake(woken);
        return turn.isGranted();
    }

    /**
     * Has a packet whose turn was given back in its midst, and does not come, go on beside those that have one, as after a
     * turn that is overdue: what it costs is charged when it ends.
     */
    void goBeside(CpuGrant turn) {
        List<TurnOwner> woken;
        synchronized (this) {
            if (turn.isGranted() || turn.isIdle()) {
                return; // It has come, or never will.
            }
            long now = clock.getAsLong();
            turn.ofClass().waiting.withdraw(turn, now);
            turn.become(CpuGrant.State.OVERDUE);
            turn.grantedAt(now);
            turn.owner.runs(turn);
            woken = grant(now, turn.owner);
        }
        wake(woken);
    }

    /** Ends a turn, or withdraws it when it was not granted yet. */
    void release(CpuGrant turn, long costNs) {
        List<TurnOwner> woken;
        synchronized (this) {
            long now = clock.getAsLong();
            leave(turn, costNs, now);
            woken = closed ? null : grant(now, turn.owner);
        }
        wake(woken);
    }

    /** A thread ends, or is given up: it asks for no turn any more, and what it has is granted to others. Any thread. */
    public void forfeit(TurnOwner owner) {
        List<TurnOwner> woken;
        synchronized (this) {
            owner.leaveForGood();
            long now = clock.getAsLong();
            for (CpuGrant turn : owner.turns) {
                // The processor time of one that runs is not to be had here.
                leave(turn, turn.isGranted() ? Math.max(0, now - turn.grantedNs()) : 0, now);
            }
            woken = closed ? null : grant(now, owner);
        }
        wake(woken);
    }

    /** Whether turns that run have to look at the clock. */
    boolean isContended() {
        return contended;
    }

    long quantumNs() {
        return quantumNs;
    }

    long nowNs() {
        return clock.getAsLong();
    }

    long processorNs() {
        return processorClock.getAsLong();
    }

    /** Whether the turn's class gets no turns now. */
    boolean isHeldBack(CpuGrant turn) {
        return heldBack.test(turn.ofClass().name);
    }

    // ---- inside the lock -------------------------------------------------------------------------------------------

    private void put(CpuGrant turn, long nowNs) {
        if (closed && !turn.owner.isGone()) {
            grantFreely(turn);
        } else {
            WaitingGrants waiting = turn.ofClass().waiting;
            if (!succession.contains(waiting)) {
                succession.add(0, waiting); // Its thread has not seen the change.
            }
            waiting.put(turn, nowNs);
        }
    }

    /** Takes a turn from its owner, wherever it stands: nothing of an owner that waits no more is left behind. */
    private void leave(CpuGrant turn, long costNs, long nowNs) {
        switch (turn.state()) {
            case WAITING, PARKED, DEFERRED -> {
                turn.ofClass().waiting.withdraw(turn, nowNs);
                turn.become(CpuGrant.State.IDLE);
                if (turn.owner.isInMidst() && turn.owner.mayRun(turn)) {
                    turn.owner.inMidstOf(null);
                    putDeferred(turn.owner, nowNs);
                }
            }
            case RUNNING, OVERDUE -> end(turn, costNs, nowNs);
            case IDLE -> {}
        }
    }

    /**
     * Grants turns while there are processors.
     *
     * @param caller is not woken
     * @return who is to be woken, outside the lock; null = nobody
     */
    private @Nullable List<TurnOwner> grant(long nowNs, @Nullable TurnOwner caller) {
        List<TurnOwner> woken = null;
        boolean othersWait = false;
        for (WaitingGrants waiting : succession) {
            CpuGrant turn;
            while (processors.isFree() && (turn = waiting.next(nowNs)) != null) {
                turn.ofClass().counts.waited(nowNs - turn.requestedNs);
                turn.grantedAt(nowNs);
                processors.add(turn);
                if (turn.owner != caller) {
                    woken = woken == null ? new ArrayList<>() : woken;
                    woken.add(turn.owner);
                }
            }
            othersWait |= waiting.isContended();
        }
        while (succession.size() > 1 && succession.get(0).isEmpty()) {
            succession.remove(0);
        }
        if (contended != othersWait) {
            contended = othersWait;
            counts.contended(othersWait);
        }
        counts.tick(nowNs);
        boolean late = contended && !processors.isFree() && isLate(nowNs);
        if (preempting != late) {
            preempt(late);
        }
        arm(nowNs);
        return woken;
    }

    /** Takes a turn from its owner and charges it. */
    private void end(CpuGrant turn, long costNs, long nowNs) {
        if (turn.owner.running() != turn) {
            return; // It was forfeited.
        }
        if (turn.state() == CpuGrant.State.RUNNING && !closed) {
            processors.remove(turn);
        }
        turn.become(CpuGrant.State.IDLE);
        turn.owner.runs(null);
        TurnClass of = turn.ofClass();
        of.counts.used(costNs);
        of.counts.served(turn.servedPackets(), turn.servedBytes());
        turn.counted();
        of.waiting.charge(turn, costNs);
        if (!turn.owner.isInMidst()) {
            putDeferred(turn.owner, nowNs);
        }
    }

    private void putDeferred(TurnOwner owner, long nowNs) {
        CpuGrant next;
        while ((next = owner.deferred.peek()) != null) {
            next.ofClass().waiting.withdraw(next, nowNs);
            put(next, nowNs);
        }
    }

    // ---- turns that last too long ----------------------------------------------------------------------------------

    /** Returns after how long a turn is overdue, in ns. */
    long overdueNs() {
        return Math.max(OVERDUE_QUANTA * quantumNs, OVERDUE_NS);
    }

    private void arm(long nowNs) {
        long due = NEVER;
        if (contended) {
            due = Math.max(nowNs + LEAST_SLEEP_NS, processors.isFree() ? readyNs(nowNs) : lateNs(nowNs));
        }
        if (due < armedNs) {
            armedNs = due;
            timer.at(watch, due);
        }
    }

    /** Returns when a turn should be asked to give way, or was not heard to. */
    private long lateNs(long nowNs) {
        long oldestNs = processors.oldestNs();
        return preempting ? nowNs + quantumNs : oldestNs == NEVER ? nowNs + overdueNs() : oldestNs + quantumNs;
    }

    /** Returns whether the quantum of a turn is over that could be given back. */
    private boolean isLate(long nowNs) {
        return nowNs - quantumNs >= processors.oldestNs();
    }

    private void preempt(boolean on) {
        preempting = on;
        preemption.want(this, on);
    }

    private long readyNs(long nowNs) {
        long readyNs = NEVER;
        for (WaitingGrants each : succession) {
            readyNs = Math.min(readyNs, each.readyNs(nowNs));
        }
        return readyNs;
    }

    /** The timer's thread: takes processors from turns that are overdue, and grants what could not go before. */
    void look() {
        List<TurnOwner> woken;
        synchronized (this) {
            armedNs = NEVER;
            if (closed) {
                return;
            }
            long now = clock.getAsLong();
            if (contended) {
                processors.expel(now, overdueNs(), DEAF_NS);
            }
            woken = grant(now, null);
        }
        wake(woken);
    }

    private static void wake(@Nullable List<TurnOwner> owners) {
        if (owners == null) {
            return;
        }
        for (TurnOwner owner : owners) {
            try {
                owner.wake.run();
            } catch (RuntimeException e) { // The others have a turn too, and would not know of it.
                LOG.error("scheduling before processing: a thread was not woken for its turn", e);
            }
        }
    }

    // ---- counts ----------------------------------------------------------------------------------------------------

    Slot slot() {
        return counts.slot();
    }

    synchronized QosStatus.Point status() {
        return counts.status("pre", discipline);
    }
}

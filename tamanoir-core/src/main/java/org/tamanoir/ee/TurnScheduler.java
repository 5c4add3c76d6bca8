package org.tamanoir.ee;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.qdisc.DisciplineConfig;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.qdisc.FlowConfig;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.QueueingDiscipline;

/**
 * The scheduling point before processing: grants turns on the processors to service threads, in the order of a queueing
 * discipline, and charges each class with what its turns have cost.
 *
 * <p>What stands in the discipline is a {@link Turn} that is asked for; its size is the quantum. What it cost more or
 * less is charged when it ends. A thread whose quantum is over ends its turn and asks for the next in one step, so that
 * its class counts as backlogged all the time.
 *
 * <p>A turn that lasts {@link #overdueNs} while others wait loses its processor to them: a service that does not
 * return stops nobody else.
 *
 * <p>Thread contract: any thread; a turn's own methods its owner's.
 */
final class TurnScheduler {
    /** A turn that lasts longer than so many quanta, while others wait, is overdue. */
    private static final long OVERDUE_QUANTA = 10;
    /** And longer than this, since a thread may stand still for a moment without a fault of its service. */
    private static final long OVERDUE_NS = 20_000_000;

    /** Between looks of the timer, whatever a discipline says. */
    private static final long LEAST_SLEEP_NS = 10_000;

    private static final long NEVER = Long.MAX_VALUE;

    private final QosTimer timer;
    private final Predicate<String> heldBack;
    private final LongSupplier clock;
    private final LongSupplier processorClock;
    private final QosTimer.Task watch = new QosTimer.Task() {
        @Override
        void due(long nowNs) {
            look();
        }
    };

    private final TurnClasses classes = new TurnClasses();
    private QueueingDiscipline discipline =
            Disciplines.createForTurns("fifo", new DisciplineConfig(List.of(flow(1)), 0, Map.of()));
    private String disciplineName = "fifo";
    private int processors;
    /** Turns that have a processor. */
    private final List<Turn> running = new ArrayList<>();
    /** Turns that wait behind others of their owners. */
    private int turnsBehind;
    /** When the timer looks next. */
    private long armedNs = NEVER;

    private volatile long quantumNs = PreProcessing.DEFAULT_QUANTUM.toNanos();
    /** Whether turns that run should look at the clock: others wait. */
    private volatile boolean contended;

    private volatile boolean closed;

    /**
     * @param heldBack whether a class, by its name, gets no turns now because a link's queue of it is full
     */
    TurnScheduler(QosTimer timer, Predicate<String> heldBack) {
        this(timer, heldBack, System::nanoTime, TurnScheduler::threadProcessorNs);
    }

    /**
     * @param clock in ns
     * @param processorClock what the calling thread has used of a processor, in ns
     */
    TurnScheduler(QosTimer timer, Predicate<String> heldBack, LongSupplier clock, LongSupplier processorClock) {
        this.timer = timer;
        this.heldBack = heldBack;
        this.clock = clock;
        this.processorClock = processorClock;
        timer.add(watch);
    }

    /** Processor time of the calling thread; the time itself where the JVM does not count that. */
    private static long threadProcessorNs() {
        return Meter.THREADS == null ? System.nanoTime() : Meter.THREADS.getCurrentThreadCpuTime();
    }

    private static FlowConfig flow(long weight) {
        return new FlowConfig(weight, Integer.MAX_VALUE, Long.MAX_VALUE);
    }

    // ---- configuration ---------------------------------------------------------------------------------------------

    /** Schedules so from now on; what waits keeps waiting, under the new configuration. */
    void change(QosConfig next, int generation) {
        PreProcessing pre = next.pre();
        if (pre == null) {
            throw new IllegalArgumentException("no scheduling before processing: close() the point");
        }
        List<FlowConfig> flows =
                next.classes().stream().map(each -> flow(each.weight())).toList();
        QueueingDiscipline made = Disciplines.createForTurns(
                pre.discipline(), new DisciplineConfig(flows, pre.processors() * 1_000_000_000L, pre.options()));
        List<TurnOwner> woken;
        synchronized (this) {
            long now = clock.getAsLong();
            List<Turn> waiting = takeWaiting();
            classes.change(next);
            discipline = made;
            disciplineName = pre.discipline();
            processors = pre.processors();
            quantumNs = pre.quantum().toNanos();
            waiting.forEach(turn -> put(turn, now));
            woken = grant(now, null);
        }
        wake(woken);
    }

    private List<Turn> takeWaiting() {
        List<Turn> waiting = new ArrayList<>();
        discipline.drain(item -> waiting.add((Turn) item));
        for (TurnClass each : classes.all()) {
            waiting.addAll(each.aside);
            each.aside.clear();
            each.turnsWaiting = 0;
        }
        return waiting;
    }

    /** A class that was held back may be so no more. */
    void recheck() {
        List<TurnOwner> woken;
        synchronized (this) {
            long now = clock.getAsLong();
            for (TurnClass each : classes.all()) {
                if (!each.aside.isEmpty() && !heldBack.test(each.name)) {
                    for (Turn turn = each.aside.poll(); turn != null; turn = each.aside.poll()) {
                        each.turnsWaiting--;
                        enqueue(turn, each, now);
                    }
                }
            }
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
            for (Turn turn : takeWaiting()) {
                grantFreely(turn);
                woken.add(turn.owner);
            }
        }
        timer.remove(watch);
        wake(woken);
    }

    private static void grantFreely(Turn turn) {
        turn.become(Turn.State.RUNNING);
        turn.owner.runs(turn);
    }

    // ---- turns; the owner's thread ---------------------------------------------------------------------------------

    /**
     * Asks for a turn that is idle.
     *
     * @param from the configuration that the index comes from, which may have been replaced since
     * @return whether it was granted at once
     */
    boolean request(Turn turn, QosConfig from, int classIndex) {
        List<TurnOwner> woken;
        synchronized (this) {
            if (closed) {
                grantFreely(turn);
                return true;
            }
            long now = clock.getAsLong();
            turn.belongsTo(classes.of(from, classIndex));
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
     * @return whether the next was granted at once
     */
    boolean yield(Turn turn, long costNs) {
        List<TurnOwner> woken;
        synchronized (this) {
            if (closed) {
                return true;
            }
            long now = clock.getAsLong();
            end(turn, costNs, now);
            turn.requestedNs = now;
            put(turn, now);
            woken = grant(now, turn.owner);
        }
        wake(woken);
        return turn.isGranted();
    }

    /** Ends a turn. */
    void release(Turn turn, long costNs) {
        List<TurnOwner> woken;
        synchronized (this) {
            long now = clock.getAsLong();
            end(turn, costNs, now);
            woken = closed ? null : grant(now, turn.owner);
        }
        wake(woken);
    }

    /** A thread ends, or is given up: it asks for no turn any more, and what it has is granted to others. Any thread. */
    void forfeit(TurnOwner owner) {
        List<TurnOwner> woken;
        synchronized (this) {
            owner.leaveForGood();
            long now = clock.getAsLong();
            Turn turn = owner.running();
            if (turn != null) {
                end(turn, Math.max(0, now - turn.grantedNs()), now); // Its processor time is not to be had here.
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
    boolean isHeldBack(Turn turn) {
        return heldBack.test(turn.ofClass().name);
    }

    synchronized TurnClass defaultClass() {
        return classes.byDefault();
    }

    // ---- inside the lock -------------------------------------------------------------------------------------------

    /** Has a turn wait. */
    private void put(Turn turn, long nowNs) {
        TurnClass of = turn.ofClass();
        if (turn.owner.isGone()) {
            turn.become(Turn.State.IDLE);
        } else if (closed) {
            grantFreely(turn);
        } else if (heldBack.test(of.name)) {
            putAside(turn, of);
        } else {
            enqueue(turn, of, nowNs);
        }
    }

    private static void putAside(Turn turn, TurnClass of) {
        turn.become(Turn.State.ASIDE);
        of.aside.add(turn);
        of.turnsWaiting++;
    }

    private void enqueue(Turn turn, TurnClass of, long nowNs) {
        turn.become(Turn.State.WAITING);
        of.turnsWaiting++;
        turn.describe(of.index, (int) Math.min(Integer.MAX_VALUE, quantumNs), of.index, false);
        discipline.enqueue(turn, nowNs);
    }

    /**
     * Grants turns while there are processors.
     *
     * @param caller is not woken
     * @return who is to be woken, outside the lock; null = nobody
     */
    private @Nullable List<TurnOwner> grant(long nowNs, @Nullable TurnOwner caller) {
        List<TurnOwner> woken = null;
        while (running.size() < processors) {
            Turn turn = (Turn) discipline.dequeue(nowNs);
            if (turn == null) {
                break;
            }
            TurnClass of = turn.ofClass();
            of.turnsWaiting--;
            TurnOwner owner = turn.owner;
            if (!owner.isGone() && owner.running() == null && !heldBack.test(of.name)) {
                grant(turn, of, nowNs);
                if (owner != caller) {
                    woken = woken == null ? new ArrayList<>() : woken;
                    woken.add(owner);
                }
                continue;
            }
            discipline.charge(of.index, -turn.size());
            if (owner.isGone()) {
                turn.become(Turn.State.IDLE);
            } else if (owner.running() != null) {
                turn.become(Turn.State.BEHIND);
                owner.behind.add(turn);
                turnsBehind++;
            } else {
                putAside(turn, of);
            }
        }
        // A thread with a turn behind has to end the one that it has when its quantum is over.
        boolean othersWait = turnsBehind > 0 || discipline.packets() > 0;
        if (contended != othersWait) {
            contended = othersWait;
        }
        arm(nowNs);
        return woken;
    }

    private void grant(Turn turn, TurnClass of, long nowNs) {
        of.counts.waited(nowNs - turn.requestedNs);
        turn.chargedBy = discipline;
        turn.grantedAt(nowNs);
        turn.place = running.size();
        running.add(turn);
        turn.owner.runs(turn);
        turn.become(Turn.State.RUNNING);
    }

    /** Takes a turn from its owner and charges it. */
    private void end(Turn turn, long costNs, long nowNs) {
        if (turn.owner.running() != turn) {
            return; // It was forfeited.
        }
        if (turn.state() == Turn.State.RUNNING && !closed) {
            leaveProcessor(turn);
        }
        turn.become(Turn.State.IDLE);
        turn.owner.runs(null);
        TurnClass of = turn.ofClass();
        of.counts.used(costNs);
        of.counts.served(turn.servedPackets(), turn.servedOctets());
        turn.counted();
        discipline.charge(of.index, turn.chargedBy == discipline ? costNs - turn.size() : costNs);
        for (Turn next = turn.owner.behind.poll(); next != null; next = turn.owner.behind.poll()) {
            turnsBehind--;
            put(next, nowNs);
        }
    }

    private void leaveProcessor(Turn turn) {
        Turn last = running.remove(running.size() - 1);
        if (last != turn) {
            running.set(turn.place, last);
            last.place = turn.place;
        }
    }

    // ---- turns that last too long ----------------------------------------------------------------------------------

    private long overdueNs() {
        return Math.max(OVERDUE_QUANTA * quantumNs, OVERDUE_NS);
    }

    private void arm(long nowNs) {
        long due = NEVER;
        if (contended) {
            due = running.size() < processors
                    ? Math.max(nowNs + LEAST_SLEEP_NS, discipline.readyNs(nowNs))
                    : armedNs == NEVER ? nowNs + overdueNs() : armedNs;
        }
        if (due < armedNs) {
            armedNs = due;
            timer.at(watch, due);
        }
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
                for (int i = running.size() - 1; i >= 0; i--) {
                    Turn turn = running.get(i);
                    if (turn.isOverdue(now, overdueNs())) {
                        turn.become(Turn.State.OVERDUE);
                        leaveProcessor(turn);
                    }
                }
            }
            woken = grant(now, null);
        }
        wake(woken);
    }

    private static void wake(@Nullable List<TurnOwner> owners) {
        if (owners != null) {
            owners.forEach(owner -> owner.wake.run());
        }
    }

    // ---- counts ----------------------------------------------------------------------------------------------------

    /** So much has come into, or gone from, a service's queue of datagrams. Any thread. */
    synchronized void queued(QosConfig from, int classIndex, long packets, long octets) {
        TurnClass of = classes.of(from, classIndex);
        of.packetsWaiting += packets;
        of.octetsWaiting += octets;
    }

    /** Packets ended before they were processed. Any thread. */
    synchronized void dropped(QosConfig from, int classIndex, DropReason reason, long packets, long octets) {
        classes.of(from, classIndex).counts.dropped(reason, packets, octets);
    }

    synchronized QosStatus.Point status() {
        return classes.status(disciplineName);
    }
}

package org.tamanoir.sched;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tamanoir.arena.Arena;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;

/** A scheduler of turns whose clocks stand still unless a test moves them. */
public abstract class TurnTesting {
    static final long QUANTUM_NS = 1_000_000;

    final AtomicLong nowNs = new AtomicLong(1_000_000_000);

    final AtomicLong processorNs = new AtomicLong();
    /** Names of classes that are held back. */
    final Set<String> heldBack = new HashSet<>();

    /** Runs inside the scheduler's lock whenever it asks whether a class is held back. */
    Runnable whenAsked = () -> {};

    /** What the scheduler wants to be called for. */
    final List<QosTimer.Task> alarms = new ArrayList<>();

    final QosTimer timer = new QosTimer() {
        @Override
        public void at(Task task, long timeNs) {
            task.dueAt(timeNs);
        }

        @Override
        public void add(Task task) {
            alarms.add(task);
        }

        @Override
        public void remove(Task task) {
            alarms.remove(task);
        }

        @Override
        public void close() {}
    };

    final TurnScheduler scheduler =
            new TurnScheduler(timer, this::isHeldBack, nowNs::get, processorNs::get, this::want, new Arena());
    /** Turns are to be given back at checkpoints. */
    boolean preempting;

    private boolean isHeldBack(String name) {
        whenAsked.run();
        return heldBack.contains(name);
    }

    private void want(Object who, boolean on) {
        preempting = on;
    }

    /** Owners that were woken, in this order. */
    final List<TurnOwner> woken = new ArrayList<>();

    private @Nullable WaitingGrants grants;

    /** Schedules so from now on; returns those that are asked for under this configuration. */
    final WaitingGrants schedule(String discipline, int processors, TrafficClass... classes) {
        WaitingGrants changed = scheduler.change(config(discipline, processors, Duration.ofNanos(QUANTUM_NS), classes));
        grants = changed;
        return changed;
    }

    public static QosConfig config(String discipline, int processors, Duration quantum, TrafficClass... classes) {
        return new QosConfig(
                List.of(classes),
                classes[classes.length - 1].name(),
                List.of(),
                new PreProcessing(discipline, Map.of(), processors, quantum),
                List.of());
    }

    /** A class of this name, whose packets carry this class of service. */
    public static TrafficClass named(String name, int classOfService, long weight) {
        return new TrafficClass(name, Set.of(classOfService), weight);
    }

    /** Another thread. */
    final TurnOwner owner() {
        TurnOwner[] self = new TurnOwner[1];
        self[0] = new TurnOwner(() -> woken.add(self[0]), ProcessorUse.UNKNOWN);
        return self[0];
    }

    /** A turn of a thread of its own. */
    final CpuGrant turn() {
        return turn(owner());
    }

    final CpuGrant turn(TurnOwner owner) {
        return new CpuGrant(Objects.requireNonNull(grants), owner);
    }

    /** A turn of another thread, asked for. */
    final CpuGrant asking(int classIndex) {
        CpuGrant turn = turn();
        turn.request(classIndex);
        return turn;
    }

    final QosStatus.ClassStatus status(String name) {
        return scheduler.status().classes().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }
}

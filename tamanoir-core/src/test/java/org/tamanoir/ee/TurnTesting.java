package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;

/** A scheduler of turns whose clocks stand still unless a test moves them. */
abstract class TurnTesting {
    static final long QUANTUM_NS = 1_000_000;

    /** By the node's own clock this time never comes, so that its timer does not interfere. */
    final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE / 2);

    final AtomicLong processorNs = new AtomicLong();
    /** Names of classes that are held back. */
    final Set<String> heldBack = new HashSet<>();

    final QosTimer timer = new QosTimer();
    final TurnScheduler scheduler =
            new TurnScheduler(timer, name -> heldBack.contains(name), nowNs::get, processorNs::get);
    /** Owners that were woken, in this order. */
    final List<TurnOwner> woken = new ArrayList<>();

    QosConfig config = QosConfig.OFF;

    @AfterEach
    final void closeTimer() {
        timer.close();
    }

    final QosConfig schedule(String discipline, int processors, TrafficClass... classes) {
        config = config(discipline, processors, Duration.ofNanos(QUANTUM_NS), classes);
        scheduler.change(config, 1);
        return config;
    }

    static QosConfig config(String discipline, int processors, Duration quantum, TrafficClass... classes) {
        return new QosConfig(
                List.of(classes),
                classes[classes.length - 1].name(),
                List.of(),
                new PreProcessing(discipline, Map.of(), processors, quantum),
                List.of());
    }

    /** A class of this name, whose packets carry this class of service. */
    static TrafficClass named(String name, int classOfService, long weight) {
        return new TrafficClass(name, Set.of(classOfService), weight);
    }

    /** Another thread. */
    final TurnOwner owner() {
        TurnOwner[] self = new TurnOwner[1];
        self[0] = new TurnOwner(() -> woken.add(self[0]), null);
        return self[0];
    }

    /** A turn of a thread of its own. */
    final Turn turn() {
        return turn(owner());
    }

    final Turn turn(TurnOwner owner) {
        return new Turn(scheduler, owner);
    }

    /** A turn of another thread, asked for. */
    final Turn asking(int classIndex) {
        Turn turn = turn();
        turn.request(config, classIndex);
        return turn;
    }

    final QosStatus.ClassStatus status(String name) {
        return scheduler.status().classes().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }
}

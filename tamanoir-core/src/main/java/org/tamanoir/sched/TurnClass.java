package org.tamanoir.sched;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * One class of traffic before processing, under one configuration.
 *
 * <p>Thread contract: inside the scheduler's lock, but for what never changes.
 */
final class TurnClass {
    final WaitingGrants waiting;
    final String name;
    final ClassCounts counts;
    /** Place in the configuration: the index of its flow in the discipline. */
    final int index;
    /** Turns that are asked for while the class is held back, in their order. */
    final Set<CpuGrant> parked = new LinkedHashSet<>();

    TurnClass(WaitingGrants waiting, String name, ClassCounts counts, int index) {
        this.waiting = waiting;
        this.name = name;
        this.counts = counts;
        this.index = index;
    }
}

package org.tamanoir.ee;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * One class of traffic before processing. It outlives changes of the configuration that keep its name.
 *
 * <p>Thread contract: inside the scheduler's lock, but for what never changes.
 */
final class TurnClass {
    final String name;
    final ClassCounts counts = new ClassCounts();
    /** Turns that are asked for while the class is held back, in their order. */
    final ArrayDeque<Turn> aside = new ArrayDeque<>();

    /** Place in the configuration: the index of its flow in the discipline. */
    int index;
    /** The class that its turns belong to since the configuration has it no more. */
    volatile @Nullable TurnClass successor;

    int turnsWaiting;
    /** Datagrams in queues of services. */
    long packetsWaiting;

    long octetsWaiting;

    TurnClass(String name) {
        this.name = name;
    }

    /** The class that holds for what was this one. Any thread. */
    TurnClass current() {
        TurnClass last = this;
        for (TurnClass next = last.successor; next != null; next = last.successor) {
            last = next;
        }
        return last;
    }
}

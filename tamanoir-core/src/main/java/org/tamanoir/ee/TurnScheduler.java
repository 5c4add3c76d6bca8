package org.tamanoir.ee;

import java.util.function.Predicate;
import org.tamanoir.qdisc.QosConfig;

/**
 * The scheduling point before processing: grants turns on the processors to service threads, in the order of a queueing
 * discipline, and charges each class with what its turns have cost.
 *
 * <p>Thread contract: any thread.
 */
final class TurnScheduler {
    /**
     * @param heldBack whether a class, by its name, gets no turns now because a link's queue of it is full
     */
    TurnScheduler(QosTimer timer, Predicate<String> heldBack) {
        throw new UnsupportedOperationException();
    }

    /** Schedules so from now on; what waits keeps waiting, under the new configuration. */
    void change(QosConfig config, int generation) {
        throw new UnsupportedOperationException();
    }

    /** A class that was held back may be so no more. */
    void recheck() {
        throw new UnsupportedOperationException();
    }

    /** Grants everything that waits, and all that will be asked for. */
    void close() {
        throw new UnsupportedOperationException();
    }

    QosStatus.Point status() {
        throw new UnsupportedOperationException();
    }
}

package org.tamanoir.ee;

import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;

/**
 * The scheduling point after processing, for one outgoing link: packets leave in the order of a queueing discipline,
 * under the link's token bucket. It grants departures; the threads whose packets they are send them.
 *
 * <p>Thread contract: any thread.
 */
final class LinkScheduler {
    /**
     * @param roomAgain called when a class whose queue was full has room again; not inside the lock
     */
    LinkScheduler(String name, QosTimer timer, Runnable roomAgain) {
        throw new UnsupportedOperationException();
    }

    /** Schedules so from now on; what waits keeps waiting, under the new configuration. */
    void change(QosConfig config, Link link, int generation) {
        throw new UnsupportedOperationException();
    }

    /** Whether the queue of this class is full. Takes no lock. */
    boolean isFull(String className) {
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

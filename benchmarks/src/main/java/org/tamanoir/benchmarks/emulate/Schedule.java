package org.tamanoir.benchmarks.emulate;

import java.io.IOException;

/** The first so many of arrivals, one of which is looked at. Thread contract: one thread. */
final class Schedule {
    private final Arrivals arrivals;
    private final Arrival arrival = new Arrival();
    private final long most;
    private long packets = -1;
    private boolean over;

    Schedule(Arrivals arrivals, long most) throws IOException {
        this.arrivals = arrivals;
        this.most = most;
        advance();
    }

    /** Goes to the next. */
    void advance() throws IOException {
        packets++;
        over = packets >= most || !arrivals.next(arrival);
    }

    boolean isOver() {
        return over;
    }

    /** Returns when it comes. */
    long ns() {
        return arrival.ns;
    }

    Arrival arrival() {
        return arrival;
    }

    /** Returns how many have come before it. */
    long packets() {
        return packets;
    }
}

package org.tamanoir.benchmarks.emulate;

import java.io.IOException;

/**
 * Two sources superposed; the packets of the second are for the second service, and of class of service 1.
 *
 * <p>Thread contract: one thread.
 */
final class Merged implements Arrivals {
    private final Schedule first;
    private final Schedule second;
    private boolean isFirst;
    private boolean isBegun;

    Merged(Arrivals first, Arrivals second) throws IOException {
        this.first = new Schedule(first, Long.MAX_VALUE);
        this.second = new Schedule(second, Long.MAX_VALUE);
    }

    @Override
    public boolean next(Arrival into) throws IOException {
        if (isBegun) {
            (isFirst ? first : second).advance();
        }
        isBegun = true;
        if (first.isOver() && second.isOver()) {
            return false;
        }
        isFirst = second.isOver() || !first.isOver() && first.ns() <= second.ns();
        Arrival from = (isFirst ? first : second).arrival();
        into.ns = from.ns;
        into.bytes = from.bytes;
        into.high = from.high;
        into.low = from.low;
        into.service = isFirst ? 0 : 1;
        into.trafficClass = into.service;
        return true;
    }
}

package org.tamanoir.message;

import java.util.function.LongSupplier;

/**
 * The time of the packet or task in hand: read once for each, and where nobody asks not at all.
 *
 * <p>Thread contract: the service's thread.
 */
final class TaskClock implements LongSupplier {
    private final LongSupplier clockNs;
    private long nowNs;
    private boolean read;

    TaskClock(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /** Forgets the time: another packet or task begins, or time has passed in this one. */
    void begin() {
        read = false;
    }

    @Override
    public long getAsLong() {
        if (!read) {
            nowNs = clockNs.getAsLong();
            read = true;
        }
        return nowNs;
    }
}

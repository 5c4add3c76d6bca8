package org.tamanoir.ee;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.ProgressWatch;

/**
 * The waits of a stream's thread. A packet that has to wait parks the stream: the walk of its batch returns to the
 * thread's loop, which goes on with the packet when that can be. Nothing is read from the sender meanwhile: that is the
 * back-pressure. In place waits only what stands in the service's own code, and what has no packet in hand; all that
 * was gathered until then leaves before.
 *
 * <p>Thread contract: the stream's thread.
 */
final class Waits implements NextHops.Parking {
    private final StreamInstance instance;
    private final StreamInstance.Flow flow;
    private @Nullable Wait parked;
    /** Ends the wait of the packet that is parked; null while nothing bounds it here. */
    private @Nullable ProgressWatch alarm;

    /** The packet that tries to depart, and parks anew if it cannot. */
    private @Nullable Departing departing;

    private boolean isLate;
    private boolean isInPlace;

    Waits(StreamInstance instance, StreamInstance.Flow flow) {
        this.instance = instance;
        this.flow = flow;
    }

    /** Returns whether a packet waits. */
    boolean isParked() {
        return parked != null;
    }

    /** Returns whether the thread waits with a packet, in the loop or in place: then nothing is read from the sender. */
    boolean isWaiting() {
        return parked != null || isInPlace;
    }

    /** Returns whether a packet waits for this. */
    boolean isParkedFor(Wait wait) {
        return parked == wait;
    }

    /** Has the packet in hand wait for this long at most. */
    void park(Wait wait, Duration bound) {
        park(wait, bound, () -> 0);
    }

    /** Has the packet in hand wait for this long at most since {@code progress} gave another number last. */
    void park(Wait wait, Duration bound, LongSupplier progress) {
        park(wait);
        isLate = false;
        alarm = new ProgressWatch(instance.loop, bound, () -> true, progress, () -> isLate = true);
        alarm.watch();
    }

    /** Has the packet in hand wait, for as long as something else allows. */
    void park(Wait wait) {
        if (parked != null) {
            throw new IllegalStateException("a packet waits already: the stream has one in hand");
        }
        parked = wait;
    }

    @Override
    public void park(Packet packet, NextHops.Departure departure) {
        Departing going = departing;
        park(going != null && going.departure == departure ? going : new Departing(packet, departure));
    }

    /** A packet that has been processed. Connections that are made, links and next hops bound its wait. */
    private final class Departing implements Wait {
        private final Packet packet;
        private final NextHops.Departure departure;

        Departing(Packet packet, NextHops.Departure departure) {
            this.packet = packet;
            this.departure = departure;
        }

        @Override
        public boolean advance() {
            departing = this;
            try {
                instance.path.dispatcher.settle(departure.again(), packet);
            } finally {
                departing = null;
            }
            return true;
        }

        @Override
        public void end(boolean isLate) {
            instance.path.drop(instance.endReason(), packet);
        }
    }

    /** Goes on with the packet that waits; returns whether none waits any more. */
    boolean resume() {
        if (parked == null) {
            return true;
        }
        instance.nextHops.refreshGuard();
        try {
            return advance();
        } catch (NoMemoryException e) {
            instance.path.lacksMemory(e);
            return true;
        }
    }

    /**
     * Goes on with the packet that waits, if that can be since connections were looked after; to be asked before the
     * thread rests, since nothing may wake it again.
     *
     * @return whether the packet has gone on, be it to its next wait
     */
    boolean resumed() {
        Wait before = parked;
        return before != null && (resume() || parked != before);
    }

    private boolean advance() {
        Wait wait = parked;
        if (wait == null || instance.isOver()) {
            return wait == null;
        }
        ProgressWatch bound = alarm;
        boolean wasLate = isLate && bound != null;
        alarm = null;
        parked = null;
        if (!wait.advance()) {
            if (wasLate) {
                wait.end(true);
            } else {
                parked = wait;
                alarm = bound;
                return false;
            }
        }
        if (bound != null) {
            bound.end();
        }
        return parked == null;
    }

    /** Ends what is parked, with the stream. */
    void end() {
        Wait wait = parked;
        if (wait != null) {
            parked = null;
            if (alarm != null) {
                alarm.end();
                alarm = null;
            }
            wait.end(false);
        }
    }

    /** Waits until the packet that a service has sent just now has gone, or the stream is over. */
    void settle() {
        if (parked != null) {
            instance.nextHops.flush();
            settleParked();
            end();
        }
    }

    private void settleParked() {
        boolean before = isInPlace;
        isInPlace = true;
        try {
            while (!advance() && !instance.isOver()) {
                flow.attend();
                instance.path.publish(1);
                Wait wait = parked;
                if (!advance() && parked == wait && !instance.isOver()) {
                    instance.thread.rest();
                }
            }
        } finally {
            isInPlace = before;
        }
    }

    /** Waits in the service's own code, and nowhere else, until what was sent has been taken; returns whether it has. */
    boolean drain() {
        if (instance.thread.isInService()) {
            instance.path.runs.end();
            instance.nextHops.flush();
            until(flow::advance);
        }
        return instance.thread.isInService();
    }

    /** Waits until the condition holds, or the stream is over; what has been sent and not taken goes on leaving. */
    void until(BooleanSupplier condition) {
        boolean before = isInPlace;
        isInPlace = true;
        try {
            while (!condition.getAsBoolean() && !instance.isOver()) {
                flow.attend();
                instance.path.publish(0);
                if (!condition.getAsBoolean() && !instance.isOver()) {
                    instance.thread.rest();
                }
            }
        } finally {
            isInPlace = before;
        }
    }

    /** Waits at the end of a stream until the condition holds, the time is up, or the instance is cut. */
    void await(BooleanSupplier condition, Duration bound) {
        boolean[] over = new boolean[1];
        Future<?> end = instance.loop.schedule(bound, () -> over[0] = true);
        try {
            await(() -> over[0] || condition.getAsBoolean());
        } finally {
            end.cancel(false);
        }
    }

    /** Waits at the end of a stream until the condition holds, or the instance is cut. */
    void await(BooleanSupplier condition) {
        boolean holds = condition.getAsBoolean();
        if (!holds) {
            instance.nextHops.flush();
        }
        while (!holds && !instance.thread.isCut()) {
            instance.thread.rest();
            instance.ways.writeGranted();
            holds = condition.getAsBoolean();
        }
    }
}

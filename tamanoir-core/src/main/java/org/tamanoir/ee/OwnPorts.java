package org.tamanoir.ee;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;

/**
 * The UDP ports that one service alone uses: its thread reads them itself, until another service turns out to use
 * them too, or its service pauses. What comes during a pause may be another's: the reception reads it then, and passes the
 * port here again with the first packet behind the pause. Where the node stops and no reception reads any more, what
 * comes during a pause stays in the port.
 *
 * <p>Thread contract: the service's thread.
 */
final class OwnPorts {
    /** While a batch of this many datagrams was handled more have come, mostly: to look costs less than to wait. */
    private static final int MANY_DATAGRAMS = 16;
    /** Batches taken from the ports after the end was asked for: what waits there, but no flood without end. */
    private static final int LAST_BATCHES = 64;

    private final UdpService service;
    private final UdpInbox inbox;
    private final UdpIntake intake;
    private final List<Reading> ports = new ArrayList<>();
    /** Passed to this thread, which has not taken them over yet: it may be in its service's code. */
    private final Set<UdpPort> coming = ConcurrentHashMap.newKeySet();

    /** Batches taken from a port at once while the service's packets wait for turns. */
    private static final int BATCHES_BETWEEN_TURNS = 4;

    /** Begun since the end was asked for; more than {@link #LAST_BATCHES}: nothing is read any more. */
    private int lastBatches;

    private boolean paused;
    /** What is handled now; stays when something was thrown past it: senders may refer to it. */
    private @Nullable UdpBatch inHand;

    OwnPorts(UdpService service, UdpInbox inbox, UdpIntake intake) {
        this.intake = intake;
        this.service = service;
        this.inbox = inbox;
    }

    /** Counts what was read and not handled, when the thread does not return. Another thread. */
    void dropRest(Traffic traffic, DropReason reason) {
        for (Reading reading : ports) {
            reading.walk.dropRest(traffic, reason);
        }
    }

    /** A port that this thread reads. */
    private static final class Reading {
        final UdpPort port;
        final UdpBatch batch;
        final DatagramWalk walk;
        /** What came through the inbox before is older than what waits in the port. */
        final BooleanSupplier isNext;

        boolean readable = true;

        Reading(UdpPort port, UdpBatch batch, DatagramWalk walk, BooleanSupplier isNext) {
            this.port = port;
            this.batch = batch;
            this.walk = walk;
            this.isNext = isNext;
        }
    }

    /** Passes a port to the service's thread, which reads it from now on; false when it does not. Any thread. */
    boolean pass(UdpPort port) {
        coming.add(port);
        boolean comes = service.loop.execute(() -> {
            if (coming.remove(port)) {
                adopt(port);
            }
        });
        return (comes && !service.thread.isAbandoned()) || !coming.remove(port);
    }

    private void adopt(UdpPort port) {
        if (inbox.isClosed() || (service.thread.isPaused() && !intake.isStopping())) {
            giveUp(port);
            return;
        }
        Reading reading;
        try {
            UdpBatch batch = port.batch();
            reading = new Reading(port, batch, new DatagramWalk(service.inHand, port.socket(), batch), inbox.mark());
            ports.add(reading);
        } catch (IOException | OutOfMemoryError e) {
            giveUp(port); // Else nobody would read it.
            return;
        }
        if (!paused && !isOver()) {
            watch(reading);
        }
    }

    private void watch(Reading reading) {
        reading.port.watch(service.loop, () -> reading.readable = true);
    }

    /** Leaves the ports when a pause of the service begins, and watches those that it still has when the pause is over. */
    void watch() {
        if (isOver() || service.thread.isPaused() == paused) {
            return;
        }
        paused = !paused;
        if (!paused) {
            ports.forEach(this::watch);
        } else if (intake.isStopping()) {
            ports.forEach(reading -> reading.port.release()); // What waits in them would keep the loop awake.
        } else {
            ports.forEach(reading -> giveUp(reading.port));
            ports.clear();
        }
    }

    /** Leaves what comes from now on in the ports, and watches them no more: that would keep the loop awake. */
    void endReading() {
        lastBatches = LAST_BATCHES + 1;
        ports.forEach(reading -> reading.port.release());
    }

    /**
     * Handles a batch of each port where packets wait.
     *
     * @param ending whether what waits now is the last
     * @return false when nothing waited
     */
    boolean read(boolean ending) {
        if (paused || isOver() || (ending && !beginLastBatch())) {
            return false;
        }
        boolean worked = false;
        for (int i = 0; i < ports.size(); i++) {
            Reading reading = ports.get(i);
            if (reading.readable && reading.isNext.getAsBoolean()) {
                worked |= read(reading, ending);
                for (int more = 1; more < BATCHES_BETWEEN_TURNS && reading.readable && isBehind(reading); more++) {
                    read(reading, ending);
                }
                if (reading.port.isShared() && !intake.isStopping()) {
                    ports.remove(i--);
                    giveUp(reading.port);
                }
            }
        }
        return worked;
    }

    /** Returns whether packets wait for turns, and more for being put behind them or dropped. */
    private boolean isBehind(Reading reading) {
        return service.isWaitingForTurns() && !reading.port.isShared() && !paused;
    }

    private boolean isOver() {
        return lastBatches > LAST_BATCHES;
    }

    private boolean beginLastBatch() {
        if (lastBatches == 0) {
            ports.forEach(reading -> reading.readable = true);
        }
        if (lastBatches == LAST_BATCHES) {
            endReading();
            return false;
        }
        lastBatches++;
        return true;
    }

    private boolean read(Reading reading, boolean ending) {
        UdpSocket socket = reading.port.socket();
        int messages;
        try {
            messages = reading.port.receive();
        } catch (IOException e) {
            reading.port.backOff(service.loop, () -> reading.readable = true, e);
            messages = 0;
        }
        if (messages == 0) {
            reading.readable = false;
            return false;
        }
        service.inHand.tellLost(socket);
        inHand = reading.batch;
        int datagrams = service.handle(reading.batch, reading.walk, messages);
        inHand = null;
        // Level-triggered: where more waits, the next run of the loop says so again.
        reading.readable = datagrams >= MANY_DATAGRAMS || ending;
        return true;
    }

    /** Lets the reception read the port, unless the node stops. */
    private void giveUp(UdpPort port) {
        port.release();
        intake.readShared(port);
    }

    /** Takes note that a packet for another service came through this socket. */
    void share(UdpSocket socket) {
        for (Reading reading : ports) {
            if (reading.port.socket() == socket) {
                reading.port.share();
            }
        }
    }

    /** Gives back what the batch lies in that something was thrown past: all has left, or ended. */
    void done() {
        if (inHand != null) {
            inHand.done();
            inHand = null;
        }
    }

    /** Leaves the ports to others; one whose batch is in hand goes without. */
    void close() {
        ports.forEach(reading -> {
            if (service.thread.isAbandoned()) {
                reading.port.release();
            } else if (reading.batch == inHand) {
                reading.port.release();
                intake.readShared(new UdpPort(reading.port.socket()));
            } else {
                giveUp(reading.port);
            }
        });
        ports.clear();
    }

    /** Takes the ports from an instance that was given up. Another thread, while the service's is in its code. */
    void forsake() {
        for (Reading reading : ports) {
            reading.port.forsake();
            intake.readShared(new UdpPort(reading.port.socket()));
        }
        for (UdpPort port : coming) {
            if (coming.remove(port)) {
                intake.readShared(port);
            }
        }
    }
}

package org.tamanoir.ee;

import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.qdisc.QosConfig;

/**
 * The turns of a TCP stream: its thread waits for each with the packet in hand, so that the order of the stream is
 * kept, and reads nothing meanwhile. It lives as long as one configuration.
 *
 * <p>Thread contract: as {@link TurnGate}.
 */
final class StreamTurns extends TurnGate {
    private final StreamInstance instance;
    private final TurnScheduler scheduler;
    private final QosConfig config;
    private final Classifier classifier;
    private final TurnOwner owner;
    private final Turn turn;
    /** Class of the turn that the thread has. */
    private int heldClass;
    /** The thread waits for its turn with a packet in hand. */
    private boolean awaiting;

    StreamTurns(StreamInstance instance, TurnScheduler scheduler, QosConfig config, Classifier classifier) {
        this.instance = instance;
        this.scheduler = scheduler;
        this.config = config;
        this.classifier = classifier;
        this.owner = new TurnOwner(instance.loop::wakeup, instance.thread());
        this.turn = new Turn(scheduler, owner);
    }

    @Override
    boolean take(Packet packet) {
        int wanted = classifier.classOf(packet);
        boolean granted;
        if (turn.isGranted() && wanted == heldClass) {
            granted = turn.mayGoOn() || goOn();
        } else {
            turn.release();
            heldClass = wanted;
            granted = turn.request(config, wanted);
        }
        if (!granted && !await()) {
            if (instance.aborted() == DropReason.STARVED) {
                scheduler.dropped(config, wanted, DropReason.STARVED, 1, packet.length());
            }
            return false;
        }
        turn.begin();
        turn.serves(packet.length());
        return true;
    }

    /** What it has processed in its quantum leaves before the next one. */
    private boolean goOn() {
        instance.departures.flush();
        return turn.goOn();
    }

    private boolean await() {
        awaiting = true;
        try {
            return instance.awaitTurn(turn);
        } finally {
            awaiting = false;
        }
    }

    @Override
    boolean mayRest() {
        if (awaiting) {
            return !turn.isGranted(); // What was granted a moment ago is for the packet in hand.
        }
        if (turn.isGranted()) {
            if (turn.wasUsed()) {
                return false;
            }
            turn.release();
        }
        return true;
    }

    @Override
    void end() {
        turn.release();
        scheduler.forfeit(owner);
    }

    @Override
    void forfeit() {
        scheduler.forfeit(owner);
    }
}

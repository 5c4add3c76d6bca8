package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.sched.CpuGrant;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.sched.TurnGate;
import org.tamanoir.sched.TurnOwner;
import org.tamanoir.sched.WaitingGrants;

/**
 * The turns of a TCP stream: it waits for each with the packet in hand, so that the order of the stream is kept, and reads
 * nothing meanwhile. Each turn is asked for under the configuration that holds then.
 *
 * <p>Thread contract: as {@link TurnGate}.
 */
final class StreamTurns extends TurnGate implements Wait {
    private final StreamInstance instance;
    private final TurnWait wait;
    private volatile Asking asking;
    /** Class of the turn that the thread has. */
    private int heldClass;
    /** Of the packet that asked last. */
    private int bytes;

    /** What the thread asks for under one configuration. */
    private record Asking(WaitingGrants grants, Classifier classifier, TurnOwner owner, CpuGrant turn) {
        static Asking of(TurnWait wait, WaitingGrants grants, Classifier classifier) {
            TurnOwner owner = wait.newOwner();
            return new Asking(grants, classifier, owner, new CpuGrant(grants, owner));
        }

        void end() {
            turn.release();
            grants.scheduler().forfeit(owner);
        }
    }

    StreamTurns(StreamInstance instance, WaitingGrants grants, Classifier classifier) {
        this.instance = instance;
        this.wait = new TurnWait(instance.thread, instance.nextHops);
        this.asking = Asking.of(wait, grants, classifier);
    }

    @Override
    public boolean take(Packet packet) {
        Asking now = asking;
        int wanted = now.classifier.classOf(packet);
        if (now.turn.isGranted() && wanted == heldClass && now.turn.continueQuantum()) {
            now.turn.serves(packet.length());
            return true;
        }
        return takeAnew(packet);
    }

    /** Asks for the next turn; what was processed in the one before leaves first. */
    private boolean takeAnew(Packet packet) {
        QosSnapshot now = instance.context.qualityOfService().now();
        WaitingGrants grants = now.turns();
        Classifier classifier = now.classifier();
        if (grants == null || classifier == null) {
            asking.end();
            return true;
        }
        Asking before = asking;
        if (before.grants != grants) {
            before.end();
            asking = Asking.of(wait, grants, classifier);
        }
        return ask(asking, packet);
    }

    private boolean ask(Asking now, Packet packet) {
        CpuGrant turn = now.turn;
        int wanted = now.classifier.classOf(packet);
        boolean granted;
        if (turn.isGranted() && wanted == heldClass) {
            instance.nextHops.flush();
            granted = turn.goOn();
        } else {
            turn.release();
            heldClass = wanted;
            granted = turn.request(wanted);
        }
        bytes = packet.length();
        if (granted) {
            use(turn);
        } else {
            instance.waits.park(this, instance.stall());
        }
        return granted;
    }

    private void use(CpuGrant turn) {
        turn.begin();
        turn.serves(bytes);
    }

    @Override
    public boolean advance() {
        if (!asking.turn.isGranted()) {
            return false;
        }
        use(asking.turn);
        instance.path.processGranted();
        return true;
    }

    @Override
    public void end(boolean isLate) {
        asking.turn.release(); // Whatever ended the wait, nobody takes the turn that was asked for.
        if (isLate) {
            asking.grants.dropped(heldClass, DropReason.STARVED, 1, bytes);
            instance.abort(
                    DropReason.STARVED,
                    "its class got no turn for " + instance.stall().toMillis() + " ms");
        }
        instance.path.dropInHand(instance.endReason());
    }

    @Override
    public void giveWay() {
        wait.giveWay(asking.turn);
    }

    @Override
    public @Nullable CpuGrant turn() {
        return asking.owner.running();
    }

    @Override
    public boolean mayRest() {
        CpuGrant turn = asking.turn;
        if (instance.waits.isParkedFor(this)) {
            return !turn.isGranted(); // What was granted a moment ago is for the packet in hand.
        }
        if (turn.isGranted()) {
            if (turn.takeUsed()) {
                return false;
            }
            turn.release();
        }
        return true;
    }

    @Override
    public void end() {
        asking.end();
    }

    @Override
    public void forfeit() {
        asking.grants.scheduler().forfeit(asking.owner);
    }
}

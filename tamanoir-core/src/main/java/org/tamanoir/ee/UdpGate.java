package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.sched.TurnGate;
import org.tamanoir.sched.WaitingGrants;

/**
 * Packets of a UDP service that wait for turns, from the first configuration that schedules turns until what waited
 * under the last one has been served.
 *
 * <p>Thread contract: the service's thread; {@link #drop} also of the thread that gives the service up.
 */
final class UdpGate {
    private final UdpService service;
    /** Null while turns are not scheduled. */
    private @Nullable UdpTurns turns;

    UdpGate(UdpService service) {
        this.service = service;
    }

    /** Returns what packets have to pass from now on; null when they are processed as they come. */
    @Nullable
    TurnGate change(QosSnapshot now) {
        WaitingGrants grants = now.turns();
        Classifier classifier = now.classifier();
        if (grants == null || classifier == null) {
            if (turns != null) {
                turns.switchOff();
            }
        } else if (turns == null) {
            turns = new UdpTurns(service, this, grants, now.config(), classifier);
        } else {
            turns.change(grants, now.config(), classifier);
        }
        return turns;
    }

    /** Serves packets whose classes have turns; returns whether there were any. */
    boolean serve() {
        UdpTurns waiting = turns;
        if (waiting == null) {
            return false;
        }
        boolean worked = waiting.serve();
        if (waiting.isDone()) {
            service.path.openGate();
            free();
        }
        return worked;
    }

    /** Returns how many packets wait. */
    int waiting() {
        return turns == null ? 0 : turns.waiting();
    }

    /** Copies the packet in hand into the queue of its class; false when it is full. */
    boolean offer(Packet packet, int trafficClass, ClassQueues queues) {
        boolean taken = queues.offer(trafficClass, packet, service.inHand.arrival);
        if (taken) {
            service.inHand.setAside();
        }
        return taken;
    }

    /** Handles a packet that waited. */
    void handle(ClassQueues.Waiting queued) {
        takeIntoHand(queued);
        TraceWatch watch = service.watch(queued.memory(), queued.offset, queued.length);
        try {
            service.path.handleAgain(queued.memory(), queued.offset, queued.length);
        } catch (RuntimeException | VirtualMachineError e) {
            service.unfit(e);
        }
        if (watch != null) {
            watch.end();
        }
    }

    /** Drops a packet that waited. */
    void drop(ClassQueues.Waiting queued, DropReason reason) {
        takeIntoHand(queued);
        service.path.drops().drop(reason, queued.memory(), queued.offset, queued.length);
        service.inHand.ended(reason);
    }

    private void takeIntoHand(ClassQueues.Waiting queued) {
        service.inHand.arrival.set(queued.from);
        service.inHand.take();
    }

    /** Drops all that waits. */
    void drop(DropReason reason) {
        if (turns != null) {
            turns.drop(reason);
        }
    }

    /** Gives the memory back in which packets waited. */
    void free() {
        if (turns != null) {
            turns.free();
            turns = null;
        }
    }
}

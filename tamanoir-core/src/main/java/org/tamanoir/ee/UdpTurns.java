package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.sched.CpuGrant;
import org.tamanoir.sched.TurnGate;
import org.tamanoir.sched.TurnOwner;
import org.tamanoir.sched.WaitingGrants;

/**
 * The turns of a UDP service: one for each class. Its thread never waits for a turn with a packet in hand. A packet
 * whose class has the turn, or gets it at once, is processed in place; others are copied into the bounded queue of their
 * class, and a full one drops the packet that arrives. So the thread keeps reading its ports, and what has to be dropped
 * is dropped by class, before it has cost an invocation.
 *
 * <p>Packets of a class keep their order: while older ones wait, new ones go behind them.
 *
 * <p>Thread contract: as {@link TurnGate}; {@link #drop} also of the thread that gives the service up.
 */
final class UdpTurns extends TurnGate {
    /** Packets served from a queue before they are sent and their room is given back. A power of two. */
    private static final int BATCH_PACKETS = 64;
    /** Packets served from a queue between looks at the clock. A power of two. */
    private static final int PACKETS_PER_LOOK = 8;
    /** After so long the ports are read again: what waits there for longer may be dropped by no class. */
    private static final long SLICE_NS = 1_000_000;

    private final UdpService service;
    private final UdpGate gate;
    private final ClassQueues queues;
    private final TurnWait wait;
    private volatile TurnOwner owner;
    /** Null since scheduling was switched off: what waits is served as it comes. */
    private volatile @Nullable WaitingGrants grants;

    private Classifier classifier;
    /** By class. */
    private List<CpuGrant> turns = List.of();
    /** A packet of a queue is in hand. */
    private boolean serving;
    /** Packets go into queues until the ports have been read. */
    private boolean sliceOver;

    private long sliceBeganNs;
    private final long stallNs;
    /** The thread will be woken to look whether a class starves. */
    private boolean alarmed;

    UdpTurns(UdpService service, UdpGate gate, WaitingGrants grants, QosConfig config, Classifier classifier) {
        this.service = service;
        this.gate = gate;
        NodeContext context = service.context;
        this.queues = new ClassQueues(
                context.pool(), context.platform(), context.config().typeId(), this);
        this.classifier = classifier;
        this.wait = new TurnWait(service.thread, service.nextHops);
        this.owner = wait.newOwner();
        this.stallNs = context.config().stallTimeout().toNanos();
        change(grants, config, classifier);
    }

    /** Schedules so from now on; packets that wait are classified anew, in their order. */
    void change(WaitingGrants next, QosConfig config, Classifier nextClassifier) {
        end();
        WaitingGrants before = grants;
        queues.change(config, nextClassifier, before);
        TurnOwner asking = wait.newOwner();
        owner = asking;
        List<CpuGrant> made = new ArrayList<>();
        for (int i = 0; i < queues.count(); i++) {
            made.add(new CpuGrant(next, asking));
        }
        turns = made;
        grants = next;
        classifier = nextClassifier;
    }

    /** Switches scheduling off: what waits is served, and new packets of a class go behind it until then. */
    void switchOff() {
        end();
        grants = null;
    }

    /** Returns whether there is nothing to do any more. */
    boolean isDone() {
        return grants == null && queues.packets() == 0;
    }

    /** Returns how many packets are in queues. */
    int waiting() {
        return queues.packets();
    }

    @Override
    public boolean take(Packet packet) {
        if (serving) {
            return true;
        }
        int wanted = classifier.classOf(packet);
        CpuGrant turn = turns.get(wanted);
        if (queues.of(wanted).isEmpty() && (grants == null || mayServe(turn, wanted))) {
            turn.serves(packet.length());
            return true;
        }
        if (!gate.offer(packet, wanted, queues)) {
            service.path.drop(DropReason.TURN_QUEUE_FULL, packet);
        }
        if (grants != null && turn.isIdle()) {
            turn.request(wanted);
        }
        return false;
    }

    private boolean mayServe(CpuGrant turn, int index) {
        if (sliceOver) {
            return false;
        }
        CpuGrant held = owner.running();
        if (held == null && turn.isIdle()) {
            held = turn.request(index) ? turn : null;
        }
        if (held != turn) {
            return false;
        }
        turn.begin();
        if (!turn.continueQuantum()) {
            service.nextHops.flush(); // What it has processed in its quantum leaves before the next one.
            sliceOver = !turn.goOn() || isSliceOver();
        }
        return !sliceOver;
    }

    private boolean isSliceOver() {
        return service.context.platform().nanoTime() - sliceBeganNs >= SLICE_NS;
    }

    /** Serves what waits, as far as there are turns; between looks at the ports. False when nothing was done. */
    boolean serve() {
        boolean worked = false;
        sliceOver = false;
        if (queues.packets() > 0 && !service.thread.isPaused()) {
            sliceBeganNs = service.context.platform().nanoTime();
            worked = grants == null ? serveAll() : serveGranted();
            dropStarved();
        }
        if (grants != null) {
            tell();
            sliceBeganNs = service.context.platform().nanoTime();
        }
        return worked;
    }

    /** Drops what waits in a class that has got no turn for too long. */
    private void dropStarved() {
        WaitingGrants from = grants;
        for (int i = 0; from != null && i < queues.count(); i++) {
            ClassQueue queue = queues.of(i);
            CpuGrant turn = turns.get(i);
            if (!queue.isEmpty() && !turn.isGranted() && !turn.isIdle() && isStalled(queue, turn)) {
                from.dropped(i, DropReason.STARVED, queue.packets(), queue.bytes());
                drop(queue, DropReason.STARVED);
                queues.release();
                turn.release();
            }
        }
    }

    private boolean isStalled(ClassQueue queue, CpuGrant turn) {
        return sliceBeganNs - queue.waitsSinceNs() >= stallNs && sliceBeganNs - turn.askedNs() >= stallNs;
    }

    private boolean serveAll() {
        for (int i = 0; i < queues.count(); i++) {
            serve(queues.of(i), null);
        }
        return true;
    }

    private boolean serveGranted() {
        for (int i = 0; i < queues.count(); i++) {
            if (!queues.of(i).isEmpty() && turns.get(i).isIdle()) {
                turns.get(i).request(i);
            }
        }
        boolean worked = false;
        for (int i = 0; i <= turns.size(); i++) { // One turn may follow another, each class once.
            CpuGrant held = owner.running();
            if (held == null) {
                break;
            }
            held.begin();
            ClassQueue queue = queues.of(turns.indexOf(held));
            if (queue.isEmpty()) {
                if (held.takeUsed()) {
                    break; // More of its class may wait in the ports.
                }
                held.release();
            } else {
                worked = true;
                if (!serve(queue, held)) {
                    break;
                }
            }
        }
        return worked;
    }

    /**
     * Serves a queue until it is empty, or the turn ends, or the slice is over.
     *
     * @param turn null = none is needed
     * @return false when the slice is over
     */
    private boolean serve(ClassQueue queue, @Nullable CpuGrant turn) {
        int packets = 0;
        boolean inTime = true;
        while (inTime && !queue.isEmpty() && !service.thread.isCut() && !service.thread.isPaused()) {
            if (turn != null && !turn.continueQuantum()) {
                send();
                if (!turn.goOn()) {
                    return true;
                }
            }
            serveNext(queue, turn);
            packets++;
            if ((packets & BATCH_PACKETS - 1) == 0) {
                send();
            }
            inTime = (packets & PACKETS_PER_LOOK - 1) != 0 || !isSliceOver();
        }
        send();
        return inTime;
    }

    private void serveNext(ClassQueue queue, @Nullable CpuGrant turn) {
        ClassQueues.Waiting next = queues.poll(queue);
        if (next == null) {
            return;
        }
        if (turn != null) {
            turn.serves(next.length);
        }
        serving = true;
        try {
            gate.handle(next);
        } finally {
            serving = false;
        }
    }

    private void send() {
        service.nextHops.flush();
        queues.release();
    }

    private void tell() {
        WaitingGrants listener = grants;
        if (listener != null) {
            queues.tell(listener);
        }
    }

    @Override
    public void giveWay() {
        CpuGrant turn = owner.running();
        if (turn != null) {
            wait.giveWay(turn);
        }
    }

    @Override
    public @Nullable CpuGrant turn() {
        return owner.running();
    }

    @Override
    public boolean mayRest() {
        CpuGrant held = owner.running();
        if (held != null) {
            if (held.takeUsed() || (!queues.of(turns.indexOf(held)).isEmpty() && !service.thread.isPaused())) {
                return false;
            }
            held.release();
            if (owner.running() != null) {
                return false;
            }
        }
        if (queues.packets() > 0 && !alarmed) {
            service.loop.schedule(Duration.ofNanos(stallNs), () -> alarmed = false); // To look at what waits.
            alarmed = true;
        }
        return true;
    }

    /** Drops what waits. */
    void drop(DropReason reason) {
        for (int i = 0; i < queues.count(); i++) {
            drop(queues.of(i), reason);
        }
        tell();
    }

    private void drop(ClassQueue queue, DropReason reason) {
        ClassQueues.Waiting next;
        while ((next = queues.poll(queue)) != null) {
            gate.drop(next, reason);
        }
    }

    @Override
    public void end() {
        CpuGrant held = owner.running();
        if (held != null) {
            held.release();
        }
        forfeit();
    }

    /** Gives the memory back: nothing waits, and everything has left. */
    void free() {
        queues.release();
    }

    @Override
    public void forfeit() {
        WaitingGrants from = grants;
        if (from != null) {
            from.scheduler().forfeit(owner);
        }
    }
}

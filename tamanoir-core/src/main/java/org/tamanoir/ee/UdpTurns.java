package org.tamanoir.ee;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;

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
    private TurnOwner owner;
    /** Null since scheduling was switched off: what waits is served as it comes. */
    private @Nullable TurnScheduler scheduler;

    private QosConfig config;
    private Classifier classifier;
    /** By class, as {@link #turns}. */
    private List<ClassQueue> queues = List.of();

    private List<Turn> turns = List.of();
    private int waiting;
    /** A packet of a queue is in hand. */
    private boolean serving;
    /** Packets go into queues until the ports have been read. */
    private boolean sliceOver;

    private long sliceBeganNs;
    private final long stallNs;
    /** The thread will be woken to look whether a class starves. */
    private boolean alarmed;

    UdpTurns(UdpService service, TurnScheduler scheduler, QosConfig config, Classifier classifier) {
        this.service = service;
        this.config = config;
        this.classifier = classifier;
        this.owner = new TurnOwner(service.loop::wakeup, service.thread());
        this.stallNs = service.environment().config().stallTimeout().toNanos();
        change(scheduler, config, classifier);
    }

    /** Schedules so from now on; packets that wait stay in the queue of their class, if there still is one. */
    void change(TurnScheduler next, QosConfig nextConfig, Classifier nextClassifier) {
        end();
        List<ClassQueue> made = new ArrayList<>();
        for (TrafficClass each : nextConfig.classes()) {
            made.add(new ClassQueue(service.environment().pool(), each));
        }
        for (int i = 0; i < queues.size(); i++) {
            made.get(indexIn(nextConfig, config.classes().get(i).name())).takeOver(queues.get(i));
        }
        tell();
        queues = made;
        owner = new TurnOwner(service.loop::wakeup, service.thread());
        TurnOwner asking = owner;
        turns = made.stream().map(queue -> new Turn(next, asking)).toList();
        scheduler = next;
        config = nextConfig;
        classifier = nextClassifier;
    }

    private static int indexIn(QosConfig config, String name) {
        int index = 0;
        for (int i = 0; i < config.classes().size(); i++) {
            String each = config.classes().get(i).name();
            if (each.equals(name)) {
                return i;
            }
            index = each.equals(config.defaultClass()) ? i : index;
        }
        return index;
    }

    /** Scheduling is switched off: what waits is served, and new packets of a class go behind it until then. */
    void switchOff() {
        end();
        scheduler = null;
    }

    /** Whether there is nothing to do any more. */
    boolean isDone() {
        return scheduler == null && waiting == 0;
    }

    /** Packets in queues. */
    int waiting() {
        return waiting;
    }

    // ---- packets that arrive ---------------------------------------------------------------------------------------

    @Override
    boolean take(Packet packet) {
        if (serving) {
            return true;
        }
        int wanted = classifier.classOf(packet);
        ClassQueue queue = queues.get(wanted);
        Turn turn = turns.get(wanted);
        if (queue.isEmpty() && (scheduler == null || mayServe(turn, wanted))) {
            turn.serves(packet.length());
            return true;
        }
        boolean wasEmpty = queue.isEmpty();
        if (service.offer(packet, queue)) {
            waiting++;
            if (wasEmpty) {
                queue.waitsSince(System.nanoTime());
            }
        } else {
            service.drop(DropReason.TURN_QUEUE_FULL, packet);
        }
        if (scheduler != null && turn.isIdle()) {
            turn.request(config, wanted);
        }
        return false;
    }

    private boolean mayServe(Turn turn, int index) {
        if (sliceOver) {
            return false;
        }
        Turn held = owner.running();
        if (held == null && turn.isIdle()) {
            held = turn.request(config, index) ? turn : null;
        }
        if (held != turn) {
            return false;
        }
        turn.begin();
        if (!turn.mayGoOn()) {
            service.departures.flush(); // What it has processed in its quantum leaves before the next one.
            sliceOver = !turn.goOn() || isSliceOver();
        }
        return !sliceOver;
    }

    private boolean isSliceOver() {
        return System.nanoTime() - sliceBeganNs >= SLICE_NS;
    }

    // ---- packets that wait -----------------------------------------------------------------------------------------

    /** Serves what waits, as far as there are turns; between looks at the ports. False when nothing was done. */
    boolean serve() {
        boolean worked = false;
        sliceOver = false;
        if (waiting > 0 && !service.isPaused()) {
            sliceBeganNs = System.nanoTime();
            worked = scheduler == null ? serveAll() : serveGranted();
            dropStarved();
        }
        if (scheduler != null) {
            tell();
            sliceBeganNs = System.nanoTime();
        }
        return worked;
    }

    /** Drops what waits in a class that has got no turn for too long. */
    private void dropStarved() {
        TurnScheduler from = scheduler;
        for (int i = 0; from != null && i < queues.size(); i++) {
            ClassQueue queue = queues.get(i);
            Turn turn = turns.get(i);
            if (!queue.isEmpty() && !turn.isGranted() && !turn.isIdle() && isStalled(queue, turn)) {
                from.dropped(config, i, DropReason.STARVED, queue.packets(), queue.octets());
                drop(queue, DropReason.STARVED);
            }
        }
    }

    private boolean isStalled(ClassQueue queue, Turn turn) {
        return sliceBeganNs - queue.waitsSinceNs() >= stallNs && sliceBeganNs - turn.askedNs() >= stallNs;
    }

    private boolean serveAll() {
        for (int i = 0; i < queues.size(); i++) {
            serve(queues.get(i), null);
        }
        return true;
    }

    private boolean serveGranted() {
        for (int i = 0; i < queues.size(); i++) {
            if (!queues.get(i).isEmpty() && turns.get(i).isIdle()) {
                turns.get(i).request(config, i);
            }
        }
        boolean worked = false;
        for (int i = 0; i <= turns.size(); i++) { // One turn may follow another, each class once.
            Turn held = owner.running();
            if (held == null) {
                break;
            }
            held.begin();
            ClassQueue queue = queues.get(turns.indexOf(held));
            if (queue.isEmpty()) {
                if (held.wasUsed()) {
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
    private boolean serve(ClassQueue queue, @Nullable Turn turn) {
        int packets = 0;
        boolean inTime = true;
        while (inTime && !queue.isEmpty() && !service.isCut() && !service.isPaused()) {
            if (turn != null && !turn.mayGoOn()) {
                sendFrom(queue);
                if (!turn.goOn()) {
                    return true;
                }
            }
            PacketRing ring = queue.next();
            if (ring == null) {
                throw new IllegalStateException(queue.packets() + " packets counted in a queue that is empty");
            }
            waiting--;
            if (turn != null) {
                turn.serves(ring.length());
            }
            serving = true;
            try {
                service.handleQueued(ring);
            } finally {
                serving = false;
            }
            packets++;
            if ((packets & BATCH_PACKETS - 1) == 0) {
                sendFrom(queue);
            }
            inTime = (packets & PACKETS_PER_LOOK - 1) != 0 || !isSliceOver();
        }
        sendFrom(queue);
        return inTime;
    }

    private void sendFrom(ClassQueue queue) {
        service.departures.flush();
        queue.release();
    }

    private void tell() {
        TurnScheduler listener = scheduler;
        if (listener != null) {
            for (int i = 0; i < queues.size(); i++) {
                queues.get(i).tell(listener, config, i);
            }
        }
    }

    // ---- the end of turns ------------------------------------------------------------------------------------------

    @Override
    boolean mayRest() {
        Turn held = owner.running();
        if (held != null) {
            if (held.wasUsed() || (!queues.get(turns.indexOf(held)).isEmpty() && !service.isPaused())) {
                return false;
            }
            held.release();
            if (owner.running() != null) {
                return false;
            }
        }
        if (waiting == 0) {
            queues.forEach(ClassQueue::trim);
        } else if (!alarmed) {
            alarmed = true;
            service.loop.schedule(Duration.ofNanos(stallNs), () -> alarmed = false); // To look at what waits.
        }
        return true;
    }

    /** Drops what waits. */
    void drop(DropReason reason) {
        for (ClassQueue queue : queues) {
            drop(queue, reason);
        }
        tell();
    }

    private void drop(ClassQueue queue, DropReason reason) {
        for (PacketRing ring = queue.next(); ring != null; ring = queue.next()) {
            waiting--;
            service.dropQueued(ring, reason);
        }
    }

    @Override
    void end() {
        Turn held = owner.running();
        if (held != null) {
            held.release();
        }
        forfeit();
    }

    /** Gives the memory back: nothing waits, and everything has left. */
    void free() {
        queues.forEach(ClassQueue::trim);
    }

    @Override
    void forfeit() {
        TurnScheduler from = scheduler;
        if (from != null) {
            from.forfeit(owner);
        }
    }
}

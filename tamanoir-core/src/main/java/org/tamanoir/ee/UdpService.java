package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;

/**
 * The one thread that runs a service on all UDP traffic. It reads its {@link OwnPorts} itself;
 * packets of other ports come through its bounded inbox, and what finds that full is dropped.
 *
 * <p>Thread contract: the service's thread; {@link #offer} any thread.
 */
final class UdpService extends ServiceInstance {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** Packets of the inbox handled before next hops are flushed. */
    private static final int BATCH_PACKETS = 256;
    /** Batches between looks at timers and at the end, under a flood. */
    private static final int BATCHES_PER_POLL = 8;

    private final Buffer inboxMemory;
    private final PacketRing inbox;
    private final OwnPorts ports;
    /** Packets that waited for this instance; older than all that stand in the inbox behind them. */
    private final Queue<UdpServices.Held> backlog = new ConcurrentLinkedQueue<>();

    private final FarSide farSide = new FarSide(this);
    private final Arrival arrival;
    private final ArrivalSockets sockets = new ArrivalSockets();
    /** Null while no levels are attached. */
    private final @Nullable UpPath up;

    private final Settling settling = new Settling();
    private boolean lookedAgain;
    private @Nullable UdpTurns turns;
    private volatile boolean ending;
    private volatile boolean retiring;

    UdpService(
            ExecutionEnvironment environment,
            ServiceDefinition definition,
            Service service,
            StreamInfo stream,
            UdpSocket first) {
        super(environment, definition, service, stream, "udp " + definition.name());
        int octets = environment.config().inboxOctets();
        this.inboxMemory = environment.pool().take(octets, octets);
        this.inbox = new PacketRing(inboxMemory);
        this.ports = new OwnPorts(this, inbox);
        this.arrival = new Arrival(first);
        this.up = environment.upPath();
    }

    @Override
    public void run(Service service) {
        loop.own();
        try {
            initialise();
            int batch = 0;
            while (!isCut()) {
                ports.watch();
                farSide.take();
                keys().refresh();
                if (retiring && !inbox.isClosed()) {
                    closeIntake();
                }
                boolean worked = readBacklog();
                worked |= ports.read(ending);
                worked |= readInbox();
                refresh();
                worked |= serveTurns();
                worked |= !isPaused() && runDueTasks();
                departures.flush();
                settle();
                memory.recycle();
                publish();
                if (worked) {
                    if (++batch % BATCHES_PER_POLL == 0) {
                        loop.poll();
                    }
                } else if ((ending || retiring)
                        && inbox.isEmpty()
                        && backlog.isEmpty()
                        && heldBack() == 0
                        && !isPaused()) {
                    if (lookedAgain) {
                        break;
                    }
                    lookedAgain = true;
                    loop.poll(); // A port may be on its way here, with packets.
                } else {
                    rest();
                }
            }
            endOfStream();
            drainQueues();
        } catch (Abandoned e) {
            LOG.info("{}: {}", thread().getName(), e.getMessage());
        } catch (Throwable e) {
            LOG.error("{}: ends by a fault of the node", thread().getName(), e);
        } finally {
            finish();
        }
    }

    /** Waits until TCP next hops have taken what is queued for them, or are lost, or the instance is cut. */
    private void drainQueues() {
        departures.flush();
        while (!isCut() && departures.held() > 0) {
            publish();
            rest();
            departures.flush();
        }
    }

    // ---- input -----------------------------------------------------------------------------------------------------

    /** Passes a port to this thread, which reads it from now on; false when it does not. Any thread. */
    boolean pass(UdpPort port) {
        return ports.pass(port);
    }

    /** Handles a batch of one of its own ports. */
    void handle(UdpSocket socket, UdpBatch batch, int messages) {
        refresh();
        if (up != null) {
            up.expect(batch, messages, settling);
        }
        for (int message = 0; message < messages; message++) {
            arrival.set(socket, batch, message, up);
            inTransit(arrival.isInTransit());
            int segment = Math.max(1, batch.segmentOctets(message));
            int end = batch.end(message);
            int start = batch.start(message);
            do {
                try {
                    handle(batch.buffer(), start, Math.min(segment, end - start));
                } catch (RuntimeException e) {
                    unfit(e);
                }
                start += segment;
            } while (start < end);
        }
        departures.flush();
        settle();
    }

    /** Tells the levels what a port has lost. */
    void tellLost(UdpSocket socket) {
        if (up != null) {
            up.tellLost(socket);
        }
    }

    /** Everything that is this thread's has left or ended. */
    private void settle() {
        settling.settle(environment().levels());
    }

    /** The arrival is that of the packet that comes into hand, from a queue. */
    private void takeIntoHand() {
        settling.add(arrival.slot());
        inTransit(arrival.isInTransit());
    }

    private boolean readInbox() {
        int packets = 0;
        while (packets < BATCH_PACKETS && !isPaused() && inbox.next()) {
            packets++;
            readBacklog();
            refresh();
            arrival.set(inbox, sockets);
            takeIntoHand();
            try {
                handleTaken(inboxMemory.nio(), inbox.offset(), inbox.length());
            } catch (RuntimeException e) {
                unfit(e);
            }
        }
        if (packets > 0) {
            departures.flush();
            inbox.release();
        }
        return packets > 0;
    }

    /** Handles what was held for this instance before it, or the service's code, was there. */
    private boolean readBacklog() {
        if (backlog.isEmpty() || isPaused()) {
            return false;
        }
        UdpServices.Held held;
        while (!isCut() && !isPaused() && (held = backlog.poll()) != null) {
            refresh();
            arrival.set(held.from());
            takeIntoHand();
            byte[] octets = held.octets();
            ByteBuffer room = memory.reserve(octets.length);
            int at = room.position();
            room.put(at, octets);
            memory.commit(octets.length);
            environment().udp().handled(held);
            try {
                handleTaken(room, at, octets.length);
            } catch (RuntimeException e) {
                unfit(e);
            }
        }
        departures.flush();
        return true;
    }

    // ---- turns -----------------------------------------------------------------------------------------------------

    @Override
    @Nullable
    TurnGate gate(QualityOfService.Now now, @Nullable TurnGate before) {
        TurnScheduler scheduler = now.turns();
        Classifier classifier = now.classifier();
        if (scheduler == null || classifier == null) {
            if (turns != null) {
                turns.switchOff();
            }
        } else if (turns == null) {
            turns = new UdpTurns(this, scheduler, now.config(), classifier);
        } else {
            turns.change(scheduler, now.config(), classifier);
        }
        return turns;
    }

    private boolean serveTurns() {
        UdpTurns waiting = turns;
        if (waiting == null) {
            return false;
        }
        boolean worked = waiting.serve();
        if (waiting.isDone()) {
            openGate();
            waiting.free();
            turns = null;
        }
        return worked;
    }

    /** Whether packets wait for turns, so that the ports are read as far as that can be done between turns. */
    boolean isWaitingForTurns() {
        return heldBack() > 0;
    }

    /** Copies the packet in hand into a queue; false when it is full. */
    boolean offer(Packet packet, ClassQueue queue) {
        int portAndSocket = sockets.portAndSocket(arrival);
        boolean taken = queue.offer(packet.buffer(), packet.offset(), packet.length(), arrival, portAndSocket);
        if (taken) {
            settling.remove(arrival.slot());
        }
        return taken;
    }

    /** Handles the packet at which a queue stands. */
    void handleQueued(PacketRing queued) {
        arrival.set(queued, sockets);
        takeIntoHand();
        try {
            handleAgain(queued.memory().nio(), queued.offset(), queued.length());
        } catch (RuntimeException e) {
            unfit(e);
        }
    }

    /** Drops the packet at which a queue stands. */
    void dropQueued(PacketRing queued, DropReason reason) {
        arrival.set(queued, sockets);
        takeIntoHand();
        drop(reason, queued.memory().nio(), queued.offset(), queued.length());
    }

    // ---- intake ----------------------------------------------------------------------------------------------------

    /** Takes packets that were held, in their order; false when it takes no more. Any thread. */
    boolean takeHeld(List<UdpServices.Held> packets) {
        synchronized (backlog) {
            if (inbox.isClosed()) {
                return false;
            }
            backlog.addAll(packets);
        }
        loop.wakeup();
        return true;
    }

    /** Leaves ports and inbox to others; what is in it is still handled. */
    private void closeIntake() {
        ports.close();
        synchronized (backlog) {
            inbox.close();
        }
    }

    /** Takes no more, handles what has reached it, then ends. Any thread. */
    void retire() {
        retiring = true;
        loop.wakeup();
    }

    /** A service can leave a packet in a state that cannot be sent; the next one is another sender's. */
    private void unfit(RuntimeException fault) {
        dropInHand(DropReason.SERVICE_FAILURE);
        environment().failures().failed(definition().name(), "a packet it processed", fault, "packet dropped");
    }

    /**
     * Puts a packet into the inbox. Any thread.
     *
     * @param from where it came from
     * @return null, or why it was not taken
     */
    @Nullable
    DropReason offer(Packet packet, Arrival from) {
        int portAndSocket = sockets.portAndSocket(from);
        if (!inbox.offer(packet.buffer(), packet.offset(), packet.length(), from, portAndSocket)) {
            return inbox.isClosed() ? DropReason.SHUTDOWN : DropReason.INBOX_FULL;
        }
        loop.wakeup();
        return null;
    }

    /** Handles what is there, then ends. Any thread. */
    void endInput() {
        ending = true;
        loop.wakeup();
    }

    // ---- output ----------------------------------------------------------------------------------------------------

    @Override
    void reply(Packet packet) {
        if (up != null && arrival.isInTransit()) {
            departures.transit(up).answer(packet, arrival);
            return;
        }
        departures
                .through(arrival.socket())
                .to(arrival.high(), arrival.low(), arrival.port())
                .add(packet);
    }

    @Override
    @Nullable
    DropReason forwardInTransit(Packet packet) {
        return up == null ? departures.depart(packet) : departures.transit(up).forward(packet, arrival);
    }

    @Override
    long heldBack() {
        return turns == null ? 0 : turns.waiting();
    }

    @Override
    boolean adopts(long key) {
        // Held packets of this key, and those that came through the inbox, are older.
        return !environment().udp().isHolding() && backlog.isEmpty() && inbox.isEmpty();
    }

    @Override
    void handOver(@Nullable ServiceDefinition other, Packet packet) {
        if (other != null && other.life().isQuarantined()) {
            quarantined(other);
            return;
        }
        if (other != null && other != definition()) {
            ports.share(arrival.socket());
        }
        DropReason reason = environment().udp().deliver(packet.serviceKey(), packet, arrival);
        if (reason == null) {
            traffic.handed();
            settling.remove(arrival.slot());
        } else if (MissingServices.isRefusal(reason)) {
            unknownService(reason);
        } else {
            drop(reason, packet);
        }
    }

    @Override
    void abort(DropReason reason, String why) {
        // There is no stream to end: the packet was dropped, the next one is another's.
    }

    @Override
    @Nullable
    Departure connect(InetSocketAddress address, boolean isTls) {
        return new QueuedDeparture(
                loop,
                environment().pool(),
                address,
                isTls ? environment().tls() : null,
                environment().config().connectTimeout(),
                traffic);
    }

    @Override
    boolean cameFrom(Hop hop) {
        InetSocketAddress far = farSide.address();
        if (far != null) {
            return !hop.isUdp && far.equals(hop.address);
        }
        return arrival.isFrom(hop);
    }

    @Override
    InetSocketAddress peer() {
        InetSocketAddress far = farSide.address();
        return far != null ? far : arrival.peer();
    }

    @Override
    InetSocketAddress local() {
        InetSocketAddress local = farSide.local();
        return local != null ? local : arrival.local();
    }

    @Override
    void drain() {
        departures.flush();
    }

    @Override
    void leaveBehind(DropReason reason) {
        synchronized (backlog) {
            inbox.close();
        }
        dropWaiting(reason);
        settle(); // With what was in hand.
        ports.forsake();
    }

    private void dropWaiting(DropReason reason) {
        if (turns != null) {
            turns.drop(reason);
        }
        UdpServices.Held held;
        while ((held = backlog.poll()) != null) {
            environment().udp().handled(held);
            traffic.taken();
            arrival.set(held.from());
            takeIntoHand();
            drop(reason, ByteBuffer.wrap(held.octets()), 0, held.octets().length);
        }
        while (inbox.next()) {
            traffic.taken();
            arrival.set(inbox, sockets);
            takeIntoHand();
            drop(reason, inboxMemory.nio(), inbox.offset(), inbox.length());
        }
    }

    private void finish() {
        closeIntake();
        openGate();
        DropReason reason = isCut() || ending ? DropReason.SHUTDOWN : DropReason.SERVICE_FAILURE;
        dropWaiting(reason);
        inbox.release();
        if (isAbandoned()) {
            closeService();
            departures.closeUnflushed(reason);
        } else {
            departures.flush();
            closeService();
            departures.close(reason);
        }
        settle();
        memory.recycle();
        publish();
        if (turns != null) {
            turns.free();
        }
        environment().pool().give(inboxMemory);
        loop.close();
        environment().running().ended(this);
    }
}

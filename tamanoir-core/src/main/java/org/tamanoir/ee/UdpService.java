package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.sched.TurnGate;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;
import org.tamanoir.supervision.Abandoned;
import org.tamanoir.trace.PacketTrace;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;

/**
 * The one thread that runs a service on all UDP traffic. It reads its {@link OwnPorts} itself;
 * packets of other ports come through its bounded inbox, and what finds that full is dropped.
 *
 * <p>Thread contract: the service's thread; {@link #offer} any thread.
 */
final class UdpService
        implements UdpTaker, Ingress, PacketPath.Owner, Instance.Owner, HeldDatagrams.Owner, TraceWatch.Hands {
    private static final Logger LOG = LoggerFactory.getLogger(UdpService.class);
    /** Packets of the inbox handled before next hops are flushed. */
    private static final int BATCH_PACKETS = 256;
    /** After so long what a worker has processed leaves: its next packet may take any time. */
    private static final long WORKER_BATCH_NS = 100_000;
    /** What a service holds when it is replaced keeps its instance, and all that has, no longer. */
    private static final Duration HOLD_PATIENCE = Duration.ofSeconds(10);
    /** Batches between looks at timers and at the end, under a flood. */
    private static final int BATCHES_PER_POLL = 8;

    final NodeContext context;
    final ServiceThread thread;
    final PacketPath path;
    final Instance handle;
    final Connections<QueuedEgress> connections;
    final IoLoop loop;
    final Traffic traffic;
    private final ScratchBuffers memory;
    final NextHops nextHops;
    private final UdpInbox inbox;
    private final UdpIntake intake;
    private final OwnPorts ports;
    final DatagramInHand inHand;
    private final Arrival arrival;
    private final UdpGate gate;
    private final HeldDatagrams holding;
    private boolean lookedAgain;
    private volatile boolean ending;
    private volatile boolean retiring;
    private volatile boolean isOver;
    private Runnable drained = () -> {};
    private Runnable renewal = () -> {};

    /** Makes one that takes packets from this inbox, on a thread of this name. */
    UdpService(
            NodeContext context,
            UdpIntake intake,
            ServiceDefinition definition,
            Service service,
            StreamInfo stream,
            UdpSocket first,
            UdpInbox inbox,
            String name) {
        this.context = context;
        this.inbox = inbox;
        this.thread = new ServiceThread(context, definition, service, stream, name);
        this.loop = thread.loop;
        this.traffic = thread.traffic;
        if (inbox.isShared()) {
            traffic.countInHandAsHeld();
        }
        this.memory = new ScratchBuffers(context.pool(), stream, service, this::drain);
        this.connections = new Connections<>(this::connect);
        this.inHand = new DatagramInHand(this, first);
        this.arrival = inHand.arrival;
        this.gate = new UdpGate(this);
        this.holding = new HeldDatagrams(context.pool(), context.platform(), loop, this);
        this.nextHops = new NextHops(
                context, thread, memory, connections, UdpService::neverWaits, null, inHand::cameFrom, inHand.answers);
        memory.copiesIn(inHand.answers::ofCopies);
        this.path = new PacketPath(context, thread, memory, nextHops, inHand, this, this);
        this.handle = new Instance(context, path, this);
        this.intake = intake;
        this.ports = new OwnPorts(this, inbox, intake);
    }

    /** Makes one with an inbox of its own. */
    static UdpService alone(
            NodeContext context,
            UdpIntake intake,
            ServiceDefinition definition,
            Service service,
            StreamInfo stream,
            UdpSocket first) {
        // First the inbox: where there is none, nothing else is to be closed.
        UdpInbox inbox = new RingInbox(intake, context.pool(), context.config().inboxBytes());
        try {
            String name = "udp " + definition.name();
            return new UdpService(context, intake, definition, service, stream, first, inbox, name);
        } catch (Throwable e) {
            inbox.free(context.pool(), false);
            throw e;
        }
    }

    @Override
    public void run() {
        loop.own();
        try {
            thread.initialise();
            if (thread.isFaulty()) {
                awaitRenewal();
            }
            int batch = 0;
            while (!thread.isCut()) {
                ports.watch();
                inHand.farSide.take();
                path.keys().refresh();
                if (retiring && !inbox.isClosed()) {
                    closeIntake();
                }
                if (retiring && !holding.isEnding()) {
                    holding.endIn(HOLD_PATIENCE);
                }
                boolean worked = readHeld();
                worked |= ports.read(ending);
                worked |= readInbox();
                path.refresh();
                worked |= gate.serve();
                if (holding.serve(path.resumptions())) {
                    nextHops.flush();
                    holding.release();
                    worked = true;
                }
                arrival.letGo();
                worked |= !thread.isPaused() && thread.runDueTasks();
                nextHops.flush();
                inHand.complete();
                memory.recycle();
                path.publish(0);
                if (worked) {
                    if (++batch % BATCHES_PER_POLL == 0) {
                        loop.poll();
                    }
                } else if ((ending || retiring) && inbox.isEmpty() && heldBack() == 0 && !thread.isPaused()) {
                    if (lookedAgain) {
                        break;
                    }
                    lookedAgain = true;
                    loop.poll(); // A port may be on its way here, with packets.
                } else {
                    if (inbox.isClosed() && inbox.isEmpty() && gate.waiting() == 0 && nextHops.held() == 0) {
                        drained.run(); // What its service holds does not hold up a later version.
                    }
                    if (thread.isPaused() || inbox.mayRest()) {
                        thread.rest();
                    }
                }
            }
            thread.endOfStream();
            drainQueues();
        } catch (Abandoned e) {
            LOG.info("{}: {}", thread.name(), e.getMessage());
        } catch (Throwable e) {
            LOG.error(
                    "{}: ends by a fault of the node: {}",
                    thread.name(),
                    e.getClass().getName(),
                    e);
            path.dropWhatIsInHand(DropReason.SERVICE_FAILURE);
            inbox.forsake();
        } finally {
            finish();
        }
    }

    /** Waits until TCP next hops have taken what is queued for them, or are lost, or the instance is cut. */
    private void drainQueues() {
        ports.endReading();
        nextHops.flush();
        while (!thread.isCut() && nextHops.held() > 0) {
            path.publish(0);
            thread.rest();
            nextHops.flush();
        }
    }

    @Override
    public boolean readsPorts() {
        return !thread.isPaused();
    }

    @Override
    public boolean pass(UdpPort port) {
        return ports.pass(port);
    }

    /** Handles a batch of one of its own ports; returns how many datagrams it had. */
    int handle(UdpBatch batch, DatagramWalk walk, int messages) {
        path.refresh();
        inHand.expect(batch, messages);
        walk.begin(messages);
        nextHops.routes.ahead.along(walk);
        while (walk.next()) {
            try {
                path.handle(walk);
            } catch (RuntimeException | VirtualMachineError e) {
                unfit(e);
            }
            nextHops.flushAwaited();
        }
        nextHops.flush();
        inHand.complete();
        batch.done();
        return walk.datagrams();
    }

    private boolean readInbox() {
        int packets = 0;
        long beganNs = beganNs();
        while (packets < BATCH_PACKETS
                && !thread.isPaused()
                && !thread.isCut()
                && !isLate(packets, beganNs)
                && inbox.next(arrival)) {
            packets++;
            path.refresh();
            inHand.takeNew();
            TraceWatch watch = watch(inbox.bytes(), inbox.offset(), inbox.length());
            try {
                path.handleTaken(inbox.bytes(), inbox.offset(), inbox.length());
            } catch (RuntimeException | VirtualMachineError e) {
                unfit(e);
            }
            if (watch != null) {
                watch.end();
            }
            nextHops.flushAwaited();
        }
        if (packets > 0) {
            nextHops.flush();
            memory.checkFree();
            inbox.release();
        }
        return packets > 0;
    }

    private long beganNs() {
        return inbox.isShared() ? context.platform().nanoTime() : 0;
    }

    /** Returns whether packets were processed that have to leave before the next one is begun. */
    private boolean isLate(int packets, long beganNs) {
        return packets > 0 && inbox.isShared() && context.platform().nanoTime() - beganNs >= WORKER_BATCH_NS;
    }

    /** Handles what was held for this instance before it, or the service's code, was there. */
    private boolean readHeld() {
        if (!inbox.hasHeld() || thread.isPaused()) {
            return false;
        }
        byte[] held;
        int packets = 0;
        long beganNs = beganNs();
        while (!thread.isCut()
                && !thread.isPaused()
                && !isLate(packets, beganNs)
                && (held = inbox.nextHeld(arrival)) != null) {
            packets++;
            path.refresh();
            inHand.takeNew();
            TraceWatch watch = watch(ByteBuffer.wrap(held), 0, held.length);
            try {
                handleHeld(held);
            } catch (RuntimeException | VirtualMachineError e) {
                unfit(e);
            }
            if (watch != null) {
                watch.end();
            }
        }
        nextHops.flush();
        return true;
    }

    private void handleHeld(byte[] bytes) {
        ByteBuffer room;
        try {
            room = memory.reserve(bytes.length);
        } catch (NoMemoryException e) {
            traffic.taken();
            path.drops().drop(DropReason.NO_MEMORY, ByteBuffer.wrap(bytes), 0, bytes.length);
            return;
        }
        int at = room.position();
        room.put(at, bytes);
        memory.commit(bytes.length);
        path.handleTaken(room, at, bytes.length);
    }

    @Override
    public @Nullable TurnGate gate(QosSnapshot now, @Nullable TurnGate before) {
        return inbox.isShared() ? null : gate.change(now); // Shared jobs are ordered by their priorities.
    }

    /** Returns whether packets wait for turns, so that the ports are read as far as that can be done between turns. */
    boolean isWaitingForTurns() {
        return waitingForTurns() > 0;
    }

    @Override
    public boolean takeHeld(List<UdpIntake.Held> packets) {
        if (!inbox.takeHeld(packets)) {
            return false;
        }
        loop.wakeup();
        return true;
    }

    /** Leaves ports and inbox to others; what is in it is still handled. */
    private void closeIntake() {
        try {
            ports.close();
        } finally {
            inbox.close(); // Its memory is given back next: nobody may write there any more.
        }
    }

    @Override
    public boolean keepsOrder() {
        return !isOver;
    }

    @Override
    public void over() {
        isOver = true;
        drained.run();
    }

    /** Has this done when all has been sent that came before {@link #retire}, perhaps more than once. Before the start. */
    void onDrained(Runnable then) {
        drained = then;
    }

    /** Has this done, on its thread, when another is to be tried in its place, since it did not begin. Before the start. */
    void onRenewal(Runnable then) {
        renewal = then;
    }

    /** Has another one tried in its place when the time for that has come: what kept it from its beginning may be over. */
    private void awaitRenewal() {
        Duration rest = thread.definition().health().untilRetry();
        if (rest.isZero() || rest.isNegative()) {
            renewal.run();
        } else {
            thread.due(rest, this::awaitRenewal);
        }
    }

    @Override
    public void renew() {
        loop.execute(() -> {
            if (thread.isFaulty() && !retiring && !ending) {
                renewal.run();
            }
        });
    }

    /** Takes no more, so that another one of those it shares its inbox with takes its place. */
    void leaveToAnother() {
        inbox.leaveToAnother();
        retire();
    }

    @Override
    public void retire() {
        retiring = true;
        loop.wakeup();
    }

    /** Drops a packet that its service left in a state that cannot be sent; the next one is another sender's. */
    void unfit(Throwable fault) {
        path.dropWhatIsInHand(DropReason.SERVICE_FAILURE);
        context.failures().failed(thread.definition().name(), "a packet it processed", fault, "packet dropped");
    }

    @Override
    public void placeAgain() {
        thread.placeAgain();
    }

    @Override
    public @Nullable DropReason offer(Packet packet, Arrival from) {
        DropReason reason = inbox.offer(packet, from);
        if (reason == null) {
            loop.wakeup();
        }
        return reason;
    }

    /** Handles what is there, then ends. Any thread. */
    @Override
    public void nodeStops() {
        ending = true;
        loop.wakeup();
    }

    @Override
    public Instance trunk() {
        return handle;
    }

    @Override
    public @Nullable DropReason ended() {
        return null;
    }

    @Override
    public void reply(Packet packet) {
        inHand.reply(packet);
    }

    @Override
    public @Nullable DropReason forwardInTransit(Packet packet, long answerBytes) {
        return inHand.forwardInTransit(packet, answerBytes);
    }

    @Override
    public long heldBack() {
        return gate.waiting() + holding.count();
    }

    @Override
    public boolean holdsBack() {
        return heldBack() > 0 || inbox.hasHeld() || !inbox.isEmpty();
    }

    @Override
    public boolean hasRoom(Packet packet) {
        return holding.count() == 0
                || holding.reserve(packet.length()); // Without others it needs none when it is resumed.
    }

    @Override
    public void suspend(Packet packet, Suspended suspended) {
        Verdict said = suspended.verdict();
        DropReason reason = null;
        if (said == null || holding.isAnyResumed()) {
            reason = holding.keep(packet, arrival, suspended);
            if (reason == null) {
                inHand.setAside();
                return;
            }
        }
        said = suspended.end();
        if (said != null) {
            path.goOn(said, suspended); // None was resumed before it; or it has become longer, and no memory is left.
        } else {
            path.drop(Objects.requireNonNull(reason), packet);
        }
    }

    @Override
    public void resumed(ClassQueues.Waiting packet, Suspended held, @Nullable Verdict verdict) {
        if (verdict == null) {
            drop(packet, DropReason.HOLD_EXPIRED);
            return;
        }
        takeIntoHand(packet);
        TraceWatch watch = watch(packet.memory(), packet.offset, packet.length);
        try {
            path.handleResumed(packet.memory(), packet.offset, packet.length, held, verdict);
        } catch (RuntimeException | VirtualMachineError e) {
            unfit(e);
        }
        if (watch != null) {
            watch.end();
        }
    }

    @Override
    public void drop(ClassQueues.Waiting packet, DropReason reason) {
        takeIntoHand(packet);
        path.drops().drop(reason, packet.memory(), packet.offset, packet.length);
        inHand.ended(reason);
    }

    /** Has the way of the packet in hand, which lies here, be seen if somebody asked for that; else returns null. */
    @Nullable
    TraceWatch watch(ByteBuffer bytes, int offset, int length) {
        int number = arrival.trace();
        PacketTrace trace = number == 0 ? null : context.traces().of(number);
        return trace == null ? null : new TraceWatch(this, path, nextHops, trace, bytes, offset, length);
    }

    @Override
    public int suspended() {
        return holding.count();
    }

    @Override
    public int waitingForTurns() {
        return gate.waiting();
    }

    @Override
    public @Nullable InetSocketAddress answersTo() {
        return inHand.peer();
    }

    @Override
    public UdpSocket cameTo() {
        return arrival.socket();
    }

    private void takeIntoHand(ClassQueues.Waiting packet) {
        arrival.set(packet.from);
        inHand.take();
    }

    @Override
    public boolean adopts(long key) {
        // Held packets of this key, and those that came through the inbox, are older.
        return !intake.isHolding() && inbox.isEmpty();
    }

    @Override
    public void handOver(@Nullable ServiceDefinition other, Packet packet) {
        if (other != null && other.health().isQuarantined()) {
            path.policies.handleQuarantined(other);
            return;
        }
        if (other != null && other != thread.definition()) {
            ports.share(arrival.socket());
        }
        if (path.watch != null) {
            path.watch.handsOver(other, packet.serviceKey());
        }
        DropReason reason = intake.deliver(packet.serviceKey(), packet, arrival);
        if (reason == null) {
            traffic.handed();
            inHand.setAside();
        } else if (ServiceFetches.isRefusal(reason) || arrival.passesOnFailure() && reason != DropReason.INBOX_FULL) {
            path.policies.handleWithoutService(reason);
        } else {
            path.drop(reason, packet);
        }
    }

    @Override
    public void end(boolean isBroken) {
        // There is no stream to end: the packet was dropped, the next one is another's.
    }

    @Override
    public void abort(DropReason reason, String why) {
        // There is no stream to end: the packet was dropped, the next one is another's.
        if (reason == DropReason.NO_MEMORY) {
            LOG.info("{}: packet dropped: {} ({})", thread.name(), why, reason);
        }
    }

    private QueuedEgress connect(InetSocketAddress address, boolean isTls) {
        return new QueuedEgress(
                loop,
                context.pool(),
                address,
                isTls ? context.tls().context() : null,
                context.config().connectTimeout(),
                traffic);
    }

    private static void neverWaits(Packet packet, NextHops.Departure departure) {
        throw new IllegalStateException("a UDP service waits for no next hop");
    }

    private boolean drain() {
        nextHops.flush();
        return true;
    }

    @Override
    public void settle() {
        // What a service has sent waits in queues, and drops.
    }

    @Override
    public void leaveBehind(DropReason reason) {
        if (path.watch != null) {
            path.watch.lost(reason);
        }
        inbox.forsake();
        dropWaiting(retiring || ending ? DropReason.SHUTDOWN : reason);
        inHand.completeLast(); // With what was in hand.
        ports.dropRest(traffic, reason);
        ports.forsake();
    }

    private void dropWaiting(DropReason reason) {
        gate.drop(reason);
        holding.drop(reason, thread.isOwnThread());
        byte[] held;
        while ((held = inbox.nextHeld(arrival)) != null) {
            traffic.taken();
            inHand.take();
            path.drops().drop(reason, ByteBuffer.wrap(held), 0, held.length);
            inHand.ended(reason);
        }
        while (inbox.next(arrival)) {
            traffic.taken();
            inHand.take();
            path.drops().drop(reason, inbox.bytes(), inbox.offset(), inbox.length());
            inHand.ended(reason);
        }
    }

    private void finish() {
        try {
            leave();
        } catch (Throwable e) {
            LOG.error(
                    "{}: its end fails by a fault of the node: {}",
                    thread.name(),
                    e.getClass().getName(),
                    e);
            nextHops.closeUnflushed(DropReason.SERVICE_FAILURE);
        } finally {
            ports.done();
            inbox.free(context.pool(), thread.isAbandoned());
            loop.close();
            thread.reportEnd();
        }
    }

    private void leave() {
        closeIntake();
        path.openGate();
        DropReason reason = thread.isCut() || ending ? DropReason.SHUTDOWN : DropReason.SERVICE_FAILURE;
        dropWaiting(reason);
        inbox.release();
        if (thread.isAbandoned()) {
            thread.closeService();
            nextHops.closeUnflushed(reason);
        } else {
            nextHops.flush();
            thread.closeService();
            nextHops.close(reason);
        }
        inHand.completeLast();
        memory.recycle();
        path.publish(0);
        gate.free();
        holding.release();
    }
}

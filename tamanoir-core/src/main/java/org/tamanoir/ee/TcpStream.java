package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.admission.StreamRefusal;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.InstanceFactory;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.TcpConnection;

/**
 * A TCP stream on its own thread: waits for input, walks the packets where they lie, sends them on, reads again when
 * they have left. A packet that has to wait ends the walk, which goes on with it from the loop: {@link Waits}. Packets
 * for a second service go to a {@link TcpBranch}.
 *
 * <p>Thread contract: the service's thread; branches post to its loop.
 */
final class TcpStream implements Ingress, Instance.Owner, StreamInstance.Flow {
    private static final Logger LOG = LoggerFactory.getLogger(TcpStream.class);

    /**
     * What a stream needs of its node.
     *
     * <p>Thread contract: any thread.
     */
    interface Node {
        /** Has a service fetched that the catalog lacks. */
        ServiceFetches missing();

        /** Makes instances of services. */
        InstanceFactory maker();

        /**
         * Counts a branch in; or says why there is no place for it, which is logged.
         *
         * @param before branches that the stream has already
         */
        @Nullable
        StreamRefusal admitBranch(TcpStream trunk, int before);

        /** Counts a branch out that was not opened. */
        void leaveBranch(TcpStream trunk);

        /** Begins a branch that was admitted; null when it cannot be started, or was taken away since it was found. */
        @Nullable
        TcpBranch openBranch(TcpStream trunk, ServiceDefinition definition, long key, Service service);

        /** Waits, bounded, until the threads of branches have ended. */
        void join(Collection<TcpBranch> ending);

        /** Tells of a stream that has ended. Its thread. */
        void streamEnded(StreamRecord record);

        /** Returns whether the node stops. */
        boolean isStopping();
    }

    private enum State {
        /** Packets come and go. */
        OPEN,
        /** The sender has ended; what is here leaves, and replies still come. */
        ENDING,
        ENDED
    }

    final StreamInstance instance;
    final ServiceThread thread;
    final PacketPath path;
    private final Node node;
    private final TcpConnection inbound;
    private final TcpWayBack back;
    private final TcpBranches branches;
    private final TcpTimeouts timeouts;
    private final Waits waits;
    private final NextHops nextHops;
    private final BatchWalk walk;
    private State state = State.OPEN;
    /** What was sent had not left when the thread looked last, so that nothing was read. */
    private boolean isHeldUp;

    /** The sender was told to send no more, and what came until then is counted before the end. */
    private boolean isStopping;

    private boolean broken;
    private volatile boolean senderCut;
    /** Why the input ended before the sender ended it; null when it did not. */
    private @Nullable String cutShort;

    TcpStream(
            NodeContext context,
            Node node,
            ServiceDefinition definition,
            Service service,
            TcpConnection inbound,
            StreamInfo stream) {
        String name = "tcp " + definition.name() + " " + inbound.remoteAddress();
        this.node = node;
        this.inbound = inbound;
        this.instance =
                new StreamInstance(context, definition, service, stream, inbound.gateway(), name, this, this, this);
        this.thread = instance.thread;
        this.path = instance.path;
        this.waits = instance.waits;
        this.nextHops = instance.nextHops;
        this.back = new TcpWayBack(inbound, instance.departureTo(inbound, way -> senderStalled()), path.drops());
        this.walk = new BatchWalk(instance, inbound, back);
        this.branches = new TcpBranches(this, node, context);
        this.timeouts = new TcpTimeouts(this, back, this::lingered);
    }

    @Override
    public void serve() {
        instance.loop.adopt(inbound);
        thread.initialise();
        nextHops.flush(); // What the service has sent in init: nothing is read before it has left.
        timeouts.watchIdle();
        while (state != State.ENDED) {
            State before = state;
            step();
            if (state != before || (state == State.OPEN && goesOn())) {
                instance.loop
                        .poll(); // What came while the step waited for something else would wait for the next event.
            } else {
                thread.rest();
            }
        }
    }

    /** Goes on with a packet that waits; returns whether there is more to do before the thread may rest. */
    private boolean goesOn() {
        if (waits.isParked()) {
            return waits.resumed();
        }
        return !thread.isPaused() && (thread.isTaskDue() || (isHeldUp && instance.isDrained()));
    }

    /** Serves whatever has become possible. */
    private void step() {
        boolean waited = waits.isParked();
        if (waits.resume()) {
            if (!walk.isInterrupted()) {
                path.refresh();
            }
            if (waited) {
                timeouts.excusePartial();
            }
            if (state == State.OPEN) {
                serveInput();
            }
        }
        attend();
        if (state == State.OPEN && instance.isClosing() && !waits.isParked() && !instance.isOver()) {
            dropUnwanted();
            endInput();
        } else if (isStopping && !instance.isOver()) {
            dropUnwanted();
        }
        if (state == State.OPEN && !waits.isParked() && !instance.isOver()) {
            lookForEnd();
        }
        // Nobody is told of an orderly end who may lack bytes: whatever aborted the stream came before.
        boolean ends = state == State.ENDING && !instance.isOver();
        if (ends && instance.isDrained() && nextHops.held() == 0 && branches.isEmpty()) {
            instance.ways.shutdown();
            if (back.isClear()
                    && (!isStopping || inbound.inputEnded())
                    && (instance.ways.repliesEnded() || broken || inbound.failure() != null)) {
                state = State.ENDED;
            } else {
                timeouts.watchLinger();
            }
        }
        if (instance.isOver()) {
            state = State.ENDED;
        } else if (instance.gateway != null && instance.ways.hasFarSideEnded() && back.isClear()) {
            inbound.shutdownOutput(); // Both sides learn of the other's end as they would without the node.
        }
        path.publish(waits.isParked() ? 1 : 0);
    }

    private void serveInput() {
        if (thread.isPaused() && !walk.isInterrupted()) {
            inbound.wantInput(false);
            return;
        }
        if (!walk.isInterrupted() && thread.runDueTasks()) {
            nextHops.flush();
        }
        forward();
    }

    /** Walks the packets of the batch, one after another, as far as next hops take them. */
    private void forward() {
        boolean goesOn = walk.isInterrupted() || (inbound.input() != null && advance());
        while (goesOn) {
            if (!walk.isInterrupted()) {
                instance.memory.recycle();
            }
            Buffer broken = walk.walk();
            if (broken != null) {
                breakOff(broken.nio());
            }
            nextHops.flush();
            goesOn = instance.memory.isFull() && !waits.isParked() && inbound.input() != null && advance();
        }
        boolean ready = !waits.isParked() && advance();
        isHeldUp = !ready;
        if (ready) {
            instance.memory.recycle();
            inbound.trim();
            timeouts.watchPartial();
        }
        inbound.wantInput(ready && state == State.OPEN && !thread.isPaused());
    }

    /** Ends the input at a malformed basic header: nothing behind it can be trusted to be a packet. */
    private void breakOff(ByteBuffer bytes) {
        ParseFault fault = Framing.fault(bytes, inbound.start());
        DropReason reason = fault == null ? DropReason.HEADER_LENGTH : DropReason.of(fault);
        dropInput(reason);
        cutShort = reason + ": not an ANEP packet";
        LOG.info("{}: not an ANEP packet ({}): connection closed", thread.name(), reason);
        broken = true;
        nextHops.flush();
        endInput();
    }

    @Override
    public void closing(String why) {
        cutShort = DropReason.SERVICE_CLOSED + ": " + why;
        LOG.info("{}: stream closed: {}", thread.name(), why);
    }

    /** Looks whether the input has ended, or the stream is to end. */
    private void lookForEnd() {
        if (isAllHandled() && (inbound.inputEnded() || isPartialOverdue())) {
            if (cutShort != null && instance.gateway != null) {
                dropInput(DropReason.TRUNCATED);
                senderCut = true;
                instance.abort(DropReason.TRUNCATED, "a message was not whole in time");
            } else if (inbound.isInputCut()) {
                senderCut = true;
                instance.abort(
                        StreamInstance.reasonOf(inbound, DropReason.PEER_GONE),
                        "its sender was lost: " + inbound.failure());
            } else {
                endInput();
            }
        }
        if (state == State.OPEN && timeouts.isIdle()) {
            instance.abort(
                    DropReason.IDLE, "no whole packet came from either side for " + timeouts.idleSeconds() + " s");
        }
    }

    /** Returns whether all that came has been handled and has left, but for part of a packet. */
    private boolean isAllHandled() {
        Buffer input = inbound.input();
        return instance.isDrained()
                && (input == null || Framing.next(input.nio(), inbound.start(), inbound.end()) == Framing.MORE);
    }

    /** Returns whether bytes are here that have not been handled. */
    boolean hasInput() {
        return inbound.end() > inbound.start() || inbound.hasPart();
    }

    /** Returns whether part of a packet is here, and the sender is read, so that it could send the rest. */
    boolean hasReadPart() {
        return hasInput() && !isHeldUp && !waits.isWaiting() && !thread.isPaused();
    }

    private boolean isPartialOverdue() {
        boolean overdue = timeouts.isPartialOverdue();
        if (overdue) {
            cutShort = DropReason.TRUNCATED + ": a packet was not whole in time";
            LOG.info("{}: a packet was not whole in time: connection closed", thread.name());
        }
        return overdue;
    }

    /**
     * Nothing has come back for the linger time since the sender ended: of octets nobody could tell that some are missing.
     * Where the service has closed the stream, that is its end in order.
     */
    private void lingered() {
        if (instance.gateway != null && !instance.ways.repliesEnded() && !instance.isClosing()) {
            instance.abort(DropReason.IDLE, "its sender has ended, and its far side sent nothing in the linger time");
        } else {
            state = State.ENDED;
        }
    }

    private void endInput() {
        isStopping = !inbound.inputEnded() && inbound.stopSender() && instance.isClosing();
        if (hasInput() && !isStopping) {
            dropInput(DropReason.TRUNCATED);
        }
        thread.endOfStream();
        nextHops.flush();
        branches.endInput();
        inbound.wantInput(isStopping);
        state = State.ENDING;
    }

    /** Drops what came for a service that has closed the stream. */
    private void dropUnwanted() {
        UnhandledInput.dropWhole(
                inbound,
                instance.traffic,
                DropReason.SERVICE_CLOSED,
                instance.context.config().typeId());
        if (isStopping && instance.isDrained()) {
            inbound.trim();
            inbound.wantInput(true);
        }
    }

    private void dropInput(DropReason reason) {
        int bytes = inbound.end() - inbound.start();
        instance.traffic.in(bytes);
        instance.traffic.drop(reason, instance.peer(), ServiceKey.NONE, bytes);
        inbound.consumed(inbound.end());
    }

    @Override
    public void attend() {
        if (waits.isWaiting()) {
            inbound.wantInput(false);
            timeouts.excusePartial();
        }
        back.relay(instance.ways, branches);
        if (back.held() > 0 && inbound.failure() != null && state == State.OPEN) {
            instance.abort(
                    StreamInstance.reasonOf(inbound, DropReason.PEER_GONE), "its sender is gone: " + inbound.failure());
        }
        back.watch();
        instance.watchWaits();
    }

    private void senderStalled() {
        String time = instance.stall().toSeconds() + " s";
        instance.abort(DropReason.PEER_GONE, "its sender took nothing of what came back for " + time);
    }

    @Override
    public boolean advance() {
        boolean ways = instance.ways.advance();
        return back.flushAnswers() && ways;
    }

    @Override
    public long heldBack() {
        return back.held();
    }

    @Override
    public void reply(Packet packet) {
        back.answer(packet);
    }

    @Override
    public void handOver(@Nullable ServiceDefinition other, Packet packet) {
        branches.handOver(other, packet);
    }

    @Override
    public boolean adopts(long key) {
        return true;
    }

    @Override
    public @Nullable DropReason forwardInTransit(Packet packet, long answerBytes) {
        return instance.forwardInTransit(packet);
    }

    /** Returns how many packets came or went so far, over all connections and those of branches; a guess of theirs. */
    long activity() {
        return instance.traffic.moved() + branches.activity();
    }

    /** Returns whether something of it still waits. */
    boolean isBusy() {
        return waits.isParked() || nextHops.held() > 0 || back.held() > 0 || thread.isPaused() || branches.isBusy();
    }

    @Override
    public Instance trunk() {
        return instance.handle;
    }

    InetSocketAddress sender() {
        return inbound.remoteAddress();
    }

    /** Returns whether bytes of the sender may be missing, so that no next hop must see an orderly end. Any thread. */
    boolean isSenderCut() {
        return senderCut;
    }

    @Override
    public void aborted(DropReason reason, String why) {
        senderCut |= instance.isBroken();
    }

    /** Takes note that a branch has ended: everything it had is with the next hops or counted. */
    void ended(TcpBranch branch) {
        branches.ended(branch);
    }

    @Override
    public void dropRest(DropReason reason) {
        walk.end();
        back.reset(reason);
    }

    @Override
    public void leave() {
        walk.end();
        DropReason reason = instance.endReason();
        UnhandledInput.drop(
                inbound, instance.traffic, reason, instance.context.config().typeId());
        branches.end();
        thread.closeService();
        if (!instance.isOver()) {
            inbound.shutdownOutput();
            instance.awaitOutputEnds(inbound::isOutputEnded);
        }
        instance.closeDepartures(instance.isBroken(), reason);
        if (instance.isOver()) {
            back.reset(thread.isCut() ? DropReason.SHUTDOWN : DropReason.PEER_GONE);
        } else {
            back.close(DropReason.PEER_GONE);
        }
        instance.memory.recycle();
        path.publish(0);
        if (!thread.isAbandoned()) {
            report();
        }
    }

    @Override
    public void leaveBehind(DropReason reason) {
        UnhandledInput.drop(
                inbound, instance.traffic, reason, instance.context.config().typeId());
        inbound.resetFromOutside();
        branches.leaveBehind();
        report();
    }

    private void report() {
        Traffic.Sum sum = new Traffic.Sum();
        branches.addTo(sum);
        instance.traffic.addTo(sum);
        Instant started = inbound.since();
        node.streamEnded(new StreamRecord(
                thread.stream(),
                thread.definition().label(),
                started,
                Duration.between(started, instance.context.platform().now()),
                sum.ofInstance(),
                ending(),
                branches.services(),
                instance.connections.latest()));
    }

    private String ending() {
        if (thread.isAbandoned()) {
            return DropReason.SERVICE_FAILURE + ": service "
                    + thread.definition().label() + " does not return";
        }
        if (instance.aborted() != null) {
            return instance.abortedWhy();
        }
        if (thread.isCut()) {
            return node.isStopping() ? "cut at shutdown" : "cut: its service was taken away";
        }
        if (cutShort != null) {
            return cutShort;
        }
        return inbound.failure() == null
                ? StreamRecord.FINISHED
                : DropReason.PEER_GONE + ": its sender is gone: " + inbound.failure();
    }
}

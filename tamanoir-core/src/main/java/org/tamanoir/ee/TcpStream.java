package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.TcpConnection;

/**
 * A TCP stream on its own thread: wait for input, walk the packets where they lie, send them on, read again when
 * they have left. Packets for a second service go to a {@link TcpBranch}.
 *
 * <p>Thread contract: the service's thread; branches post to its loop.
 */
final class TcpStream extends StreamInstance {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);

    private enum State {
        /** Packets come and go. */
        OPEN,
        /** The sender has ended; what is here leaves, and replies still come. */
        ENDING,
        ENDED
    }

    private final TcpConnection inbound;
    private final TcpDeparture back;
    private final TcpBranches branches;
    private final TcpTimeouts timeouts;
    private State state = State.OPEN;
    private boolean broken;
    private volatile boolean senderCut;
    private boolean answering;
    /** Why the input ended before the sender ended it; null when it did not. */
    private @Nullable String cutShort;

    TcpStream(
            ExecutionEnvironment environment,
            ServiceDefinition definition,
            Service service,
            TcpConnection inbound,
            StreamInfo stream) {
        super(environment, definition, service, stream, "tcp " + definition.name() + " " + inbound.remoteAddress());
        this.inbound = inbound;
        this.branches = new TcpBranches(this);
        this.timeouts = new TcpTimeouts(this);
        this.back = new TcpDeparture(inbound, memory, traffic);
    }

    @Override
    public void run(Service service) {
        loop.own();
        loop.adopt(inbound);
        try {
            initialise();
            while (state != State.ENDED) {
                State before = state;
                step();
                if (state != before || (state == State.OPEN && isTaskDue() && !isPaused())) {
                    loop.poll(); // What came while the step waited for something else would wait for the next event.
                } else {
                    rest();
                }
            }
        } catch (Abandoned e) {
            LOG.info("{}: {}", thread().getName(), e.getMessage());
        } catch (Throwable e) {
            LOG.error("{}: the stream ends by a fault of the node", thread().getName(), e);
            abort(DropReason.SERVICE_FAILURE, "a fault of the node");
        } finally {
            finish();
        }
    }

    /** Serves whatever has become possible. */
    private void step() {
        refresh();
        if (state == State.OPEN && isPaused()) {
            holdInput();
            if (!settled()) {
                timeouts.watchStall();
            }
        } else if (state == State.OPEN) {
            if (runDueTasks()) {
                departures.flush();
            }
            forward();
        }
        relayReplies();
        branches.takeAnswers();
        flushBack();
        if (state == State.OPEN && isQuiet() && (inbound.inputEnded() || isPartialOverdue())) {
            if (inbound.isInputCut()) {
                senderCut = true;
                abort(DropReason.PEER_GONE, "its sender was lost: " + inbound.failure());
            } else {
                endInput();
            }
        }
        watchLinks();
        if (state == State.ENDING && !settled()) {
            timeouts.watchStall();
        } else if (state == State.ENDING && departures.held() == 0 && branches.isEmpty()) {
            shutdownDepartures();
            if (isBackClear() && (repliesEnded() || broken || inbound.failure() != null)) {
                state = State.ENDED;
            } else {
                timeouts.watchLinger(() -> state = State.ENDED);
            }
        }
        if (aborted() != null || isCut()) {
            state = State.ENDED;
        }
        publish();
    }

    /** The packets of the batch, one after another, as far as next hops take them. */
    private void forward() {
        Buffer input = inbound.input();
        if (input != null && settled()) {
            memory.recycle();
            input = walk(input);
            departures.flush();
        }
        boolean ready = settled() && !isAnswerWaiting();
        if (ready) {
            memory.recycle();
            inbound.trim();
            timeouts.watchPartial();
        } else {
            timeouts.watchStall();
        }
        inbound.wantInput(ready && state == State.OPEN && !isPaused());
    }

    private @Nullable Buffer walk(Buffer first) {
        Buffer input = first;
        ByteBuffer octets = input.nio();
        memory.arrivals(input);
        input.pin();
        int at = inbound.start();
        int end = inbound.end();
        int length = Framing.MORE;
        while (!isPaused() && (length = parseNext(octets, at, end)) > 0 && aborted() == null) {
            at += length;
            inbound.consumed(at);
            try {
                handleParsed();
            } catch (Throwable e) {
                input.unpin();
                throw e;
            }
            if (inbound.input() != input) {
                // While the service waited, the end of the stream was read, and what is left moved. What leaves from
                // the old place keeps it once it is written.
                departures.flush();
                back.flush();
                input.unpin();
                input = inbound.input();
                if (input == null) {
                    return null;
                }
                input.pin();
                memory.arrivals(input);
                octets = input.nio();
                at = inbound.start();
                end = inbound.end();
            }
        }
        input.unpin();
        if (length == Framing.BROKEN) {
            broken(octets, at);
        }
        return input;
    }

    /** A malformed basic header: nothing behind it can be trusted to be a packet. */
    private void broken(ByteBuffer octets, int at) {
        DropReason fault = Framing.fault(octets, at);
        DropReason reason = fault == null ? DropReason.HEADER_LENGTH : fault;
        traffic.in(inbound.end() - at);
        traffic.drop(reason, peer(), ServiceKey.NONE, inbound.end() - at);
        inbound.consumed(inbound.end());
        cutShort = reason + ": not an ANEP packet";
        LOG.info("{}: not an ANEP packet ({}): connection closed", thread().getName(), reason);
        broken = true;
        departures.flush();
        endInput();
    }

    /** Whether all that came has been handled, but for part of a packet. */
    private boolean isQuiet() {
        Buffer input = inbound.input();
        return settled()
                && (input == null || Framing.next(input.nio(), inbound.start(), inbound.end()) == Framing.MORE);
    }

    /** Whether octets are here that have not been handled. */
    boolean hasInput() {
        return inbound.end() > inbound.start();
    }

    private boolean isPartialOverdue() {
        boolean overdue = timeouts.isPartialOverdue();
        if (overdue) {
            cutShort = DropReason.TRUNCATED + ": a packet was not whole in time";
            LOG.info("{}: a packet was not whole in time: connection closed", thread().getName());
        }
        return overdue;
    }

    private void endInput() {
        if (inbound.end() > inbound.start()) {
            traffic.in(inbound.end() - inbound.start());
            traffic.drop(DropReason.TRUNCATED, peer(), ServiceKey.NONE, inbound.end() - inbound.start());
            inbound.consumed(inbound.end());
        }
        endOfStream();
        departures.flush();
        branches.endInput();
        inbound.wantInput(false);
        state = State.ENDING;
    }

    // ---- the way back --------------------------------------------------------------------------------------------

    @Override
    void reply(Packet packet) {
        if (inbound.failure() != null) {
            drop(DropReason.PEER_GONE, packet);
            return;
        }
        answering = true;
        back.add(packet);
    }

    @Override
    boolean canSendBack() {
        back.settle();
        return back.held() == 0 || inbound.failure() != null;
    }

    @Override
    boolean sendBack(Buffer buffer, int offset, int octets) {
        if (inbound.failure() != null) {
            drop(DropReason.PEER_GONE, buffer.nio(), offset, octets);
        } else {
            back.add(buffer, offset, octets);
        }
        return true;
    }

    @Override
    void flushBack() {
        back.flush();
        back.settle();
        if (back.held() == 0) {
            answering = false;
        } else if (inbound.failure() != null && state == State.OPEN) {
            abort(DropReason.PEER_GONE, "its sender is gone: " + inbound.failure());
        }
    }

    /** Whether answers of the service, which lie in the memory that input is read into, still wait. */
    private boolean isAnswerWaiting() {
        if (!answering) {
            return false;
        }
        back.flush();
        back.settle();
        answering = back.held() > 0;
        return answering;
    }

    private boolean isBackClear() {
        return inbound.failure() != null || back.held() == 0;
    }

    @Override
    boolean settled() {
        boolean ways = super.settled();
        return ways && !isAnswerWaiting();
    }

    @Override
    long heldBack() {
        return back.held();
    }

    @Override
    void holdInput() {
        inbound.wantInput(false);
    }

    @Override
    void serveWayBack() {
        relayReplies();
        branches.takeAnswers();
        flushBack();
    }

    @Override
    void excuseSender() {
        timeouts.excusePartial();
    }

    // ---- other services of the same stream ------------------------------------------------------------------------

    @Override
    void handOver(@Nullable ServiceDefinition other, Packet packet) {
        branches.handOver(other, packet);
    }

    /**
     * Waits with the packet in hand; those before it leave, answers go their way, and nothing is read from the sender.
     */
    @Override
    void hold(BooleanSupplier there, Duration bound) {
        holdInput();
        departures.flush();
        flushBack();
        publish(1);
        await(
                () -> {
                    settled(); // What links have granted meanwhile leaves.
                    branches.takeAnswers();
                    return there.getAsBoolean() || aborted() != null;
                },
                bound);
        timeouts.excusePartial();
    }

    InetSocketAddress sender() {
        return inbound.remoteAddress();
    }

    /** Whether octets of the sender may be missing, so that no next hop must see an orderly end. Any thread. */
    boolean isSenderCut() {
        return senderCut;
    }

    /** A branch has ended: everything it had is with the next hops or counted. */
    void ended(TcpBranch branch) {
        branches.ended(branch);
    }

    @Override
    long pendingOctets() {
        return super.pendingOctets() + inbound.pendingOctets();
    }

    // ---- end ------------------------------------------------------------------------------------------------------

    private void finish() {
        openGate();
        DropReason reason = endReason();
        TcpInput.drop(inbound, traffic, reason, environment().config().typeId());
        branches.end();
        closeService();
        if (aborted() == null && !isCut()) {
            inbound.shutdownOutput();
            awaitOutputEnds(inbound::isOutputEnded);
        }
        closeDepartures(reason, senderCut);
        if (aborted() != null || isCut()) {
            back.reset(isCut() ? DropReason.SHUTDOWN : DropReason.PEER_GONE);
        } else {
            back.close(DropReason.PEER_GONE);
        }
        memory.recycle();
        publish();
        if (!isAbandoned()) {
            report();
        }
        loop.close();
        environment().running().ended(this);
    }

    @Override
    void leaveBehind(DropReason reason) {
        TcpInput.drop(inbound, traffic, reason, environment().config().typeId());
        inbound.resetFromOutside();
        branches.leaveBehind();
        report();
    }

    private void report() {
        Traffic.Sum sum = new Traffic.Sum();
        branches.addTo(sum);
        traffic.addTo(sum);
        Instant started = inbound.since();
        environment()
                .streamEnded(new StreamRecord(
                        stream(),
                        definition().label(),
                        started,
                        Duration.between(started, Instant.now()),
                        sum.ofInstance(),
                        end()));
    }

    private String end() {
        if (isAbandoned()) {
            return DropReason.SERVICE_FAILURE + ": service " + definition().label() + " does not return";
        }
        if (aborted() != null) {
            return abortedWhy();
        }
        if (isCut()) {
            return environment().reception() == null ? "cut at shutdown" : "cut: its service was taken away";
        }
        if (cutShort != null) {
            return cutShort;
        }
        return inbound.failure() == null
                ? "finished"
                : DropReason.PEER_GONE + ": its sender is gone: " + inbound.failure();
    }
}

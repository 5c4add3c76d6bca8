package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
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
import org.tamanoir.tls.TlsContext;
import org.tamanoir.transport.Buffer;
import org.tamanoir.transport.TcpConnection;

/**
 * An instance that serves one TCP stream. The thread belongs to the stream, so it simply waits: for a connection,
 * for a next hop that takes nothing. That is the back-pressure: while it waits it does not read.
 *
 * <p>Thread contract: the service's thread.
 */
abstract class StreamInstance extends ServiceInstance {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** Between attempts to reach a next hop that refuses. */
    private static final Duration CONNECT_RETRY = Duration.ofMillis(200);

    private @Nullable DropReason aborted;
    private String abortedWhy = "";
    private long repliesSeen;
    private final LinkWatch linkWatch = new LinkWatch(this);

    StreamInstance(
            ExecutionEnvironment environment,
            ServiceDefinition definition,
            Service service,
            StreamInfo stream,
            String name) {
        super(environment, definition, service, stream, name);
        UpPath up = environment.upPath();
        inTransit(up != null && !up.isOfThisHost(stream.local().getAddress()));
    }

    // ---- waiting -----------------------------------------------------------------------------------------------

    /** Runs the loop until the condition holds; false when the time is up or the instance is cut. */
    final boolean await(BooleanSupplier condition, Duration timeout) {
        if (condition.getAsBoolean()) {
            return true;
        }
        long deadline = System.nanoTime() + timeout.toNanos();
        Future<?> alarm = loop.schedule(timeout, () -> {});
        try {
            do {
                if (isCut() || System.nanoTime() - deadline >= 0) {
                    return false;
                }
                rest();
                departures.writeGranted();
            } while (!condition.getAsBoolean());
            return true;
        } finally {
            alarm.cancel(false);
        }
    }

    /** Waits for {@code delay}; false when the instance is cut. */
    private boolean pause(Duration delay) {
        await(() -> false, delay);
        return !isCut();
    }

    @Override
    @Nullable
    Departure connect(InetSocketAddress address, boolean isTls) {
        if (aborted != null) {
            return null; // A service that sends on would wait for each packet anew.
        }
        Duration timeout = environment().config().connectTimeout();
        long deadline = System.nanoTime() + timeout.toNanos();
        TlsContext tls = isTls ? environment().tls() : null;
        if (isTls && tls == null) {
            return null;
        }
        holdInput();
        while (true) {
            TcpConnection connection = loop.connect(address, timeout, tls);
            await(() -> connection.isConnected() || connection.failure() != null, timeout);
            if (connection.isConnected() && connection.failure() == null) {
                return new TcpDeparture(connection, memory, traffic);
            }
            connection.close();
            if (connection.isRefused() || System.nanoTime() - deadline >= 0 || !pause(CONNECT_RETRY)) {
                LOG.info("{}: next hop {} not reached: {}", thread().getName(), address, connection.failure());
                return null;
            }
        }
    }

    @Override
    @Nullable
    DropReason forwardInTransit(Packet packet) {
        return departures.departStraight(packet, stream().local());
    }

    @Override
    @Nullable
    TurnGate gate(QualityOfService.Now now, @Nullable TurnGate before) {
        if (before != null) {
            before.end();
        }
        return now.turns() == null || now.classifier() == null
                ? null
                : new StreamTurns(this, now.turns(), now.config(), now.classifier());
    }

    /** Waits for a turn with the packet in hand; false when it ended, which ended the packet. */
    final boolean awaitTurn(Turn turn) {
        Duration stall = environment().config().stallTimeout();
        hold(
                () -> {
                    relayReplies();
                    return turn.isGranted();
                },
                stall);
        if (turn.isGranted() && !isCut() && aborted == null) {
            return true;
        }
        if (!isCut() && aborted == null) {
            abort(DropReason.STARVED, "its class got no turn for " + stall.toMillis() + " ms");
        }
        dropInHand(endReason());
        return false;
    }

    /** Waits, with the packet in hand, until the condition holds or the instance is to end; those before it leave. */
    abstract void hold(BooleanSupplier there, Duration bound);

    /** Flushes and waits until every next hop has taken what is theirs, or a stall, failure or cut ends that. */
    @Override
    final void drain() {
        departures.flush();
        long pending = pendingOctets();
        Duration stall = environment().config().stallTimeout();
        while (!settled() && !isCut() && aborted == null) {
            holdInput();
            long before = pending;
            boolean moved = await(() -> settled() || aborted != null || pendingOctets() != before, stall);
            pending = pendingOctets();
            if (!moved && !isCut()) {
                abort(DropReason.NEXT_HOP_STALLED, "a next hop took nothing for " + stall.toSeconds() + " s");
            }
        }
    }

    // ---- links -------------------------------------------------------------------------------------------------

    /**
     * Waits until a queue to a link has room, or has left. What is granted meanwhile leaves, and replies go back, since
     * a next hop may wait for that.
     *
     * @param inHand packets that are neither in nor out meanwhile: 0 or 1
     * @return null when the condition holds, or why the stream cannot go on
     */
    final @Nullable DropReason awaitLink(BooleanSupplier condition, int inHand) {
        holdInput();
        departures.flush();
        while (true) {
            settled();
            if (aborted != null) {
                return aborted;
            }
            if (condition.getAsBoolean()) {
                excuseSender();
                return null;
            }
            if (isCut()) {
                return DropReason.SHUTDOWN;
            }
            publish(inHand);
            watchLinks();
            rest();
            serveWayBack();
        }
    }

    /** Closes the stream where packets wait and nothing moves for the stall time. */
    final void watchLinks() {
        linkWatch.watch();
    }

    /** Takes replies and answers on their way, while the thread waits for something else. */
    abstract void serveWayBack();

    /** The sender was not read: it is not late. */
    abstract void excuseSender();

    /** Stops reading from the sender while the thread waits for something else. */
    abstract void holdInput();

    /**
     * Whether everything that must leave before the memory may change has left; notes failures on the way, and sends
     * what links have granted.
     */
    boolean settled() {
        departures.flushGranted();
        List<Departure> connections = departures.connections();
        boolean drained = true;
        for (int i = 0; i < connections.size(); i++) {
            TcpDeparture departure = (TcpDeparture) connections.get(i);
            departure.settle();
            if (departure.held() > 0) {
                drained &= !departure.holdsMemory();
                String failure = departure.connection().failure();
                if (failure != null) {
                    abort(
                            DropReason.NEXT_HOP_LOST,
                            "its next hop " + departure.connection().remoteAddress() + " was lost: " + failure);
                }
            }
        }
        return drained;
    }

    /** Octets on their way that have not been taken yet: while this changes, someone takes. */
    long pendingOctets() {
        long octets = 0;
        for (Departure departure : departures.connections()) {
            octets += ((TcpDeparture) departure).connection().pendingOctets();
        }
        return octets;
    }

    // ---- replies -----------------------------------------------------------------------------------------------

    /** Takes whole packets of next hops back to the sender, as far as that one takes them. */
    final void relayReplies() {
        List<Departure> connections = departures.connections();
        for (int i = 0; i < connections.size(); i++) {
            TcpConnection from = ((TcpDeparture) connections.get(i)).connection();
            Buffer input = from.input();
            if (input != null && from.end() > from.start()) {
                relay(from, input);
            }
            if (from.isInputCut()) {
                abort(
                        DropReason.NEXT_HOP_LOST,
                        "its next hop " + from.remoteAddress() + " was lost: " + from.failure());
            }
            from.trim();
        }
    }

    private void relay(TcpConnection from, Buffer input) {
        if (!canSendBack()) {
            from.wantInput(false);
            return;
        }
        ByteBuffer octets = input.nio();
        int start = from.start();
        int at = start;
        int length;
        while ((length = Framing.next(octets, at, from.end())) > 0 && sendBack(input, at, length)) {
            at += length;
            repliesSeen++;
            traffic.in(length);
            if (environment().tap().watchesArrivals()) {
                environment()
                        .tap()
                        .arrived(
                                StreamInfo.Transport.TCP,
                                from.remoteAddress(),
                                from.localAddress(),
                                octets,
                                at - length,
                                length);
            }
        }
        from.consumed(at);
        flushBack();
        if (length == Framing.BROKEN) {
            DropReason fault = Framing.fault(octets, at);
            traffic.in(1, from.end() - at);
            traffic.drop(
                    fault == null ? DropReason.HEADER_LENGTH : fault,
                    from.remoteAddress(),
                    ServiceKey.NONE,
                    from.end() - at);
            from.consumed(from.end());
            LOG.info(
                    "{}: next hop {} sent back no ANEP packet ({}): connection closed",
                    thread().getName(),
                    from.remoteAddress(),
                    fault);
            from.close();
        } else {
            from.wantInput(length == Framing.MORE);
        }
    }

    /** Replies that came so far. */
    final long repliesSeen() {
        return repliesSeen;
    }

    /** Whether the way back takes packets now. */
    abstract boolean canSendBack();

    /** Adds a packet of a next hop to the way back to the sender; false when there is no room for it now. */
    abstract boolean sendBack(Buffer buffer, int offset, int octets);

    /** Hands what was added to the way back on. */
    abstract void flushBack();

    /** Whether every next hop has ended its side. */
    final boolean repliesEnded() {
        for (Departure departure : departures.connections()) {
            TcpConnection connection = ((TcpDeparture) departure).connection();
            boolean waiting = connection.input() != null
                    && Framing.next(connection.input().nio(), connection.start(), connection.end()) > 0;
            if (waiting || (!connection.inputEnded() && connection.failure() == null)) {
                return false;
            }
        }
        return true;
    }

    final void shutdownDepartures() {
        for (Departure departure : departures.connections()) {
            ((TcpDeparture) departure).connection().shutdownOutput();
        }
    }

    /** Waits until the far sides will know of the end, which with TLS the operating system may not take at once. */
    final void awaitOutputEnds(BooleanSupplier alsoEnded) {
        await(
                () -> alsoEnded.getAsBoolean()
                        && departures.connections().stream()
                                .allMatch(each ->
                                        ((TcpDeparture) each).connection().isOutputEnded()),
                environment().config().stallTimeout());
    }

    // ---- end -------------------------------------------------------------------------------------------------

    @Override
    void abort(DropReason reason, String why) {
        if (aborted == null) {
            aborted = reason;
            abortedWhy = why;
            LOG.info("{}: stream closed: {} ({})", thread().getName(), why, reason);
        }
    }

    /** Why the stream cannot go on; null while it can. */
    final @Nullable DropReason aborted() {
        return aborted;
    }

    /** The reason, and the circumstances, in words. */
    final String abortedWhy() {
        return aborted + ": " + abortedWhy;
    }

    /** What packets that are left when the instance ends are dropped for. */
    final DropReason endReason() {
        DropReason reason = aborted;
        return reason != null ? reason : isCut() ? DropReason.SHUTDOWN : DropReason.NEXT_HOP_LOST;
    }

    /** Closes the connections to next hops; none must see an orderly end of a sender that was lost. */
    final void closeDepartures(DropReason reason, boolean isSenderCut) {
        if (isAbandoned()) {
            departures.closeUnflushed(reason);
        } else if (isSenderCut) {
            departures.reset(reason);
        } else {
            departures.close(reason);
        }
    }

    @Override
    final boolean cameFrom(Hop hop) {
        return false;
    }
}

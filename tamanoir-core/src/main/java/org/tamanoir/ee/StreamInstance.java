package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.offload.UpcallPath;
import org.tamanoir.routing.Addresses;
import org.tamanoir.sched.LinkPort;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.sched.TurnGate;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.FanOut;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.Abandoned;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.StreamGateway;
import org.tamanoir.transport.TcpConnection;

/**
 * What the two owners over TCP have alike, a stream and a branch of one: a thread and a path, the connections to next
 * hops, the {@link Waits}, and the frame in which the thread runs and ends. What is the owner's own comes in by its
 * {@link Flow}.
 *
 * <p>Thread contract: the stream's thread.
 */
final class StreamInstance implements PacketSource, PacketPath.Owner {
    private static final Logger LOG = LoggerFactory.getLogger(StreamInstance.class);

    final NodeContext context;
    final ServiceThread thread;
    final IoLoop loop;
    final Traffic traffic;
    final ScratchBuffers memory;
    final Connections<TcpEgress> connections;
    final NextHops nextHops;
    final PacketPath path;
    final Waits waits;
    final StreamWays ways;
    final Instance handle;
    /** What the stream came by, if its sender does not speak in packets. */
    final @Nullable StreamGateway gateway;

    private final Flow flow;
    private final TcpConnector connector;
    /** How long next hops wait for each other, where that is bounded by {@link FanOut}; null of almost all. */
    private final @Nullable Duration patience;

    private boolean isDrained;
    /** Of the packet in hand. */
    private int proof;

    private boolean isClosing;
    private @Nullable DropReason aborted;
    private String abortedWhy = "";

    /** The stream, or the branch of one. */
    interface Flow {
        /** Initialises the service, and serves packets until the stream has ended. */
        void serve();

        /** Closes the service and all connections, and counts what is left. */
        void leave();

        /** Drops what it alone has, when {@link #leave} could not. */
        void dropRest(DropReason reason);

        /** Tells others of its end, however it went. */
        default void end() {}

        /** Has the stream end in order: the first time that its service says so. */
        void closing(String why);

        /** Takes note that the stream cannot go on, the first time and each time after. */
        void aborted(DropReason reason, String why);

        /** Keeps connections going while a packet waits: sends what may leave, and takes replies and answers back. */
        void attend();

        /**
         * Sends what links have granted, counts out what has left, notes failures on the way, and watches what waits.
         *
         * @return whether everything has left that must before the memory may change
         */
        boolean advance();
    }

    StreamInstance(
            NodeContext context,
            ServiceDefinition definition,
            Service service,
            StreamInfo stream,
            @Nullable StreamGateway gateway,
            String name,
            Ingress ingress,
            Instance.Owner owner,
            Flow flow) {
        this.context = context;
        this.gateway = gateway;
        this.flow = flow;
        this.thread = new ServiceThread(context, definition, service, stream, name);
        this.loop = thread.loop;
        this.traffic = thread.traffic;
        this.waits = new Waits(this, flow);
        this.memory = new ScratchBuffers(context.pool(), stream, service.thread(), waits::drain);
        this.patience = definition.traits().patience();
        this.connector = new TcpConnector(this, patience);
        this.connections = new Connections<>(connector);
        this.nextHops = new NextHops(context, thread, memory, connections, waits, gateway, hop -> false, null);
        this.path = new PacketPath(context, thread, memory, nextHops, this, ingress, this);
        FailurePolicy ofRule = gateway == null ? null : gateway.onFailure();
        if (ofRule != null) {
            path.policies.ofStream(ofRule);
        }
        this.ways = new StreamWays(this);
        this.handle = new Instance(context, path, owner);
        UpcallPath up = context.levels().path();
        path.dispatcher.inTransit(
                up != null && gateway == null && !up.isOfThisHost(stream.local().getAddress()));
    }

    /** Returns a way out over the connection to a next hop. */
    TcpEgress departureTo(TcpConnection nextHop) {
        return new TcpEgress(nextHop, waits, memory, traffic, loop, context, patience, this::stalled);
    }

    /** Returns a way out over this connection. */
    TcpEgress departureTo(TcpConnection connection, Consumer<TcpEgress> stalled) {
        return new TcpEgress(connection, waits, memory, traffic, loop, context, null, stalled);
    }

    @Override
    public void run() {
        loop.own();
        try {
            flow.serve();
        } catch (Abandoned e) {
            LOG.info("{}: {}", thread.name(), e.getMessage());
        } catch (NoMemoryException e) {
            abort(DropReason.NO_MEMORY, String.valueOf(e.getMessage()));
            dropInHand(DropReason.NO_MEMORY);
        } catch (Throwable e) {
            faulty(e);
        } finally {
            finish();
        }
    }

    private void finish() {
        try {
            waits.end();
            connector.close();
            path.openGate();
            flow.leave();
        } catch (Throwable e) {
            faulty(e);
            ways.reset(DropReason.SERVICE_FAILURE);
            flow.dropRest(DropReason.SERVICE_FAILURE);
            memory.recycle();
            path.publish(0);
        } finally {
            try {
                flow.end();
            } finally {
                loop.close();
                thread.reportEnd();
            }
        }
    }

    /** Ends the stream by a fault of the node, with the packet that was in hand. */
    private void faulty(Throwable fault) {
        LOG.error(
                "{}: the stream ends by a fault of the node: {}",
                thread.name(),
                fault.getClass().getName(),
                fault);
        abort(DropReason.SERVICE_FAILURE, "a fault of the node");
        dropInHand(DropReason.SERVICE_FAILURE);
    }

    private void dropInHand(DropReason reason) {
        waits.end();
        path.dropWhatIsInHand(reason);
    }

    @Override
    public void abort(DropReason reason, String why) {
        boolean isFirst = aborted == null;
        if (isFirst) {
            aborted = reason;
            abortedWhy = why;
        }
        flow.aborted(reason, why);
        if (isFirst) {
            LOG.info("{}: stream closed: {} ({})", thread.name(), why, reason);
        }
    }

    @Override
    public void end(boolean isBroken) {
        String why = "service " + thread.definition().label() + " has ended the stream";
        if (isBroken) {
            abort(DropReason.SERVICE_CLOSED, why);
        } else {
            close(why);
        }
    }

    /** Has nothing more be handled, and the stream end in order. */
    void close(String why) {
        if (!isClosing) {
            isClosing = true;
            flow.closing(why);
        }
    }

    /** Returns whether what comes is dropped, since a service has ended the stream in order. */
    boolean isClosing() {
        return isClosing;
    }

    /** Returns why the loss of a connection ends the stream: for want of memory here, or as given. */
    static DropReason reasonOf(TcpConnection lost, DropReason otherwise) {
        return lost.isStarved() ? DropReason.NO_MEMORY : otherwise;
    }

    /** Returns why the stream cannot go on; null while it can. */
    @Nullable
    DropReason aborted() {
        return aborted;
    }

    /** Returns the reason, and the circumstances, in words. */
    String abortedWhy() {
        return aborted + ": " + abortedWhy;
    }

    @Override
    public @Nullable DropReason ended() {
        return thread.isCut() ? DropReason.SHUTDOWN : aborted;
    }

    /** Returns whether it handles no packet any more: it was cut, or cannot go on. */
    boolean isOver() {
        return aborted != null || thread.isCut();
    }

    /** Returns whether packets of the stream may be missing at its next hops, by a failure and not by a rule. */
    boolean isBroken() {
        return thread.isCut() || (aborted != null && aborted != DropReason.IDLE);
    }

    /** Returns what packets that are left when the instance ends are dropped for. */
    DropReason endReason() {
        DropReason reason = aborted;
        return reason != null ? reason : thread.isCut() ? DropReason.SHUTDOWN : DropReason.NEXT_HOP_LOST;
    }

    @Override
    public @Nullable InetSocketAddress peer() {
        return thread.stream().peer();
    }

    @Override
    public InetSocketAddress local() {
        return thread.stream().local();
    }

    @Override
    public int proof() {
        return proof;
    }

    @Override
    public void prove(int proof) {
        this.proof = proof;
    }

    @Override
    public @Nullable TurnGate gate(QosSnapshot now, @Nullable TurnGate before) {
        if (before != null) {
            before.end();
        }
        return now.turns() == null || now.classifier() == null
                ? null
                : new StreamTurns(this, now.turns(), now.classifier());
    }

    @Override
    public boolean hasRoom(Packet packet) {
        return true; // It stays where it is.
    }

    @Override
    public void suspend(Packet packet, Suspended suspended) {
        waits.park(new HeldInPlace(this, packet, suspended), suspended.atMost);
    }

    @Override
    public void settle() {
        waits.settle();
    }

    /** Sends what may leave, and closes the stream where packets wait and nothing moves for the stall time. */
    void watchWaits() {
        isDrained = flow.advance();
        nextHops.watchLinks(stall(), this::starved);
    }

    private void stalled(TcpEgress way) {
        LinkPort link = way.starvingLink();
        if (patience != null) {
            letGo(
                    way,
                    link == null ? DropReason.NEXT_HOP_STALLED : DropReason.STARVED,
                    link == null
                            ? "it has not taken in time what it was given"
                            : "link " + link.link().name() + " grants nothing");
        } else if (link == null) {
            abort(DropReason.NEXT_HOP_STALLED, "nothing was taken for " + stall().toSeconds() + " s");
        } else {
            starved(link);
        }
    }

    /** Ends the stream that has lost a next hop; where next hops are by themselves, that one alone. */
    void lost(TcpEgress way, DropReason reason, String why) {
        if (patience == null) {
            abort(reason, "its next hop " + Addresses.text(way.connection().remoteAddress()) + " " + why);
        } else {
            letGo(way, reason, why);
        }
    }

    private void letGo(TcpEgress way, DropReason reason, String why) {
        InetSocketAddress address = way.connection().remoteAddress();
        LOG.info("{}: next hop {} is let go: {} ({})", thread.name(), Addresses.text(address), why, reason);
        way.reset(reason);
        connector.rest(address);
    }

    @Override
    public void unreachable() {
        if (patience == null) {
            abort(DropReason.NEXT_HOP_UNREACHABLE, "its next hop cannot be reached");
        }
    }

    private void starved(LinkPort port) {
        String link = port.link().name();
        abort(DropReason.STARVED, "link " + link + " granted nothing for " + stall().toMillis() + " ms");
    }

    /** Returns whether everything that must had left when {@link #watchWaits} looked. */
    boolean isDrained() {
        return isDrained;
    }

    /** Waits until the far sides will know of the end. */
    void awaitOutputEnds(BooleanSupplier alsoEnded) {
        waits.await(() -> alsoEnded.getAsBoolean() && ways.isShutDown(), stall());
    }

    /** Returns for how long nothing may be taken while something waits. */
    Duration stall() {
        return context.config().stallTimeout();
    }

    /** Closes the connections to next hops; none must see an orderly end of what is not whole. */
    void closeDepartures(boolean isBroken, DropReason reason) {
        if (thread.isAbandoned()) {
            nextHops.closeUnflushed(reason);
        } else if (isBroken) {
            ways.reset(reason);
        } else {
            nextHops.close(reason);
        }
    }

    /** Sends a packet of a stream in transit on to where it was sent. */
    @Nullable
    DropReason forwardInTransit(Packet packet) {
        return nextHops.departStraight(packet, thread.stream().local());
    }
}

package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;

/**
 * One instance of a service with its thread: the way of a packet from the memory it arrived in through the service
 * to its departure. How packets come is the subclasses' matter.
 *
 * <p>Thread contract: the service's thread, but for what is said to be any thread's.
 */
abstract class ServiceInstance extends HostedService {
    final Traffic traffic;
    final BatchMemory memory;
    final Departures departures;

    private final Tap tap;
    private final ServiceKeys keys;
    private final Packet packet;
    /** The packet in hand is addressed to another host, where it goes on to without a route. */
    private boolean inTransit;

    private @Nullable DropReason parseFault;
    private @Nullable InetSocketAddress elsewhere;
    private QualityOfService.@Nullable Now scheduling;
    /** What packets have to pass before they are processed; null while turns are not scheduled. */
    private @Nullable TurnGate gate;

    ServiceInstance(
            ExecutionEnvironment environment,
            ServiceDefinition definition,
            Service service,
            StreamInfo stream,
            String name) {
        super(environment, definition, service, stream, name);
        this.tap = environment.tap();
        this.traffic = new Traffic(tap, definition.label());
        this.keys = new ServiceKeys(environment.services(), definition);
        this.memory = new BatchMemory(environment.pool(), this::drain);
        this.departures = new Departures(
                this, environment.forwarder(), environment.config().hopBudget(), traffic);
        this.packet = new Packet(environment.config().typeId(), memory);
        memory.inHand(packet);
    }

    final ServiceKeys keys() {
        return keys;
    }

    // ---- the way of a packet ----------------------------------------------------------------------------------

    /** Takes note of what has changed in the node; after a batch has come in, before its first packet goes. */
    final void refresh() {
        departures.refresh();
        QualityOfService.Now now = environment().qualityOfService().now();
        if (now != scheduling) {
            scheduling = now;
            gate = definition() == Transit.DEFINITION ? null : gate(now, gate);
        }
    }

    /** Packets need no turn any more. */
    final void openGate() {
        if (gate != null) {
            gate.end();
            gate = null;
        }
    }

    @Override
    final boolean mayRest() {
        return gate == null || gate.mayRest();
    }

    /**
     * Points the packet view at what lies at {@code offset} of a stream.
     *
     * @return the packet's octets, {@link Framing#MORE} while it is not whole, {@link Framing#BROKEN} when its basic
     *     header is malformed
     */
    final int parseNext(ByteBuffer octets, int offset, int limit) {
        DropReason fault = packet.parse(octets, offset, limit - offset);
        if (parseFault != fault) {
            parseFault = fault;
        }
        if (fault == null) {
            return packet.length();
        }
        return switch (fault) {
            case SHORT, TRUNCATED -> Framing.MORE;
            case VERSION, HEADER_LENGTH -> Framing.BROKEN;
            default -> packet.length();
        };
    }

    /** Takes the packet that {@link #parseNext} found: demultiplex, process, depart. */
    final void handleParsed() {
        if (tap.watchesArrivals()) {
            tap.arrived(stream().transport(), peer(), local(), packet.buffer(), packet.offset(), packet.length());
        }
        take();
    }

    private void take() {
        traffic.in(packet.length());
        if (parseFault != null) {
            dropMalformed(parseFault);
            return;
        }
        if (packet.hasRepeatedOption()) {
            traffic.anomaly();
        }
        demultiplex();
    }

    /** Takes one datagram from where it lies: parse, demultiplex, process, depart. */
    final void handle(ByteBuffer octets, int offset, int length) {
        if (tap.watchesArrivals()) {
            tap.arrived(stream().transport(), peer(), local(), octets, offset, length);
        }
        parseFault = packet.parse(octets, offset, length);
        if (parseFault == null && packet.hasTrailer()) {
            traffic.anomaly();
        }
        take();
    }

    /** Takes one packet that another thread handed over, which has found that it is for this service. */
    final void handleTaken(ByteBuffer memory, int offset, int length) {
        DropReason fault = packet.parse(memory, offset, length);
        traffic.taken();
        if (fault != null) {
            dropMalformed(fault);
            return;
        }
        ServiceDefinition other = definition() == Transit.DEFINITION && packet.serviceKey() != ServiceKey.NONE
                ? environment().services().find(packet.serviceKey())
                : null;
        if (other == null) {
            process();
        } else {
            handOver(other, packet); // It was, or is, in quarantine.
        }
    }

    /** Takes one packet that waited for its turn: it was counted and demultiplexed when it came. */
    final void handleAgain(ByteBuffer memory, int offset, int length) {
        DropReason fault = packet.parse(memory, offset, length);
        if (fault != null) {
            dropMalformed(fault);
        } else {
            process();
        }
    }

    /** Takes one packet that a next hop sent back and that belongs to no stream: it goes where it says. */
    final void handleFarPacket(ByteBuffer memory, int offset, int length) {
        if (tap.watchesArrivals()) {
            tap.arrived(StreamInfo.Transport.TCP, peer(), local(), memory, offset, length);
        }
        DropReason fault = packet.parse(memory, offset, length);
        traffic.in(packet.length());
        if (fault != null) {
            dropMalformed(fault);
        } else {
            depart(packet);
        }
    }

    private void demultiplex() {
        if (!packet.isTamanoir()) {
            if (packet.discardIfUnknownType()) {
                drop(DropReason.TYPE_ID, packet);
            } else {
                depart(packet);
            }
            return;
        }
        long wanted = packet.serviceKey();
        if (keys.isFirst(wanted)) {
            process();
        } else if (wanted == ServiceKey.NONE) {
            depart(packet);
        } else {
            demultiplex(wanted);
        }
    }

    /** A key that is not this instance's first one: another service's, or another name of this one. */
    private void demultiplex(long wanted) {
        if (keys.isAlias(wanted)) {
            process();
            return;
        }
        ServiceDefinition other = environment().services().find(wanted);
        if (other == definition() && adopts(wanted)) {
            keys.adopt(wanted);
            process();
        } else {
            handOver(other, packet);
        }
    }

    /** What becomes of the packet in hand when its service cannot be had. */
    final void unknownService(DropReason reason) {
        FailurePolicy policy = environment().config().unknownService();
        if (policy == FailurePolicy.PASS) {
            depart(packet);
            return;
        }
        drop(reason, packet);
        if (policy == FailurePolicy.CLOSE) {
            abort(
                    reason,
                    "it asks for service key " + ServiceKey.toString(packet.serviceKey())
                            + ", which the node does not have");
        }
    }

    private void process() {
        if (isQuarantined()) {
            quarantined(definition());
            return;
        }
        if (gate != null && !takeTurn(gate)) {
            return;
        }
        Verdict verdict = call(packet);
        if (verdict == Verdict.FORWARD) {
            depart(packet);
            return;
        }
        if (verdict == null) {
            processFailed();
            return;
        }
        switch (verdict) {
            case FORWARD -> depart(packet);
            case FORWARD_ELSEWHERE -> departElsewhere();
            case REPLY -> {
                packet.swapEnds();
                packet.seal();
                reply(packet);
            }
            case DROP -> drop(DropReason.SERVICE, packet);
            case CONSUME -> drop(DropReason.CONSUMED, packet);
        }
    }

    /** Whether the packet may be processed now; if not, it is in a queue or has ended. */
    private boolean takeTurn(TurnGate gate) {
        if (!gate.take(packet)) {
            return false;
        }
        if (isQuarantined()) { // Since a while, which the packet may have waited.
            quarantined(definition());
            return false;
        }
        return true;
    }

    /** A packet for a service in quarantine goes the way of its failure policy. */
    final void quarantined(ServiceDefinition wanted) {
        if (wanted.failurePolicy() == FailurePolicy.PASS) {
            depart(packet);
            return;
        }
        drop(DropReason.QUARANTINED, packet);
        if (wanted.failurePolicy() == FailurePolicy.CLOSE) {
            abort(DropReason.QUARANTINED, "service " + wanted.label() + " is in quarantine");
        }
    }

    private void processFailed() {
        if (definition().failurePolicy() == FailurePolicy.PASS) {
            depart(packet);
            return;
        }
        drop(DropReason.SERVICE_FAILURE, packet);
        if (definition().failurePolicy() == FailurePolicy.CLOSE) {
            abort(DropReason.SERVICE_FAILURE, "service " + definition().name() + " failed");
        }
    }

    private void depart(Packet packet) {
        DropReason reason = inTransit ? forwardInTransit(packet) : departures.depart(packet);
        if (reason != null) {
            refused(reason, packet);
        }
    }

    private void departElsewhere() {
        InetSocketAddress destination = elsewhere;
        elsewhere = null;
        DropReason reason = destination == null ? DropReason.NO_ROUTE : departures.depart(packet, destination);
        if (reason != null) {
            refused(reason, packet);
        }
    }

    private void refused(DropReason reason, Packet packet) {
        drop(reason, packet);
        if (reason == DropReason.NEXT_HOP_UNREACHABLE) {
            abort(reason, "its next hop cannot be reached");
        }
    }

    /** Counts a drop of a packet that was found good. */
    final void drop(DropReason reason, Packet packet) {
        if (tap.watchesDrops()) {
            traffic.drop(reason, peer(), packet.serviceKey(), packet.length());
        } else {
            traffic.drop(reason);
        }
    }

    /** Counts a drop of the packet in hand. */
    final void dropInHand(DropReason reason) {
        drop(reason, packet);
    }

    /** Counts a drop of the packet in hand, of which only the length is sure. */
    private void dropMalformed(DropReason reason) {
        if (tap.watchesDrops()) {
            traffic.drop(reason, peer(), ServiceKey.NONE, packet.length());
        } else {
            traffic.drop(reason);
        }
    }

    /** Counts a drop of the whole packet that lies here. */
    final void drop(DropReason reason, ByteBuffer memory, int offset, int length) {
        if (tap.watchesDrops()) {
            long asked =
                    Framing.serviceKey(memory, offset, environment().config().typeId());
            traffic.drop(reason, peer(), asked, length);
        } else {
            traffic.drop(reason);
        }
    }

    /** Makes the counts visible; once a batch. */
    final void publish() {
        publish(0);
    }

    /** The same while so many packets are neither on their way in nor out. */
    final void publish(long inHand) {
        traffic.hold(departures.held() + heldBack() + inHand);
        traffic.publish();
        account();
    }

    /** Whether the packets that come into hand from now on are in transit. */
    final void inTransit(boolean on) {
        inTransit = on;
    }

    // ---- what differs between TCP and UDP -----------------------------------------------------------------------

    /**
     * What packets have to pass from now on.
     *
     * @param before what they had to until now
     * @return null when they are processed as they come
     */
    abstract @Nullable TurnGate gate(QualityOfService.Now now, @Nullable TurnGate before);

    /** Who sent the packet in hand. */
    @Nullable
    InetSocketAddress peer() {
        return stream().peer();
    }

    /** This node's end of the way that the packet in hand came. */
    InetSocketAddress local() {
        return stream().local();
    }

    /**
     * Sends a packet in transit on to where it was sent.
     *
     * @return null, or why it cannot go
     */
    @Nullable
    DropReason forwardInTransit(Packet packet) {
        return departures.depart(packet);
    }

    /** Sends a packet back to where it came from. */
    abstract void reply(Packet packet);

    /** Packets that wait to go back. */
    abstract long heldBack();

    /**
     * Gives a packet to the instance that runs another service for the same stream.
     *
     * @param other null when the node does not have it
     */
    abstract void handOver(@Nullable ServiceDefinition other, Packet packet);

    /** Whether packets of another key that means this service are this instance's from now on. */
    boolean adopts(long key) {
        return true;
    }

    /** A way to a TCP next hop; null when it cannot be reached. */
    abstract @Nullable Departure connect(InetSocketAddress address, boolean isTls);

    /** Whether the packet in hand came from this next hop. */
    abstract boolean cameFrom(Hop hop);

    /** Sends what waits and, if that is how the transport works, waits until it has left. */
    abstract void drain();

    // ---- given up ---------------------------------------------------------------------------------------------------

    /**
     * Gives the instance up: what it has is counted and its connections are reset. When the thread comes back it frees
     * what it held and touches nothing else. Any other thread; the thread must be in the service's code.
     *
     * <p>Not known, and not counted: octets that the operating system holds for its connections in either direction,
     * and part of a packet that a next hop has begun to send back.
     *
     * @param reason that its packets end for
     * @return false when it has come back meanwhile
     */
    final boolean abandon(DropReason reason) {
        return supervision().giveUp(() -> {
            // Before its port is another's: the next packet must not make a new instance at once.
            environment().incidents().leftBehind(this, reason);
            cutUnseen();
            if (gate != null) {
                gate.forfeit();
            }
            leaveBehind(reason);
            departures.resetFromOutside();
            traffic.drop(reason, Math.max(0, traffic.inHand()));
            traffic.hold(0);
            traffic.publish();
        });
    }

    /** Counts what waits for the instance, and takes from it what others need. As {@link #abandon}. */
    abstract void leaveBehind(DropReason reason);

    // ---- the service's side ------------------------------------------------------------------------------------

    @Override
    public final void elsewhere(InetSocketAddress destination) {
        elsewhere = destination;
    }

    @Override
    public final void emit(Packet made) {
        if (isClosing()) {
            throw new IllegalStateException("the instance closes: send packets in endOfStream() at the latest");
        }
        comeBack();
        made.seal();
        ByteBuffer room = memory.reserve(made.length());
        int at = room.position();
        room.put(at, made.buffer(), made.offset(), made.length());
        memory.commit(made.length());
        Packet own = new Packet(environment().config().typeId(), memory);
        DropReason reason = own.parse(room, at, made.length());
        traffic.made();
        if (reason == null) {
            reason = departures.depart(own);
        }
        if (reason != null) {
            refused(reason, own);
        }
    }

    @Override
    final InstanceStatus status() {
        Traffic.Sum sum = new Traffic.Sum();
        traffic.addTo(sum);
        return status(sum.ofInstance());
    }
}

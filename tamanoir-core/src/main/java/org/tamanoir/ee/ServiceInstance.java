package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.service.Counter;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceHost;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.IoLoop;

/**
 * One instance of a service with its thread: the way of a packet from the memory it arrived in through the service
 * to its departure. How packets come is the subclasses' matter.
 *
 * <p>Thread contract: the service's thread, but for what is said to be any thread's.
 */
abstract class ServiceInstance implements ServiceHost {
    /** Timers that one instance may have waiting. */
    private static final int MAX_TIMERS = 1024;

    final Traffic traffic;
    final IoLoop loop;
    final BatchMemory memory;
    final Departures departures;

    private final ExecutionEnvironment environment;
    private final ServiceDefinition definition;
    private final Tap tap;
    private final StreamInfo stream;
    private final Instant startedAt = Instant.now();
    private final Service service;
    private final long key;
    private final Packet packet;
    private final NamedCounters counters = new NamedCounters();
    private final NamedCounters dropReasons = new NamedCounters();
    private final Queue<Runnable> dueTasks = new ArrayDeque<>();
    private @Nullable DropReason parseFault;
    private int timers;
    private boolean initialised;
    private boolean closing;
    private @Nullable InetSocketAddress elsewhere;
    private volatile boolean cut;

    ServiceInstance(ExecutionEnvironment environment, ServiceDefinition definition, StreamInfo stream, String name) {
        this.environment = environment;
        this.definition = definition;
        this.tap = environment.tap();
        this.traffic = new Traffic(tap, definition.label());
        this.stream = stream;
        this.key = definition == Transit.DEFINITION ? ServiceKey.NONE : definition.key();
        this.service = definition.factory().get();
        service.attach(this);
        this.loop = environment.newLoop();
        this.memory = new BatchMemory(environment.pool(), this::drain);
        this.departures = new Departures(
                this, environment.forwarder(), environment.config().hopBudget(), traffic);
        this.packet = new Packet(environment.config().typeId(), memory);
        memory.inHand(packet);
        service.setName(name);
        service.setDaemon(true);
    }

    // ---- the way of a packet ----------------------------------------------------------------------------------

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
            tap.arrived(stream.transport(), peer(), local(), packet.buffer(), packet.offset(), packet.length());
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
            tap.arrived(stream.transport(), peer(), local(), octets, offset, length);
        }
        parseFault = packet.parse(octets, offset, length);
        if (parseFault == null && packet.hasTrailer()) {
            traffic.anomaly();
        }
        take();
    }

    /** Takes one packet that another instance handed over. */
    final void handleTaken(ByteBuffer memory, int offset, int length) {
        DropReason fault = packet.parse(memory, offset, length);
        traffic.taken();
        if (fault != null) {
            dropMalformed(fault);
            return;
        }
        demultiplex();
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
        if (wanted == key) {
            process();
        } else if (wanted == ServiceKey.NONE) {
            depart(packet);
        } else {
            ServiceDefinition other = environment.services().find(wanted);
            if (other != null) {
                handOver(other, packet);
            } else {
                unknownService();
            }
        }
    }

    private void unknownService() {
        FailurePolicy policy = environment.config().unknownService();
        if (policy == FailurePolicy.PASS) {
            depart(packet);
            return;
        }
        drop(DropReason.UNKNOWN_SERVICE, packet);
        if (policy == FailurePolicy.CLOSE) {
            abort(
                    DropReason.UNKNOWN_SERVICE,
                    "it asks for service key " + ServiceKey.toString(packet.serviceKey())
                            + ", which the node does not have");
        }
    }

    private void process() {
        Verdict verdict = null;
        if (initialised) {
            try {
                verdict = service.process(packet);
            } catch (Throwable e) {
                failed("process", e);
            }
        }
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

    private void processFailed() {
        if (definition.failurePolicy() == FailurePolicy.PASS) {
            depart(packet);
            return;
        }
        drop(DropReason.SERVICE_FAILURE, packet);
        if (definition.failurePolicy() == FailurePolicy.CLOSE) {
            abort(DropReason.SERVICE_FAILURE, "service " + definition.name() + " failed");
        }
    }

    private void depart(Packet packet) {
        DropReason reason = departures.depart(packet);
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
            long asked = Framing.serviceKey(memory, offset, environment.config().typeId());
            traffic.drop(reason, peer(), asked, length);
        } else {
            traffic.drop(reason);
        }
    }

    /** Makes the counts visible; once a batch. */
    final void publish() {
        traffic.hold(departures.held() + heldBack());
        traffic.publish();
    }

    // ---- what differs between TCP and UDP -----------------------------------------------------------------------

    /** Who sent the packet in hand. */
    @Nullable
    InetSocketAddress peer() {
        return stream.peer();
    }

    /** This node's end of the way that the packet in hand came. */
    InetSocketAddress local() {
        return stream.local();
    }

    /** Sends a packet back to where it came from. */
    abstract void reply(Packet packet);

    /** Packets that wait to go back. */
    abstract long heldBack();

    /** Gives a packet to the instance that runs another service for the same stream. */
    abstract void handOver(ServiceDefinition other, Packet packet);

    /** Ends the stream, where there is one, because it cannot go on whole. */
    abstract void abort(DropReason reason, String why);

    /** A way to a TCP next hop; null when it cannot be reached. */
    abstract @Nullable Departure connect(InetSocketAddress address, boolean isTls);

    /** Whether the packet in hand came from this next hop. */
    abstract boolean cameFrom(Hop hop);

    /** Sends what waits and, if that is how the transport works, waits until it has left. */
    abstract void drain();

    // ---- life --------------------------------------------------------------------------------------------------

    /** Starts the thread. */
    final void start() {
        service.start();
    }

    /** Initialises the service; false when it failed, and every packet follows the failure policy. */
    final void initialise() {
        initialised = guard("init", () -> service.init(definition.config()));
    }

    final void endOfStream() {
        if (initialised) {
            guardStream("endOfStream", service::endOfStream);
        }
    }

    final void closeService() {
        closing = true;
        guard("close", service::close);
    }

    final boolean isTaskDue() {
        return !dueTasks.isEmpty();
    }

    /** Runs the tasks that timers have made due; false when there were none. */
    final boolean runDueTasks() {
        if (dueTasks.isEmpty()) {
            return false;
        }
        Runnable task;
        while ((task = dueTasks.poll()) != null) {
            timers--;
            Runnable due = task;
            guardStream("timer", due::run);
        }
        return true;
    }

    private boolean guard(String where, Step step) {
        try {
            step.run();
            return true;
        } catch (Throwable e) {
            failed(where, e);
            return false;
        }
    }

    /** No packet is at fault here, but the stream may no longer be what it should. */
    private void guardStream(String where, Step step) {
        if (!guard(where, step) && definition.failurePolicy() == FailurePolicy.CLOSE) {
            abort(DropReason.SERVICE_FAILURE, "service " + definition.name() + " failed");
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    private void failed(String where, Throwable failure) {
        counter("failures").add(1);
        environment
                .failures()
                .failed(definition.name(), where, failure, "failure policy " + definition.failurePolicy());
    }

    /** Ends the instance as soon as it looks, whatever still waits. Any thread. */
    final void cut() {
        cut = true;
        loop.wakeup();
    }

    final boolean isCut() {
        return cut;
    }

    /** Any thread. */
    final boolean isAlive() {
        return service.isAlive();
    }

    /** Any thread. */
    final Service service() {
        return service;
    }

    /** Any thread. */
    final Thread thread() {
        return service;
    }

    final ExecutionEnvironment environment() {
        return environment;
    }

    final ServiceDefinition definition() {
        return definition;
    }

    // ---- the service's side ------------------------------------------------------------------------------------

    @Override
    public final StreamInfo stream() {
        return stream;
    }

    @Override
    public final Counter counter(String name) {
        return counters.get(name);
    }

    @Override
    public final void elsewhere(InetSocketAddress destination) {
        elsewhere = destination;
    }

    @Override
    public final void dropping(String reason) {
        dropReasons.get(reason).add(1);
    }

    @Override
    public final void schedule(Duration delay, Runnable task) {
        if (timers == MAX_TIMERS) {
            throw new IllegalStateException(
                    "timer " + (MAX_TIMERS + 1) + ": a service may have " + MAX_TIMERS + " waiting; use every()");
        }
        timers++;
        loop.schedule(delay, () -> dueTasks.add(task));
    }

    @Override
    public final void emit(Packet made) {
        if (closing) {
            throw new IllegalStateException("the instance closes: send packets in endOfStream() at the latest");
        }
        made.seal();
        ByteBuffer room = memory.reserve(made.length());
        int at = room.position();
        room.put(at, made.buffer(), made.offset(), made.length());
        memory.commit(made.length());
        Packet own = new Packet(environment.config().typeId(), memory);
        DropReason reason = own.parse(room, at, made.length());
        traffic.made();
        if (reason == null) {
            reason = departures.depart(own);
        }
        if (reason != null) {
            refused(reason, own);
        }
    }

    /** Any thread. */
    final InstanceStatus status() {
        Traffic.Sum sum = new Traffic.Sum();
        traffic.addTo(sum);
        return new InstanceStatus(
                definition,
                startedAt,
                service.getName(),
                stream,
                sum.ofInstance(),
                counters.values(),
                dropReasons.values());
    }
}

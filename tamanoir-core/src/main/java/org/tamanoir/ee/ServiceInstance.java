package org.tamanoir.ee;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
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
    /** Stands for no key; that a name has it by chance is as likely as that two names have the same. */
    private static final long NO_KEY = -1;
    /** Keys beside the first that are remembered: a service has one with its version, and one without. */
    private static final int MAX_ALIASES = 4;
    /** Timers that one instance may have waiting. */
    private static final int MAX_TIMERS = 1024;

    private static final VarHandle RESTING;

    static {
        try {
            RESTING = MethodHandles.lookup().findVarHandle(ServiceInstance.class, "resting", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Traffic traffic;
    final IoLoop loop;
    final BatchMemory memory;
    final Departures departures;

    private final ExecutionEnvironment environment;
    private final ServiceDefinition definition;
    private final Tap tap;
    private final ServiceLife life;
    private final Meter meter;
    private final Supervision supervision;
    private final StreamInfo stream;
    private final Instant startedAt = Instant.now();
    private final Service service;
    /** What packets for this service name it by, as far as they have. */
    private long key;
    /** Other keys that have come to mean this service. */
    private long[] aliases = new long[0];

    private int catalogGeneration;
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
    /** Processed without an exception, and not yet told to the service's life. */
    private long successes;
    /** Inside the loop, where no code of the service runs. Written by the service's thread alone, read by any. */
    private boolean resting;

    ServiceInstance(
            ExecutionEnvironment environment,
            ServiceDefinition definition,
            Service service,
            StreamInfo stream,
            String name) {
        this.environment = environment;
        this.definition = definition;
        this.tap = environment.tap();
        this.traffic = new Traffic(tap, definition.label());
        this.stream = stream;
        this.key = definition == Transit.DEFINITION ? ServiceKey.NONE : definition.key();
        this.life = definition.life();
        this.meter = new Meter(life);
        this.service = service;
        this.supervision = new Supervision(life, service);
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

    /** Takes one packet that another thread handed over, which has found that it is for this service. */
    final void handleTaken(ByteBuffer memory, int offset, int length) {
        DropReason fault = packet.parse(memory, offset, length);
        traffic.taken();
        if (fault != null) {
            dropMalformed(fault);
            return;
        }
        ServiceDefinition other = definition == Transit.DEFINITION && packet.serviceKey() != ServiceKey.NONE
                ? environment.services().find(packet.serviceKey())
                : null;
        if (other == null) {
            process();
        } else {
            handOver(other, packet); // It was, or is, in quarantine.
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
        if (wanted == key) {
            process();
        } else if (wanted == ServiceKey.NONE) {
            depart(packet);
        } else {
            demultiplex(wanted);
        }
    }

    /** A key that is not this instance's first one: another service's, or another name of this one. */
    private void demultiplex(long wanted) {
        for (long alias : aliases) {
            if (wanted == alias) {
                process();
                return;
            }
        }
        ServiceDefinition other = environment.services().find(wanted);
        if (other == definition && adopts(wanted)) {
            adopt(wanted);
            process();
        } else {
            handOver(other, packet);
        }
    }

    private void adopt(long wanted) {
        if (key == NO_KEY) {
            key = wanted;
        } else if (aliases.length < MAX_ALIASES) {
            aliases = Arrays.copyOf(aliases, aliases.length + 1);
            aliases[aliases.length - 1] = wanted;
        }
    }

    /** Makes packets that name this key this instance's, whatever the catalog says. Before {@link #start}. */
    final void serves(long wanted) {
        key = wanted;
    }

    /** Forgets keys that have come to mean another service, or none, in the catalog. */
    final void refreshKeys() {
        int generation = environment.services().generation();
        if (generation != catalogGeneration && definition != Transit.DEFINITION) {
            catalogGeneration = generation;
            if (environment.services().find(key) != definition) {
                key = NO_KEY;
            }
            aliases = Arrays.stream(aliases)
                    .filter(alias -> environment.services().find(alias) == definition)
                    .toArray();
        }
    }

    /** What becomes of the packet in hand when its service cannot be had. */
    final void unknownService(DropReason reason) {
        FailurePolicy policy = environment.config().unknownService();
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
        if (!life.isOpen() && life.isQuarantined()) {
            quarantined(definition);
            return;
        }
        Verdict verdict = null;
        if (initialised) {
            try {
                verdict = service.process(packet);
                successes++;
            } catch (Throwable e) {
                failed("process", e);
            }
            if (!life.isOpen()) {
                returned();
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
        publish(0);
    }

    /** The same while so many packets are neither on their way in nor out. */
    final void publish(long inHand) {
        traffic.hold(departures.held() + heldBack() + inHand);
        traffic.publish();
        tellSuccesses();
    }

    private void tellSuccesses() {
        if (successes > 0 && life.hasFailed()) {
            life.succeeded(successes);
        }
        successes = 0;
    }

    /** Whether the service is over its limits: then nothing of it runs until the watchdog wakes the loop. */
    final boolean isPaused() {
        return life.isPaused();
    }

    /** Waits in the loop, where no code of the service runs. */
    final void rest() {
        RESTING.setOpaque(this, true);
        try {
            loop.run();
        } finally {
            RESTING.setOpaque(this, false);
        }
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
        if (!isAbandoned()) {
            guard("close", service::close);
        }
        if (Thread.currentThread() == service) {
            meter.readOwn();
        }
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
        boolean done = false;
        try {
            step.run();
            done = true;
        } catch (Abandoned e) {
            throw e;
        } catch (Throwable e) {
            failed(where, e);
        }
        if (!life.isOpen()) {
            returned();
        }
        return done;
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
        tellSuccesses();
        environment.incidents().failed(definition, where, failure, "failure policy " + definition.failurePolicy());
    }

    // ---- services that do not return -------------------------------------------------------------------------------

    /** Back from the service's code while an instance of the service is suspected not to return. */
    private void returned() {
        if (supervision.back() && !closing) {
            throw new Abandoned();
        }
    }

    final Supervision supervision() {
        return supervision;
    }

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
        return supervision.giveUp(() -> {
            // Before its port is another's: the next packet must not make a new instance at once.
            environment.incidents().leftBehind(this, reason);
            cut = true;
            leaveBehind(reason);
            for (Departure departure : departures.connections()) {
                departure.resetFromOutside();
            }
            traffic.drop(reason, Math.max(0, traffic.inHand()));
            traffic.hold(0);
            traffic.publish();
        });
    }

    /** Counts what waits for the instance, and takes from it what others need. As {@link #abandon}. */
    abstract void leaveBehind(DropReason reason);

    /** Any thread. */
    final boolean isAbandoned() {
        return supervision.isGivenUp();
    }

    /** Any thread: a guess. */
    final boolean isResting() {
        return (boolean) RESTING.getOpaque(this);
    }

    final Meter meter() {
        return meter;
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
        if (!life.isOpen()) {
            returned();
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
                meter.processorNs(),
                sum.ofInstance(),
                counters.values(),
                dropReasons.values());
    }
}

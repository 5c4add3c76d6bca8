package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketLoan;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceKeys;
import org.tamanoir.catalog.Transit;
import org.tamanoir.sched.CpuGrant;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.sched.TurnGate;
import org.tamanoir.service.Allowance;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.ScratchBuffers;

/**
 * The way of a packet through one instance of a service: from the memory it arrived in through the service to its
 * departure. How packets come is the matter of its {@link Ingress}.
 *
 * <p>Thread contract: the service's thread, but for what is said to be any thread's.
 */
final class PacketPath implements ServiceThread.Body {
    final ServiceThread thread;
    private final NodeContext context;
    private final PacketSource source;
    private final Ingress ingress;
    private final Owner owner;
    private final Traffic traffic;
    final ScratchBuffers memory;
    final NextHops nextHops;

    /** Null over TCP, whose peers have shown that they get what is sent to them. */
    private final @Nullable UdpReaction reaction;

    private final Tap tap;
    private final Drops drops;
    /** Packets that the service fails to process go on as they came, so it works on copies. */
    private final boolean isRestorable;

    private final ServiceKeys keys;
    final Dispatcher dispatcher;
    final FailurePolicies policies;
    private final Emitter emitter;
    private final PacketLoan loan;
    private final Packet packet;
    final PacketRuns runs;
    /** Null over TCP. */
    private final @Nullable DatagramRuns datagramRuns;

    private @Nullable ParseFault parseFault;
    /** What the service has asked for by {@code hold}, and its verdict has not yet. */
    private @Nullable Suspended asked;
    /** The number of the last packet that was resumed. */
    private final AtomicLong resumptions = new AtomicLong();

    /** Sees the way of the packet in hand; null of almost all. */
    @Nullable
    Watch watch;

    private @Nullable QosSnapshot scheduling;
    /** What packets have to pass before they are processed; null while turns are not scheduled. */
    private @Nullable TurnGate gate;

    /** Sees what becomes of the packet in hand. */
    interface Watch {
        /** Takes note of what the service has said, before that is done. */
        void concluded(@Nullable Verdict said, @Nullable ParseFault fault, Packet packet);

        /** Takes note that the packet is given to another service's thread next. */
        void handsOver(@Nullable ServiceDefinition other, long key);

        /** Takes note that the instance was given up, and the packet with it. Another thread. */
        void lost(DropReason reason);
    }

    /** Whose packets these are: a stream's or a UDP service's. */
    interface Owner {
        /** Serves packets until the end. The service's thread. */
        void run();

        /** Ends the stream, where there is one, because it cannot go on whole. */
        void abort(DropReason reason, String why);

        /**
         * Ends the stream, where there is one, because its service has said so: in order behind what came before, or
         * broken.
         */
        void end(boolean isBroken);

        /** Takes note that the next hop of a packet, which is dropped, cannot be reached. */
        default void unreachable() {
            abort(DropReason.NEXT_HOP_UNREACHABLE, "its next hop cannot be reached");
        }

        /** Returns why packets that are made now cannot leave any more; null while they can. */
        @Nullable
        DropReason ended();

        /**
         * Returns what packets have to pass from now on; null when they are processed as they come.
         *
         * @param before what they had to until now
         */
        @Nullable
        TurnGate gate(QosSnapshot now, @Nullable TurnGate before);

        /** Makes room to keep the packet in hand until its service says more; false when there is no memory. */
        boolean hasRoom(Packet packet);

        /** Keeps the packet in hand until its service says more; drops it where there is no room. */
        void suspend(Packet packet, Suspended suspended);

        /** Waits, where there is a stream to wait, until a packet that the service has sent has gone. */
        void settle();
    }

    PacketPath(
            NodeContext context,
            ServiceThread thread,
            ScratchBuffers memory,
            NextHops nextHops,
            PacketSource source,
            Ingress ingress,
            Owner owner) {
        this.context = context;
        this.source = source;
        this.thread = thread;
        this.ingress = ingress;
        this.owner = owner;
        this.memory = memory;
        this.nextHops = nextHops;
        this.traffic = thread.traffic;
        this.tap = context.tap();
        this.drops = new Drops(traffic, context, source);
        ServiceDefinition definition = thread.definition();
        this.reaction = thread.stream().transport() == StreamInfo.Transport.UDP
                ? new UdpReaction(context.config().udpBounds(), definition, source)
                : null;
        this.isRestorable = definition.failurePolicy() == FailurePolicy.PASS;
        this.keys = new ServiceKeys(context.services(), definition);
        this.loan = new PacketLoan(context.config().typeId(), memory);
        this.packet = loan.packet();
        this.dispatcher = new Dispatcher(source, ingress, owner, nextHops, drops, reaction);
        this.policies = new FailurePolicies(
                packet,
                thread,
                dispatcher,
                drops,
                owner,
                context.config().unknownService(),
                context.config().typeId());
        this.emitter = new Emitter(this, owner, context.config().typeId());
        this.runs = new PacketRuns(this, loan, keys, traffic);
        this.datagramRuns = reaction == null
                ? null
                : new DatagramRuns(
                        this, reaction, loan, keys, traffic, context.config().typeId());
        memory.inHand(loan);
        thread.carry(this);
    }

    ServiceKeys keys() {
        return keys;
    }

    /** Takes note of what has changed in the node; after a batch has come in, before its first packet goes. */
    void refresh() {
        nextHops.refresh();
        QosSnapshot now = context.qualityOfService().now();
        if (now != scheduling) {
            scheduling = now;
            gate = thread.definition() == Transit.DEFINITION ? null : owner.gate(now, gate);
        }
    }

    /** Returns how traffic is scheduled, as far as the thread has taken note; null before its first packet. */
    @Nullable
    QosSnapshot scheduling() {
        return scheduling;
    }

    /** Returns whether packets have to wait for turns before they are processed. */
    boolean isGated() {
        return gate != null;
    }

    /** Returns the view of the packet in hand. */
    Packet packet() {
        return packet;
    }

    /** Takes the turns back of a thread that does not return. Another thread. */
    void forfeitTurns() {
        if (gate != null) {
            gate.forfeit();
        }
    }

    /** Returns whether every packet is processed, and sent on, where it lies, with nobody to be asked or told before. */
    boolean isStraight() {
        return gate == null
                && nextHops.guard() == null
                && !isRestorable
                && !policies.restoresByRule()
                && !tap.watchesArrivals()
                && !dispatcher.isInTransit()
                && !thread.isQuarantined();
    }

    /** Has packets pass without turns from now on. */
    void openGate() {
        if (gate != null) {
            gate.end();
            gate = null;
        }
    }

    @Override
    public @Nullable CpuGrant turn() {
        return gate == null ? null : gate.turn();
    }

    @Override
    public void giveWay() {
        if (gate != null) {
            gate.giveWay();
        }
    }

    @Override
    public boolean holdsBack() {
        return ingress.holdsBack();
    }

    @Override
    public boolean hasUnsent() {
        return nextHops.hasUnsent();
    }

    @Override
    public boolean mayRest() {
        return gate == null || gate.mayRest();
    }

    /**
     * Points the packet view at what lies at {@code offset} of a stream.
     *
     * @return the packet's bytes, {@link Framing#MORE} while it is not whole, {@link Framing#BROKEN} when its basic
     *     header is malformed
     */
    int parseNext(ByteBuffer bytes, int offset, int limit) {
        ParseFault fault = packet.parse(bytes, offset, limit - offset);
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
    void handleParsed() {
        if (tap.watchesArrivals()) {
            tap.arrived(
                    thread.stream().transport(),
                    source.peer(),
                    source.local(),
                    packet.buffer(),
                    packet.offset(),
                    packet.length());
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
        source.prove(PacketGuard.NO_PROOF);
        if (dispatcher.refuses(packet)) {
            return;
        }
        if (datagramRuns == null) {
            runs.learn();
        } else {
            datagramRuns.learn();
        }
        try {
            demultiplex();
        } catch (NoMemoryException e) {
            lacksMemory(e);
        }
    }

    /** Takes the datagram at which the walk stands, and of those behind it the ones that go with it. */
    void handle(DatagramRuns.Walk walk) {
        DatagramRuns together = datagramRuns;
        if (walk.fold() != null && (together != null && together.takeFolded(walk) || !walk.unfold())) {
            return; // What finds no memory to be whole in is counted as dropped.
        }
        if (together == null || !together.take(walk)) {
            handle(walk.memory(), walk.at(), walk.length());
        }
    }

    /** Takes one datagram from where it lies: parse, demultiplex, process, depart. */
    private void handle(ByteBuffer bytes, int offset, int length) {
        if (tap.watchesArrivals()) {
            tap.arrived(thread.stream().transport(), source.peer(), source.local(), bytes, offset, length);
        }
        parseFault = packet.parse(bytes, offset, length);
        if (parseFault == null && packet.hasTrailer() && !packet.hasRepeatedOption()) { // That counts below.
            traffic.anomaly();
        }
        take();
    }

    /** Takes one packet that another thread handed over, which has found that it is for this service. */
    void handleTaken(ByteBuffer memory, int offset, int length) {
        ParseFault fault = packet.parse(memory, offset, length);
        traffic.taken();
        if (fault != null) {
            dropMalformed(fault);
            return;
        }
        ServiceDefinition other = thread.definition() == Transit.DEFINITION && packet.serviceKey() != ServiceKey.NONE
                ? context.services().find(packet.serviceKey())
                : null;
        try {
            if (other == null) {
                process();
            } else {
                ingress.handOver(other, packet); // It was, or is, in quarantine.
            }
        } catch (NoMemoryException e) {
            lacksMemory(e);
        }
    }

    /** Takes one packet that waited for its turn: it was counted and demultiplexed when it came. */
    void handleAgain(ByteBuffer memory, int offset, int length) {
        ParseFault fault = packet.parse(memory, offset, length);
        if (fault != null) {
            dropMalformed(fault);
            return;
        }
        try {
            process();
        } catch (NoMemoryException e) {
            lacksMemory(e);
        }
    }

    /** Takes one packet that a next hop sent back and that belongs to no stream: it goes where it says. */
    void handleFarPacket(ByteBuffer memory, int offset, int length) {
        if (tap.watchesArrivals()) {
            tap.arrived(StreamInfo.Transport.TCP, source.peer(), source.local(), memory, offset, length);
        }
        ParseFault fault = packet.parse(memory, offset, length);
        traffic.in(packet.length());
        if (fault != null) {
            dropMalformed(fault);
            return;
        }
        source.prove(PacketGuard.NO_PROOF);
        try {
            dispatcher.depart(packet);
        } catch (NoMemoryException e) {
            lacksMemory(e);
        }
    }

    private void demultiplex() {
        if (!packet.isTamanoir()) {
            if (packet.discardIfUnknownType()) {
                drop(DropReason.TYPE_ID, packet);
            } else {
                dispatcher.depart(packet);
            }
            return;
        }
        long wanted = packet.serviceKey();
        if (keys.isFirst(wanted)) {
            process();
        } else if (wanted == ServiceKey.NONE || isRelay()) {
            dispatcher.depart(packet);
        } else {
            demultiplex(wanted);
        }
    }

    /** Returns whether the stream is one of a gateway that goes on without its service: to its end, so that it is one of both. */
    private boolean isRelay() {
        return nextHops.isOfGateway() && thread.definition() == Transit.DEFINITION;
    }

    /** Takes a packet whose key is not this instance's first one: another service's, or another name of this one. */
    private void demultiplex(long wanted) {
        if (keys.isAlias(wanted)) {
            process();
            return;
        }
        ServiceDefinition other = context.services().find(wanted);
        if (other == thread.definition() && ingress.adopts(wanted)) {
            keys.adopt(wanted);
            process();
        } else {
            ingress.handOver(other, packet);
        }
    }

    @Override
    public FailurePolicy onFailure() {
        return policies.ofFailure();
    }

    @Override
    public void lacksMemory(NoMemoryException cause) {
        dropWhatIsInHand(DropReason.NO_MEMORY);
        abort(DropReason.NO_MEMORY, String.valueOf(cause.getMessage()));
    }

    private void process() {
        if (thread.isQuarantined()) {
            policies.handleQuarantined(thread.definition());
            return;
        }
        if (gate == null || gate.take(packet)) {
            invoke();
        }
    }

    /** Processes the packet in hand, which has waited for its turn. */
    void processGranted() {
        if (thread.isQuarantined()) {
            policies.handleQuarantined(thread.definition());
        } else {
            invoke();
        }
    }

    private void invoke() {
        if (dispatcher.refuses(packet)) {
            return;
        }
        PacketGuard guard = nextHops.guard();
        if (guard != null) {
            guard.begin();
        }
        boolean restores = isRestorable || policies.restoresByRule();
        if (restores) {
            loan.lendCopy();
        } else {
            loan.lend();
        }
        Verdict verdict;
        ParseFault fault;
        try {
            verdict = reaction == null ? thread.call(packet) : call(reaction);
            if (restores && policies.isSpoiled(verdict)) {
                verdict = null;
            }
            fault = restores && verdict == null ? loan.restore() : loan.takeBack();
        } catch (Throwable e) {
            reclaim();
            throw e;
        }
        conclude(verdict, fault);
    }

    /** Does with the packet in hand what its service has said, or what follows where that failed. */
    void conclude(@Nullable Verdict returned, @Nullable ParseFault fault) {
        Verdict verdict = fault == null ? decided(returned) : returned;
        forgetHold(fault != null || verdict != Verdict.HELD);
        if (watch != null) {
            watch.concluded(verdict, fault, packet);
        }
        if (verdict == Verdict.FORWARD && fault == null) {
            dispatcher.departProcessed(packet);
            return;
        }
        if (verdict == null) {
            policies.handleFailed(fault);
            return;
        }
        if (fault != null && !verdict.endsPacket()) {
            policies.handleMalformed(fault);
            return;
        }
        switch (verdict) {
            case FORWARD -> dispatcher.departProcessed(packet);
            case FORWARD_ELSEWHERE -> dispatcher.departElsewhere(packet);
            case REPLY -> dispatcher.answer(packet);
            case DROP -> drop(DropReason.SERVICE, packet);
            case CONSUME -> drop(DropReason.CONSUMED, packet);
            case CLOSE, RESET -> {
                drop(DropReason.SERVICE, packet);
                owner.end(verdict == Verdict.RESET);
            }
            case HELD -> suspend();
        }
    }

    @Override
    public Suspension hold(Packet inHand, Duration atMost) {
        if (inHand != packet || !thread.isInService() || !thread.isOwnThread()) {
            throw new IllegalStateException("hold(): takes the packet that process() was given, in process() alone");
        }
        endRun(); // Of the others in a run nobody looks whether they were asked to be held.
        Suspended suspended = new Suspended(atMost, thread.calls(), context.platform(), resumptions, thread::wake);
        Suspended before = asked;
        if (before != null && before.calls == suspended.calls && before.endUnlessSaid() != null) {
            suspended.end(); // What was said of the first counts: nothing can be said by another.
        } else {
            forgetHold(true);
            asked = suspended;
            if (!owner.hasRoom(packet)) {
                suspended.end(); // Before anybody can say something that would not be done.
            }
        }
        return suspended;
    }

    /** Returns what becomes of the packet in hand: what was said by {@code resume} meanwhile, in place of what is returned. */
    private @Nullable Verdict decided(@Nullable Verdict returned) {
        Suspended suspended = asked;
        if (suspended == null || returned == Verdict.HELD || suspended.calls + 1 != thread.calls()) {
            return returned;
        }
        Verdict said = suspended.endUnlessSaid();
        if (said == null) {
            return returned;
        }
        if (reaction != null && (said == Verdict.FORWARD || said == Verdict.REPLY)) {
            return Verdict.HELD; // Other datagrams may have been resumed before it.
        }
        suspended.end();
        return said;
    }

    /** Returns how many packets were resumed. */
    long resumptions() {
        return resumptions.get();
    }

    /** Ends what was asked for, if that is so. */
    private void forgetHold(boolean isOver) {
        if (isOver && asked != null) {
            asked.end();
            asked = null;
        }
    }

    private void suspend() {
        Suspended suspended = asked;
        if (suspended == null || suspended.calls + 1 != thread.calls()) {
            forgetHold(true);
            thread.failed("process", new IllegalStateException("it returned HELD without hold()"));
            policies.handleFailed(null);
        } else {
            asked = null;
            if (nextHops.guard() == null) {
                source.prove(PacketGuard.NO_PROOF); // Nobody looks at packets of runs: what is there is another's.
            }
            if (reaction != null) {
                reaction.hold(suspended);
            }
            owner.suspend(packet, suspended);
        }
    }

    /** Goes on with a packet that its service has held, and that lies here now. */
    void handleResumed(ByteBuffer memory, int offset, int length, Suspended held, Verdict verdict) {
        ParseFault fault = packet.parse(memory, offset, length);
        if (fault != null) {
            dropMalformed(fault);
            return;
        }
        goOn(verdict, held);
    }

    /** Does with the packet in hand what its service has said later, or meanwhile. */
    void goOn(Verdict verdict, Suspended held) {
        if (reaction != null) {
            reaction.resume(held, verdict == Verdict.CONSUME);
        }
        PacketGuard guard = nextHops.guard();
        if (guard != null) {
            guard.resume(source.proof());
        }
        try {
            conclude(verdict, null);
        } catch (NoMemoryException e) {
            lacksMemory(e);
        }
    }

    /** Takes the packet back from its service, past which something was thrown. */
    void reclaim() {
        loan.reclaim();
        if (reaction != null) {
            reaction.end(false);
        }
    }

    /** Hands on packets that go together, since something else is to come behind them. */
    void endRun() {
        if (datagramRuns == null) {
            runs.end();
        } else {
            datagramRuns.end();
        }
    }

    /** Gives the service the datagram in hand. */
    @Nullable
    Verdict call(UdpReaction reaction) {
        reaction.begin(source.bytesReceived(packet), source.headerBytes());
        Verdict verdict = thread.call(packet);
        if (verdict != null) {
            verdict = decided(verdict);
            forgetHold(verdict != Verdict.HELD);
        }
        reaction.end(verdict == Verdict.CONSUME);
        return verdict;
    }

    @Override
    public void forgetPacket() {
        loan.forget();
    }

    private void dropMalformed(ParseFault fault) {
        drops.dropMalformed(DropReason.of(fault), packet);
    }

    /** Counts a drop of a packet that was found good. */
    void drop(DropReason reason, Packet packet) {
        drops.drop(reason, packet);
    }

    /** Counts a drop of the packet in hand. */
    void dropInHand(DropReason reason) {
        drops.drop(reason, packet);
    }

    /** Returns who counts what ends. */
    Drops drops() {
        return drops;
    }

    /**
     * Counts a drop of what has neither left, nor waits, nor has ended, because something was thrown past it. Its bytes
     * are not looked at: they may be gone.
     */
    void dropWhatIsInHand(DropReason reason) {
        long packets = inHand();
        if (packets > 0) {
            traffic.drop(reason, packets);
        }
    }

    /** Returns how many packets have neither left, nor wait, nor have ended. */
    long inHand() {
        return traffic.inHand() - nextHops.held() - ingress.heldBack();
    }

    /** Returns whether it serves a TCP stream, alone or with others. */
    boolean isStream() {
        return reaction == null;
    }

    /** Makes the counts visible, while so many packets are neither on their way in nor out; once a batch. */
    void publish(long inHand) {
        traffic.hold(nextHops.held() + ingress.heldBack() + inHand);
        traffic.publish();
        thread.account();
        forgetHold(!thread.isInService());
    }

    @Override
    public void elsewhere(InetSocketAddress destination) {
        dispatcher.elsewhere(destination);
    }

    @Override
    public boolean emit(Packet made, @Nullable InetSocketAddress destination) {
        return emitter.emit(made, destination);
    }

    @Override
    public Allowance allowance() {
        return reaction == null ? Allowance.FREE : reaction;
    }

    @Override
    public void run() {
        owner.run();
    }

    @Override
    public void abort(DropReason reason, String why) {
        owner.abort(reason, why);
    }
}

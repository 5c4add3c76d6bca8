package org.tamanoir.sapf;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.routing.Addresses;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.StreamCodec;
import org.tamanoir.transport.UdpHeaders;
import org.tamanoir.transport.UdpSocket;

/**
 * What a node knows of SAPF: the selectors that it has issued and those that it was given, and what becomes of messages
 * about them.
 *
 * <p>Thread contract: any thread.
 */
public final class Sapf {
    /** Options that differ from packet to packet: a flow with one of them gains nothing from a selector. */
    private static final Option[] MARKS = {
        Option.CHECKSUM, Option.STREAM, Option.ROUND, Option.TIMESTAMPS, Option.AUTHENTICATION
    };

    /** How long connections to a next hop that has not answered in SAPF carry ANEP. */
    static final Duration STREAM_REST = Duration.ofSeconds(60);

    private static final int HOP_BUDGET_OCTETS = 4 * Option.HOP_BUDGET.words();

    private final SapfSettings settings;
    private final LongSupplier clockNs;
    private final Tap tap;
    /** Counts what is dropped before it is ANEP; guarded by itself. */
    private final Traffic traffic;

    private final IssuedSelectors issued;
    private final AskedSelectors asked;
    private final AnswerLimits limits;
    private final BatchMemory memory;
    /** Of a header that is bound. */
    private final int maxHeaderOctets;
    /** What headers that are to be bound are parsed by; guarded by itself. */
    private final Packet packet;

    /** Selectors issued for connections, which have tables of their own. */
    private final AtomicInteger issuedToStreams = new AtomicInteger();
    /** Selectors that connections have. */
    private final AtomicInteger askedByStreams = new AtomicInteger();

    private final LongAdder packetsIn = new LongAdder();
    private final LongAdder packetsOut = new LongAdder();
    private final LongAdder packetsSwapped = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder unknown = new LongAdder();
    private final LongAdder malformed = new LongAdder();

    /**
     * @param growth what may go on of a datagram, for each octet of it, headers of IPv4 and UDP among them: a header that
     *     would make more of an empty packet is not bound
     * @param typeId of Tamanoir's packets
     * @param tap where drops are seen
     */
    public Sapf(SapfSettings settings, int growth, int typeId, LongSupplier clockNs, Tap tap) {
        this(settings, growth, typeId, clockNs, tap, BatchMemory.ofThisJvm());
    }

    Sapf(SapfSettings settings, int growth, int typeId, LongSupplier clockNs, Tap tap, BatchMemory memory) {
        SecureRandom random = new SecureRandom();
        this.settings = settings;
        this.clockNs = clockNs;
        this.tap = tap;
        this.memory = memory;
        this.maxHeaderOctets = (int) Math.min(
                HeaderTemplate.MAX_OCTETS,
                (long) growth * (UdpHeaders.IPV4_BYTES + Selector.OCTETS) - UdpHeaders.IPV4_BYTES);
        this.traffic = new Traffic(tap, "sapf");
        this.issued = new IssuedSelectors(random::nextInt);
        this.asked = new AskedSelectors(settings.nextHops(), random::nextLong);
        this.limits = new AnswerLimits(clockNs.getAsLong());
        this.packet = new Packet(typeId, PacketSpace.HEAP);
    }

    /** Returns what a sender needs that asks one node for selectors and issues none. */
    public static Sapf towards(InetSocketAddress node, int typeId) {
        SapfSettings asking = new SapfSettings(false, List.of(node), SapfSettings.OFF.lifetime());
        return new Sapf(asking, 1, typeId, System::nanoTime, new Tap());
    }

    /** Returns a socket over this one on whose wire packets may be SAPF. */
    public UdpSocket over(UdpSocket socket) {
        return new SapfSocket(this, socket);
    }

    /**
     * Returns the codec of a connection to this next hop; null where it is to carry ANEP, as the next hop is not one of
     * those that are asked for selectors, or did not answer lately.
     */
    public @Nullable StreamCodec streamTo(InetSocketAddress nextHop) {
        Neighbour neighbour = asked.neighbour(
                Addresses.high(nextHop.getAddress()), Addresses.low(nextHop.getAddress()), nextHop.getPort());
        return neighbour == null || !neighbour.takesStreams(nowNs()) ? null : new SapfStream(this, nextHop, neighbour);
    }

    /** Returns the codec of a connection from this peer that {@link SapfStream#begins begins} in SAPF; null where none are taken. */
    public @Nullable StreamCodec streamFrom(InetSocketAddress peer, ByteBuffer input, int start, int end) {
        return settings.accepts() && SapfStream.begins(input, start, end) ? new SapfStream(this, peer, null) : null;
    }

    /** Returns the counts of what was dropped before it was ANEP. */
    public Traffic traffic() {
        return traffic;
    }

    public SapfStatistics statistics() {
        return new SapfStatistics(
                issued.bindings() + issuedToStreams.get(),
                asked.bound() + askedByStreams.get(),
                packetsIn.sum(),
                packetsOut.sum(),
                packetsSwapped.sum(),
                refused.sum(),
                unknown.sum(),
                malformed.sum());
    }

    BatchMemory memory() {
        return memory;
    }

    IssuedSelectors issued() {
        return issued;
    }

    AskedSelectors asked() {
        return asked;
    }

    AtomicInteger issuedToStreams() {
        return issuedToStreams;
    }

    AtomicInteger askedByStreams() {
        return askedByStreams;
    }

    /** Counts a message that was none. */
    void malformed() {
        malformed.increment();
    }

    /** Counts a request that was refused. */
    void refused() {
        refused.increment();
    }

    /** Counts a message about a selector that is not known. */
    void unknown() {
        unknown.increment();
    }

    long nowNs() {
        return clockNs.getAsLong();
    }

    int lifetimeS() {
        return (int) settings.lifetime().toSeconds();
    }

    void received(long packets) {
        packetsIn.add(packets);
    }

    /** Counts packets that left with a selector, and those of them that had come with another one. */
    void sent(long packets, long swapped) {
        packetsOut.add(packets);
        packetsSwapped.add(swapped);
    }

    /** Counts a packet in and out of the node that never became ANEP. */
    void drop(DropReason reason, long high, long low, int port, int octets) {
        synchronized (traffic) {
            traffic.in(octets);
            traffic.drop(
                    reason,
                    tap.watchesDrops() ? new InetSocketAddress(Addresses.of(high, low), port) : null,
                    ServiceKey.NONE,
                    octets);
            traffic.publish();
        }
    }

    /** Tells a source, not too often, that its selector is not known, so that it goes back to ANEP. */
    void miss(SapfSocket socket, long selector, int octets, long high, long low, int port, long nowNs) {
        if (limits.tellsUnknown(high, low, selector, octets, nowNs)) {
            unknown();
            socket.answers().selector(Control.UNKNOWN, selector, high, low, port);
        }
    }

    /** Does what a message asks for; {@code at} is where its datagram begins. */
    void control(SapfSocket socket, ByteBuffer memory, int at, int octets, long high, long low, int port, long nowNs) {
        int content = at + Control.CONTENT;
        switch (Control.type(memory, at, octets)) {
            case Control.BIND -> {
                if (limits.answers(high, low, nowNs)) {
                    bind(socket, memory, at, octets, high, low, port, nowNs);
                }
            }
            case Control.REFRESH -> refresh(socket, memory, content, high, low, port, nowNs);
            case Control.BOUND -> {
                long request = memory.getLong(content);
                long selector = memory.getLong(content + 8);
                long lifetimeNs = TimeUnit.SECONDS.toNanos(granted(memory.getInt(content + 16)));
                if (asked.bound(request, selector, lifetimeNs, nowNs, high, low, port)) {
                    socket.answers().bound(Control.REFRESH, request, selector, lifetimeS(), high, low, port);
                }
            }
            case Control.REFUSED -> asked.refused(memory.getLong(content), nowNs, high, low, port);
            case Control.RELEASE -> {
                Binding binding = issued.find(memory.getLong(content));
                if (binding != null && binding.isFrom(high, low, port)) {
                    issued.remove(binding);
                }
            }
            case Control.UNKNOWN -> asked.unknown(memory.getLong(content), high, low, port);
            default -> malformed();
        }
    }

    /** Returns so many seconds, or what this node allows. */
    private int granted(int wantedS) {
        return Math.max(1, Math.min(wantedS, lifetimeS()));
    }

    private void bind(
            SapfSocket socket, ByteBuffer memory, int at, int octets, long high, long low, int port, long nowNs) {
        long request = memory.getLong(at + Control.CONTENT);
        int lifetimeS = granted(memory.getInt(at + Control.CONTENT + 8));
        Object outcome = header(memory, at + Control.BIND_HEADER, octets - Control.BIND_HEADER);
        if (outcome instanceof HeaderTemplate header) {
            IssuedSelectors.Outcome bound =
                    issued.bind(request, header, high, low, port, nowNs, TimeUnit.SECONDS.toNanos(lifetimeS));
            Binding binding = bound.binding();
            outcome = binding == null ? bound.reason() : binding.selector;
        }
        if (outcome instanceof Refused reason) {
            refused();
            socket.answers().refused(request, reason, high, low, port);
        } else if (outcome instanceof Long selector) {
            socket.answers().bound(Control.BOUND, request, selector, lifetimeS, high, low, port);
        }
    }

    /** Returns the header that is to be bound; or {@link Refused} why not; or {@link Selector#NONE}, if it has marks. */
    Object header(ByteBuffer memory, int at, int octets) {
        if (!settings.accepts()) {
            return Refused.NOT_ACCEPTED;
        }
        if (octets > maxHeaderOctets) {
            return Refused.TOO_LONG;
        }
        HeaderTemplate header = HeaderTemplate.of(memory, at, octets);
        if (header == null || header.octets() != octets) {
            return Refused.MALFORMED;
        }
        ByteBuffer alone = ByteBuffer.allocate(octets);
        header.writeAlone(alone, 0);
        synchronized (packet) {
            ParseFault fault = packet.parse(alone, 0, octets);
            if (fault == ParseFault.CHECKSUM) {
                return Selector.NONE; // Over the payload too, which is not here.
            }
            if (fault != null) {
                return Refused.MALFORMED;
            }
            for (Option mark : MARKS) {
                if (packet.has(mark)) {
                    return Selector.NONE;
                }
            }
            if (!packet.has(Option.HOP_BUDGET) && octets + HOP_BUDGET_OCTETS > maxHeaderOctets) {
                return Refused.TOO_LONG; // On its way to an active node it gets one.
            }
        }
        return header;
    }

    private void refresh(SapfSocket socket, ByteBuffer memory, int content, long high, long low, int port, long nowNs) {
        long selector = memory.getLong(content + 8);
        Binding binding = issued.find(selector);
        if (binding == null || !binding.isFrom(high, low, port) || binding.isExpired(nowNs)) {
            miss(socket, selector, Control.BOUND_OCTETS, high, low, port, nowNs);
            return;
        }
        // Who does not read what is sent to the source does not know its selectors: no limit is to be shared with him.
        int lifetimeS = granted(memory.getInt(content + 16));
        binding.untilNs = nowNs + TimeUnit.SECONDS.toNanos(lifetimeS);
        issued.prove(binding);
        socket.answers().bound(Control.BOUND, memory.getLong(content), selector, lifetimeS, high, low, port);
    }
}

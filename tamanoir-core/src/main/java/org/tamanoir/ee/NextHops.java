package org.tamanoir.ee;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.gateway.udp.GatewaySocket;
import org.tamanoir.offload.UpcallPath;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.routing.Addresses;
import org.tamanoir.sched.LinkContent;
import org.tamanoir.sched.LinkPort;
import org.tamanoir.sched.QosSnapshot;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.GatewayAddress;
import org.tamanoir.transport.ScarceMemory;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.StreamGateway;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * All ways out of one service's thread. Finds a packet's next hop, spends a hop of its budget, and adds it to the
 * way there. Where the way leads over a link that is scheduled, the packet's class is that which it has now, after its
 * service; replies go back without crossing a link.
 *
 * <p>Thread contract: the service's thread.
 */
final class NextHops {
    /** Ways of datagrams of one thread: its sockets, and each interface that link-local next hops are reached by. */
    private static final int MAX_DATAGRAM_WAYS = 1024;

    private final NodeContext context;
    private final StreamInfo.Transport transport;
    private final Parking parking;
    private final Predicate<RouteCacheEntry> cameFrom;
    /** What datagrams answer; null of streams. */
    final @Nullable Answers answers;

    private final ScratchBuffers memory;
    private final NextHopResolver forwarder;
    private final int initialHopBudget;
    private final Traffic traffic;
    private final Connections<?> connections;
    private final List<UdpEgress> datagrams = new ArrayList<>();
    private final List<GatewayEgress> gateways = new ArrayList<>();
    private final ThreadLinks links;
    /** What datagrams leave by is made of when the first one does. */
    private final ScarceMemory scarce;
    /** Where packets go. */
    final RouteCache routes;
    /** Null while nothing in transit has gone on. */
    private @Nullable TransitEgress transit;

    /** Checks and signs packets; null while nothing is checked or signed. */
    private @Nullable PacketGuard guard;
    /** Packets may have come while nothing was checked. */
    private boolean wasUnguarded;

    private QosSnapshot quality;
    /** What packets of each class leave with; empty while none is marked. */
    private int[] trafficOctets = {};
    /** Of a stream in transit. */
    private @Nullable RouteCacheEntry straight;

    private int generation;
    /** What its stream came by, which leads to a place that routes are not asked for; null of almost all. */
    private final @Nullable StreamGateway gateway;

    /** The way that could not be had when one was asked for last may still come. */
    private boolean mayCome;

    /** A departure that has to wait, to be tried again. */
    interface Departure {
        /** Sends the packet, or parks it again, with this while it waits for the same; returns why it cannot go, if so. */
        @Nullable
        DropReason again();
    }

    /** Where packets of a stream wait for their departure; others never do. */
    interface Parking {
        /** Has the packet, which has been processed, wait with its stream. */
        void park(Packet packet, Departure departure);
    }

    /**
     * @param gateway what the stream came by, if that was one
     * @param cameFrom tells whether the packet in hand came from this next hop
     * @param answers what datagrams answer; null of streams
     */
    NextHops(
            NodeContext context,
            ServiceThread thread,
            ScratchBuffers memory,
            Connections<?> connections,
            Parking parking,
            @Nullable StreamGateway gateway,
            Predicate<RouteCacheEntry> cameFrom,
            @Nullable Answers answers) {
        this.context = context;
        this.answers = answers;
        this.gateway = gateway;
        this.transport = thread.stream().transport();
        this.memory = memory;
        this.connections = connections;
        this.parking = parking;
        this.cameFrom = cameFrom;
        this.forwarder = context.forwarder();
        this.guard = context.authentication().guard(null);
        this.initialHopBudget = context.config().hopBudget();
        this.traffic = thread.traffic;
        LookAhead ahead = new LookAhead(context.config().typeId());
        this.routes = new RouteCache(forwarder, ahead, transport, gateway, this::overItsLink);
        this.quality = context.qualityOfService().now();
        this.trafficOctets = quality.config().trafficOctets();
        this.scarce = new ScarceMemory(context.platform()::nanoTime);
        this.links = new ThreadLinks(thread, context);
    }

    /** Takes note of routes and links that have changed; after a batch has come in, before its first packet goes. */
    void refresh() {
        refreshGuard();
        int now = forwarder.generation();
        QosSnapshot qualityNow = context.qualityOfService().now();
        if (now != generation || qualityNow != quality) {
            generation = now;
            routes.forgetDestinations();
            if (qualityNow != quality) {
                forgetWays();
                refresh(qualityNow);
            } else {
                routes.forgetWaysOfOthers();
            }
        }
    }

    /** Takes note of rules and keys of authentication; before a packet goes on that has waited, too. */
    void refreshGuard() {
        PacketGuard before = guard;
        PacketGuard wanted = context.authentication().guard(before);
        if (wanted != null && before == null && wasUnguarded) {
            wanted.hadUnchecked();
        }
        wasUnguarded |= wanted == null;
        guard = wanted;
    }

    /** Returns what checks and signs packets, as of the last {@link #refresh}; null while nothing is checked or signed. */
    @Nullable
    PacketGuard guard() {
        return guard;
    }

    /** Returns whether packets are pieces of what a gateway carries, of which none may be missing behind an orderly end. */
    boolean isOfGateway() {
        return gateway != null;
    }

    /** Returns what the stream came by; null if its sender speaks in packets. */
    @Nullable
    StreamGateway gateway() {
        return gateway;
    }

    private void forgetWays() {
        routes.forgetWays();
        gateways.forEach(GatewayEgress::forget);
        straight = null;
    }

    private void refresh(QosSnapshot now) {
        boolean moves = !now.hasLinksOf(quality);
        quality = now;
        trafficOctets = now.config().trafficOctets();
        links.refresh(now);
        if (moves) {
            // What comes now may go another way: nothing older must be left behind. Connections see to that themselves.
            links.releaseDatagrams();
            flush();
            links.retain(now);
        }
    }

    /**
     * Sends a packet towards its destination.
     *
     * @return null when it has gone, or has to wait; or why it cannot go
     */
    @Nullable
    DropReason depart(Packet packet) {
        if (!packet.hasInternetDestination()) {
            return DropReason.NO_ROUTE;
        }
        return depart(packet, packet.destinationHigh(), packet.destinationLow(), packet.destinationPort());
    }

    /** Sends a packet as if it were for this destination. */
    @Nullable
    DropReason depart(Packet packet, long high, long low, int port) {
        return depart(packet, routes.hop(high, low, port));
    }

    /** Sends a packet of a stream straight to {@code destination}, always the same, without asking routes. */
    @Nullable
    DropReason departStraight(Packet packet, InetSocketAddress destination) {
        RouteCacheEntry hop = straight;
        if (hop == null) {
            hop = overItsLink(NextHopResolver.straight(destination));
            straight = hop;
        }
        return depart(packet, hop);
    }

    /**
     * Sends a packet to the far side of the gateway that it came by, over the link that leads there.
     *
     * @param answerBytes that may come back for it
     */
    @Nullable
    DropReason depart(Packet packet, GatewaySocket gateway, Arrival from, long answerBytes) {
        GatewayEgress way = towards(gateway);
        RouteCacheEntry hop = way.hop(from);
        if (hop == null) {
            hop = way.remember(overItsLink(way.newHop(from), gateway.toHigh(), gateway.toLow()));
        }
        DropReason reason = way.begin(packet, hop, answerBytes);
        return reason == null ? leave(packet, hop, null) : reason;
    }

    private GatewayEgress towards(GatewaySocket gateway) {
        for (int i = 0; i < gateways.size(); i++) {
            if (gateways.get(i).isOf(gateway)) {
                return gateways.get(i);
            }
        }
        GatewayEgress way = new GatewayEgress(gateway, memory, scarce, traffic);
        gateways.add(way);
        datagrams.add(way.egress());
        return way;
    }

    private @Nullable DropReason depart(Packet packet, RouteCacheEntry hop) {
        if (hop.refusal != null) {
            return hop.refusal;
        }
        DropReason reason = prepare(packet, hop);
        return reason == null ? leave(packet, hop, null) : reason;
    }

    /** Has a packet ready for its next hop: spends a hop of its budget; or returns why it cannot go there. */
    @Nullable
    DropReason prepare(Packet packet, RouteCacheEntry hop) {
        if (packet.isTamanoir()) {
            if (hop.isActiveNode) {
                if (!spendHop(packet)) {
                    return packet.has(Option.HOP_BUDGET) ? DropReason.HOP_BUDGET : DropReason.PACKET_TOO_LONG;
                }
                if (packet.has(Option.PREVIOUS_NODE)) {
                    NodeOptions.setPreviousNode(packet, forwarder.codeServer());
                }
            }
        } else if (cameFrom.test(hop)) {
            return DropReason.LOOP;
        }
        DropReason unsigned =
                guard == null || hop.address instanceof GatewayAddress ? null : guard.sign(packet, hop.address);
        if (unsigned != null) {
            return unsigned;
        }
        return packet.length() > hop.maxBytes ? DropReason.PACKET_TOO_LONG : null;
    }

    /** Returns whether packets have to be looked at for what they leave with. */
    boolean marks() {
        return trafficOctets.length > 0;
    }

    /** Returns the next hop towards there, if its connection is there and no class's matters before it; else null. */
    @Nullable
    RouteCacheEntry reached(long high, long low, int port) {
        RouteCacheEntry hop = routes.hop(high, low, port);
        Egress departure = hop.departure;
        return departure == null || departure.isClosed() || hop.link != null || marks() ? null : hop;
    }

    /** A packet whose next hop is not reached yet. */
    private final class Leaving implements Departure {
        private final Packet packet;
        private final RouteCacheEntry hop;

        Leaving(Packet packet, RouteCacheEntry hop) {
            this.packet = packet;
            this.hop = hop;
        }

        @Override
        public @Nullable DropReason again() {
            return leave(packet, hop, this);
        }
    }

    private @Nullable DropReason leave(Packet packet, RouteCacheEntry hop, @Nullable Departure again) {
        Egress departure = hop.departure;
        if (departure == null || !departure.serves(hop)) {
            departure = way(hop);
            if (departure == null) {
                return leaveLater(packet, hop, again);
            }
        }
        packet.seal();
        if (hop.link == null && !marks()) {
            return departure.add(packet, hop);
        }
        Classifier classifier = quality.classifier();
        int trafficClass = classifier == null ? 0 : classifier.classOf(packet);
        if (!marks()) {
            return departure.addOverLink(packet, hop, trafficClass);
        }
        departure.mark(trafficOctets[trafficClass]);
        DropReason reason =
                hop.link == null ? departure.add(packet, hop) : departure.addOverLink(packet, hop, trafficClass);
        departure.mark(0);
        return reason;
    }

    private @Nullable DropReason leaveLater(Packet packet, RouteCacheEntry hop, @Nullable Departure again) {
        if (!mayCome) {
            return DropReason.NEXT_HOP_UNREACHABLE;
        }
        parking.park(packet, again == null ? new Leaving(packet, hop) : again);
        return null;
    }

    /** Spends a hop of the packet's budget; fills an empty one, and adds a missing one, so that no loop of routes is endless. */
    private boolean spendHop(Packet packet) {
        int left = packet.hopBudget();
        if (left == 1) {
            return false;
        }
        if (left == 0) {
            if (!packet.has(Option.HOP_BUDGET) && !packet.addOption(Option.HOP_BUDGET)) {
                return false;
            }
            NodeOptions.setHopBudget(packet, initialHopBudget);
        } else {
            NodeOptions.setHopBudget(packet, left - 1);
        }
        return true;
    }

    private RouteCacheEntry overItsLink(RouteCacheEntry hop) {
        return overItsLink(hop, hop.high, hop.low);
    }

    /** Has packets of this hop go over the link that leads to an address. */
    private RouteCacheEntry overItsLink(RouteCacheEntry hop, long high, long low) {
        LinkContent link = hop.refusal != null ? null : quality.linkTowards(high, low);
        if (link != null) {
            LinkPort access = links.port(link);
            hop.over(access);
            hop.backlog = hop.isUdp || isDatagramService() ? links.backlog(access) : null;
        }
        return hop;
    }

    private boolean isDatagramService() {
        return transport == StreamInfo.Transport.UDP;
    }

    /** Returns the way there, for the packet in hand; null when there is none. */
    private @Nullable Egress way(RouteCacheEntry hop) {
        Egress departure = hop.departure;
        if (departure == null || departure.isClosed()) {
            departure = open(hop);
        }
        return departure instanceof UdpEgress out ? back(out, hop) : departure;
    }

    /**
     * Returns the way to this next hop for the packet in hand: {@code out}, unless what goes there goes back, through another
     * socket. A destination keeps that way until what goes there answers something that came through another one.
     */
    UdpEgress back(UdpEgress out, RouteCacheEntry hop) {
        Arrival from = answers == null ? null : answers.to(hop);
        if (from == null || out.serves(hop) || !context.egress().receives(from.socket())) {
            return out;
        }
        UdpEgress back = through(from.socket(), out.scope());
        if (hop.isDestination()) {
            hop.departure = back;
        }
        return back;
    }

    private @Nullable Egress open(RouteCacheEntry hop) {
        InetSocketAddress address = hop.address;
        if (address == null) {
            mayCome = false;
            return null;
        }
        Egress departure = hop.isUdp ? datagrams(hop, address) : connections.towards(address, hop.isTls);
        if (departure == null) {
            mayCome = !hop.isUdp && connections.mayCome();
            return null;
        }
        if (!departure.over(hop.link)) {
            mayCome = true;
            return null;
        }
        hop.departure = departure;
        return departure;
    }

    private @Nullable Egress datagrams(RouteCacheEntry hop, InetSocketAddress address) {
        InetAddress to = address.getAddress();
        Arrival from = answers == null || !hop.isDestination() ? null : answers.to(hop);
        UdpSocket socket = from != null && context.egress().receives(from.socket())
                ? from.socket() // It goes back.
                : context.egress().towards(to);
        int scope = to.isLinkLocalAddress() ? Addresses.scope(to) : 0;
        if (socket == null || (scope != 0 && datagrams.size() >= MAX_DATAGRAM_WAYS)) {
            return null;
        }
        return through(socket, scope);
    }

    /** Returns the way out through this socket. */
    UdpEgress through(UdpSocket socket) {
        return through(socket, 0);
    }

    private UdpEgress through(UdpSocket socket, int scope) {
        for (int i = 0; i < datagrams.size(); i++) {
            if (datagrams.get(i).isThrough(socket, scope)) {
                return datagrams.get(i);
            }
        }
        UdpEgress departure = scarce.make(() -> open(socket, scope));
        datagrams.add(departure);
        return departure;
    }

    private UdpEgress open(UdpSocket socket, int scope) {
        UdpSender sender = socket.newSender(scope);
        return answers != null && context.egress().tellsAnswers(socket)
                ? new WildcardEgress(socket, scope, sender, memory, traffic, answers)
                : new UdpEgress(socket, scope, sender, memory, traffic);
    }

    /** Returns the way of datagrams in transit. */
    TransitEgress transit(UpcallPath up) {
        TransitEgress known = transit;
        if (known == null) {
            known = new TransitEgress(up, memory, scarce, traffic);
            transit = known;
        }
        return known;
    }

    /** Forgets the packet before, so that {@link RouteCache#lastHop} tells of those from now on. */
    void forgetLast() {
        routes.forgetLast();
        links.forgetNewest();
    }

    void flush() {
        // A service may leave its thread interrupted: the JDK's channels would close.
        boolean ignored = Thread.interrupted();
        do {
            links.beforeFlush();
            connections.flush();
            for (int i = 0; i < datagrams.size(); i++) {
                datagrams.get(i).flush();
            }
            if (transit != null) {
                transit.flush();
            }
        } while (links.afterFlush());
    }

    /** Returns whether datagrams that were flushed may still be in the host's queues. */
    boolean hasUnsent() {
        for (int i = 0; i < datagrams.size(); i++) {
            if (datagrams.get(i).hasUnsent()) {
                return true;
            }
        }
        return transit != null && transit.hasUnsent();
    }

    /** Sends datagrams that their links have granted since the last flush. */
    void flushGranted() {
        if (links.hasReturned()) {
            flush();
        }
    }

    /** Sends what links have granted if others wait for it, as the token of a ring does: between packets of a batch. */
    void flushAwaited() {
        if (links.isAwaited()) {
            flush();
        }
    }

    /** Has {@code starved} follow when datagrams wait for a link that grants nothing for this long. */
    void watchLinks(Duration time, Consumer<LinkPort> starved) {
        links.watch(time, starved);
    }

    /** Returns how many packets wait to leave. */
    long held() {
        long held = connections.held();
        for (int i = 0; i < datagrams.size(); i++) {
            held += datagrams.get(i).held();
        }
        return held + links.held() + (transit == null ? 0 : transit.held());
    }

    /** Breaks all connections, and takes what waits out of links. Another thread: {@link Egress#resetFromOutside}. */
    void resetFromOutside() {
        connections.resetFromOutside();
        links.forsake();
    }

    /** Closes all connections. */
    void close(DropReason reason) {
        flush();
        closeUnflushed(reason);
    }

    /** Closes all connections, and sends nothing more. */
    void closeUnflushed(DropReason reason) {
        connections.close(reason);
        for (UdpEgress departure : datagrams) {
            departure.close(reason);
        }
        if (transit != null) {
            transit.discard(reason);
        }
        links.close(reason);
        routes.forgetDestinations();
        forgetWays();
    }
}

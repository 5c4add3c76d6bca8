package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.qdisc.Classifier;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.transport.UdpSocket;

/**
 * All ways out of one service's thread. Finds a packet's next hop, spends a hop of its budget, and adds it to the
 * way there. Where the way leads over a link that is scheduled, the packet's class is that which it has now, after its
 * service; replies go back without crossing a link.
 *
 * <p>Thread contract: the service's thread.
 */
final class Departures {
    /** TCP next hops that one thread keeps at once; the one idle for longest makes room. */
    static final int MAX_CONNECTIONS = 64;
    /** Destinations whose next hop is remembered; a power of two. */
    private static final int REMEMBERED = 64;

    private static final Hop NOWHERE = Forwarder.refused(0, 0, -1, DropReason.NO_ROUTE);

    private final ServiceInstance instance;
    private final Forwarder forwarder;
    private final int initialHopBudget;
    private final Traffic traffic;
    private final @Nullable Hop[] hops = new @Nullable Hop[REMEMBERED];
    /** In the order of their last opening. */
    private final List<Departure> connections = new ArrayList<>();

    private final List<Target> connectionTargets = new ArrayList<>();
    private final List<UdpDeparture> datagrams = new ArrayList<>();
    private final List<UdpSocket> datagramSockets = new ArrayList<>();
    private final ThreadLinks links;
    /** Null while nothing in transit has gone on. */
    private @Nullable TransitDeparture transit;

    private QualityOfService.Now quality;
    private Hop last = NOWHERE;
    /** Of a stream in transit. */
    private @Nullable Hop straight;

    private int generation;

    Departures(ServiceInstance instance, Forwarder forwarder, int initialHopBudget, Traffic traffic) {
        this.instance = instance;
        this.forwarder = forwarder;
        this.initialHopBudget = initialHopBudget;
        this.traffic = traffic;
        this.quality = instance.environment().qualityOfService().now();
        this.links = new ThreadLinks(instance, traffic);
    }

    /** Takes note of routes and links that have changed; after a batch has come in, before its first packet goes. */
    void refresh() {
        int now = forwarder.generation();
        QualityOfService.Now qualityNow =
                instance.environment().qualityOfService().now();
        if (now != generation || qualityNow != quality) {
            generation = now;
            Arrays.fill(hops, null);
            last = NOWHERE;
            straight = null;
            if (qualityNow != quality) {
                refresh(qualityNow);
            }
        }
    }

    private void refresh(QualityOfService.Now now) {
        boolean moves = !now.hasLinksOf(quality);
        quality = now;
        links.refresh(now.config());
        if (moves) {
            // What comes now may go another way: nothing older must be left behind. Connections see to that themselves.
            links.releaseDatagrams();
            flush();
            links.retain(now.links());
        }
    }

    /**
     * Sends a packet towards its destination.
     *
     * @return null, or why it cannot go
     */
    @Nullable
    DropReason depart(Packet packet) {
        if (!packet.hasInternetDestination()) {
            return DropReason.NO_ROUTE;
        }
        return depart(packet, hop(packet.destinationHigh(), packet.destinationLow(), packet.destinationPort()));
    }

    /** Sends a packet as if it were for {@code destination}. */
    @Nullable
    DropReason depart(Packet packet, InetSocketAddress destination) {
        return depart(
                packet,
                hop(
                        Forwarder.high(destination.getAddress()),
                        Forwarder.low(destination.getAddress()),
                        destination.getPort()));
    }

    /** Sends a packet of a stream straight to {@code destination}, always the same, without asking routes. */
    @Nullable
    DropReason departStraight(Packet packet, InetSocketAddress destination) {
        Hop hop = straight;
        if (hop == null) {
            hop = overItsLink(Forwarder.straight(destination));
            straight = hop;
        }
        return depart(packet, hop);
    }

    private @Nullable DropReason depart(Packet packet, Hop hop) {
        if (hop.refusal != null) {
            return hop.refusal;
        }
        if (packet.isTamanoir()) {
            if (hop.isActiveNode) {
                if (!spendHop(packet)) {
                    return packet.has(Option.HOP_BUDGET) ? DropReason.HOP_BUDGET : DropReason.PACKET_TOO_LONG;
                }
                if (packet.has(Option.PREVIOUS_NODE)) {
                    packet.setPreviousNode(forwarder.codeServer());
                }
            }
        } else if (instance.cameFrom(hop)) {
            return DropReason.LOOP;
        }
        if (packet.length() > hop.maxOctets) {
            return DropReason.PACKET_TOO_LONG;
        }
        Departure departure = hop.departure;
        if (departure == null || departure.isClosed()) {
            departure = open(hop);
            if (departure == null) {
                return DropReason.NEXT_HOP_UNREACHABLE;
            }
        }
        packet.seal();
        if (hop.link != null) {
            return departOverLink(packet, hop, departure);
        }
        if (hop.isUdp) {
            return ((UdpDeparture) departure).to(hop.high, hop.low, hop.port()).add(packet);
        }
        return departure.add(packet);
    }

    private @Nullable DropReason departOverLink(Packet packet, Hop hop, Departure departure) {
        Classifier classifier = quality.classifier();
        int trafficClass = classifier == null ? 0 : classifier.classOf(packet);
        DatagramBacklog backlog = hop.backlog;
        return backlog == null
                ? ((TcpDeparture) departure).add(packet, trafficClass)
                : backlog.add(packet, trafficClass, departure, hop);
    }

    /** An empty budget is filled, and a packet without one gets one, so that no loop of routes is endless. */
    private boolean spendHop(Packet packet) {
        int left = packet.hopBudget();
        if (left == 1) {
            return false;
        }
        if (left == 0) {
            if (!packet.has(Option.HOP_BUDGET) && !packet.addOption(Option.HOP_BUDGET)) {
                return false;
            }
            packet.setHopBudget(initialHopBudget);
        } else {
            packet.setHopBudget(left - 1);
        }
        return true;
    }

    private Hop hop(long high, long low, int port) {
        Hop hop = last;
        if (hop.isFor(high, low, port)) {
            return hop;
        }
        int slot = (int) ((low ^ high ^ port) * 0x9E37_79B9_7F4A_7C15L >>> 58) & (REMEMBERED - 1);
        Hop remembered = hops[slot];
        if (remembered == null || !remembered.isFor(high, low, port)) {
            remembered = overItsLink(
                    forwarder.resolve(high, low, port, instance.stream().transport()));
            hops[slot] = remembered;
        }
        last = remembered;
        return remembered;
    }

    private Hop overItsLink(Hop hop) {
        LinkScheduler link = hop.refusal != null ? null : quality.linkTowards(hop.high, hop.low);
        if (link != null) {
            LinkPort access = links.port(link, quality.config());
            hop.over(access);
            hop.backlog = hop.isUdp || isDatagramService() ? links.backlog(access) : null;
        }
        return hop;
    }

    private boolean isDatagramService() {
        return instance.stream().transport() == StreamInfo.Transport.UDP;
    }

    private @Nullable Departure open(Hop hop) {
        InetSocketAddress address = hop.address;
        if (address == null) {
            return null;
        }
        Departure departure = hop.isUdp ? datagrams(address) : connection(Target.of(address, hop.isTls));
        if (departure instanceof TcpDeparture connection
                && instance instanceof StreamInstance stream
                && !connection.over(hop.link, stream)) {
            return null;
        }
        hop.departure = departure;
        return departure;
    }

    /** One end of a connection; with TLS the name that its certificate was checked against is part of it. */
    private record Target(
            InetSocketAddress address, @Nullable String tlsName) {
        static Target of(InetSocketAddress address, boolean isTls) {
            return new Target(address, isTls ? address.getHostString() : null);
        }
    }

    private @Nullable Departure connection(Target target) {
        int known = connectionTargets.indexOf(target);
        if (known >= 0) {
            if (!connections.get(known).isClosed()) {
                return connections.get(known);
            }
            forget(known);
        }
        if (connections.size() == MAX_CONNECTIONS && !makeRoom()) {
            return null;
        }
        Departure departure = instance.connect(target.address, target.tlsName != null);
        if (departure != null) {
            connections.add(departure);
            connectionTargets.add(target);
        }
        return departure;
    }

    private boolean makeRoom() {
        instance.drain();
        for (int i = 0; i < connections.size(); i++) {
            if (connections.get(i).isIdle()) {
                return closeIdle(i);
            }
        }
        return connections.get(0).awaitIdle() && closeIdle(0);
    }

    private boolean closeIdle(int index) {
        connections.get(index).close(DropReason.NEXT_HOP_LOST);
        forget(index);
        return true;
    }

    private void forget(int index) {
        connections.remove(index);
        connectionTargets.remove(index);
    }

    private @Nullable Departure datagrams(InetSocketAddress address) {
        UdpSocket socket = instance.environment().udpSocketTowards(address.getAddress());
        if (socket == null) {
            return null;
        }
        return through(socket);
    }

    /** The way out through this socket. */
    UdpDeparture through(UdpSocket socket) {
        int known = datagramSockets.indexOf(socket);
        if (known >= 0) {
            return datagrams.get(known);
        }
        UdpDeparture departure = new UdpDeparture(socket.newSender(), traffic);
        datagramSockets.add(socket);
        datagrams.add(departure);
        return departure;
    }

    /** The way of datagrams in transit. */
    TransitDeparture transit(UpPath up) {
        TransitDeparture known = transit;
        if (known == null) {
            known = new TransitDeparture(up, traffic);
            transit = known;
        }
        return known;
    }

    void flush() {
        // A service may leave its thread interrupted: the JDK's channels would close.
        boolean ignored = Thread.interrupted();
        links.beforeFlush();
        for (int i = 0; i < connections.size(); i++) {
            connections.get(i).flush();
        }
        for (int i = 0; i < datagrams.size(); i++) {
            datagrams.get(i).flush();
        }
        if (transit != null) {
            transit.flush();
        }
        links.afterFlush();
    }

    /** Sends datagrams that their links have granted since the last flush. */
    void flushGranted() {
        if (links.hasReturned()) {
            flush();
        }
    }

    /** Sends what links have granted, of streams and datagrams, while the thread waits for something else. */
    void writeGranted() {
        flushGranted();
        for (int i = 0; i < connections.size(); i++) {
            if (connections.get(i) instanceof TcpDeparture connection && connection.backlog() != null) {
                connection.settle();
            }
        }
    }

    /** Datagrams that wait for links. */
    List<DatagramBacklog> backlogs() {
        return links.backlogs();
    }

    /** Whether some packets go, or have gone, over links. */
    boolean hasLinks() {
        return !links.isEmpty();
    }

    /** TCP connections to next hops. */
    List<Departure> connections() {
        return connections;
    }

    /** Packets that wait to leave. */
    long held() {
        long held = 0;
        for (int i = 0; i < connections.size(); i++) {
            held += connections.get(i).held();
        }
        for (int i = 0; i < datagrams.size(); i++) {
            held += datagrams.get(i).held();
        }
        return held + links.held() + (transit == null ? 0 : transit.held());
    }

    /** Breaks all connections, and takes what waits out of links. Another thread: {@link Departure#resetFromOutside}. */
    void resetFromOutside() {
        connections.forEach(Departure::resetFromOutside);
        links.forsake();
    }

    /** Closes all connections of a stream that cannot go on, so that their far sides know. */
    void reset(DropReason reason) {
        for (Departure departure : connections) {
            ((TcpDeparture) departure).reset(reason);
        }
        connections.clear();
        connectionTargets.clear();
        closeLinks(reason);
    }

    /** Closes all connections. */
    void close(DropReason reason) {
        flush();
        closeUnflushed(reason);
    }

    /** Closes all connections, and sends nothing more. */
    void closeUnflushed(DropReason reason) {
        for (Departure departure : connections) {
            departure.close(reason);
        }
        connections.clear();
        connectionTargets.clear();
        closeLinks(reason);
    }

    private void closeLinks(DropReason reason) {
        links.close(reason);
        Arrays.fill(hops, null);
        last = NOWHERE;
        straight = null;
    }
}

package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tamanoir.gateway.CountedGateway;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.gateway.udp.GatewayHost;
import org.tamanoir.gateway.udp.GatewaySocket;
import org.tamanoir.rtp.RtpCompanion;
import org.tamanoir.rtp.RtpSnapshot;
import org.tamanoir.rtp.RtpSources;
import org.tamanoir.rtp.RtpStatus;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.UdpEgressSockets;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;

/**
 * The node's gateways.
 *
 * <p>Thread contract: any thread.
 */
final class Gateways {
    private final NodeContext context;
    private final Instances instances;
    private final List<InetSocketAddress> bound = new ArrayList<>();
    private final List<GatewaySocket> udp = new ArrayList<>();
    private List<CountedGateway> wanted = List.of();
    private List<UdpGateway> wantedUdp = List.of();

    Gateways(NodeContext context, Instances instances) {
        this.context = context;
        this.instances = instances;
    }

    /** As {@link ExecutionEnvironment#gateways}. */
    synchronized void configure(List<Gateway> gateways) {
        wanted = gateways.stream().map(CountedGateway::new).toList();
    }

    /** As {@link ExecutionEnvironment#udpGateways}. */
    synchronized void configureUdp(List<UdpGateway> gateways) {
        wantedUdp = List.copyOf(gateways);
    }

    /** Returns what is known of RTP that crosses them, one after another. */
    synchronized RtpSnapshot rtp() {
        List<RtpStatus> all = new ArrayList<>();
        long crowded = 0;
        Map<RtpCompanion, Long> companions = new EnumMap<>(RtpCompanion.class);
        Set<RtpSources> each = new LinkedHashSet<>();
        for (GatewaySocket opened : udp) {
            RtpSources sources = opened.rtp();
            if (sources != null && each.add(sources)) {
                RtpSnapshot its = sources.status();
                all.addAll(its.status());
                crowded += its.crowded();
                its.companions().forEach((companion, count) -> companions.merge(companion, count, Long::sum));
            }
        }
        return new RtpSnapshot(all, crowded, companions);
    }

    /** Listens where they are to. */
    synchronized void start(Acceptor reception) throws IOException {
        for (CountedGateway gateway : wanted) {
            InetSocketAddress real = reception.listen(gateway);
            bound.add(real);
            context.forwarder().own(StreamInfo.Transport.TCP, real);
        }
        for (UdpGateway gateway : wantedUdp) {
            GatewaySocket opened = open(gateway);
            udp.add(opened);
            bound.add(opened.localAddress());
            context.forwarder().own(StreamInfo.Transport.UDP, opened.localAddress());
        }
        for (GatewaySocket opened : udp) { // Each knows where all listen.
            opened.start();
            reception.adopt(UdpPort.ready(opened));
        }
    }

    private GatewaySocket open(UdpGateway gateway) throws IOException {
        UdpSocket under = context.transport().bind(gateway.address());
        UdpEgressSockets.warnOfAnswers(under);
        try {
            RtpSources rtp = gateway.rtpClockHz() == 0 ? null : sources(gateway);
            return new GatewaySocket(host(context), under, gateway, rtp, BatchMemory.ofThisJvm());
        } catch (IOException | RuntimeException | Error e) {
            under.close();
            throw e;
        }
    }

    static GatewayHost host(NodeContext context) {
        return new GatewayHost(
                context.platform(),
                context.tap(),
                context.transport(),
                context::newLoop,
                context.threads(),
                context.forwarder()::isOwnUdp);
    }

    /** Returns the sources of a gateway: those of the one beside it, where one is for RTP and the other for its RTCP. */
    private RtpSources sources(UdpGateway gateway) {
        for (GatewaySocket opened : udp) {
            RtpSources sources = opened.rtp();
            if (sources != null && (isAbove(opened.gateway(), gateway) || isAbove(gateway, opened.gateway()))) {
                return sources;
            }
        }
        return new RtpSources(gateway.to(), gateway.rtpClockHz());
    }

    /** Returns whether one has the next port on both sides, as RTCP has above RTP (RFC 3550, 11). */
    private static boolean isAbove(UdpGateway above, UdpGateway below) {
        return isAbove(above.address(), below.address()) && isAbove(above.to(), below.to());
    }

    private static boolean isAbove(InetSocketAddress above, InetSocketAddress below) {
        return above.getPort() == below.getPort() + 1 && above.getAddress().equals(below.getAddress());
    }

    /** Closes the sockets of those for UDP, which nobody reads any more. */
    void close() {
        List<GatewaySocket> all;
        synchronized (this) { // It takes a while, and who looks does not wait.
            all = List.copyOf(udp);
        }
        for (GatewaySocket opened : all) {
            opened.end();
        }
    }

    /** Adds what has come back from far sides of UDP, and what became no packets. */
    synchronized void addTo(Traffic.Sum sum) {
        for (GatewaySocket opened : udp) {
            opened.addTo(sum);
        }
    }

    /** Returns what each is and has done, in their order, those for UDP last. */
    synchronized List<GatewayStatus> status() {
        List<GatewayStatus> all = new ArrayList<>();
        for (int i = 0; i < Math.min(wanted.size(), bound.size()); i++) {
            all.add(instances.status(wanted.get(i), bound.get(i)));
        }
        for (GatewaySocket opened : udp) {
            all.add(status(opened));
        }
        return all;
    }

    private static GatewayStatus status(GatewaySocket opened) {
        UdpGateway gateway = opened.gateway();
        Traffic.Sum sum = new Traffic.Sum();
        opened.addTo(sum);
        TrafficSnapshot beside = sum.ofInstance();
        return new GatewayStatus(
                StreamInfo.Transport.UDP,
                opened.localAddress(),
                gateway.to(),
                gateway.rtpClockHz() == 0 ? "datagrams" : "rtp",
                gateway.serviceKey(),
                gateway.classOfService(),
                opened.senders(),
                opened.sendersBegun(),
                new TrafficSnapshot(
                        beside.packetsIn() + opened.datagramsIn(),
                        beside.bytesIn() + opened.bytesIn(),
                        0,
                        beside.packetsOut() + opened.datagramsOn(),
                        beside.bytesOut() + opened.bytesOn(),
                        beside.held(),
                        beside.drops(),
                        0));
    }

    /** Returns where they listen, in their order, with the real ports. */
    synchronized List<InetSocketAddress> addresses() {
        return List.copyOf(bound);
    }
}

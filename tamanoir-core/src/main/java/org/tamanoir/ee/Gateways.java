package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.rtp.RtpSources;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.StreamGateway;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;

/**
 * The node's gateways.
 *
 * <p>Thread contract: any thread.
 */
final class Gateways {
    private final NodeContext context;
    private final List<InetSocketAddress> bound = new ArrayList<>();
    private final List<GatewayFlows> flows = new ArrayList<>();
    private final RtpSources rtp = new RtpSources();
    private List<StreamGateway> wanted = List.of();
    private List<UdpGateway> wantedUdp = List.of();

    Gateways(NodeContext context) {
        this.context = context;
    }

    /** As {@link ExecutionEnvironment#gateways}. */
    synchronized void configure(List<? extends StreamGateway> gateways) {
        wanted = List.copyOf(gateways);
    }

    /** As {@link ExecutionEnvironment#udpGateways}. */
    synchronized void configureUdp(List<UdpGateway> gateways) {
        wantedUdp = List.copyOf(gateways);
    }

    /** Returns what is known of RTP that crosses them. */
    RtpSources rtp() {
        return rtp;
    }

    /** Listens where they are to. */
    synchronized void start(Acceptor reception) throws IOException {
        for (StreamGateway gateway : wanted) {
            InetSocketAddress real = reception.listen(gateway);
            bound.add(real);
            context.forwarder().own(StreamInfo.Transport.TCP, real);
        }
        BatchMemory memory = BatchMemory.ofThisJvm();
        for (UdpGateway gateway : wantedUdp) {
            UdpSocket under = context.transport().bind(gateway.address());
            GatewayFlows opened;
            try {
                opened = new GatewayFlows(context, gateway, rtp, memory, under);
            } catch (IOException | RuntimeException | Error e) {
                under.close();
                throw e;
            }
            flows.add(opened);
            bound.add(under.localAddress());
            context.forwarder().own(StreamInfo.Transport.UDP, under.localAddress());
            opened.start();
            reception.adopt(new UdpPort(opened.socket()));
        }
    }

    /** Closes the sockets of those for UDP, which nobody reads any more. */
    synchronized void close() {
        flows.forEach(GatewayFlows::close);
    }

    /** Adds what has come back from far sides of UDP. */
    synchronized void addTo(Traffic.Sum sum) {
        flows.forEach(each -> each.traffic().addTo(sum));
    }

    /** Returns where they listen, in their order, with the real ports. */
    synchronized List<InetSocketAddress> addresses() {
        return List.copyOf(bound);
    }
}

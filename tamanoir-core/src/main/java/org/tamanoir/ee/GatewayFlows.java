package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.routing.Addresses;
import org.tamanoir.rtp.RtpSources;
import org.tamanoir.supervision.CoreThread;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * The senders of a gateway for UDP, each with a socket of its own towards the far side, so that what is answered there
 * finds back to it. A flow is proven when its sender has sent again after it was answered. Where there is no room for one
 * more, that takes the place of the unproven flow that has been quiet longest; proven ones give way to nobody.
 *
 * <p>Thread contract: any thread. Answers are carried by a thread of its own.
 */
final class GatewayFlows {
    /** Flows at once, each with a descriptor. */
    private static final int MAX_FLOWS = 1024;
    /** Without a datagram from either side: what RFC 4787 wants of translators at least (REQ-5). */
    private static final long IDLE_NS = 120_000_000_000L;
    /** Flows that give way to others in a round: the system closes a socket no sooner than its selector forgets it. */
    private static final int MAX_EVICTIONS = 256;

    private static final Logger LOG = LoggerFactory.getLogger(GatewayFlows.class);
    private static final long ROUND_MS = 200;
    /** Datagrams taken from one flow's socket before the next one's turn. */
    private static final int BATCH = 64;
    /** Of IPv4 and UDP, counted with each datagram, as {@link UdpReaction} does. */
    private static final int HEADER_BYTES = 28;

    private static final long PATIENCE_MS = 10_000;

    private final NodeContext context;
    private final UdpGateway gateway;
    private final RtpSources rtp;
    private final GatewaySocket socket;
    /** Of answers, and of datagrams that fit no packet. Counted under the lock. */
    private final Traffic traffic;

    private final int answerGrowth;
    private final CoreThread thread;
    private final Selector selector;
    private final UdpSender back;
    private final ByteBuffer answer = ByteBuffer.allocateDirect(65_536);
    /** Those that have been quiet longest first. Guarded by the lock. */
    private final Map<Sender, Flow> flows = new LinkedHashMap<>(64, 0.75f, true);

    private boolean closed;
    /** In this round. */
    private int evictions;

    private record Sender(long high, long low, int port) {}

    /** One sender's way there. Guarded by the lock. */
    private static final class Flow {
        final Sender sender;
        final DatagramChannel channel;
        long usedNs;
        /** Octets that may still go back. */
        long answersLeft;

        boolean isAnswered;
        boolean isProven;

        Flow(Sender sender, DatagramChannel channel) {
            this.sender = sender;
            this.channel = channel;
        }
    }

    GatewayFlows(NodeContext context, UdpGateway gateway, RtpSources rtp, BatchMemory memory, UdpSocket under)
            throws IOException {
        this.context = context;
        this.gateway = gateway;
        this.rtp = rtp;
        this.traffic = new Traffic(context.tap(), "gateways");
        this.answerGrowth = context.config().udpBounds().answerGrowth();
        this.socket = new GatewaySocket(under, gateway, this, memory);
        this.back = under.newSender();
        this.selector = Selector.open();
        this.thread =
                new CoreThread("gateway " + under.localAddress().getPort(), context.threads(), this::round, () -> {});
    }

    void start() {
        thread.start();
    }

    GatewaySocket socket() {
        return socket;
    }

    /** Returns the counts of what was no packet of a service. */
    Traffic traffic() {
        return traffic;
    }

    /** Sends a packet's payload to the far side as its sender's; returns why it cannot go. */
    @Nullable
    DropReason send(Packet packet, Arrival from, Traffic counts) {
        if (context.forwarder().isOwnUdp(gateway.to())) {
            return DropReason.LOCAL;
        }
        int length = packet.payloadLength();
        if (length == 0) {
            return DropReason.SHORT; // A channel that is connected writes no empty datagram.
        }
        int at = packet.payloadOffset();
        ByteBuffer payload = packet.buffer().duplicate();
        payload.limit(at + length).position(at);
        Sender sender = new Sender(from.high(), from.low(), from.port());
        synchronized (this) {
            if (closed) {
                return DropReason.SHUTDOWN;
            }
            Flow flow = flows.get(sender);
            if (flow == null) {
                if (!hasRoom()) {
                    return DropReason.STREAM_LIMIT;
                }
                flow = open(sender);
                if (flow == null) {
                    return DropReason.NEXT_HOP_UNREACHABLE;
                }
            }
            flow.usedNs = context.platform().nanoTime();
            flow.isProven |= flow.isAnswered;
            flow.answersLeft += (long) answerGrowth * (length + HEADER_BYTES);
            try {
                if (flow.channel.write(payload) != length || payload.hasRemaining()) {
                    return DropReason.SEND_ERROR;
                }
            } catch (IOException e) {
                return DropReason.SEND_ERROR; // Also when a datagram before was refused there.
            }
        }
        counts.out(1, length);
        return null;
    }

    private boolean hasRoom() {
        if (flows.size() < MAX_FLOWS) {
            return true;
        }
        for (Iterator<Flow> each = flows.values().iterator(); each.hasNext(); ) {
            Flow flow = each.next();
            if (!flow.isProven && evictions < MAX_EVICTIONS) {
                evictions++;
                each.remove();
                close(flow);
                return true;
            }
        }
        return false;
    }

    private @Nullable Flow open(Sender sender) {
        DatagramChannel channel = null;
        try {
            channel = DatagramChannel.open();
            channel.configureBlocking(false);
            channel.connect(gateway.to());
            Flow flow = new Flow(sender, channel);
            channel.register(selector, SelectionKey.OP_READ, flow);
            flows.put(sender, flow);
            selector.wakeup();
            return flow;
        } catch (IOException e) {
            LOG.info("gateway {}: no socket to {}: {}", socket.localAddress(), gateway.to(), e.getMessage());
            if (channel != null) {
                close(channel);
            }
            return null;
        }
    }

    private void round() throws IOException {
        selector.select(ROUND_MS);
        synchronized (this) {
            evictions = 0;
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isValid()) {
                    read((Flow) key.attachment());
                }
            }
            selector.selectedKeys().clear();
            sweep();
            traffic.publish();
        }
    }

    private void read(Flow flow) {
        for (int i = 0; i < BATCH; i++) {
            answer.clear();
            try {
                if (flow.channel.receive(answer) == null) {
                    return;
                }
            } catch (IOException e) {
                continue; // The far side's host has refused a datagram; those behind it may have been answered.
            }
            carry(flow, answer.position());
        }
    }

    private void carry(Flow flow, int length) {
        traffic.in(length);
        long cost = length + HEADER_BYTES;
        if (cost > flow.answersLeft) {
            drop(DropReason.AMPLIFICATION, length);
            return;
        }
        flow.answersLeft -= cost;
        see(length);
        Sender to = flow.sender;
        flow.usedNs = context.platform().nanoTime();
        flow.isAnswered = true;
        long sent = back.sentPackets();
        back.add(answer, 0, length, to.high(), to.low(), to.port());
        back.flush();
        if (back.sentPackets() > sent) {
            traffic.out(1, length);
        } else {
            drop(DropReason.SEND_ERROR, length);
        }
    }

    private void drop(DropReason reason, int length) {
        traffic.drop(reason, gateway.to(), ServiceKey.NONE, length);
    }

    /** Returns whether a datagram may become a packet; else it is counted as dropped. */
    boolean admits(ByteBuffer memory, int at, int octets, long high, long low, int port) {
        if (gateway.rtpClockHz() == 0
                || rtp.take(
                                memory,
                                at,
                                octets,
                                high,
                                low,
                                port,
                                gateway.rtpClockHz(),
                                context.platform().nanoTime())
                        == null) {
            return true;
        }
        drop(DropReason.RTP, 1, octets);
        return false;
    }

    /** Takes note of RTP that comes back, where it is some. */
    private void see(int octets) {
        InetSocketAddress far = gateway.to();
        if (gateway.rtpClockHz() > 0) {
            rtp.take(
                    answer,
                    0,
                    octets,
                    Addresses.high(far.getAddress()),
                    Addresses.low(far.getAddress()),
                    far.getPort(),
                    gateway.rtpClockHz(),
                    context.platform().nanoTime());
        }
    }

    /** Counts datagrams of one message that become no packets. */
    synchronized void drop(DropReason reason, int datagrams, int octets) {
        for (int i = 0; i < datagrams; i++) {
            int length = octets / datagrams + (i == 0 ? octets % datagrams : 0);
            traffic.in(length);
            drop(reason, length);
        }
        traffic.publish();
    }

    private void sweep() {
        long oldestNs = context.platform().nanoTime() - IDLE_NS;
        for (Iterator<Flow> each = flows.values().iterator(); each.hasNext(); ) {
            Flow flow = each.next();
            if (flow.usedNs - oldestNs < 0) {
                each.remove();
                close(flow);
            }
        }
    }

    private static void close(Flow flow) {
        close(flow.channel);
    }

    private static void close(DatagramChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("a gateway's socket: {}", e.getMessage());
        }
    }

    /** Ends all flows and closes the gateway's socket. */
    void close() {
        thread.stop();
        selector.wakeup();
        thread.join(PATIENCE_MS);
        synchronized (this) {
            closed = true;
            new ArrayList<>(flows.values()).forEach(GatewayFlows::close);
            flows.clear();
            traffic.publish();
        }
        try {
            selector.close();
        } catch (IOException e) {
            LOG.debug("a gateway's selector: {}", e.getMessage());
        }
        socket.close();
    }
}

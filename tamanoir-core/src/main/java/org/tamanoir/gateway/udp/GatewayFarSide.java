package org.tamanoir.gateway.udp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.platform.Causes;
import org.tamanoir.routing.Addresses;
import org.tamanoir.rtp.RtpCompanion;
import org.tamanoir.rtp.RtpPacket;
import org.tamanoir.rtp.RtpSources;
import org.tamanoir.supervision.CoreThread;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpHeaders;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * The far side of a gateway for UDP: gives each flow a socket towards there, and carries back what it answers.
 *
 * <p>Thread contract: any thread. Answers are carried by a thread of its own, which waits for no room in the send buffer.
 */
final class GatewayFarSide {
    private static final Logger LOG = LoggerFactory.getLogger(GatewayFarSide.class);
    private static final long ROUND_NS = 200_000_000;
    /** Between two attempts to open a socket, after one that failed; and between looks at the host's addresses. */
    private static final long PAUSE_NS = 1_000_000_000;

    private static final long PATIENCE_MS = 10_000;

    private final GatewayHost host;
    private final UdpGateway gateway;
    private final GatewayFlows flows;
    private final @Nullable RtpSources rtp;
    private final RtpPacket packet = new RtpPacket();
    private final InetSocketAddress near;
    private final UdpSocket under;
    private final IoLoop loop;
    private final CoreThread thread;
    private final Traffic traffic;
    /** Null after the end: some MiB, which would stay while somebody knows the node. */
    private @Nullable Carrier carrier;

    private boolean isStarted;
    private boolean owned;
    private long sweptNs;
    private long lookedNs;
    private volatile boolean isLocal;
    private volatile long triedNs;

    /** What answers are received into, and leave by. */
    private record Carrier(UdpBatch batch, UdpSender back) {}

    /** @throws IOException in one line, if there is no memory for what is answered */
    GatewayFarSide(GatewayHost host, UdpGateway gateway, GatewayFlows flows, @Nullable RtpSources rtp, UdpSocket under)
            throws IOException {
        this.host = host;
        this.gateway = gateway;
        this.flows = flows;
        this.rtp = rtp;
        this.near = under.localAddress();
        this.traffic = new Traffic(host.tap(), "gateways");
        this.under = under;
        this.triedNs = host.platform().nanoTime() - PAUSE_NS;
        try { // Before what would have to be closed.
            UdpSender back = under.newSender((high, low, port, packets, bytes, isFull) -> {});
            this.carrier = new Carrier(under.newBatch(), back);
        } catch (OutOfMemoryError e) {
            IOException lack = UdpPort.withoutMemory(e);
            throw new IOException("gateway " + Addresses.text(near) + ": " + lack.getMessage(), lack);
        }
        this.loop = host.loops().get();
        this.thread = new CoreThread("gateway " + near.getPort(), host.threads(), this::round, this::end);
    }

    /** Begins, when all ports of the node are bound. */
    void start() {
        look();
        isStarted = true;
        thread.start();
    }

    private void look() {
        lookedNs = host.platform().nanoTime();
        isLocal = host.isOwn().test(gateway.to());
    }

    /** Returns whether the gateway leads back to the node. */
    boolean isLocal() {
        return isLocal;
    }

    InetSocketAddress address() {
        return gateway.to();
    }

    /** Returns what has come back. */
    Traffic traffic() {
        return traffic;
    }

    /** Opens the socket of a flow; null where none is to be had, now or for a second after it was not. */
    @Nullable
    UdpSocket open(GatewayFlow flow) {
        long nowNs = host.platform().nanoTime();
        if (nowNs - triedNs < PAUSE_NS) {
            return null;
        }
        try {
            synchronized (flow) {
                UdpSocket known = flow.socket();
                return known == null ? connect(flow) : known;
            }
        } catch (IOException e) {
            failed(e);
        } catch (OutOfMemoryError e) {
            failed(UdpPort.withoutMemory(e));
        }
        return null;
    }

    /** Gives a flow its socket when that is sure to be watched: else nobody would read what is answered. */
    private @Nullable UdpSocket connect(GatewayFlow flow) throws IOException {
        UdpSocket made = host.transport().connect(gateway.to());
        boolean isKept = false;
        try {
            isKept = loop.execute(() -> watch(flow, made)) && flow.open(made);
        } finally {
            if (!isKept) {
                made.close();
            }
        }
        return isKept ? made : null;
    }

    /** One line a second: strangers may be the cause. */
    private void failed(IOException e) {
        triedNs = host.platform().nanoTime();
        LOG.info("gateway {}: {}; tried again in a second", Addresses.text(near), Causes.text(e));
    }

    private void watch(GatewayFlow flow, UdpSocket socket) {
        try {
            if (!flow.isClosed()) {
                loop.watch(socket.watched(), () -> read(flow, socket));
            }
        } catch (IOException e) {
            unwatched(flow, e);
        } catch (OutOfMemoryError e) {
            unwatched(flow, UdpPort.withoutMemory(e));
        }
    }

    private void unwatched(GatewayFlow flow, IOException e) {
        if (!flow.isClosed()) { // By then or meanwhile.
            failed(e);
            flows.end(flow);
        }
    }

    private void round() {
        own();
        try {
            loop.run(ROUND_NS);
            flows.beginRound();
            long nowNs = host.platform().nanoTime();
            if (nowNs - sweptNs >= ROUND_NS) {
                sweptNs = nowNs;
                flows.sweep(nowNs);
            }
            if (nowNs - lookedNs >= PAUSE_NS) {
                look();
            }
        } finally {
            traffic.publish();
        }
    }

    private void own() {
        if (!owned) {
            owned = true;
            loop.own();
        }
    }

    private void end() {
        own(); // It may be over before its first round.
        carrier = null;
        loop.close();
    }

    private void read(GatewayFlow flow, UdpSocket socket) {
        Carrier by = carrier;
        if (by == null) {
            return;
        }
        try {
            int messages = socket.receive(by.batch());
            if (messages > 0) {
                carry(flow, by, messages);
            }
        } catch (IOException e) {
            LOG.debug("gateway {}: {}", Addresses.text(near), Causes.text(e));
            flows.end(flow);
        }
    }

    private void carry(GatewayFlow flow, Carrier by, int messages) {
        UdpBatch answers = by.batch();
        UdpSender back = by.back();
        long sent = back.sentPackets();
        long bytes = back.sentBytes();
        flow.answered();
        back.from(flow.ownHigh, flow.ownLow, flow.ownDevice());
        try {
            for (int m = 0; m < messages; m++) {
                int segment = Math.max(1, answers.segmentBytes(m));
                int at = answers.start(m);
                do {
                    int length = Math.min(segment, answers.end(m) - at);
                    if (admits(flow, answers.buffer(m), at, length)) {
                        back.add(answers.buffer(m), at, length, flow.high, flow.low, flow.port);
                    }
                    at += segment;
                } while (at < answers.end(m));
            }
        } finally { // Whatever was thrown: what lies in the batch must leave before the next.
            back.flush();
            traffic.out(back.sentPackets() - sent, back.sentBytes() - bytes);
            long lost = traffic.inHand();
            if (lost > 0) {
                traffic.drop(DropReason.SEND_ERROR, lost);
            }
        }
    }

    /** Counts a datagram as come; returns whether it may go back, else it is counted as dropped. */
    private boolean admits(GatewayFlow flow, ByteBuffer memory, int at, int length) {
        traffic.in(length);
        if (!flow.takeAnswer(length + UdpHeaders.bytes(flow.high, flow.low))) {
            traffic.drop(DropReason.AMPLIFICATION, gateway.to(), ServiceKey.NONE, length);
            return false;
        }
        if (rtp != null && length > 0) {
            measure(rtp, flow, memory, at, length);
        }
        return true;
    }

    private void measure(RtpSources rtp, GatewayFlow flow, ByteBuffer memory, int at, int length) {
        RtpCompanion companion = RtpCompanion.of(memory.get(at));
        if (companion != null) {
            rtp.take(companion);
        } else if (packet.read(memory, at, length) == null) {
            rtp.take(
                    packet,
                    flow.high,
                    flow.low,
                    flow.port,
                    true,
                    host.platform().nanoTime());
        }
    }

    /** Makes what datagrams to the far side leave by, for one thread; the socket of the first flow is there. */
    UdpSender newSender(UdpSocket first) {
        return first.newSender(Addresses.scope(gateway.to().getAddress()));
    }

    /** Ends all flows. */
    void close() {
        thread.stop();
        loop.wakeup();
        flows.close();
        if (isStarted) {
            thread.join(PATIENCE_MS);
        } else {
            end();
        }
    }
}

package org.tamanoir.gateway.udp;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.platform.Platform;
import org.tamanoir.transport.NoMemoryException;
import org.tamanoir.transport.ScarceMemory;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * Sends packets' payloads to the far side of a gateway for UDP. Who adds one names its sender, through whose socket it
 * leaves; the flows used last are remembered, so that no lock is taken for a packet, but
 * once between two sweeps for a flow that is proven.
 *
 * <p>Thread contract: one thread.
 */
public final class GatewaySender implements UdpSender {
    private final GatewayFlows flows;
    private final GatewayFarSide farSide;
    private final ScarceMemory scarce;
    private final long toHigh;
    private final long toLow;
    private final RememberedFlows remembered;
    /** Null before the first flow. */
    private @Nullable UdpSender sender;
    /** Through which what was added leaves. */
    private @Nullable GatewayFlow current;

    private int trafficOctet;
    // What the sender of packets that are added has sent them to.
    private long ownHigh;
    private long ownLow;
    private int ownDevice;
    private long failedBefore;
    private long failedPackets;
    private final SentCounts.Of counted;

    GatewaySender(
            GatewayFlows flows,
            GatewayFarSide farSide,
            ScarceMemory scarce,
            Platform platform,
            long toHigh,
            long toLow) {
        this.flows = flows;
        this.counted = flows.sent.newOne();
        this.remembered = new RememberedFlows(flows::of, platform);
        this.farSide = farSide;
        this.scarce = scarce;
        this.toHigh = toHigh;
        this.toLow = toLow;
    }

    /**
     * Takes note of a packet of this sender, which is added next or later, and for which so many octets may come back;
     * returns why it cannot go.
     *
     * @param ownHigh of the address that he sent it to, as {@link #from}
     * @throws NoMemoryException if there is none to send with
     */
    @Nullable
    public DropReason begin(long high, long low, int port, long ownHigh, long ownLow, int ownDevice, long answerBytes) {
        if (farSide.isLocal()) {
            return DropReason.LOCAL;
        }
        GatewayFlow flow = remembered.of(high, low, port, ownHigh, ownLow, ownDevice);
        if (flow == null) {
            return flows.isClosed() ? DropReason.SHUTDOWN : DropReason.STREAM_LIMIT;
        }
        UdpSocket socket = socket(flow);
        if (socket == null) {
            return DropReason.NEXT_HOP_UNREACHABLE;
        }
        if (sender == null) { // Before the packet is added, or waits for its link.
            sender = scarce.make(() -> farSide.newSender(socket));
        }
        flow.comesBy(ownDevice);
        if (flow.sent(answerBytes)) {
            flows.prove(flow);
        }
        return null;
    }

    /** Returns the flow's socket; null where it gets none, and ends. */
    private @Nullable UdpSocket socket(GatewayFlow flow) {
        UdpSocket socket = flow.socket();
        if (socket == null) {
            socket = farSide.open(flow);
            if (socket == null) {
                flows.end(flow);
            }
        }
        return socket;
    }

    @Override
    public void add(ByteBuffer buffer, int offset, int length, long high, long low, int port) {
        GatewayFlow flow = remembered.of(high, low, port, ownHigh, ownLow, ownDevice);
        UdpSocket socket = flow == null ? null : socket(flow);
        if (socket == null) {
            failedPackets++; // It has given way since its packet came.
            return;
        }
        if (flow != current) {
            flush();
            current = flow;
        }
        UdpSender through = Objects.requireNonNull(sender); // begin has made it.
        through.through(socket);
        through.markAs(trafficOctet);
        int header = GatewaySocket.headerOctets(buffer, offset, length);
        int to = farSide.address().getPort();
        through.add(buffer, offset + header, length - header, toHigh, toLow, to);
    }

    @Override
    public void markAs(int trafficOctet) {
        this.trafficOctet = trafficOctet;
    }

    /** Says what the sender of packets that are added from now on has sent them to: where answers leave from. */
    @Override
    public void from(long high, long low, int device) {
        ownHigh = high;
        ownLow = low;
        ownDevice = device;
    }

    @Override
    public void discard() {
        if (sender != null) {
            sender.discard();
        }
    }

    @Override
    public void flush() {
        UdpSender through = sender;
        if (through == null) {
            return;
        }
        through.flush();
        counted.add(through);
        GatewayFlow flow = current;
        if (through.failedPackets() != failedBefore && flow != null) {
            failedBefore = through.failedPackets();
            flows.end(flow); // Its address, or its route, may be gone: the next datagram finds those of then.
        }
    }

    @Override
    public long sentPackets() {
        return sender == null ? 0 : sender.sentPackets();
    }

    @Override
    public long sentBytes() {
        return sender == null ? 0 : sender.sentBytes();
    }

    @Override
    public long failedPackets() {
        return failedPackets + (sender == null ? 0 : sender.failedPackets());
    }

    @Override
    public String lastError() {
        return sender == null ? "" : sender.lastError();
    }
}

package org.tamanoir.gateway.udp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.platform.Platform;
import org.tamanoir.routing.Addresses;
import org.tamanoir.rtp.RtpCompanion;
import org.tamanoir.rtp.RtpPacket;
import org.tamanoir.rtp.RtpSources;
import org.tamanoir.service.Counter;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.BatchMemory;
import org.tamanoir.transport.ScarceMemory;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * The socket of a gateway for UDP: on its wire are plain datagrams, and behind it packets, of which each has a datagram
 * for its payload.
 *
 * <p>Thread contract: that of {@link UdpSocket}.
 */
public final class GatewaySocket implements UdpSocket {
    private final UdpSocket socket;
    private final UdpGateway gateway;
    private final GatewayFlows flows;
    private final GatewayFarSide farSide;
    private final @Nullable RtpSources rtp;
    private final BatchMemory memory;
    private final Platform platform;
    private final Tap tap;
    /** Of datagrams that become no packets. Its own lock guards it: the thread that reads changes. */
    private final Traffic traffic;

    /** Datagrams that became packets, and their bytes; the thread that reads counts. */
    private final Counter admitted = new Counter("datagrams");

    private final Counter admittedBytes = new Counter("bytes");

    private final long toHigh;
    private final long toLow;

    /**
     * Makes that of a gateway which listens by {@code under}; {@link #start} begins.
     *
     * @param rtp null where datagrams are not looked at
     * @throws IOException in one line, if there is no memory for what is answered; the socket stays open
     */
    public GatewaySocket(
            GatewayHost host, UdpSocket under, UdpGateway gateway, @Nullable RtpSources rtp, BatchMemory memory)
            throws IOException {
        this.socket = under;
        this.gateway = gateway;
        this.flows = new GatewayFlows();
        this.farSide = new GatewayFarSide(host, gateway, flows, rtp, under);
        this.rtp = rtp;
        this.memory = memory;
        this.platform = host.platform();
        this.tap = host.tap();
        this.traffic = new Traffic(tap, "gateways");
        this.toHigh = Addresses.high(gateway.to().getAddress());
        this.toLow = Addresses.low(gateway.to().getAddress());
    }

    /** Begins, when all ports of the node are bound. */
    public void start() {
        farSide.start();
    }

    /** Returns whether a packet is for the far side. */
    public boolean isFor(Packet packet) {
        return packet.hasInternetDestination()
                && packet.destinationPort() == gateway.to().getPort()
                && packet.destinationLow() == toLow
                && packet.destinationHigh() == toHigh;
    }

    /** Returns the upper 64 bits of the far side's address. */
    public long toHigh() {
        return toHigh;
    }

    public long toLow() {
        return toLow;
    }

    /** Makes what packets leave by to the far side, for one thread. */
    public GatewaySender newOnwardSender(ScarceMemory scarce) {
        return new GatewaySender(flows, farSide, scarce, platform, toHigh, toLow);
    }

    /** Returns whether a datagram may become a packet. */
    boolean admits(RtpPacket reads, ByteBuffer from, int at, int octets, long high, long low, int port) {
        RtpSources sources = rtp;
        return sources == null
                || octets > 0
                        && (isCompanion(sources, from.get(at))
                                || reads.read(from, at, octets) == null
                                        && sources.take(reads, high, low, port, false, platform.nanoTime()) == null);
    }

    /** Counts a datagram of another protocol that may share the port; false where it is of none. */
    private boolean isCompanion(RtpSources sources, byte first) {
        RtpCompanion companion = gateway.isStrict() ? null : RtpCompanion.of(first);
        if (companion != null) {
            sources.take(companion);
        }
        return companion != null;
    }

    /** Counts a datagram that becomes a packet. */
    void admitted(int octets) {
        admitted.add(1);
        admittedBytes.add(octets);
    }

    /** Returns the datagrams that became packets. */
    public long datagramsIn() {
        return admitted.get();
    }

    /** Returns their bytes. */
    public long bytesIn() {
        return admittedBytes.get();
    }

    /** Returns the datagrams that have left, to the far side, and to senders whom a service has answered. */
    public long datagramsOn() {
        return flows.sent.datagrams();
    }

    /** Returns their bytes. */
    public long bytesOn() {
        return flows.sent.bytes();
    }

    /** Returns how many senders are remembered. */
    public int senders() {
        return flows.count();
    }

    /** Returns how many there were so far. */
    public long sendersBegun() {
        return flows.begun();
    }

    /** Counts datagrams of one message that become no packets. */
    void drop(DropReason reason, int datagrams, int octets, long high, long low, int port) {
        synchronized (traffic) {
            InetSocketAddress peer = tap.watchesDrops() ? new InetSocketAddress(Addresses.of(high, low), port) : null;
            for (int i = 0; i < datagrams; i++) {
                int length = octets / datagrams + (i == 0 ? octets % datagrams : 0);
                traffic.in(length);
                traffic.drop(reason, peer, gateway.serviceKey(), length);
            }
            traffic.publish();
        }
    }

    /** Adds what became no packets, and what has come back from the far side. */
    public void addTo(Traffic.Sum sum) {
        traffic.addTo(sum);
        farSide.traffic().addTo(sum);
    }

    public UdpGateway gateway() {
        return gateway;
    }

    /** Returns what is known of the RTP that crosses it; null where datagrams are not looked at. */
    public @Nullable RtpSources rtp() {
        return rtp;
    }

    /** Returns how many octets in front of the payload of a packet that lies there are its header. */
    static int headerOctets(ByteBuffer buffer, int offset, int length) {
        return Math.min(length, Framing.claimedHeaderLength(buffer, offset));
    }

    @Override
    public UdpBatch newBatch() {
        return new GatewayBatch(this, gateway, memory, socket.newBatch());
    }

    @Override
    public int receive(UdpBatch batch) throws IOException {
        if (!(batch instanceof GatewayBatch own)) {
            throw new IllegalArgumentException("batch of another kind of socket; take it from newBatch()");
        }
        return own.open(socket.receive(own.under()));
    }

    @Override
    public UdpSender newSender() {
        return new AnswerSender(socket.newSender(), flows, platform);
    }

    @Override
    public boolean knowsOwnAddress() {
        return socket.knowsOwnAddress();
    }

    @Override
    public UdpSocket watched() {
        return socket.watched();
    }

    @Override
    public InetSocketAddress localAddress() {
        return socket.localAddress();
    }

    @Override
    public void receiveInTransit() throws IOException {
        throw new IOException("a gateway's socket receives nothing in transit");
    }

    @Override
    public boolean hasUnsent() {
        return socket.hasUnsent();
    }

    @Override
    public int sendBufferBytes() {
        return socket.sendBufferBytes();
    }

    @Override
    public boolean awaitReadable(Duration timeout) throws IOException {
        return socket.awaitReadable(timeout);
    }

    /** Closes the socket alone, which nobody reads any more: {@link #end} ends the rest. */
    @Override
    public void close() {
        socket.close();
    }

    /** Ends all flows, and closes the socket. Takes a while. */
    public void end() {
        farSide.close();
        close();
    }
}

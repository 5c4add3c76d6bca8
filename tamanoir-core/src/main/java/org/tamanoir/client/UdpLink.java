package org.tamanoir.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.routing.Addresses;
import org.tamanoir.sapf.Sapf;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** One datagram per packet. Thread contract: one thread. */
final class UdpLink implements PacketLink {
    private final UdpSocket socket;
    private final UdpSender sender;
    private final long nodeHigh;
    private final long nodeLow;
    private final int nodePort;
    private final @Nullable Consumer<Packet> replyHandler;
    private final boolean isSapf;
    private final Packet view;
    private @Nullable UdpBatch replies;
    private int messages;
    private int message;
    private int at;

    /** @param isSapf whether the node is asked for selectors, and flows go by those that it gives */
    UdpLink(
            InetSocketAddress node,
            TransportKind kind,
            int typeId,
            @Nullable Consumer<Packet> replyHandler,
            boolean isSapf)
            throws IOException {
        InetAddress address = node.getAddress();
        if (address == null) {
            throw new IOException("unknown host " + node.getHostString() + ": check the name");
        }
        this.nodeHigh = Addresses.high(address);
        this.nodeLow = Addresses.low(address);
        this.nodePort = node.getPort();
        this.replyHandler = replyHandler;
        this.view = new Packet(typeId, PacketSpace.HEAP);
        this.isSapf = isSapf;
        UdpSocket bound = UdpSockets.bind(
                kind, new InetSocketAddress(InetAddress.getByAddress(new byte[address.getAddress().length]), 0));
        this.socket = isSapf ? Sapf.towards(node, typeId).over(bound) : bound;
        this.sender = socket.newSender();
    }

    @Override
    public int maxPacketBytes() {
        return Anep.MAX_DATAGRAM_OCTETS;
    }

    @Override
    public InetSocketAddress local() {
        return socket.localAddress();
    }

    @Override
    public void write(ByteBuffer packets, int from, int to) throws IOException {
        int bytes;
        for (int packet = from; packet < to; packet += bytes) {
            bytes = Framing.claimedLength(packets, packet);
            sender.add(packets, packet, bytes, nodeHigh, nodeLow, nodePort);
        }
        sender.flush();
        Consumer<Packet> handler = replyHandler;
        while (handler != null && poll(view, 0)) {
            handler.accept(view);
        }
        if (isSapf && handler == null && message == messages) {
            receive(batch(), 0, 0); // What the node says of selectors; packets are nobody's.
            message = messages;
        }
    }

    private UdpBatch batch() {
        UdpBatch known = replies;
        if (known == null) {
            known = socket.newBatch();
            replies = known;
        }
        return known;
    }

    @Override
    public boolean poll(Packet packet, long timeoutNs) throws IOException {
        UdpBatch batch = batch();
        long deadlineNs = System.nanoTime() + timeoutNs;
        while (true) {
            if (message == messages && !receive(batch, deadlineNs, timeoutNs)) {
                return false;
            }
            int bytes = Math.min(batch.segmentBytes(message), batch.end(message) - at);
            boolean good = packet.parse(batch.buffer(message), at, bytes) == null;
            at += bytes;
            if (at >= batch.end(message) && ++message < messages) {
                at = batch.start(message);
            }
            if (good) {
                return true;
            }
        }
    }

    private boolean receive(UdpBatch batch, long deadlineNs, long timeoutNs) throws IOException {
        message = 0;
        messages = socket.receive(batch);
        while (messages == 0) {
            long leftNs = timeoutNs == 0 ? 0 : deadlineNs - System.nanoTime();
            if (leftNs <= 0 || !socket.awaitReadable(Duration.ofNanos(leftNs))) {
                return false;
            }
            messages = socket.receive(batch);
        }
        at = batch.start(0);
        return true;
    }

    @Override
    public boolean ended() {
        return false;
    }

    @Override
    public long refusedPackets() {
        return sender.failedPackets();
    }

    @Override
    public String lastError() {
        return sender.lastError();
    }

    @Override
    public void shutdownOutput() {}

    @Override
    public void close() {
        socket.close();
    }
}

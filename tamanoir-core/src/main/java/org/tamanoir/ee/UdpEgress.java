package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;

/**
 * Packets to any UDP next hop, from where they lie; to link-local ones by one interface. The socket is shared by all
 * destinations, so nothing is kept for each of them.
 */
class UdpEgress implements Egress.Datagrams {
    private final UdpSocket socket;
    private final int scope;
    private final UdpSender sender;
    private final ScratchBuffers memory;
    private final Traffic traffic;
    private int trafficOctet;
    private long heldPackets;
    private long sentPackets;
    private long sentBytes;
    private long failedPackets;

    /** The {@code scope} of one that nobody finds who looks for a socket. */
    static final int HIDDEN = -1;

    /**
     * Makes one by a sender of its own.
     *
     * @param scope number of the interface that link-local addresses are reached by; 0 = the one of the socket
     */
    UdpEgress(UdpSocket socket, int scope, UdpSender sender, ScratchBuffers memory, Traffic traffic) {
        this.socket = socket;
        this.scope = scope;
        this.sender = sender;
        this.memory = memory;
        this.traffic = traffic;
    }

    /** Returns the address that its packets leave from. */
    InetSocketAddress localAddress() {
        return socket.localAddress();
    }

    /** Returns the number of the interface that it reaches link-local addresses by; 0 = the one of the socket. */
    int scope() {
        return scope;
    }

    boolean isThrough(UdpSocket socket, int scope) {
        return this.socket == socket && this.scope == scope;
    }

    @Override
    public @Nullable DropReason add(ByteBuffer memory, int offset, int bytes, RouteCacheEntry hop) {
        add(memory, offset, bytes, hop.high, hop.low, hop.port());
        return null;
    }

    @Override
    public void mark(int octet) {
        trafficOctet = octet;
        sender.markAs(octet);
    }

    @Override
    public int marked() {
        return trafficOctet;
    }

    /** Adds a packet that goes back to where another came from. */
    void answer(Packet packet, Arrival to) {
        add(packet.buffer(), packet.offset(), packet.length(), to.high(), to.low(), to.port());
    }

    private void add(ByteBuffer memory, int offset, int bytes, long high, long low, int port) {
        sender.add(memory, offset, bytes, high, low, port);
        held(1);
    }

    /** Adds packets that stand back to back, each of {@code length} bytes. */
    void addRun(ByteBuffer memory, int offset, int length, int packets, RouteCacheEntry hop) {
        sender.addRun(memory, offset, packets * length, length, hop.high, hop.low, hop.port());
        held(packets);
    }

    /** Returns whether packets with this header, alone from index 0 on, go folded to this next hop now. */
    boolean folds(ByteBuffer header, RouteCacheEntry hop) {
        return sender.folds(header, hop.high, hop.low, hop.port());
    }

    /** Adds folded packets, as {@link #addRun}; false when they do not go folded any more, and nothing was done. */
    boolean addFolded(ByteBuffer header, ByteBuffer memory, int offset, int length, int packets, RouteCacheEntry hop) {
        boolean isAdded =
                sender.addFolded(header, memory, offset, packets * length, length, hop.high, hop.low, hop.port());
        if (isAdded) {
            held(packets);
        }
        return isAdded;
    }

    private void held(int packets) {
        if (heldPackets == 0) {
            memory.hold();
        }
        heldPackets += packets;
    }

    @Override
    public void flush() {
        if (heldPackets > 0) {
            sender.flush();
            heldPackets = 0;
            memory.release();
            count();
        }
    }

    /** Counts what has left, and what the system refused; returns how many packets these are. */
    private long count() {
        long sent = sender.sentPackets() - sentPackets;
        long failed = sender.failedPackets() - failedPackets;
        traffic.out(sent, sender.sentBytes() - sentBytes);
        traffic.drop(DropReason.SEND_ERROR, failed);
        sentPackets += sent;
        sentBytes = sender.sentBytes();
        failedPackets += failed;
        return sent + failed;
    }

    /** Returns whether what its socket has sent may still be in the host's queues. */
    boolean hasUnsent() {
        return socket.hasUnsent();
    }

    @Override
    public long held() {
        return heldPackets;
    }

    @Override
    public boolean isClosed() {
        return false;
    }

    @Override
    public void resetFromOutside() {
        // The socket is the node's.
    }

    @Override
    public void close(DropReason reason) {
        sender.discard();
        if (heldPackets > 0) {
            // Some leave as they are added; of a run that broke perhaps more than are held.
            traffic.drop(reason, Math.max(0, heldPackets - count()));
            heldPackets = 0;
            memory.release();
        }
    }
}

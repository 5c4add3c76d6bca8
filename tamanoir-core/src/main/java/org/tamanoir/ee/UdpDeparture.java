package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.UdpSender;

/**
 * Packets to any UDP next hop, from where they lie. The socket is shared by all destinations, so nothing is kept
 * for each of them.
 */
final class UdpDeparture implements Departure {
    private final UdpSender sender;
    private final Traffic traffic;
    private long high;
    private long low;
    private int port;
    private long heldPackets;
    private long sentPackets;
    private long sentOctets;
    private long failedPackets;

    UdpDeparture(UdpSender sender, Traffic traffic) {
        this.sender = sender;
        this.traffic = traffic;
    }

    /** Where the packet that is added next goes. */
    UdpDeparture to(long high, long low, int port) {
        this.high = high;
        this.low = low;
        this.port = port;
        return this;
    }

    @Override
    public @Nullable DropReason add(Packet packet) {
        add(packet.buffer(), packet.offset(), packet.length());
        return null;
    }

    /** Adds a packet that lies here until it is flushed. */
    void add(ByteBuffer memory, int offset, int octets) {
        sender.add(memory, offset, octets, high, low, port);
        heldPackets++;
    }

    @Override
    public void flush() {
        if (heldPackets > 0) {
            sender.flush();
            heldPackets = 0;
            traffic.out(sender.sentPackets() - sentPackets, sender.sentOctets() - sentOctets);
            traffic.drop(DropReason.SEND_ERROR, sender.failedPackets() - failedPackets);
            sentPackets = sender.sentPackets();
            sentOctets = sender.sentOctets();
            failedPackets = sender.failedPackets();
        }
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
        flush();
    }
}

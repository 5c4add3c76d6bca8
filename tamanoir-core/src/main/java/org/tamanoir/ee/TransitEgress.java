package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.offload.HostAddresses;
import org.tamanoir.offload.UpcallPath;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.transport.ScarceMemory;
import org.tamanoir.transport.ScratchBuffers;
import org.tamanoir.transport.TransitSender;

/**
 * The way of datagrams in transit: on to where their IP header says, as a router would send them, or back. They cross no
 * routes of the node, and no links.
 *
 * <p>Thread contract: the service's thread.
 */
final class TransitEgress {
    /** TTL, and hop limit, of answers: what RFC 1700 recommends, and hosts take for what they send themselves. */
    private static final int ANSWER_HOPS = 64;

    private final UpcallPath up;
    private final ScratchBuffers memory;
    private final ScarceMemory scarce;
    private final Traffic traffic;
    private @Nullable TransitSender v4;
    private @Nullable TransitSender v6;
    private long heldPackets;
    private long sentPackets;
    private long sentBytes;
    private long tooLongPackets;
    private long failedPackets;

    TransitEgress(UpcallPath up, ScratchBuffers memory, ScarceMemory scarce, Traffic traffic) {
        this.up = up;
        this.memory = memory;
        this.scarce = scarce;
        this.traffic = traffic;
    }

    /**
     * Sends a packet on.
     *
     * @return null, or why it cannot go
     */
    @Nullable
    DropReason forward(Packet packet, Arrival arrival) {
        int hopsLeft = arrival.hopsLeft();
        if (hopsLeft <= 1) {
            return DropReason.HOP_BUDGET;
        }
        if (HostAddresses.isOfOneLink(arrival.high(), arrival.low())) {
            return DropReason.NO_ROUTE; // No router sends on what comes from there: RFC 4291, 2.5.6, and RFC 3927, 2.7.
        }
        TransitSender sender = sender(arrival)
                .from(arrival.high(), arrival.low(), arrival.port())
                .to(arrival.toHigh(), arrival.toLow(), arrival.toPort());
        add(sender, packet, arrival, hopsLeft - 1);
        return null;
    }

    /** Sends an answer to the sender of the packet, as if it came from where the packet was to go. */
    void answer(Packet packet, Arrival arrival) {
        TransitSender sender = sender(arrival)
                .from(arrival.toHigh(), arrival.toLow(), arrival.toPort())
                .to(arrival.high(), arrival.low(), arrival.port());
        add(sender, packet, arrival, ANSWER_HOPS);
    }

    /** Adds the packet; of one that stands for a plain datagram or ICMP message what is behind the header alone. */
    private void add(TransitSender sender, Packet packet, Arrival arrival, int hops) {
        if (arrival.isIcmp()) {
            sender.addIcmp(
                    packet.buffer(), packet.payloadOffset(), packet.payloadLength(), hops, arrival.trafficClass());
        } else if (arrival.isPlain()) {
            sender.add(
                    packet.buffer(),
                    packet.payloadOffset(),
                    packet.payloadLength(),
                    hops,
                    arrival.trafficClass(),
                    arrival.hasAlert());
        } else {
            packet.seal();
            sender.add(packet.buffer(), packet.offset(), packet.length(), hops, arrival.trafficClass());
        }
        added();
    }

    private void added() {
        if (heldPackets++ == 0) {
            memory.hold();
        }
    }

    private TransitSender sender(Arrival arrival) {
        if (arrival.isIpv4()) {
            TransitSender sender = v4;
            return sender != null ? sender : (v4 = scarce.make(() -> up.newSender(false)));
        }
        TransitSender sender = v6;
        return sender != null ? sender : (v6 = scarce.make(() -> up.newSender(true)));
    }

    void flush() {
        if (heldPackets == 0) {
            return;
        }
        long packets = 0;
        long bytes = 0;
        long tooLong = 0;
        long failed = 0;
        if (v4 != null) {
            v4.flush();
            packets = v4.sentPackets();
            bytes = v4.sentBytes();
            tooLong = v4.tooLongPackets();
            failed = v4.failedPackets();
        }
        if (v6 != null) {
            v6.flush();
            packets += v6.sentPackets();
            bytes += v6.sentBytes();
            tooLong += v6.tooLongPackets();
            failed += v6.failedPackets();
        }
        heldPackets = 0;
        memory.release();
        traffic.out(packets - sentPackets, bytes - sentBytes);
        if (tooLong != tooLongPackets) {
            traffic.drop(DropReason.PACKET_TOO_LONG, tooLong - tooLongPackets);
        }
        if (failed != failedPackets) {
            traffic.drop(DropReason.SEND_ERROR, failed - failedPackets);
        }
        sentPackets = packets;
        sentBytes = bytes;
        tooLongPackets = tooLong;
        failedPackets = failed;
    }

    /** Returns whether what its sockets have sent may still be in the host's queues. */
    boolean hasUnsent() {
        return v4 != null && v4.hasUnsent() || v6 != null && v6.hasUnsent();
    }

    /** Drops what was not flushed, for good. */
    void discard(DropReason reason) {
        if (heldPackets > 0) {
            traffic.drop(reason, heldPackets);
            heldPackets = 0;
            memory.release();
        }
    }

    /** Returns how many packets were added that have not left. */
    long held() {
        return heldPackets;
    }
}

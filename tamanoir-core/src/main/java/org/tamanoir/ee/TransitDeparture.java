package org.tamanoir.ee;

import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.transport.TransitSender;

/**
 * The way of datagrams in transit: on to where their IP header says, as a router would send them, or back. They cross no
 * routes of the node, and no links.
 *
 * <p>Thread contract: the service's thread.
 */
final class TransitDeparture {
    /** TTL, and hop limit, of answers: what RFC 1700 recommends, and hosts take for what they send themselves. */
    private static final int ANSWER_HOPS = 64;

    private final UpPath up;
    private final Traffic traffic;
    private @Nullable TransitSender v4;
    private @Nullable TransitSender v6;
    private long heldPackets;
    private long sentPackets;
    private long sentOctets;
    private long tooLongPackets;
    private long failedPackets;

    TransitDeparture(UpPath up, Traffic traffic) {
        this.up = up;
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
        packet.seal();
        sender(arrival)
                .from(arrival.high(), arrival.low(), arrival.port())
                .to(arrival.toHigh(), arrival.toLow(), arrival.toPort())
                .add(packet.buffer(), packet.offset(), packet.length(), hopsLeft - 1, arrival.trafficClass());
        heldPackets++;
        return null;
    }

    /** Sends an answer to the sender of the packet, as if it came from where the packet was to go. */
    void answer(Packet packet, Arrival arrival) {
        sender(arrival)
                .from(arrival.toHigh(), arrival.toLow(), arrival.toPort())
                .to(arrival.high(), arrival.low(), arrival.port())
                .add(packet.buffer(), packet.offset(), packet.length(), ANSWER_HOPS, arrival.trafficClass());
        heldPackets++;
    }

    private TransitSender sender(Arrival arrival) {
        if (arrival.isIpv4()) {
            TransitSender sender = v4;
            return sender != null ? sender : (v4 = up.newSender(false));
        }
        TransitSender sender = v6;
        return sender != null ? sender : (v6 = up.newSender(true));
    }

    void flush() {
        if (heldPackets == 0) {
            return;
        }
        heldPackets = 0;
        long packets = 0;
        long octets = 0;
        long tooLong = 0;
        long failed = 0;
        if (v4 != null) {
            v4.flush();
            packets = v4.sentPackets();
            octets = v4.sentOctets();
            tooLong = v4.tooLongPackets();
            failed = v4.failedPackets();
        }
        if (v6 != null) {
            v6.flush();
            packets += v6.sentPackets();
            octets += v6.sentOctets();
            tooLong += v6.tooLongPackets();
            failed += v6.failedPackets();
        }
        traffic.out(packets - sentPackets, octets - sentOctets);
        if (tooLong != tooLongPackets) {
            traffic.drop(DropReason.PACKET_TOO_LONG, tooLong - tooLongPackets);
        }
        if (failed != failedPackets) {
            traffic.drop(DropReason.SEND_ERROR, failed - failedPackets);
        }
        sentPackets = packets;
        sentOctets = octets;
        tooLongPackets = tooLong;
        failedPackets = failed;
    }

    /** Packets added that have not left. */
    long held() {
        return heldPackets;
    }
}

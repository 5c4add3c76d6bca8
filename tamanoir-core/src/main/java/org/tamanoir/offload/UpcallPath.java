package org.tamanoir.offload;

import java.net.InetAddress;
import org.tamanoir.anep.PlainHeaders;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.transport.TransitSender;
import org.tamanoir.transport.TransitSockets;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;

/**
 * The way of datagrams from levels below the JVM into the node, and on to hosts that they are addressed to: tells them
 * from others by their mark.
 *
 * <p>Thread contract: any thread, but for what is said.
 */
public final class UpcallPath {
    private final NodeOs levels;
    private final int mark;
    private final PlainTraffic plain;
    private final PlainSockets plainSockets;
    private final boolean hasPlain;
    private final TransitSockets onward;
    private final HostAddresses host = new HostAddresses();

    /**
     * Makes the way from what is attached.
     *
     * @param mark of what comes up from the levels; 0 = nothing does
     */
    UpcallPath(NodeOs levels, int mark, PlainTraffic plain, PlainSockets plainSockets, TransitSockets onward) {
        this.levels = levels;
        this.mark = mark;
        this.plain = plain;
        this.plainSockets = plainSockets;
        this.hasPlain = !plainSockets.all().isEmpty();
        this.onward = onward;
    }

    /** Returns what is to be remembered of a message, as in {@link UpcallMetadata}. */
    public long look(UdpBatch batch, int message) {
        int seen = batch.mark(message);
        if (hasPlain && batch.isPlain(message)) {
            PlainHeaders headers = plainSockets.generations().of(seen);
            return UpcallMetadata.plain(
                    batch.destinationPort(message),
                    batch.hopsLeft(message),
                    batch.trafficClass(message),
                    (seen & PlainTraffic.ALERT) != 0,
                    headers != null && headers.dropsOnFailure(seen & PlainTraffic.RULE_MASK),
                    (seen & PlainTraffic.ICMP) != 0);
        }
        if ((seen & NodeOs.UP_MASK) != mark || mark == 0) {
            return 0;
        }
        int slot = seen & NodeOs.SLOT_MASK;
        return host.has(batch.destinationHigh(message), batch.destinationLow(message))
                ? UpcallMetadata.arrived(slot)
                : UpcallMetadata.inTransit(slot, batch.hopsLeft(message), batch.trafficClass(message));
    }

    /** Tells the levels which of a batch that was read they have sent up. */
    public void arrived(UdpBatch batch, int messages) {
        int slot = 0;
        int packets = 0;
        for (int message = 0; message < messages; message++) {
            int next = upSlot(batch, message);
            if (next != slot) {
                arrived(slot, packets);
                slot = next;
                packets = 0;
            }
            packets += datagrams(batch, message);
        }
        arrived(slot, packets);
    }

    private void arrived(int slot, int packets) {
        if (slot != 0) {
            levels.arrived(slot, packets);
        }
    }

    private int upSlot(UdpBatch batch, int message) {
        int seen = batch.mark(message);
        boolean isUp = mark != 0 && (seen & NodeOs.UP_MASK) == mark && !(hasPlain && batch.isPlain(message));
        return isUp ? seen & NodeOs.SLOT_MASK : 0;
    }

    private static int datagrams(UdpBatch batch, int message) {
        int bytes = batch.end(message) - batch.start(message);
        int segment = Math.max(1, batch.segmentBytes(message));
        return Math.max(1, (bytes + segment - 1) / segment);
    }

    /** Puts the datagrams of a batch in that are to be settled. */
    public void expect(UdpBatch batch, int messages, UpcallCompletions completions) {
        arrived(batch, messages);
        for (int message = 0; message < messages; message++) {
            completions.add(upSlot(batch, message), datagrams(batch, message));
        }
    }

    /** Tells the levels what the socket has lost; after it was read. The reading thread. */
    public void tellLost(UdpSocket socket) {
        int lost = socket.takeOverflows();
        if (lost > 0 && plainSockets.all().contains(socket)) {
            plain.lost(lost);
        } else if (lost > 0) {
            levels.lost(lost);
        }
    }

    /** Returns whether connections to this address end at this host. */
    public boolean isOfThisHost(InetAddress address) {
        return mark == 0 || host.has(address); // Plain connections come by gateways, of which nobody asks this.
    }

    /** Returns whether packets to this address end at this host, or are none that a router sends on. */
    boolean endsHere(InetAddress address) {
        return host.has(address);
    }

    /** Looks now and then which addresses this host has. One thread. */
    public void refresh() {
        host.refresh();
    }

    /** Returns the sockets that plain datagrams come to. */
    PlainSockets plainSockets() {
        return plainSockets;
    }

    /** Returns a sender of datagrams that go on, for one thread. */
    public TransitSender newSender(boolean isIpv6) {
        return onward.newSender(isIpv6);
    }

    /** Lets nothing go on any more. */
    public void close() {
        plainSockets.close();
        onward.close();
    }
}

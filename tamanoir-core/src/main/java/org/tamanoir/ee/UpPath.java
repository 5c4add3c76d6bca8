package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
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
final class UpPath {
    private final NodeOs levels;
    private final int mark;
    private final TransitSockets onward;
    private final HostAddresses host = new HostAddresses();

    private UpPath(NodeOs levels, TransitSockets onward) {
        this.levels = levels;
        this.mark = levels.upMark();
        this.onward = onward;
    }

    /**
     * Has levels look at packets for these ports.
     *
     * @param udp whose batches are made later
     * @throws IOException in one line, if what comes up could not be told apart, or not go on; nothing was attached then
     * @throws LevelException in one line, if no level can
     */
    static UpPath attach(NodeOs levels, List<UdpSocket> udp, List<InetSocketAddress> tcp, int typeId)
            throws IOException, LevelException {
        TransitSockets onward = TransitSockets.open();
        try {
            for (UdpSocket socket : udp) {
                socket.receiveInTransit();
            }
            levels.attach(udp.stream().map(UdpSocket::localAddress).toList(), tcp, typeId);
        } catch (IOException | LevelException | RuntimeException e) {
            onward.close();
            throw e;
        }
        return new UpPath(levels, onward);
    }

    /** What is to be remembered of a message, as in {@link Ascent}. */
    long look(UdpBatch batch, int message) {
        int seen = batch.mark(message);
        if ((seen & NodeOs.UP_MASK) != mark || mark == 0) {
            return 0;
        }
        int slot = seen & NodeOs.SLOT_MASK;
        return host.has(batch.destinationHigh(message), batch.destinationLow(message))
                ? Ascent.arrived(slot)
                : Ascent.inTransit(slot, batch.hopsLeft(message), batch.trafficClass(message));
    }

    /** Puts the datagrams of a batch in that are to be settled. */
    void expect(UdpBatch batch, int messages, Settling settling) {
        for (int message = 0; message < messages; message++) {
            int slot = Ascent.slot(look(batch, message));
            if (slot != 0) {
                int octets = batch.end(message) - batch.start(message);
                int segment = Math.max(1, batch.segmentOctets(message));
                settling.add(slot, Math.max(1, (octets + segment - 1) / segment));
            }
        }
    }

    /** Tells the levels what the socket has lost; after it was read. The reading thread. */
    void tellLost(UdpSocket socket) {
        int lost = socket.takeOverflows();
        if (lost > 0) {
            levels.lost(lost);
        }
    }

    /** Whether packets to this address end at this host. */
    boolean isOfThisHost(InetAddress address) {
        return host.has(address);
    }

    /** Looks now and then which addresses this host has. One thread. */
    void refresh() {
        host.refresh();
    }

    /** A sender of datagrams that go on, for one thread. */
    TransitSender newSender(boolean isIpv6) {
        return onward.newSender(isIpv6);
    }

    /** Lets nothing go on any more. */
    void close() {
        onward.close();
    }
}

package org.tamanoir.offload;

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
public final class UpcallPath {
    private final NodeOs levels;
    private final int mark;
    private final TransitSockets onward;
    private final HostAddresses host = new HostAddresses();

    private UpcallPath(NodeOs levels, TransitSockets onward) {
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
    public static UpcallPath attach(NodeOs levels, List<UdpSocket> udp, List<InetSocketAddress> tcp, int typeId)
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
        return new UpcallPath(levels, onward);
    }

    /** Returns what is to be remembered of a message, as in {@link UpcallMetadata}. */
    public long look(UdpBatch batch, int message) {
        int seen = batch.mark(message);
        if ((seen & NodeOs.UP_MASK) != mark || mark == 0) {
            return 0;
        }
        int slot = seen & NodeOs.SLOT_MASK;
        return host.has(batch.destinationHigh(message), batch.destinationLow(message))
                ? UpcallMetadata.arrived(slot)
                : UpcallMetadata.inTransit(slot, batch.hopsLeft(message), batch.trafficClass(message));
    }

    /** Puts the datagrams of a batch in that are to be settled. */
    public void expect(UdpBatch batch, int messages, UpcallCompletions completions) {
        for (int message = 0; message < messages; message++) {
            int slot = UpcallMetadata.slot(look(batch, message));
            if (slot != 0) {
                int bytes = batch.end(message) - batch.start(message);
                int segment = Math.max(1, batch.segmentBytes(message));
                completions.add(slot, Math.max(1, (bytes + segment - 1) / segment));
            }
        }
    }

    /** Tells the levels what the socket has lost; after it was read. The reading thread. */
    public void tellLost(UdpSocket socket) {
        int lost = socket.takeOverflows();
        if (lost > 0) {
            levels.lost(lost);
        }
    }

    /** Returns whether packets to this address end at this host. */
    public boolean isOfThisHost(InetAddress address) {
        return host.has(address);
    }

    /** Looks now and then which addresses this host has. One thread. */
    public void refresh() {
        host.refresh();
    }

    /** Returns a sender of datagrams that go on, for one thread. */
    public TransitSender newSender(boolean isIpv6) {
        return onward.newSender(isIpv6);
    }

    /** Lets nothing go on any more. */
    public void close() {
        onward.close();
    }
}

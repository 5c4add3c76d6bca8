package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What TCP next hops send back to a UDP service: it belongs to no one flow, and goes where its destination says.
 *
 * <p>Thread contract: the service's thread.
 */
final class FarSide implements QueuedDeparture.FarPackets {
    private final UdpService service;
    private @Nullable InetSocketAddress address;
    private @Nullable InetSocketAddress local;

    FarSide(UdpService service) {
        this.service = service;
    }

    /** The next hop that sent the packet in hand; null when a datagram brought it. */
    @Nullable
    InetSocketAddress address() {
        return address;
    }

    /** This node's end of that connection. */
    @Nullable
    InetSocketAddress local() {
        return local;
    }

    /** Takes what has come. */
    void take() {
        List<Departure> connections = service.departures.connections();
        service.inTransit(false);
        for (int i = 0; i < connections.size(); i++) { // On their way packets may open and close connections.
            QueuedDeparture from = (QueuedDeparture) connections.get(i);
            address = from.address();
            local = from.localAddress();
            from.takeFarPackets(this);
        }
        address = null;
        local = null;
    }

    @Override
    public void take(ByteBuffer memory, int offset, int length) {
        service.refresh();
        service.handleFarPacket(memory, offset, length);
    }

    @Override
    public void leaveMemory() {
        service.departures.flush();
    }
}

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
final class FarSide implements QueuedEgress.FarPackets {
    private final UdpService service;
    private @Nullable InetSocketAddress address;
    private @Nullable InetSocketAddress local;

    FarSide(UdpService service) {
        this.service = service;
    }

    /** Returns the next hop that sent the packet in hand; null when a datagram brought it. */
    @Nullable
    InetSocketAddress address() {
        return address;
    }

    /** Returns this node's end of that connection. */
    @Nullable
    InetSocketAddress local() {
        return local;
    }

    /** Takes what has come. */
    void take() {
        List<QueuedEgress> connections = service.connections.all();
        service.path.dispatcher.inTransit(false);
        for (int i = 0; i < connections.size(); i++) { // On their way packets may open and close connections.
            QueuedEgress from = connections.get(i);
            address = from.address();
            local = from.localAddress();
            from.takeFarPackets(this);
        }
        address = null;
        local = null;
    }

    @Override
    public void take(ByteBuffer memory, int offset, int length) {
        service.path.refresh();
        service.path.handleFarPacket(memory, offset, length);
    }

    @Override
    public void leaveMemory() {
        service.nextHops.flush();
    }
}

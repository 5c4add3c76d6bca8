package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.util.concurrent.CopyOnWriteArrayList;
import org.tamanoir.transport.UdpSocket;

/**
 * Where the datagram in hand came from, and through which socket. In queues the socket stands as an index beside the
 * sender's port.
 *
 * <p>Thread contract: the service's thread, but for {@link #portAndSocket}.
 */
final class Arrival {
    private final CopyOnWriteArrayList<UdpSocket> sockets = new CopyOnWriteArrayList<>();
    private UdpSocket socket;
    private long high;
    private long low;
    private int port;

    Arrival(UdpSocket first) {
        this.socket = first;
    }

    void set(UdpSocket socket, long high, long low, int port) {
        this.socket = socket;
        this.high = high;
        this.low = low;
        this.port = port;
    }

    /** As of the packet at which a queue stands. */
    void set(PacketRing queued) {
        set(sockets.get(queued.port() >>> 16), queued.addressHigh(), queued.addressLow(), queued.port() & 0xFFFF);
    }

    void set(UdpServices.Held held) {
        set(held.arrival(), held.high(), held.low(), held.port());
    }

    /** What stands for port and socket in a queue. Any thread. */
    int portAndSocket(UdpSocket through, int port) {
        int index = sockets.indexOf(through);
        if (index < 0) {
            sockets.addIfAbsent(through);
            index = sockets.indexOf(through);
        }
        return index << 16 | port;
    }

    UdpSocket socket() {
        return socket;
    }

    long high() {
        return high;
    }

    long low() {
        return low;
    }

    int port() {
        return port;
    }

    /** The sender. Allocates. */
    InetSocketAddress peer() {
        return new InetSocketAddress(Forwarder.toAddress(high, low), port);
    }

    /** Whether the next hop is the sender. */
    boolean isFrom(Hop hop) {
        return hop.isUdp && hop.low == low && hop.high == high && hop.port() == port;
    }
}

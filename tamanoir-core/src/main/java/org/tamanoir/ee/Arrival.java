package org.tamanoir.ee;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;

/**
 * Where a datagram came from, and through which socket; of one that came up from a level also where it was sent.
 *
 * <p>Thread contract: one thread at a time.
 */
final class Arrival {
    private UdpSocket socket;
    private long high;
    private long low;
    private int port;
    /** 0 unless it came up, and there is something to remember of that; else as {@link Ascent} says. */
    private long ascent;

    private long toHigh;
    private long toLow;

    Arrival(UdpSocket first) {
        this.socket = first;
    }

    Arrival(UdpSocket socket, long high, long low, int port, long ascent, long toHigh, long toLow) {
        this.socket = socket;
        this.high = high;
        this.low = low;
        this.port = port;
        this.ascent = ascent;
        this.toHigh = toHigh;
        this.toLow = toLow;
    }

    /** A copy. */
    Arrival copy() {
        return new Arrival(socket, high, low, port, ascent, toHigh, toLow);
    }

    /**
     * As of a message.
     *
     * @param up null while no levels are attached
     */
    void set(UdpSocket socket, UdpBatch batch, int message, @Nullable UpPath up) {
        this.socket = socket;
        high = batch.addressHigh(message);
        low = batch.addressLow(message);
        port = batch.port(message);
        ascent = 0;
        if (up != null) {
            ascent = up.look(batch, message);
            if (ascent != 0) {
                toHigh = batch.destinationHigh(message);
                toLow = batch.destinationLow(message);
            }
        }
    }

    /** As of the packet at which a queue stands. */
    void set(PacketRing queued, ArrivalSockets sockets) {
        int portAndSocket = queued.port();
        socket = sockets.socket(portAndSocket);
        port = ArrivalSockets.port(portAndSocket);
        high = queued.addressHigh();
        low = queued.addressLow();
        ascent = queued.ascent();
        if (ascent != 0) {
            toHigh = queued.toHigh();
            toLow = queued.toLow();
        }
    }

    /** As another one. */
    void set(Arrival other) {
        socket = other.socket;
        high = other.high;
        low = other.low;
        port = other.port;
        ascent = other.ascent;
        toHigh = other.toHigh;
        toLow = other.toLow;
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

    /** What is to be remembered of how it came up, as in {@link Ascent}; 0 = nothing. */
    long ascent() {
        return ascent;
    }

    /** Whether it is addressed to another host. */
    boolean isInTransit() {
        return Ascent.isInTransit(ascent);
    }

    /** Of the policy under which it came up; 0 = none. */
    int slot() {
        return Ascent.slot(ascent);
    }

    int hopsLeft() {
        return Ascent.hopsLeft(ascent);
    }

    int trafficClass() {
        return Ascent.trafficClass(ascent);
    }

    /** Upper 64 bits of the address that it was sent to; only where there is an {@link #ascent}, as all of these. */
    long toHigh() {
        return toHigh;
    }

    long toLow() {
        return toLow;
    }

    int toPort() {
        return socket.localAddress().getPort();
    }

    boolean isIpv4() {
        return HostAddresses.isIpv4(toHigh, toLow);
    }

    /** The sender. Allocates. */
    InetSocketAddress peer() {
        return new InetSocketAddress(Forwarder.toAddress(high, low), port);
    }

    /** Where it was sent: of one in transit another host, else the socket's address. Allocates. */
    InetSocketAddress local() {
        return isInTransit()
                ? new InetSocketAddress(Forwarder.toAddress(toHigh, toLow), toPort())
                : socket.localAddress();
    }

    /** Whether the next hop is the sender. */
    boolean isFrom(Hop hop) {
        return hop.isUdp && hop.low == low && hop.high == high && hop.port() == port;
    }
}

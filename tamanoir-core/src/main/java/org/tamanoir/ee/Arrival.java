package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.gateway.udp.GatewaySocket;
import org.tamanoir.offload.HostAddresses;
import org.tamanoir.offload.UpcallMetadata;
import org.tamanoir.offload.UpcallPath;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpSocket;

/**
 * Where a datagram came from, and through which socket; of one that came up from a level, or through a socket on the
 * wildcard address, also where it was sent.
 *
 * <p>Thread contract: one thread at a time.
 */
final class Arrival {
    private UdpSocket socket;
    private long high;
    private long low;
    private int port;
    /** 0 unless it came up, and there is something to remember of that; else as {@link UpcallMetadata} says. */
    private long ascent;

    private long toHigh;
    private long toLow;
    private int proof;
    /** False while what a service sends is caused by no datagram: by a task, or by what a TCP next hop has sent back. */
    private boolean isInHand;

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

    /** Returns a copy. */
    Arrival copy() {
        Arrival copy = new Arrival(socket, high, low, port, ascent, toHigh, toLow);
        copy.proof = proof;
        return copy;
    }

    /**
     * Takes over the arrival of a message.
     *
     * @param up null while no levels are attached
     */
    void set(UdpSocket socket, UdpBatch batch, int message, @Nullable UpcallPath up) {
        isInHand = true;
        this.socket = socket;
        high = batch.addressHigh(message);
        low = batch.addressLow(message);
        port = batch.port(message);
        ascent = 0;
        proof = PacketGuard.NO_PROOF;
        if (up != null) {
            ascent = up.look(batch, message);
            if (ascent != 0) {
                toHigh = batch.destinationHigh(message);
                toLow = batch.destinationLow(message);
            }
        }
        if (batch.tellsOwn() && !isInTransit()) {
            setOwn(batch.ownHigh(message), batch.ownLow(message), batch.ownDevice(message));
        }
    }

    private void setOwn(long high, long low, int device) {
        if ((high | low | device) != 0) {
            toHigh = high;
            toLow = low;
            ascent = UpcallMetadata.own(ascent, device);
        }
    }

    /** Takes over the arrival of the packet at which a queue stands. */
    void set(PacketRing queued, Sockets sockets) {
        int portAndSocket = queued.port();
        isInHand = true;
        socket = sockets.socket(portAndSocket);
        port = Sockets.port(portAndSocket);
        high = queued.addressHigh();
        low = queued.addressLow();
        ascent = queued.ascent();
        proof = queued.proof();
        if (ascent != 0) {
            toHigh = queued.toHigh();
            toLow = queued.toLow();
        }
    }

    /** Takes over what stands in a queue. */
    void set(UdpSocket socket, long high, long low, int port, long ascent, long toHigh, long toLow, int proof) {
        isInHand = true;
        this.socket = socket;
        this.high = high;
        this.low = low;
        this.port = port;
        this.ascent = ascent;
        this.toHigh = toHigh;
        this.toLow = toLow;
        this.proof = proof;
    }

    /** Takes over another arrival. */
    void set(Arrival other) {
        isInHand = true;
        socket = other.socket;
        high = other.high;
        low = other.low;
        port = other.port;
        ascent = other.ascent;
        toHigh = other.toHigh;
        toLow = other.toLow;
        proof = other.proof;
    }

    /** Notes that the packet is done with: what a service sends from now on is no answer to it. */
    void letGo() {
        isInHand = false;
    }

    /** Returns whether what a service sends now may be an answer to the packet. */
    boolean isInHand() {
        return isInHand;
    }

    UdpSocket socket() {
        return socket;
    }

    /** Returns the gateway that the packet came by; null = it came as one. */
    @Nullable
    GatewaySocket gateway() {
        return socket instanceof GatewaySocket gateway ? gateway : null;
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

    /** Returns what is to be remembered of how the packet came up, as in {@link UpcallMetadata}; 0 = nothing. */
    long ascent() {
        return ascent;
    }

    /** Returns the upper 64 bits of the address of this host that answers leave from; 0 and 0 = the system chooses. */
    long ownHigh() {
        return UpcallMetadata.isOwn(ascent) ? toHigh : 0;
    }

    long ownLow() {
        return UpcallMetadata.isOwn(ascent) ? toLow : 0;
    }

    /** Returns the number of the interface that they leave by; 0 = as the routes say. */
    int ownDevice() {
        return UpcallMetadata.device(ascent);
    }

    /** Returns whether the packet is addressed to another host. */
    boolean isInTransit() {
        return UpcallMetadata.isInTransit(ascent);
    }

    /** Returns the slot of the policy under which the packet came up; 0 = none. */
    int slot() {
        return UpcallMetadata.slot(ascent);
    }

    /** Returns the number of the {@link org.tamanoir.trace.PacketTrace} that the packet's way is told; 0 = none. */
    int trace() {
        return UpcallMetadata.trace(ascent);
    }

    int hopsLeft() {
        return UpcallMetadata.hopsLeft(ascent);
    }

    int trafficClass() {
        return UpcallMetadata.trafficClass(ascent);
    }

    /** Returns the upper 64 bits of the address that the packet was sent to; only where there is an {@link #ascent}, as all of these. */
    long toHigh() {
        return toHigh;
    }

    long toLow() {
        return toLow;
    }

    int toPort() {
        return isPlain() ? UpcallMetadata.toPort(ascent) : socket.localAddress().getPort();
    }

    /** Returns whether it is a plain datagram, in front of which the node has put a header. */
    boolean isPlain() {
        return UpcallMetadata.isPlain(ascent);
    }

    /** Returns whether it is a plain datagram with a Router Alert. */
    boolean hasAlert() {
        return UpcallMetadata.hasAlert(ascent);
    }

    /** Returns whether it is an ICMP message, in front of which the node has put a header. */
    boolean isIcmp() {
        return UpcallMetadata.isIcmp(ascent);
    }

    /** Returns whether it is a plain datagram that goes on where its service fails it. */
    boolean passesOnFailure() {
        return UpcallMetadata.passesOnFailure(ascent);
    }

    boolean isIpv4() {
        return HostAddresses.isIpv4(toHigh, toLow);
    }

    /** Returns what is known of the packet's authenticity, as {@link PacketGuard#proof}. */
    int proof() {
        return proof;
    }

    /** Keeps what is known of the packet's authenticity. */
    void prove(int proof) {
        this.proof = proof;
    }

    /** Returns the sender. Allocates. */
    InetSocketAddress peer() {
        return new InetSocketAddress(Addresses.of(high, low), port);
    }

    /** Returns where the packet was sent: in transit another host, else the socket's address. Allocates. */
    InetSocketAddress local() {
        return isInTransit() ? new InetSocketAddress(Addresses.of(toHigh, toLow), toPort()) : socket.localAddress();
    }

    /** Returns whether what goes to the next hop now goes back, and so through the socket that the packet came by. */
    boolean isAnsweredBy(RouteCacheEntry hop) {
        return isFrom(hop) && isInHand && gateway() == null;
    }

    /** Returns whether answers that a next hop gets leave from where this was sent. */
    boolean isOwnOf(RouteCacheEntry hop) {
        return hop.own.isOf(this);
    }

    /** Returns whether this is the sender. */
    boolean isFrom(long high, long low, int port) {
        return this.port == port && this.low == low && this.high == high;
    }

    /** Returns whether the next hop is the sender. */
    boolean isFrom(RouteCacheEntry hop) {
        return hop.isUdp && isFrom(hop.high, hop.low, hop.port());
    }

    /**
     * The sockets that packets in one service's queues came through: there they stand as an index beside the sender's port.
     *
     * <p>Thread contract: any thread.
     */
    static final class Sockets {
        private final CopyOnWriteArrayList<UdpSocket> sockets = new CopyOnWriteArrayList<>();

        /** Returns the number that stands for port and socket in a queue. */
        int portAndSocket(Arrival arrival) {
            UdpSocket through = arrival.socket();
            int index = sockets.indexOf(through);
            if (index < 0) {
                sockets.addIfAbsent(through);
                index = sockets.indexOf(through);
            }
            return index << 16 | arrival.port();
        }

        UdpSocket socket(int portAndSocket) {
            return sockets.get(portAndSocket >>> 16);
        }

        static int port(int portAndSocket) {
            return portAndSocket & 0xFFFF;
        }
    }
}

package org.tamanoir.ee;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.routing.Addresses;
import org.tamanoir.transport.UdpEgressSockets;
import org.tamanoir.transport.UdpSocket;

/**
 * Tells which datagram is answered by what one service sends to a sender of datagrams: it leaves from the address, and
 * through the socket, that this one was sent to, since connected senders, firewalls and address translators take it from
 * nowhere else.
 *
 * <p>Thread contract: the service's thread.
 */
final class Answers {
    /** A power of two. */
    private static final int SETS = 1024;
    /** Senders remembered in each set: those of it that have spoken last. */
    private static final int WAYS = 4;

    private final UdpEgressSockets sockets;
    private final Arrival inHand;
    /** The last datagram of each sender, the sets behind one another; empty where none matters. */
    private @Nullable Arrival[] last = {};
    /** Of the datagram that the packet is a copy of which leaves now. */
    private @Nullable Arrival kept;

    /** The socket of the datagram before, and whether datagrams through it matter to answers. */
    private @Nullable UdpSocket known;

    private boolean knownMatters;

    /** @param inHand of the packet in hand */
    Answers(UdpEgressSockets sockets, Arrival inHand) {
        this.sockets = sockets;
        this.inHand = inHand;
    }

    /** Memory of a packet that a service keeps a copy of. */
    private record Kept(Arrival arrival) implements PacketSpace {
        @Override
        public ByteBuffer reserve(int octets) {
            return HEAP.reserve(octets);
        }

        @Override
        public void commit(int octets) {
            HEAP.commit(octets);
        }

        @Override
        public PacketSpace ofCopies() {
            return this;
        }
    }

    /** Returns memory for a copy of the packet in hand, which tells {@link #begin} what the copy is one of. */
    PacketSpace ofCopies() {
        return inHand.isInHand() && matters() ? new Kept(inHand.copy()) : PacketSpace.HEAP;
    }

    /** Begins to send a packet that lay in this memory. */
    void begin(PacketSpace memory) {
        kept = memory instanceof Kept copy ? copy.arrival : null;
    }

    void end() {
        kept = null;
    }

    private boolean matters() {
        UdpSocket socket = inHand.socket();
        if (socket != known) {
            knownMatters = inHand.gateway() == null && sockets.tellsAnswers(socket);
            known = socket;
        }
        return knownMatters && !inHand.isInTransit();
    }

    /** Notes that the datagrams in hand have just come. */
    void heard() {
        if (!matters()) {
            return;
        }
        if (last.length == 0) {
            last = new @Nullable Arrival[SETS * WAYS];
        }
        int set = set(inHand.high(), inHand.low(), inHand.port());
        int way = 0;
        Arrival entry = last[set];
        while (way < WAYS - 1 && (entry == null || !entry.isFrom(inHand.high(), inHand.low(), inHand.port()))) {
            entry = last[set + ++way];
        }
        Arrival newest = entry == null ? new Arrival(inHand.socket()) : entry;
        System.arraycopy(last, set, last, set + 1, way);
        last[set] = newest;
        newest.set(inHand);
    }

    private static int set(long high, long low, int port) {
        return (int) (Addresses.hash(high, low, port) >>> 54) * WAYS;
    }

    /**
     * Returns the arrival of the datagram that a packet for this next hop answers: that which it is a copy of, or which is
     * in hand, or else of a destination the last that came from there. Of a next hop that routes name the last proves
     * nothing: its source may be forged, and packets of all others go there too. Null where there is none.
     */
    @Nullable
    Arrival to(RouteCacheEntry hop) {
        Arrival copied = kept;
        if (copied != null && copied.isFrom(hop)) {
            return copied;
        }
        if (inHand.isAnsweredBy(hop)) {
            return inHand;
        }
        return last.length > 0 && hop.isUdp && hop.isDestination() ? lastOf(hop) : null;
    }

    private @Nullable Arrival lastOf(RouteCacheEntry hop) {
        int set = set(hop.high, hop.low, hop.port());
        for (int way = 0; way < WAYS; way++) {
            Arrival entry = last[set + way];
            if (entry != null && entry.isFrom(hop)) {
                return entry;
            }
        }
        return null;
    }
}

package org.tamanoir.transport;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.tamanoir.routing.PeerNetwork;

/**
 * The room for QUIC connections that come in: so many in all, and of them so many from one address (of IPv6 a /64).
 * Loopback addresses are not counted by themselves.
 *
 * <p>Thread contract: one thread.
 */
final class QuicPlaces {
    private final int limit;
    private final int perPeer;
    private final Map<InetAddress, Integer> byPeer = new HashMap<>();
    private int taken;

    QuicPlaces(int limit, int perPeer) {
        this.limit = limit;
        this.perPeer = perPeer;
    }

    /** Returns whether a connection from there would get a place. */
    boolean hasRoom(InetAddress peer) {
        return taken < limit && (peer.isLoopbackAddress() || byPeer.getOrDefault(PeerNetwork.of(peer), 0) < perPeer);
    }

    /** Takes a place; false when there is none. */
    boolean take(InetAddress peer) {
        if (!hasRoom(peer)) {
            return false;
        }
        if (!peer.isLoopbackAddress()) {
            byPeer.merge(PeerNetwork.of(peer), 1, Integer::sum);
        }
        taken++;
        return true;
    }

    /** Gives a place back that was taken. */
    void give(InetAddress peer) {
        taken--;
        if (!peer.isLoopbackAddress()) {
            byPeer.computeIfPresent(PeerNetwork.of(peer), (key, count) -> count == 1 ? null : count - 1);
        }
    }

    int taken() {
        return taken;
    }
}

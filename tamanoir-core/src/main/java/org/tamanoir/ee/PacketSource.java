package org.tamanoir.ee;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * The place where the packet in hand came from.
 *
 * <p>Thread contract: the service's thread.
 */
interface PacketSource {
    /** Returns who sent it; null = nobody in particular. */
    @Nullable
    InetSocketAddress peer();

    /** Returns this node's end of the way that it came. */
    InetSocketAddress local();

    /** Returns the bytes that it had when it came, or would have if it went back, without a header that this node put there. */
    default int bytesReceived(Packet packet) {
        return packet.length();
    }

    /** Returns the bytes that go to where it was sent, likewise. */
    default int bytesOnward(Packet packet) {
        return packet.length();
    }

    /** Returns the octets of the headers of IP and UDP that it came with; 0 = it is no datagram. */
    default int headerBytes() {
        return 0;
    }

    /** Tells an allowance where it says that it came from, if it is a datagram. */
    default void tellSource(KeptAllowance kept) {
        kept.setSource(0, 0, 0, headerBytes());
    }

    /** Returns what is known of its authenticity, as {@link org.tamanoir.auth.PacketGuard#proof}. */
    int proof();

    /** Keeps what is known of its authenticity, which goes with it wherever it waits. */
    void prove(int proof);

    /** Returns whether it is a datagram that says that it came from here. */
    default boolean isFrom(long high, long low, int port) {
        return false;
    }
}

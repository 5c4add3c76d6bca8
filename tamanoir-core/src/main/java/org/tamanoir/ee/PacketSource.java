package org.tamanoir.ee;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

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

    /** Returns whether it is a datagram that says that it came from here. */
    default boolean isFrom(long high, long low, int port) {
        return false;
    }
}

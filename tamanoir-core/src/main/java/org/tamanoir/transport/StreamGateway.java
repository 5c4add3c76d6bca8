package org.tamanoir.transport;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.FailurePolicy;

/**
 * A port for connections that do not carry packets, and the far side that they lead to, which speaks as their senders do.
 *
 * <p>Thread contract: any thread.
 */
public interface StreamGateway {
    /** Returns where it listens; port 0 takes a free one. */
    InetSocketAddress address();

    /** Returns what its packets are for: where streams go on to. */
    InetSocketAddress to();

    /** Makes what translates a connection of this sender. */
    StreamCodec codec(InetSocketAddress sender);

    /**
     * Returns the gateway of one connection, where that leads to where its sender wanted to go; null = it is a stranger's.
     *
     * @param local what the sender connected to
     */
    default @Nullable StreamGateway of(InetSocketAddress sender, InetSocketAddress local) {
        return this;
    }

    /** Returns whether it takes connections to other hosts' addresses, which are delivered here (IP_TRANSPARENT). */
    default boolean isInTransit() {
        return false;
    }

    /** Returns the address, of another host, that a connection to {@link #to} comes from; null = one of this host's. */
    default @Nullable InetSocketAddress from() {
        return null;
    }

    /** Returns the mark (SO_MARK) of a connection to {@link #to}; 0 = none. */
    default int mark() {
        return 0;
    }

    /** Returns what becomes of packets that its service fails; null = what that says itself. */
    default @Nullable FailurePolicy onFailure() {
        return null;
    }

    /** Makes what translates a connection to {@link #to}. */
    StreamCodec farCodec();
}

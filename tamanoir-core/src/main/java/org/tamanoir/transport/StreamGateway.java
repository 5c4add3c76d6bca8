package org.tamanoir.transport;

import java.net.InetSocketAddress;

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

    /** Makes what translates a connection to {@link #to}. */
    StreamCodec farCodec();
}

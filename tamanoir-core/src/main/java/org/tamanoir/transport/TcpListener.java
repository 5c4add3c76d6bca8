package org.tamanoir.transport;

import java.net.InetSocketAddress;

/**
 * A TCP port that accepts connections onto the loop that {@linkplain IoLoop#listen listens}.
 *
 * <p>Thread contract: the owning thread of the loop.
 */
public interface TcpListener {
    /** Returns where it listens, with the real port. */
    InetSocketAddress localAddress();

    /** Returns whether bytes are translated between a connection and its socket, as with TLS. */
    boolean isTranslating();

    /**
     * Accepts connections to addresses of other hosts, too, which rules of routing deliver here (IP_TRANSPARENT).
     *
     * @return empty, or in one line why that cannot be
     */
    String acceptInTransit();

    /** Accepts no more. */
    void close();
}

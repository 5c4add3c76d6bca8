package org.tamanoir.service;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What an instance of a service serves: one TCP stream, or all UDP traffic of its service.
 *
 * @param transport how the packets come
 * @param peer the sender's end of a TCP stream; null for UDP
 * @param local this node's end
 */
public record StreamInfo(Transport transport, @Nullable InetSocketAddress peer, InetSocketAddress local) {
    /** Transports of ANEP packets. */
    public enum Transport {
        TCP,
        UDP
    }
}

package org.tamanoir.nodeos;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * The packets of one service that a policy is for. Of several policies that fit a packet the most specific decides:
 * a stream goes before ends, a destination before a source.
 *
 * @param protocol that packets come over
 * @param source in the IP header; null = any
 * @param destination in the IP header; null = any; of the same family as the source
 * @param stream id in the stream-and-sequence option, 0 to 2^32 - 1; null = any, and always for TCP
 */
public record Flow(
        Protocol protocol,
        @Nullable InetAddress source,
        @Nullable InetAddress destination,
        @Nullable Long stream) {
    /** All UDP packets of the service. */
    public static final Flow ANY = new Flow(Protocol.UDP, null, null, null);

    /** Transports of ANEP packets. */
    public enum Protocol {
        UDP,
        TCP
    }

    /**
     * Checks what depends on another.
     *
     * @throws IllegalArgumentException in one line
     */
    public Flow {
        if (stream != null && (stream < 0 || stream > 0xFFFF_FFFFL)) {
            throw new IllegalArgumentException("stream " + stream + ": must be 0 to 4294967295");
        }
        if (stream != null && protocol == Protocol.TCP) {
            throw new IllegalArgumentException(
                    "stream " + stream + " over TCP: a level steers TCP by connection; leave the stream out");
        }
        if (source != null && destination != null && source.getClass() != destination.getClass()) {
            throw new IllegalArgumentException("flow from " + source.getHostAddress() + " to "
                    + destination.getHostAddress() + ": both must be IPv4 or both IPv6");
        }
    }

    /** Returns whether a packet can be of both flows. */
    public boolean overlaps(Flow other) {
        return protocol == other.protocol
                && areAlike(source, other.source)
                && areAlike(destination, other.destination)
                && areAlike(stream, other.stream);
    }

    private static boolean areAlike(@Nullable Object one, @Nullable Object other) {
        return one == null || other == null || one.equals(other);
    }
}

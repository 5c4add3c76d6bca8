package org.tamanoir.gateway;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What both far sides of a gateway speak over TCP: units, each a prefix of a fixed length and a payload, which is the
 * payload of a packet in the node. A format of one's own is found by {@link java.util.ServiceLoader} on the class path of
 * the node.
 *
 * <p>Thread contract: any thread, those of streams and the one that accepts connections: it must not wait. Without state.
 * Uses absolute indexes alone; what is thrown ends the connection.
 */
public interface StreamFormat {
    /** The most octets of a prefix. */
    int MAX_PREFIX_OCTETS = 8;

    /** Returns the name that the configuration has for it. */
    String name();

    /** Returns the octets in front of each payload, 0 to {@value #MAX_PREFIX_OCTETS}. */
    int prefixOctets();

    /**
     * Returns the octets of the unit that begins at {@code start}, prefix included, whether or not all have come.
     *
     * @return 0 while that cannot be told; a unit that has not told it with as many octets as fit a packet is refused
     * @throws IOException with the reason in a few words, if no unit can begin so: the connection is closed
     */
    long unitOctets(ByteBuffer units, int start, int end) throws IOException;

    /** Puts the prefix of a payload of so many octets. */
    void putPrefix(ByteBuffer units, int at, int payloadOctets);

    /**
     * Returns whether a connection begins with a packet without payload, so that service and far side learn of it before
     * its sender has said anything. For formats without a prefix, where that packet stands for no octet.
     */
    default boolean beginsAtOnce() {
        return false;
    }
}

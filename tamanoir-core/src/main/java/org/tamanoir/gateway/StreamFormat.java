package org.tamanoir.gateway;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What both far sides of a gateway speak over TCP: units, each a prefix of a fixed length and a payload, which is the
 * payload of a packet in the node. A format of one's own is found by {@link java.util.ServiceLoader} on the class path of
 * the node.
 *
 * <p>Thread contract: any thread; without state. Uses absolute indexes alone.
 */
public interface StreamFormat {
    /** Returns the name that the configuration has for it. */
    String name();

    /** Returns the octets in front of each payload, 0 to 8. */
    int prefixOctets();

    /**
     * Returns the octets of the unit that begins at {@code start}, prefix included, whether or not all have come.
     *
     * @return 0 while that cannot be told, which is not to be for ever
     * @throws IOException with the reason in a few words, if no unit can begin so: the connection is closed
     */
    int unitOctets(ByteBuffer units, int start, int end) throws IOException;

    /** Puts the prefix of a payload of so many octets. */
    void putPrefix(ByteBuffer units, int at, int payloadOctets);

    /**
     * Returns whether octets have no bounds that are to be kept: a connection then begins with a packet without payload,
     * so that its service and the far side learn of it before its sender has said anything, and a packet without payload
     * stands for no octet.
     */
    default boolean isUnbounded() {
        return false;
    }
}

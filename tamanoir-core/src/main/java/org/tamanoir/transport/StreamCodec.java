package org.tamanoir.transport;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Translates between the units that one side of a connection speaks and packets, which stand back to back. Uses absolute
 * indexes alone.
 *
 * <p>Thread contract: the owning thread of the connection's loop; one connection.
 */
public interface StreamCodec {
    /**
     * Returns the octets of the packet that the first unit becomes.
     *
     * @return 0 while that has not come whole; 1 to 65,535
     * @throws IOException with the reason in a few words, if this cannot be a unit: the connection is closed
     */
    int decodedOctets(ByteBuffer units, int start, int end) throws IOException;

    /**
     * Puts the packet of the first unit behind {@code at}, for which {@link #decodedOctets} has been asked just before.
     *
     * @return the octets of the unit; 0 for a packet that stands for none
     */
    int decode(ByteBuffer units, int start, int end, ByteBuffer packets, int at);

    /** Returns the octets of the unit that a packet becomes, 0 for none; at most 8 more than the packet has. */
    int encodedOctets(ByteBuffer packets, int start);

    /**
     * Puts the unit of a packet behind {@code at}.
     *
     * @return the octets of the packet
     */
    int encode(ByteBuffer packets, int start, ByteBuffer units, int at);
}

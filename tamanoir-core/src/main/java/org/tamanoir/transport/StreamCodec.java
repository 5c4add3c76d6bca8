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

    /**
     * Takes what stands at the front of the units and becomes no packet: something for the codec itself, or to be dropped.
     * Asked when {@link #decodedOctets} has just given 0.
     *
     * @return its octets; 0 = a unit has not come whole
     */
    default int takenOctets(ByteBuffer units, int start, int end) {
        return 0;
    }

    /** Takes note that no octet comes any more. */
    default void unitsEnd() {}

    /** Returns whether the far side has shown that it speaks so; nobody writes before. */
    default boolean isEstablished() {
        return true;
    }

    /** Returns the octets of what the codec itself has to say now; asked behind each batch, either way. */
    default int saidOctets() {
        return 0;
    }

    /** Puts what it has to say behind {@code at}. */
    default void say(ByteBuffer units, int at) {}

    /** Returns whether the far side is still to answer something that the codec has said. */
    default boolean awaitsAnswer() {
        return false;
    }

    /** Takes note that the connection failed, in a few words why, before it was established. */
    default void failed(String why) {}

    /** Takes note that the connection is closed. */
    default void closed() {}

    /** Returns the octets of the unit that a packet becomes, 0 for none; few more than the packet has. */
    int encodedOctets(ByteBuffer packets, int start);

    /**
     * Puts the unit of a packet behind {@code at}.
     *
     * @return the octets of the packet
     */
    int encode(ByteBuffer packets, int start, ByteBuffer units, int at);
}

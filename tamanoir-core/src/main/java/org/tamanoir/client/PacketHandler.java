package org.tamanoir.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Packet;

/**
 * What an {@link AnepReceiver} does with packets. It has one handler per TCP connection and one for all UDP traffic.
 *
 * <p>Thread contract: each handler is called on one thread.
 */
public interface PacketHandler {
    /**
     * Handles a packet.
     *
     * @param packet valid during the call; {@link Packet#copy} keeps it
     * @param peer who sent it; over UDP valid during the call
     * @throws IOException ends the TCP connection; over UDP it counts as a failure and the next packet follows
     */
    void packet(Packet packet, Peer peer) throws IOException;

    /** Learns that the packets of one read are through, and that what waits to be written may go. */
    default void batchEnd() throws IOException {}

    /**
     * Learns that the TCP connection, or the receiver, has ended; no call follows.
     *
     * @param fault why in one line; null when the peer ended it between two packets, or the receiver was closed
     */
    default void closed(@Nullable String fault) {}
}

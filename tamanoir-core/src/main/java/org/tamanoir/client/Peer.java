package org.tamanoir.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.tamanoir.anep.Packet;

/** The sender of a packet, as the transport knows it. Thread contract: the thread of the handler it was given to. */
public interface Peer {
    /** How the packet came. */
    Transport transport();

    /** Upper 64 bits of the address; 0 for IPv4, which stands as ::ffff:a.b.c.d. */
    long addressHigh();

    /** Lower 64 bits of the address. */
    long addressLow();

    int port();

    /** Allocates over UDP. */
    InetSocketAddress address();

    /**
     * Answers: over TCP on the same connection, in order. Answers leave when the packets of one read are through.
     *
     * @throws IOException if the connection is gone or the peer takes nothing for the stall time-out
     */
    void reply(Packet packet) throws IOException;
}

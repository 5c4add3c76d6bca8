package org.tamanoir.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.tamanoir.anep.Packet;

/** The sender of a packet, as the transport knows it. Thread contract: the thread of the handler it was given to. */
public interface Peer {
    /** Returns true if the packet came over UDP, false if over TCP. */
    boolean isUdp();

    /** Returns the upper 64 bits of the address; 0 for IPv4, which stands as ::ffff:a.b.c.d. */
    long addressHigh();

    /** Returns the lower 64 bits of the address. */
    long addressLow();

    /** Returns the port of the address. */
    int port();

    /** Returns the address with its port; allocates over UDP. */
    InetSocketAddress address();

    /**
     * Answers the packet: over TCP on the same connection, in order. Answers leave when the packets of one read are through.
     *
     * @throws IOException if the connection is gone or the peer takes nothing for the stall time-out
     */
    void reply(Packet packet) throws IOException;
}

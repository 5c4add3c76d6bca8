package org.tamanoir.transport;

import java.nio.ByteBuffer;

/**
 * Datagrams that one call received. A message is one datagram, or several of the same size from the same sender
 * that the kernel joined (UDP_GRO): those stand back to back, {@link #segmentOctets} apart, the last one shorter
 * if need be.
 */
public interface UdpBatch {
    /** All messages lie in this one direct, big-endian buffer. */
    ByteBuffer buffer();

    /** Index of the message's first octet in {@link #buffer}. */
    int start(int message);

    /** Index behind the message's last octet. */
    int end(int message);

    /** Octets of each datagram in the message; the whole message when it is a single one. */
    int segmentOctets(int message);

    /** Upper 64 bits of the sender's address; 0 for IPv4, which stands as ::ffff:a.b.c.d. */
    long addressHigh(int message);

    /** Lower 64 bits of the sender's address. */
    long addressLow(int message);

    /** The sender's port. */
    int port(int message);
}

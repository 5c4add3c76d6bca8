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

    /** The message's SO_MARK; 0 where the socket does not {@linkplain UdpSocket#receiveInTransit receive in transit}. */
    default int mark(int message) {
        return 0;
    }

    /** Upper 64 bits of the address that it was sent to, as {@link #addressHigh}; 0 likewise. */
    default long destinationHigh(int message) {
        return 0;
    }

    /** Lower 64 bits of that address; 0 likewise. */
    default long destinationLow(int message) {
        return 0;
    }

    /** TTL of its IPv4 header, or hop limit of its IPv6 header; 0 likewise. */
    default int hopsLeft(int message) {
        return 0;
    }

    /** Octet TOS of its IPv4 header, or traffic class of its IPv6 header; 0 likewise. */
    default int trafficClass(int message) {
        return 0;
    }
}

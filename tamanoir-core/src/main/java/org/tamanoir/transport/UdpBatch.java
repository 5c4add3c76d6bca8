package org.tamanoir.transport;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Fold;

/**
 * Datagrams that one call received. A message is one datagram, or several of the same size from the same sender
 * that the kernel joined (UDP_GRO): those stand back to back, {@link #segmentBytes} apart, the last one shorter
 * if need be.
 */
public interface UdpBatch {
    /** Returns the direct, big-endian buffer in which the message lies; mostly the same one for all. */
    ByteBuffer buffer(int message);

    /** Returns the index of the message's first byte in its {@link #buffer}. */
    int start(int message);

    /** Returns the index behind the message's last byte. */
    int end(int message);

    /** Returns the bytes of each datagram in the message; the whole message when it is a single one. */
    int segmentBytes(int message);

    /** Returns the upper 64 bits of the sender's address; 0 for IPv4, which stands as ::ffff:a.b.c.d. */
    long addressHigh(int message);

    /** Returns the lower 64 bits of the sender's address. */
    long addressLow(int message);

    /** Returns the sender's port. */
    int port(int message);

    /** Returns whether {@link #ownHigh} and what follows may say something. */
    default boolean tellsOwn() {
        return false;
    }

    /**
     * Returns the upper 64 bits of the address of this host that the message was sent to, and that answers leave from, as
     * {@link #addressHigh}; 0 and 0 where the socket's own says it, or nothing does.
     */
    default long ownHigh(int message) {
        return 0;
    }

    /** Returns the lower 64 bits of that address. */
    default long ownLow(int message) {
        return 0;
    }

    /** Returns the number of the interface that it came in by, where one of the two addresses is link-local; else 0. */
    default int ownDevice(int message) {
        return 0;
    }

    /** Says whether messages are left folded from now on, for who looks at {@link #fold}. */
    default void leaveFolded(boolean folded) {}

    /**
     * Returns the header that each datagram of the message has {@value Fold#OCTETS} octets in place of; null where the
     * datagrams are whole packets, as they all are for who has not asked for others.
     */
    default @Nullable Fold fold(int message) {
        return null;
    }

    /**
     * Makes whole packets of a folded message's datagrams from the one on that begins at {@code at}: where the message
     * lies, and the bytes of each, is another matter then.
     *
     * @return false when there is no memory for them: they are counted as dropped
     */
    default boolean unfold(int message, int at) {
        return true;
    }

    /** Says that all of it has left, or ended: nobody refers to its memory any more. */
    default void done() {}

    /** Returns the message's SO_MARK; 0 where the socket does not {@linkplain UdpSocket#receiveInTransit receive in transit}. */
    default int mark(int message) {
        return 0;
    }

    /** Returns the upper 64 bits of the address that it was sent to, as {@link #addressHigh}; 0 likewise. */
    default long destinationHigh(int message) {
        return 0;
    }

    /** Returns the lower 64 bits of that address; 0 likewise. */
    default long destinationLow(int message) {
        return 0;
    }

    /** Returns the port that a {@linkplain UdpSocket#receivePlain plain} datagram was sent to; else 0. */
    default int destinationPort(int message) {
        return 0;
    }

    /** Returns whether it is a {@linkplain UdpSocket#receivePlain plain} datagram, with an ANEP header put in front of it. */
    default boolean isPlain(int message) {
        return false;
    }

    /** Returns the TTL of its IPv4 header, or hop limit of its IPv6 header; 0 likewise. */
    default int hopsLeft(int message) {
        return 0;
    }

    /** Returns the byte TOS of its IPv4 header, or traffic class of its IPv6 header; 0 likewise. */
    default int trafficClass(int message) {
        return 0;
    }
}

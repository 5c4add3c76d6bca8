package org.tamanoir.transport;

import java.nio.ByteBuffer;

/**
 * Collects datagrams and sends them in as few system calls as the kernel allows (sendmmsg, UDP_SEGMENT), without
 * copying them. Datagrams leave in the order in which they were added.
 *
 * <p>A sender {@linkplain UdpSocket#newSender(UdpRefusals) that tells of refusals} does not wait.
 *
 * <p>Thread contract: one thread.
 */
public interface UdpSender {
    /**
     * Adds a datagram; flushes first when the sender is full.
     *
     * @param buffer direct; the bytes must stay as they are until {@link #flush} returns
     * @param addressHigh upper 64 bits of the receiver's address; 0 for IPv4, which stands as ::ffff:a.b.c.d
     */
    void add(ByteBuffer buffer, int offset, int length, long addressHigh, long addressLow, int port);

    /**
     * Says what datagrams leave with that are added from now on, as their IPv4 TOS or IPv6 traffic class; 0 at first. Those
     * that differ in it may overtake each other. Senders that cannot do that leave them as they are.
     */
    default void markAs(int trafficOctet) {}

    /**
     * Has datagrams that are added from now on leave from this address of the host, of the socket's family, as {@link
     * UdpBatch#ownHigh} names it; with 0 and 0, as at first, the system chooses. Senders that cannot do that leave it so.
     *
     * @param device the interface's number, for link-local addresses; 0 = as the routes say
     */
    default void from(long high, long low, int device) {}

    /**
     * Has datagrams that are added from now on leave through this socket, of the kind that the sender was made for, and what
     * was added before leave first.
     */
    default void through(UdpSocket socket) {
        throw new UnsupportedOperationException("this sender has one socket");
    }

    /**
     * Adds datagrams that stand back to back, as {@link #add} each of them.
     *
     * @param bytes of all together
     * @param segmentBytes of each but the last, which may be shorter; not 0
     */
    default void addRun(
            ByteBuffer buffer, int offset, int bytes, int segmentBytes, long addressHigh, long addressLow, int port) {
        for (int at = 0; at < bytes; at += segmentBytes) {
            add(buffer, offset + at, Math.min(segmentBytes, bytes - at), addressHigh, addressLow, port);
        }
    }

    /**
     * Returns whether packets with this header go {@linkplain UdpBatch#fold folded} to this address now.
     *
     * @param header alone from index 0 on, with its own length for the packet's
     */
    default boolean folds(ByteBuffer header, long addressHigh, long addressLow, int port) {
        return false;
    }

    /**
     * Adds folded datagrams that stand back to back, as {@link #addRun}, and writes what goes in place of their header.
     *
     * @param header as {@link #folds}
     * @return false when they do not go folded, and nothing was done
     */
    default boolean addFolded(
            ByteBuffer header,
            ByteBuffer buffer,
            int offset,
            int bytes,
            int segmentBytes,
            long addressHigh,
            long addressLow,
            int port) {
        return false;
    }

    /** Forgets what was added and has not left. */
    void discard();

    /** Sends all that was added; waits, bounded, while the socket's send buffer is full. */
    void flush();

    /** Returns how many datagrams the operating system took, since the sender was made. */
    long sentPackets();

    /** Returns the bytes of those. */
    long sentBytes();

    /** Returns how many datagrams the operating system refused, since the sender was made. */
    long failedPackets();

    /** Returns what the operating system said last, for a log; empty when nothing failed. */
    String lastError();
}

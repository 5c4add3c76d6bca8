package org.tamanoir.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.tamanoir.anep.PlainGenerations;

/**
 * A bound UDP socket that moves datagrams in batches.
 *
 * <p>Thread contract: one thread receives; any thread may send through a {@link UdpSender} of its own.
 */
public interface UdpSocket extends AutoCloseable {

    /** Returns where the socket is bound, with the real port. */
    InetSocketAddress localAddress();

    /**
     * Returns whether the address of this host that a datagram was sent to is known, so that answers leave from there: it is
     * the one that the socket is bound to, or {@link UdpBatch#ownHigh} says it.
     */
    default boolean knowsOwnAddress() {
        return !localAddress().getAddress().isAnyLocalAddress();
    }

    /**
     * Receives from now on what {@link UdpBatch} says of datagrams in transit, and counts {@link #takeOverflows}.
     * Before {@link #newBatch}: older batches do not fit any more.
     *
     * @throws IOException in one line, if that cannot be had here
     */
    void receiveInTransit() throws IOException;

    /**
     * Receives from now on nothing but plain datagrams to other hosts, and puts in front of each the ANEP header of the
     * rule that its mark names: see {@link UdpBatch#isPlain}. What has another mark is received as empty. As {@link
     * #receiveInTransit} otherwise.
     *
     * @param mark upper bits of the marks, {@code 0xFFF00000}
     * @throws IOException in one line, if that cannot be had here
     */
    default void receivePlain(PlainGenerations generations, int mark) throws IOException {
        throw new IOException("these sockets receive no plain datagrams: use the native transport");
    }

    /**
     * Returns how many datagrams came while the socket's receive buffer was full, since this was called last; 0 unless it {@linkplain
     * #receiveInTransit receives in transit}. Known when a later datagram is received. The receiving thread.
     */
    default int takeOverflows() {
        return 0;
    }

    /** Returns how many bytes may wait to leave, the kernel's own records among them; the maximum where that is unknown. */
    default int sendBufferBytes() {
        return Integer.MAX_VALUE;
    }

    /** Returns whether the kernel has not yet handed on all that was sent through this socket; false where it cannot say. */
    default boolean hasUnsent() {
        return false;
    }

    /** Makes memory to receive into. */
    UdpBatch newBatch();

    /** Makes a sender over this socket, for one thread. */
    UdpSender newSender();

    /**
     * Makes one likewise for link-local receivers on one interface.
     *
     * @param scope the interface's number; 0 = the one that the socket is bound to
     */
    default UdpSender newSender(int scope) {
        return newSender();
    }

    /** Makes one likewise that does not wait for room in the send buffer: what finds none is refused as the rest. */
    default UdpSender newSender(UdpRefusals refusals) {
        throw new UnsupportedOperationException("these sockets do not tell of refusals");
    }

    /**
     * Receives what is sent to a multicast group and this socket's port too.
     *
     * @throws IOException in one line, if the system refuses
     */
    default void joinGroup(InetAddress group) throws IOException {
        throw new IOException("these sockets join no groups");
    }

    /**
     * Reads what waits, up to the batch's size, and does not block.
     *
     * @return messages in the batch; 0 when none waits
     */
    int receive(UdpBatch batch) throws IOException;

    /** Blocks until a datagram waits; false when the time is up. */
    boolean awaitReadable(Duration timeout) throws IOException;

    /** Returns the socket that a loop watches in place of this one: this, unless it stands over another. */
    default UdpSocket watched() {
        return this;
    }

    @Override
    void close();
}

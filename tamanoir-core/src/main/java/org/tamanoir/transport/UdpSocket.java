package org.tamanoir.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A bound UDP socket that moves datagrams in batches.
 *
 * <p>Thread contract: one thread receives; any thread may send through a {@link UdpSender} of its own.
 */
public interface UdpSocket extends AutoCloseable {

    /** Where it is bound, with the real port. */
    InetSocketAddress localAddress();

    /** Memory to receive into. */
    UdpBatch newBatch();

    /** A sender over this socket, for one thread. */
    UdpSender newSender();

    /**
     * Reads what waits, up to the batch's size, and does not block.
     *
     * @return messages in the batch; 0 when none waits
     */
    int receive(UdpBatch batch) throws IOException;

    /** Blocks until a datagram waits; false when the time is up. */
    boolean awaitReadable(Duration timeout) throws IOException;

    @Override
    void close();
}

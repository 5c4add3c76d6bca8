package org.tamanoir.client;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What stands between a {@link BlockingConnection} and its socket: bytes of the connection's user on one side, others on
 * the wire.
 *
 * <p>Thread contract: the connection's thread.
 */
interface Layer {
    /**
     * Waits until both sides know each other.
     *
     * @throws IOException if they do not, or not in time
     */
    void shakeHands(long timeoutNs) throws IOException;

    /** Writes from position to limit; {@code input} is served while the far side takes nothing. */
    void write(ByteBuffer bytes, BlockingConnection.Input input) throws IOException;

    /**
     * Reads what is there, waiting for the first byte.
     *
     * @return bytes read; 0 when the time is up, -1 at the end
     */
    int read(ByteBuffer target, long timeoutNs) throws IOException;

    /** Tells the far side that this one ends, where that is said. */
    void end(BlockingConnection.Input input) throws IOException;
}

package org.tamanoir.node.load;

import java.io.IOException;
import java.net.InetAddress;
import org.tamanoir.anep.Packet;

/**
 * Where the payloads of one stream go.
 *
 * <p>Thread contract: one thread.
 */
interface PacketOutput {
    /** Makes the outputs of streams. Any thread. */
    interface Factory {
        /** Returns where a stream's payloads go. */
        PacketOutput open(int streamId, Source source) throws IOException;
    }

    /**
     * Who sends a stream.
     *
     * @param byNumber whether its packets may come in any order, over UDP
     */
    record Source(InetAddress peer, boolean byNumber) {}

    /**
     * Takes a packet's payload.
     *
     * @param sequence below 0 for a packet without a number, which goes behind all that was written
     * @param repeated the number came before: over TCP services number so what they had to cut, over UDP it is a
     *     duplicate
     */
    void write(Packet packet, long sequence, boolean repeated) throws IOException;

    /** Hands on what waits in buffers. */
    void flush() throws IOException;

    /** Ends the output. */
    void close() throws IOException;

    /** Returns packets that came too late for the output. */
    long leftOut();
}

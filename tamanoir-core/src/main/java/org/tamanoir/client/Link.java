package org.tamanoir.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;

/** How a sender's packets leave and its answers come: TCP or UDP. Thread contract: one thread; close from any. */
interface Link extends AutoCloseable {
    /** The largest packet that fits. */
    int maxPacketOctets();

    InetSocketAddress local() throws IOException;

    /** Sends the packets that stand back to back in [from, to); they are out of this memory when it returns. */
    void write(ByteBuffer packets, int from, int to) throws IOException;

    /** Points the view at the next answer; false when the time is up or no answer can come any more. */
    boolean poll(Packet packet, long timeoutNs) throws IOException;

    /** Whether the far side has ended its output. */
    boolean ended();

    /** Octets of answers that were malformed, or datagrams of such. */
    long malformed();

    /** Packets that the operating system refused. */
    long refusedPackets();

    /** What it said last; empty when it refused nothing. */
    String lastError();

    void shutdownOutput() throws IOException;

    @Override
    void close();
}

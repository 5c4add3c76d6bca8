package org.tamanoir.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.tamanoir.anep.Packet;

/** How a sender's packets leave and its answers come: TCP or UDP. Thread contract: one thread; close from any. */
interface PacketLink extends AutoCloseable {
    /** Returns the bytes of the largest packet that fits. */
    int maxPacketBytes();

    InetSocketAddress local() throws IOException;

    /** Sends the packets that stand back to back in [from, to); they are out of this memory when it returns. */
    void write(ByteBuffer packets, int from, int to) throws IOException;

    /** Points the view at the next answer; false when the time is up or no answer can come any more. */
    boolean poll(Packet packet, long timeoutNs) throws IOException;

    /** Returns true if the far side has ended its output. */
    boolean ended();

    /** Returns how many packets the operating system refused. */
    long refusedPackets();

    /** Returns why the operating system refused the last packet; empty when it refused none. */
    String lastError();

    void shutdownOutput() throws IOException;

    @Override
    void close();
}

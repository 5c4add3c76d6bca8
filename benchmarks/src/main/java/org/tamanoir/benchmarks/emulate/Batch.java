package org.tamanoir.benchmarks.emulate;

import java.nio.ByteBuffer;
import org.tamanoir.transport.UdpBatch;

/** Datagrams that lie in a port's memory; those of one length that stand back to back are joined, as the kernel does. */
final class Batch implements UdpBatch {
    /** Messages of a batch, as one recvmmsg of the node brings. */
    static final int MESSAGES = 64;
    /** Datagrams of a message: UDP_MAX_SEGMENTS. */
    private static final int JOINED = 64;

    private static final int MAX_JOINED_BYTES = 65_507;

    private static final long SENDER = 0xFFFF_C633_6401L;
    private static final int PORT = 3322;

    private final ByteBuffer memory;
    private final int[] starts = new int[MESSAGES];
    private final int[] ends = new int[MESSAGES];
    private final int[] segments = new int[MESSAGES];
    private int messages;

    Batch(ByteBuffer memory) {
        this.memory = memory;
    }

    void clear() {
        messages = 0;
    }

    int messages() {
        return messages;
    }

    /** Adds a datagram; false when it has no room for another message. */
    boolean add(int offset, int bytes) {
        int last = messages - 1;
        if (last >= 0
                && segments[last] == bytes
                && ends[last] == offset
                && offset + bytes - starts[last] <= Math.min(JOINED * bytes, MAX_JOINED_BYTES)) {
            ends[last] = offset + bytes;
            return true;
        }
        if (messages == MESSAGES) {
            return false;
        }
        starts[messages] = offset;
        ends[messages] = offset + bytes;
        segments[messages++] = bytes;
        return true;
    }

    @Override
    public ByteBuffer buffer(int message) {
        return memory;
    }

    @Override
    public int start(int message) {
        return starts[message];
    }

    @Override
    public int end(int message) {
        return ends[message];
    }

    @Override
    public int segmentBytes(int message) {
        return segments[message];
    }

    @Override
    public long addressHigh(int message) {
        return 0;
    }

    @Override
    public long addressLow(int message) {
        return SENDER;
    }

    @Override
    public int port(int message) {
        return PORT;
    }
}

package org.tamanoir.transport;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Datagrams that a {@link java.nio.channels.DatagramChannel} gave one by one; each is a message. They stand close
 * together, so that small ones share the caches; a new one begins only where the largest would fit.
 *
 * <p>Thread contract: one thread at a time.
 */
final class NioUdpBatch implements UdpBatch {
    static final int LIMIT_MESSAGES = 64;
    private static final int LARGEST_BYTES = 65_536;
    private static final int ALIGN_BYTES = 64;
    private static final InetSocketAddress NOBODY = new InetSocketAddress(0);

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(4 * LARGEST_BYTES);
    private final ByteBuffer view = buffer.duplicate();
    private final int[] starts = new int[LIMIT_MESSAGES];
    private final int[] ends = new int[LIMIT_MESSAGES];
    private final long[] highs = new long[LIMIT_MESSAGES];
    private final long[] lows = new long[LIMIT_MESSAGES];
    private final int[] ports = new int[LIMIT_MESSAGES];
    private int count;

    // The channel gives the same object while the sender stays the same.
    private InetSocketAddress lastSender = NOBODY;
    private long lastHigh;
    private long lastLow;

    void clear() {
        count = 0;
    }

    int count() {
        return count;
    }

    boolean hasRoom() {
        return count < LIMIT_MESSAGES && nextStart() + LARGEST_BYTES <= buffer.capacity();
    }

    private int nextStart() {
        return count == 0 ? 0 : ends[count - 1] + ALIGN_BYTES - 1 & -ALIGN_BYTES;
    }

    /** Returns where the next datagram goes; its position moves as it is filled. */
    ByteBuffer next() {
        int start = nextStart();
        return view.limit(start + LARGEST_BYTES).position(start);
    }

    /** Keeps what {@link #next} was filled with. */
    void keep(InetSocketAddress sender) {
        if (sender != lastSender) {
            lastSender = sender;
            lastHigh = UdpAddress.high(sender.getAddress());
            lastLow = UdpAddress.low(sender.getAddress());
        }
        starts[count] = nextStart();
        ends[count] = view.position();
        highs[count] = lastHigh;
        lows[count] = lastLow;
        ports[count] = sender.getPort();
        count++;
    }

    @Override
    public ByteBuffer buffer(int message) {
        return buffer;
    }

    @Override
    public int start(int message) {
        return starts[Objects.checkIndex(message, count)];
    }

    @Override
    public int end(int message) {
        return ends[Objects.checkIndex(message, count)];
    }

    @Override
    public int segmentBytes(int message) {
        return end(message) - start(message);
    }

    @Override
    public long addressHigh(int message) {
        return highs[Objects.checkIndex(message, count)];
    }

    @Override
    public long addressLow(int message) {
        return lows[Objects.checkIndex(message, count)];
    }

    @Override
    public int port(int message) {
        return ports[Objects.checkIndex(message, count)];
    }
}

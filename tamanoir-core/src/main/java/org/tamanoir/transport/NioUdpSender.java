package org.tamanoir.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sends through a {@link DatagramChannel}, each datagram when it is added: NIO has no batches, so there is nothing to
 * gain by waiting for {@link #flush}.
 *
 * <p>Thread contract: that of {@link UdpSender}; the counters and {@link #lastError} may be read by any thread.
 */
final class NioUdpSender implements UdpSender {
    /** How long the datagrams of one flush wait, together, for room in the socket's send buffer. */
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(1);
    /** Between two tries while the send buffer is full: a gigabit link drains some 12 kB in this time. */
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(100);
    /** A power of two. */
    private static final int RECEIVERS = 256;

    private DatagramChannel channel;
    private final boolean v6;
    private final int scope;
    /** Null = failures are counted alone, and a full send buffer is waited for. */
    private final @Nullable UdpRefusals refusals;

    // Receivers met lately, by hash: the channel wants an object for each.
    private final @Nullable InetSocketAddress[] receivers = new InetSocketAddress[RECEIVERS];
    private final long[] highs = new long[RECEIVERS];
    private final long[] lows = new long[RECEIVERS];

    private @Nullable ByteBuffer lastBuffer;
    private ByteBuffer view = ByteBuffer.allocateDirect(0);

    private long deadlineNs;
    private boolean waited;

    private volatile long sentPackets;
    private volatile long sentBytes;
    private volatile long failedPackets;
    private volatile String lastError = "";

    NioUdpSender(DatagramChannel channel, boolean v6, int scope, @Nullable UdpRefusals refusals) {
        this.refusals = refusals;
        this.channel = channel;
        this.v6 = v6;
        this.scope = scope;
    }

    @Override
    public void add(ByteBuffer buffer, int offset, int length, long addressHigh, long addressLow, int port) {
        Objects.checkFromIndexSize(offset, length, buffer.capacity());
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException("buffer on the heap; the kernel reads from direct buffers only");
        }
        String refusal = UdpAddress.refusal(v6, length, addressHigh, addressLow, port);
        if (!refusal.isEmpty()) {
            fail(refusal);
            refuse(length, addressHigh, addressLow, port, false);
            return;
        }
        if (buffer != lastBuffer) {
            lastBuffer = buffer;
            view = buffer.duplicate(); // the caller's position and limit stay as they are
        }
        view.clear().position(offset).limit(offset + length);
        long failedBefore = failedPackets;
        boolean isFull = !send(length, receiver(addressHigh, addressLow, port));
        if (failedPackets != failedBefore) {
            refuse(length, addressHigh, addressLow, port, isFull);
        }
    }

    @Override
    public void through(UdpSocket socket) {
        if (!(socket instanceof NioUdpSocket other)) {
            throw new IllegalArgumentException("socket of another kind than the sender's");
        }
        channel = other.channel(); // What was added has left.
    }

    private void refuse(int length, long high, long low, int port, boolean isFull) {
        if (refusals != null) {
            refusals.refused(high, low, port, 1, length, isFull);
        }
    }

    /** Sends a datagram, where a connected socket may tell of an earlier one in its place; 0 = no room, or no bytes. */
    private int offer(InetSocketAddress receiver) throws IOException {
        try {
            return channel.send(view, receiver);
        } catch (PortUnreachableException e) {
            return channel.send(view, receiver);
        }
    }

    /** Returns whether there was room. */
    private boolean send(int length, InetSocketAddress receiver) {
        try {
            if (length == 0) {
                offer(receiver); // answers 0 bytes both for sent and for full
                count(0);
                return true;
            }
            if (offer(receiver) > 0 || sendWhenRoom(receiver)) {
                count(length);
            } else {
                fail("the UDP socket's send buffer stayed full");
                return false;
            }
        } catch (IOException | RuntimeException e) {
            String reason = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            fail(
                    channel.isOpen()
                            ? "datagram of " + length + " bytes to " + UdpAddress.text(receiver) + ": " + reason
                            : "the UDP socket is closed");
        }
        return true;
    }

    private boolean sendWhenRoom(InetSocketAddress receiver) throws IOException {
        if (!waited) {
            waited = true;
            deadlineNs = System.nanoTime() + WAIT_NS;
        }
        while (refusals == null && deadlineNs - System.nanoTime() > 0) {
            LockSupport.parkNanos(PAUSE_NS);
            if (offer(receiver) > 0) {
                return true;
            }
        }
        return false;
    }

    private InetSocketAddress receiver(long high, long low, int port) {
        long mixed = (high * 31 + low) * 31 + port;
        int slot = (int) (mixed * 0x9E3779B97F4A7C15L >>> 56) & RECEIVERS - 1;
        InetSocketAddress known = receivers[slot];
        if (known != null && highs[slot] == high && lows[slot] == low && known.getPort() == port) {
            return known;
        }
        InetSocketAddress made = UdpAddress.of(high, low, port, scope);
        receivers[slot] = made;
        highs[slot] = high;
        lows[slot] = low;
        return made;
    }

    @Override
    public void discard() {
        // What is added has left.
    }

    @Override
    public void flush() {
        waited = false; // every datagram left, or failed, when it was added
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void count(int bytes) {
        sentPackets++;
        sentBytes += bytes;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void fail(String error) {
        failedPackets++;
        lastError = error;
    }

    @Override
    public long sentPackets() {
        return sentPackets;
    }

    @Override
    public long sentBytes() {
        return sentBytes;
    }

    @Override
    public long failedPackets() {
        return failedPackets;
    }

    @Override
    public String lastError() {
        return lastError;
    }
}

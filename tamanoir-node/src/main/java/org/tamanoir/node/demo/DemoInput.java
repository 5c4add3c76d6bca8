package org.tamanoir.node.demo;

import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Bytes to send, given out no faster than they arrive: at most {@code windowBytes} are under way. What does not
 * arrive within {@link #LOSS_NS} is taken for lost, so that a loss does not stop the rest.
 *
 * <p>Thread contract: one thread reads; any may close.
 */
final class DemoInput implements ReadableByteChannel {
    private static final long LOSS_NS = 500_000_000;
    private static final long POLL_NS = 50_000;

    private final ByteBuffer content;
    private final long windowBytes;
    private final LongSupplier arrivedBytes;
    private long lostBytes;
    private volatile boolean closed;

    /** @param arrivedBytes how many of them have arrived so far */
    DemoInput(ByteBuffer content, long windowBytes, LongSupplier arrivedBytes) {
        this.content = content.duplicate();
        this.windowBytes = windowBytes;
        this.arrivedBytes = arrivedBytes;
    }

    @Override
    public int read(ByteBuffer target) {
        if (closed || !content.hasRemaining()) {
            return -1;
        }
        int bytes = (int) Math.min(awaitRoom(), Math.min(target.remaining(), content.remaining()));
        int from = content.position();
        target.put(content.slice(from, bytes));
        content.position(from + bytes);
        return bytes;
    }

    /** Half the window at least, so that packets leave in batches. */
    private long awaitRoom() {
        long arrived = arrivedBytes.getAsLong();
        long sinceNs = System.nanoTime();
        while (true) {
            long room = windowBytes - (content.position() - arrived - lostBytes);
            if (room >= windowBytes / 2 || closed) {
                return Math.max(0, Math.min(room, windowBytes));
            }
            LockSupport.parkNanos(POLL_NS);
            long now = arrivedBytes.getAsLong();
            if (now != arrived) {
                arrived = now;
                sinceNs = System.nanoTime();
            } else if (System.nanoTime() - sinceNs > LOSS_NS) {
                lostBytes = content.position() - arrived;
            }
        }
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() {
        closed = true;
    }
}

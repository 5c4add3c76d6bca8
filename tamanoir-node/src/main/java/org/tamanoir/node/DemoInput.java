package org.tamanoir.node;

import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Octets to send, given out no faster than they arrive: at most {@code windowOctets} are under way. What does not
 * arrive within {@link #LOSS_NS} is taken for lost, so that a loss does not stop the rest.
 *
 * <p>Thread contract: one thread reads; any may close.
 */
final class DemoInput implements ReadableByteChannel {
    private static final long LOSS_NS = 500_000_000;
    private static final long POLL_NS = 50_000;

    private final ByteBuffer content;
    private final long windowOctets;
    private final LongSupplier arrivedOctets;
    private long lostOctets;
    private volatile boolean closed;

    /** @param arrivedOctets how many of them have arrived so far */
    DemoInput(ByteBuffer content, long windowOctets, LongSupplier arrivedOctets) {
        this.content = content.duplicate();
        this.windowOctets = windowOctets;
        this.arrivedOctets = arrivedOctets;
    }

    @Override
    public int read(ByteBuffer target) {
        if (closed || !content.hasRemaining()) {
            return -1;
        }
        int octets = (int) Math.min(awaitRoom(), Math.min(target.remaining(), content.remaining()));
        int from = content.position();
        target.put(content.slice(from, octets));
        content.position(from + octets);
        return octets;
    }

    /** Half the window at least, so that packets leave in batches. */
    private long awaitRoom() {
        long arrived = arrivedOctets.getAsLong();
        long sinceNs = System.nanoTime();
        while (true) {
            long room = windowOctets - (content.position() - arrived - lostOctets);
            if (room >= windowOctets / 2 || closed) {
                return Math.max(0, Math.min(room, windowOctets));
            }
            LockSupport.parkNanos(POLL_NS);
            long now = arrivedOctets.getAsLong();
            if (now != arrived) {
                arrived = now;
                sinceNs = System.nanoTime();
            } else if (System.nanoTime() - sinceNs > LOSS_NS) {
                lostOctets = content.position() - arrived;
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

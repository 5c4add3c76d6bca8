package org.tamanoir.transport;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Direct buffers of three sizes, shared by all threads of a node. A thread holds one only while octets are in it,
 * so idle streams cost none. Large buffers are bounded in number; without one a stream reads into a medium one.
 *
 * <p>Last in, first out: the buffer given is the one whose memory is most likely in the cache. Any thread may call.
 */
public final class BufferPool implements AutoCloseable {
    /** What a quiet stream reads into, in octets. */
    public static final int SMALL_OCTETS = 16 * 1024;

    /** Holds any ANEP packet with some room behind it, in octets. */
    public static final int MEDIUM_OCTETS = 68 * 1024;

    /** What a busy stream reads into, in octets: measured best; half and twice as much were slower. */
    public static final int LARGE_OCTETS = 256 * 1024;

    private static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(true, false);

    private final Stack small = new Stack(SMALL_OCTETS, 1024, Integer.MAX_VALUE);
    private final Stack medium = new Stack(MEDIUM_OCTETS, 64, Integer.MAX_VALUE);
    private final Stack large;

    /**
     * @param maxLarge large buffers in use at once
     */
    public BufferPool(int maxLarge) {
        large = new Stack(LARGE_OCTETS, 64, maxLarge);
    }

    /**
     * A buffer of {@code wantedOctets}, or of the next smaller size when large ones have run out, but of
     * {@code leastOctets} whatever the bounds.
     */
    public Buffer take(int wantedOctets, int leastOctets) {
        Buffer buffer = wantedOctets > MEDIUM_OCTETS || leastOctets > MEDIUM_OCTETS ? large.tryTake() : null;
        if (buffer == null) {
            buffer = wantedOctets <= SMALL_OCTETS && leastOctets <= SMALL_OCTETS ? small.take() : medium.take();
        }
        if (buffer.capacity() >= leastOctets) {
            return buffer;
        }
        give(buffer);
        return new Buffer(ALLOCATOR.directBuffer(leastOctets, leastOctets));
    }

    /** Gives a buffer back of which no octets wait in a connection; others are freed when those have left. */
    public void give(Buffer buffer) {
        if (buffer.capacity() == LARGE_OCTETS) {
            large.give(buffer);
        } else if (buffer.capacity() == MEDIUM_OCTETS) {
            medium.give(buffer);
        } else if (buffer.capacity() == SMALL_OCTETS) {
            small.give(buffer);
        } else {
            buffer.memory().release();
        }
    }

    /** Frees what lies in the pool; buffers still out are freed when they come back. */
    @Override
    public void close() {
        small.close();
        medium.close();
        large.close();
    }

    private static final class Stack {
        private final int octets;
        private final int maxOut;
        private final @Nullable Buffer[] idle;
        private int idleCount;
        private int out;
        private boolean closed;

        Stack(int octets, int maxIdle, int maxOut) {
            this.octets = octets;
            this.maxOut = maxOut;
            this.idle = new @Nullable Buffer[maxIdle];
        }

        Buffer take() {
            Buffer buffer = tryTake();
            if (buffer == null) {
                throw new IllegalStateException("unbounded pools always give");
            }
            return buffer;
        }

        @Nullable
        Buffer tryTake() {
            synchronized (this) {
                if (out >= maxOut) {
                    return null;
                }
                out++;
                if (idleCount > 0) {
                    Buffer buffer = idle[--idleCount];
                    idle[idleCount] = null;
                    return buffer;
                }
            }
            return new Buffer(ALLOCATOR.directBuffer(octets, octets));
        }

        void give(Buffer buffer) {
            synchronized (this) {
                out--;
                if (!closed && idleCount < idle.length && !buffer.isReferenced()) {
                    idle[idleCount++] = buffer;
                    return;
                }
            }
            buffer.memory().release();
        }

        synchronized void close() {
            closed = true;
            for (int i = 0; i < idleCount; i++) {
                Buffer buffer = idle[i];
                if (buffer != null) {
                    buffer.memory().release();
                }
            }
            idleCount = 0;
            Arrays.fill(idle, null);
        }
    }
}

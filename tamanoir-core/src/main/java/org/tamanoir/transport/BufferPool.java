package org.tamanoir.transport;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Direct buffers of three sizes, shared by all threads of a node. A thread holds one only while bytes are in it,
 * so idle streams cost none.
 *
 * <p>The pool has a bound, and so has a part of it: large buffers, and what {@link #tryTake} gives, are
 * <em>optional</em>, and never more than a quarter of the bound. Without a large one a stream reads into a medium one.
 * The rest is for what a stream cannot do without, so that as many streams as {@link #streamsFor} tells get on whatever
 * all others hold.
 *
 * <pre>
 *     bound of the JVM = reserve, for all that is no packet's + bound of the pool
 *     bound of the pool = optional / 4 + streams * STREAM_BYTES
 * </pre>
 *
 * <p>Last in, first out: the buffer given is the one whose memory is most likely in the cache. Any thread may call.
 */
public final class BufferPool implements AutoCloseable {
    /** What a quiet stream reads into, in bytes. */
    public static final int SMALL_BYTES = 16 * 1024;

    /** Holds any ANEP packet with some room behind it, in bytes. */
    public static final int MEDIUM_BYTES = 68 * 1024;

    /** What a busy stream reads into, in bytes: measured best; half and twice as much were slower. */
    public static final int LARGE_BYTES = 256 * 1024;

    /** What a stream must be able to have, in bytes: a packet that arrives, and one that grows or is made. */
    public static final int STREAM_BYTES = 2 * MEDIUM_BYTES;

    /** So that bytes which leave too late are seen by who receives them; for tests, as it costs a write of all. */
    private static final boolean POISON = Boolean.getBoolean("tamanoir.poisonBuffers");

    private static final byte POISON_BYTE = (byte) 0xDD;

    /** Large buffers in use at once, whatever memory there is: 64 MiB. */
    private static final int MAX_LARGE = 256;
    /** Left to the admin API, to deployment and to the batches of UDP, which are no packets of streams. */
    private static final long MIN_RESERVE_BYTES = 16L << 20;

    /** Those of this JVM. */
    private static final Set<BufferPool> ALL = Collections.newSetFromMap(new WeakHashMap<>());

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, false);
    private final long limitBytes;
    private final long optionalLimitBytes;
    /** Asked for, and not yet in the allocator's count. */
    private final AtomicLong askedBytes = new AtomicLong();
    /** Of buffers given as optional that are not {@link #LARGE_BYTES} long. */
    private final AtomicLong optionalBytes = new AtomicLong();

    private final Stack small = new Stack(SMALL_BYTES, 1024, Integer.MAX_VALUE);
    private final Stack medium = new Stack(MEDIUM_BYTES, 64, Integer.MAX_VALUE);
    private final Stack large;

    /** Makes a pool as large as this JVM's bound of direct memory allows. */
    public BufferPool() {
        this(MAX_LARGE);
    }

    /**
     * Makes the same with fewer large buffers.
     *
     * @param maxLarge in use at once
     */
    public BufferPool(int maxLarge) {
        this(limitOf(directMemoryBytes()), maxLarge);
    }

    private BufferPool(long limitBytes, int maxLarge) {
        this.limitBytes = limitBytes;
        this.optionalLimitBytes = limitBytes / 4;
        this.large = new Stack(LARGE_BYTES, 64, (int) Math.min(maxLarge, optionalLimitBytes / LARGE_BYTES));
        synchronized (ALL) {
            ALL.add(this);
        }
    }

    /** Returns how much direct memory the JVM allows. */
    public static long directMemoryBytes() {
        return PlatformDependent.estimateMaxDirectMemory();
    }

    /** Makes a pool that never has more bytes in use than these. */
    public static BufferPool of(long limitBytes) {
        return new BufferPool(limitBytes, MAX_LARGE);
    }

    /** Returns what of so much direct memory a pool may have: three quarters, and at least 16 MiB less than all. */
    static long limitOf(long directBytes) {
        return Math.max(0, directBytes - Math.max(MIN_RESERVE_BYTES, directBytes / 4));
    }

    /** Returns how many bytes may be in use at once. */
    public long limitBytes() {
        return limitBytes;
    }

    /** Returns how many bytes are in use, or kept for use. */
    public long usedBytes() {
        return allocator.metric().usedDirectMemory();
    }

    /** Returns how many streams get on at the same time, each with {@link #STREAM_BYTES}. */
    public int streamsFor() {
        return (int) Math.min(Integer.MAX_VALUE, (limitBytes - optionalLimitBytes) / STREAM_BYTES);
    }

    /**
     * Takes a buffer of {@code wantedBytes}, or of the next smaller size when large ones have run out, but of
     * {@code leastBytes} at least.
     *
     * @throws NoMemoryException if there is none
     */
    public Buffer take(int wantedBytes, int leastBytes) {
        if (leastBytes > LARGE_BYTES) {
            return allocate(leastBytes).taken();
        }
        if (wantedBytes > MEDIUM_BYTES || leastBytes > MEDIUM_BYTES) {
            Buffer buffer = tryTakeLarge();
            if (buffer != null || leastBytes > MEDIUM_BYTES) {
                return buffer != null ? buffer : large.take();
            }
        }
        return wantedBytes <= SMALL_BYTES && leastBytes <= SMALL_BYTES ? small.take() : medium.take();
    }

    private @Nullable Buffer tryTakeLarge() {
        long others = optionalBytes.get();
        if (others > 0 && others + large.outBytes() + LARGE_BYTES > optionalLimitBytes) {
            return null;
        }
        try {
            return large.tryTake();
        } catch (NoMemoryException e) {
            return null; // A smaller one may do.
        }
    }

    /**
     * Takes a buffer of {@code bytes} at least for what can also wait; to be given back by {@link #giveOptional}.
     *
     * @return null when there is none
     */
    public @Nullable Buffer tryTake(int bytes) {
        if (bytes > MEDIUM_BYTES && bytes <= LARGE_BYTES) {
            return tryTakeLarge();
        }
        int size = bytes <= SMALL_BYTES ? SMALL_BYTES : Math.max(bytes, MEDIUM_BYTES);
        Buffer buffer = null;
        try {
            if (optionalBytes.addAndGet(size) + large.outBytes() <= optionalLimitBytes) {
                buffer = take(size, size);
            }
        } catch (NoMemoryException e) {
            buffer = null;
        }
        if (buffer == null) {
            optionalBytes.addAndGet(-size);
        }
        return buffer;
    }

    /** Gives a buffer back that {@link #tryTake} gave. */
    public void giveOptional(Buffer buffer) {
        if (buffer.capacity() != LARGE_BYTES) {
            optionalBytes.addAndGet(-buffer.capacity());
        }
        give(buffer);
    }

    private Buffer allocate(int bytes) {
        askedBytes.addAndGet(bytes);
        try {
            if (exceedsLimit()) {
                if (!freeIdle() || exceedsLimit()) {
                    throw new NoMemoryException(
                            "no memory for " + bytes + " bytes of packets: " + usedBytes() / 1024
                                    + " KiB of " + limitBytes / 1024
                                    + " are in use; give the JVM more by -XX:MaxDirectMemorySize or -Xmx, or take fewer streams");
                }
            }
            return new Buffer(withoutIdle(() -> allocator.directBuffer(bytes, bytes)));
        } catch (OutOfMemoryError e) {
            throw new NoMemoryException("no memory for " + bytes + " bytes of packets: " + e.getMessage());
        } finally {
            askedBytes.addAndGet(-bytes);
        }
    }

    /**
     * Returns whether the pool exceeds its bound with what is asked for: threads that ask at the same time may find too
     * little room, never too much.
     */
    private boolean exceedsLimit() {
        return askedBytes.get() + usedBytes() > limitBytes;
    }

    /**
     * Has something made that takes direct memory of the JVM. Where there is none left it is tried once more without what
     * lies in the pools: who has no share in theirs would miss for good what they keep for a flood that is over. To ask in
     * vain costs a collection, and half a second.
     *
     * @throws OutOfMemoryError if there is none
     */
    public static <T> T withoutIdle(Supplier<T> maker) {
        try {
            return maker.get();
        } catch (OutOfMemoryError e) {
            List<BufferPool> all;
            synchronized (ALL) {
                all = List.copyOf(ALL);
            }
            boolean isFreed = false;
            for (BufferPool pool : all) {
                isFreed |= pool.freeIdle();
            }
            if (!isFreed) {
                throw e;
            }
            return maker.get();
        }
    }

    /** Frees what lies here; false when nothing does. */
    private boolean freeIdle() {
        return small.freeIdle() | medium.freeIdle() | large.freeIdle();
    }

    /** Gives a buffer back of which no bytes wait in a connection; others are freed when those have left. */
    public void give(Buffer buffer) {
        buffer.given();
        if (POISON && !buffer.isReferenced()) {
            poison(buffer);
        }
        if (buffer.capacity() == LARGE_BYTES) {
            large.give(buffer);
        } else if (buffer.capacity() == MEDIUM_BYTES) {
            medium.give(buffer);
        } else if (buffer.capacity() == SMALL_BYTES) {
            small.give(buffer);
        } else {
            buffer.memory().release();
        }
    }

    private static void poison(Buffer buffer) {
        byte[] poison = new byte[Math.min(buffer.capacity(), SMALL_BYTES)];
        Arrays.fill(poison, POISON_BYTE);
        for (int at = 0; at < buffer.capacity(); at += poison.length) {
            buffer.nio().put(at, poison, 0, Math.min(poison.length, buffer.capacity() - at));
        }
    }

    /** Frees what lies in the pool; buffers still out are freed when they come back. */
    @Override
    public void close() {
        small.close();
        medium.close();
        large.close();
    }

    private final class Stack {
        private final int bytes;
        private final int maxOut;
        private final @Nullable Buffer[] idle;
        private int idleCount;
        private int out;
        private boolean closed;

        Stack(int bytes, int maxIdle, int maxOut) {
            this.bytes = bytes;
            this.maxOut = maxOut;
            this.idle = new @Nullable Buffer[maxIdle];
        }

        /** Takes one whatever the bound of this size. */
        Buffer take() {
            Buffer buffer = take(Integer.MAX_VALUE);
            if (buffer == null) {
                throw new IllegalStateException("without a bound there is always one");
            }
            return buffer;
        }

        /** Takes one; null when too many are out. */
        @Nullable
        Buffer tryTake() {
            return take(maxOut);
        }

        private @Nullable Buffer take(int most) {
            synchronized (this) {
                if (out >= most) {
                    return null;
                }
                out++;
                if (idleCount > 0) {
                    Buffer buffer = idle[--idleCount];
                    idle[idleCount] = null;
                    return buffer.taken();
                }
            }
            try {
                return allocate(bytes).taken();
            } catch (NoMemoryException e) {
                synchronized (this) {
                    out--;
                }
                throw e;
            }
        }

        synchronized long outBytes() {
            return (long) out * bytes;
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
            boolean unused = freeIdle();
        }

        synchronized boolean freeIdle() {
            boolean isAny = idleCount > 0;
            for (int i = 0; i < idleCount; i++) {
                Buffer buffer = idle[i];
                if (buffer != null) {
                    buffer.memory().release();
                }
            }
            idleCount = 0;
            Arrays.fill(idle, null);
            return isAny;
        }
    }
}

package org.tamanoir.transport;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory that batches of several readers, and of senders, write packets into which came, or go, as something else. Each
 * has it from one of these on until its batch has left, so that nobody keeps what others need; what is given back is used
 * again, or freed where another size is wanted and there is no room beside. It is bounded for all together, so that
 * strangers leave the rest of the node what it needs.
 *
 * <p>Thread contract: any thread. The JVM is asked outside of the lock: where it is short, it takes half a second.
 */
public final class BatchMemory {
    /** Of one reader at first: a batch of small packets. */
    private static final int LEAST_OCTETS = 128 << 10;

    /** After the JVM has had none: to ask costs it a collection, and half a second. */
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(1);

    private static final BatchMemory OF_THIS_JVM = new BatchMemory(BufferPool.directMemoryBytes() / 8);

    private final long limitOctets;
    private final IntFunction<Buffer> allocator;
    private final LongSupplier clockNs;
    /** What was given back last stands last. */
    private final List<Buffer> free = new ArrayList<>();

    private long freeOctets;
    /** In use, free, or asked for. */
    private long octets;

    private long refusedNs;

    /** Makes one that has so many octets for all. */
    public BatchMemory(long limitOctets) {
        this(limitOctets, allocator(), System::nanoTime);
    }

    /** @param allocator makes memory, or throws {@link OutOfMemoryError} */
    BatchMemory(long limitOctets, IntFunction<Buffer> allocator, LongSupplier clockNs) {
        this.limitOctets = limitOctets;
        this.allocator = allocator;
        this.clockNs = clockNs;
        this.refusedNs = clockNs.getAsLong() - REST_NS;
    }

    private static IntFunction<Buffer> allocator() {
        // Without its detector of leaks: what is free lives as long as this.
        UnpooledByteBufAllocator unpooled = new UnpooledByteBufAllocator(true, true);
        return octets -> new Buffer(unpooled.directBuffer(octets, octets));
    }

    /** Returns the one of all nodes in this JVM: an eighth of its direct memory. */
    public static BatchMemory ofThisJvm() {
        return OF_THIS_JVM;
    }

    /**
     * Returns larger memory in place of {@code before}, which is given back, with a copy of its first {@code kept} octets;
     * null where there is none, and {@code before} stays.
     */
    public @Nullable Buffer larger(@Nullable Buffer before, int kept, int wantedOctets) {
        int wanted = Math.max(LEAST_OCTETS, Integer.highestOneBit(wantedOctets - 1) << 1);
        Buffer found = find(wanted);
        if (found == null) {
            return null;
        }
        if (before != null) {
            found.nio().put(0, before.nio(), 0, kept);
            give(before);
        }
        return found.taken();
    }

    /** Returns memory for who can do without; null where it would leave others less than half of all, or there is none. */
    public @Nullable Buffer spare(int wantedOctets) {
        synchronized (this) {
            if (octets - freeOctets + wantedOctets > limitOctets / 2) {
                return null;
            }
        }
        return larger(null, 0, wantedOctets);
    }

    private @Nullable Buffer find(int wanted) {
        List<Buffer> unfit;
        synchronized (this) {
            Buffer same = take(wanted, wanted);
            if (same != null) {
                return same;
            }
            boolean mayAsk = clockNs.getAsLong() - refusedNs >= REST_NS;
            if (!mayAsk || octets + wanted > limitOctets) {
                Buffer larger = take(wanted, Integer.MAX_VALUE);
                if (larger != null || !mayAsk || octets - freeOctets + wanted > limitOctets) {
                    return larger;
                }
            }
            octets += wanted;
            unfit = octets > limitOctets ? removeUnfit() : List.of();
        }
        unfit.forEach(buffer -> buffer.memory().release());
        return make(wanted);
    }

    /** Takes what was given back last of these sizes, whose memory is most likely in the cache; null where there is none. */
    private @Nullable Buffer take(int least, int most) {
        for (int i = free.size() - 1; i >= 0; i--) {
            int size = free.get(i).capacity();
            if (size >= least && size <= most) {
                freeOctets -= size;
                return free.remove(i);
            }
        }
        return null;
    }

    /** Takes out of what is free, and smaller than is wanted, as much as makes room; what lies here for longest goes first. */
    private List<Buffer> removeUnfit() {
        List<Buffer> unfit = new ArrayList<>();
        while (octets > limitOctets) {
            Buffer oldest = free.remove(0);
            freeOctets -= oldest.capacity();
            octets -= oldest.capacity();
            unfit.add(oldest);
        }
        return unfit;
    }

    private @Nullable Buffer make(int wanted) {
        try {
            return BufferPool.withoutIdle(() -> allocator.apply(wanted));
        } catch (OutOfMemoryError e) {
            // Others have taken it: without what is free, packets are dropped for want of memory.
            synchronized (this) {
                octets -= wanted;
                refusedNs = clockNs.getAsLong();
                return take(wanted, Integer.MAX_VALUE);
            }
        }
    }

    /** Takes memory back that nobody refers to any more. */
    public synchronized void give(Buffer memory) {
        memory.given();
        free.add(memory);
        freeOctets += memory.capacity();
    }
}

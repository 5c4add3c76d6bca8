package org.tamanoir.transport;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The memory that batches of several readers write packets into which came as something else. A reader has it from one of
 * these on until its batch has left, so that nobody keeps what others need; what is given back is used again. It is
 * bounded for all readers together, so that strangers leave the rest of the node what it needs.
 *
 * <p>Thread contract: any thread.
 */
public final class BatchMemory {
    /** Of one reader at first: a batch of small packets. */
    private static final int LEAST_OCTETS = 128 << 10;

    /** After the JVM has had none: to ask costs it a collection, and half a second. */
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(1);

    private static final BatchMemory OF_THIS_JVM = new BatchMemory(BufferPool.directMemoryBytes() / 8);

    private final long limitOctets;
    private final List<ByteBuffer> free = new ArrayList<>();
    /** In use, or free: what there is once stays, since senders remember where it lies. */
    private long octets;

    private long refusedNs = System.nanoTime() - REST_NS;

    /** Makes one that has so many octets for all. */
    public BatchMemory(long limitOctets) {
        this.limitOctets = limitOctets;
    }

    /** Returns the one of all nodes in this JVM: an eighth of its direct memory. */
    public static BatchMemory ofThisJvm() {
        return OF_THIS_JVM;
    }

    /**
     * Returns larger memory in place of {@code before}, which is given back, with a copy of its first {@code kept} octets;
     * null where there is none, and {@code before} stays.
     */
    public synchronized @Nullable ByteBuffer larger(@Nullable ByteBuffer before, int kept, int wantedOctets) {
        int wanted = Math.max(LEAST_OCTETS, Integer.highestOneBit(wantedOctets - 1) << 1);
        ByteBuffer found = take(wanted, wanted);
        found = found == null ? allocate(wanted) : found;
        found = found == null ? take(wanted, Integer.MAX_VALUE) : found;
        if (found != null && before != null) {
            found.put(0, before, 0, kept);
            free.add(before);
        }
        return found;
    }

    /** Takes what was given back last of these sizes, whose memory is most likely in the cache; null where there is none. */
    private @Nullable ByteBuffer take(int least, int most) {
        for (int i = free.size() - 1; i >= 0; i--) {
            int size = free.get(i).capacity();
            if (size >= least && size <= most) {
                return free.remove(i);
            }
        }
        return null;
    }

    private @Nullable ByteBuffer allocate(int wanted) {
        if (octets + wanted > limitOctets || System.nanoTime() - refusedNs < REST_NS) {
            return null;
        }
        try {
            ByteBuffer made = ByteBuffer.allocateDirect(wanted);
            octets += wanted;
            return made;
        } catch (OutOfMemoryError e) {
            refusedNs = System.nanoTime();
            return null; // Others have taken it; the packets are dropped for want of memory.
        }
    }

    /** Takes memory back that nobody refers to any more. */
    public synchronized void give(ByteBuffer memory) {
        free.add(memory);
    }
}

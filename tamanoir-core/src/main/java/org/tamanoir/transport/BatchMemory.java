package org.tamanoir.transport;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The memory that batches of several readers write packets into which came as something else. It grows with what comes
 * at once, and is bounded for all of them together, so that strangers leave the rest of the node what it needs.
 *
 * <p>Thread contract: any thread.
 */
public final class BatchMemory {
    /** Of one reader at first: a batch of small packets. */
    private static final int LEAST_OCTETS = 128 << 10;

    private final long limitOctets;
    private long usedOctets;

    /** Makes one that has so many octets for all. */
    public BatchMemory(long limitOctets) {
        this.limitOctets = limitOctets;
    }

    /** Makes one with an eighth of the JVM's direct memory. */
    public static BatchMemory ofThisJvm() {
        return new BatchMemory(BufferPool.directMemoryBytes() / 8);
    }

    /**
     * Returns larger memory in place of {@code before}, with a copy of its first {@code kept} octets; null where there is
     * none, and {@code before} stays.
     */
    public synchronized @Nullable ByteBuffer larger(@Nullable ByteBuffer before, int kept, int wantedOctets) {
        int had = before == null ? 0 : before.capacity();
        int octets = Math.max(LEAST_OCTETS, Integer.highestOneBit(wantedOctets - 1) << 1);
        if (usedOctets - had + octets > limitOctets) {
            return null;
        }
        ByteBuffer made;
        try {
            made = ByteBuffer.allocateDirect(octets);
        } catch (OutOfMemoryError e) {
            return null; // Others have taken it; the packets are dropped for want of memory.
        }
        usedOctets += octets - had;
        if (before != null) {
            made.put(0, before, 0, kept);
        }
        return made;
    }
}

package org.tamanoir.message;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Memory that is lent and comes back, in powers of two from {@value #LEAST} bytes on, bounded in all.
 *
 * <p>Thread contract: one thread.
 */
final class Blocks {
    static final int LEAST = 4_096;

    private static final int LEAST_BITS = 12;

    private final List<Deque<ByteBuffer>> free = IntStream.range(LEAST_BITS, 31)
            .mapToObj(i -> (Deque<ByteBuffer>) new ArrayDeque<ByteBuffer>())
            .toList();
    private final long limitBytes;
    private long usedBytes;
    private long freeBytes;

    Blocks(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** Returns memory of at least so many bytes; null if the limit does not allow it. */
    @Nullable
    ByteBuffer take(int bytes) {
        int kind = kind(bytes);
        long size = LEAST * (1L << kind);
        if (usedBytes + size > limitBytes) {
            return null;
        }
        ByteBuffer block = free.get(kind).poll();
        if (block != null) {
            freeBytes -= size;
        } else {
            while (usedBytes + freeBytes + size > limitBytes) {
                discard();
            }
            block = ByteBuffer.allocate((int) size);
        }
        usedBytes += size;
        return block.clear();
    }

    /** Frees the largest block that is not in use. */
    private void discard() {
        for (int kind = free.size() - 1; kind >= 0; kind--) {
            ByteBuffer block = free.get(kind).poll();
            if (block != null) {
                freeBytes -= block.capacity();
                return;
            }
        }
    }

    void give(ByteBuffer block) {
        usedBytes -= block.capacity();
        freeBytes += block.capacity();
        free.get(kind(block.capacity())).push(block);
    }

    private static int kind(int bytes) {
        return Math.max(0, 32 - Integer.numberOfLeadingZeros(Math.max(1, bytes) - 1) - LEAST_BITS);
    }

    long usedBytes() {
        return usedBytes;
    }
}

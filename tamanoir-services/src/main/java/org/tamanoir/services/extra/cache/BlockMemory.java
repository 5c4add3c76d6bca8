package org.tamanoir.services.extra.cache;

import java.nio.ByteBuffer;

/**
 * Memory outside of the heap in blocks of 256 bytes, which are taken in any order and linked for what is longer: nothing
 * is ever moved, and what is free can always be used.
 *
 * <p>Thread contract: one thread, but for {@link #usedBlocks}.
 */
final class BlockMemory {
    static final int BLOCK_BYTES = 256;
    private static final int NONE = -1;

    private final ByteBuffer octets;
    /** The block behind each block: of the same content, or of those that are free. */
    private final int[] next;

    private int free;
    private volatile int used;

    /**
     * Takes the memory, all at once.
     *
     * @throws IllegalArgumentException if the JVM does not give it
     */
    BlockMemory(int blocks) {
        try {
            octets = ByteBuffer.allocateDirect(blocks * BLOCK_BYTES);
        } catch (OutOfMemoryError e) {
            throw new IllegalArgumentException(
                    "memory: " + (long) blocks * BLOCK_BYTES + " bytes outside of the heap are not to be had ("
                            + e.getMessage() + "): lower it, or raise -XX:MaxDirectMemorySize",
                    e);
        }
        next = new int[blocks];
        for (int i = 0; i < blocks; i++) {
            next[i] = i + 1;
        }
        next[blocks - 1] = NONE;
    }

    /** Returns how many blocks so many bytes take, 1 at least. */
    static int blocks(int bytes) {
        return Math.max(1, (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
    }

    int usedBlocks() {
        return used;
    }

    int freeBlocks() {
        return next.length - used;
    }

    /** Stores what stands from position to limit; there are blocks for it. Returns the first of them. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
    int put(ByteBuffer content) {
        int blocks = blocks(content.remaining());
        int first = free;
        int last = first;
        int at = content.position();
        for (int i = 0; i < blocks; i++) {
            last = i == 0 ? first : next[last];
            int bytes = Math.min(BLOCK_BYTES, content.limit() - at);
            octets.put(last * BLOCK_BYTES, content, at, bytes);
            at += bytes;
        }
        free = next[last];
        next[last] = NONE;
        used += blocks;
        return first;
    }

    /** Copies so many bytes to {@code target}, from its position on. @param first block of the content */
    void get(int first, int bytes, ByteBuffer target) {
        int left = bytes;
        for (int block = first; left > 0; block = next[block]) {
            int part = Math.min(BLOCK_BYTES, left);
            target.put(target.position(), octets, block * BLOCK_BYTES, part);
            target.position(target.position() + part);
            left -= part;
        }
    }

    /** Gives the blocks of a content back. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes.
    void free(int first) {
        int last = first;
        int blocks = 1;
        while (next[last] != NONE) {
            last = next[last];
            blocks++;
        }
        next[last] = free;
        free = first;
        used -= blocks;
    }
}

package org.tamanoir.services.extra.fec;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.services.extra.KeyedHash;

/**
 * The blocks of all sessions that packets may still come for, the oldest first; bounded in number, time and bytes, of
 * which {@code maxBytes} have room for the largest block. A packet that comes for a block which has ended goes on by itself,
 * unless it is {@linkplain EndedBlocks known} to be here. What ended is made use of again, so that in the long run the
 * entries of two maps are allocated for each block and nothing else.
 *
 * <p>Thread contract: one thread.
 */
final class Blocks {
    private final KeyedHash hash = new KeyedHash();
    private final Map<Block, Block> blocks = new LinkedHashMap<>();
    private final ArrayDeque<Block> unused = new ArrayDeque<>();
    private final ArrayDeque<byte[]> unusedMemory = new ArrayDeque<>();
    private final Block wanted = new Block(hash);
    private final EndedBlocks ended = new EndedBlocks(hash);
    private final int maxBlocks;
    private final long maxBytes;
    private final long maxAgeNs;
    private final Consumer<Block> end;
    private long keptBytes;
    private @Nullable Block last;

    /** Makes an empty table. @param end takes leave of a block that no packet is waited for any more */
    Blocks(int maxBlocks, long maxBytes, long maxAgeNs, Consumer<Block> end) {
        this.maxBlocks = maxBlocks;
        this.maxBytes = maxBytes;
        this.maxAgeNs = maxAgeNs;
        this.end = end;
    }

    /** Returns the block, begun now if there is none; the oldest one gives way to it where there are too many. */
    Block of(long session, int number, long nowNs) {
        wanted.key(session, number);
        Block found = last;
        if (found != null && found.equals(wanted)) {
            return found;
        }
        found = blocks.get(wanted);
        if (found == null) {
            while (blocks.size() >= maxBlocks) {
                endOldest();
            }
            found = unused.isEmpty() ? new Block(hash) : unused.pop();
            Long here = ended.data(session, number);
            boolean needsNone = here != null || unusedMemory.isEmpty();
            found.begin(session, number, nowNs, needsNone ? found.release() : unusedMemory.pop());
            if (here != null) {
                found.beginAgain(here);
            }
            blocks.put(found, found);
        }
        last = found;
        return found;
    }

    int size() {
        return blocks.size();
    }

    /** Makes room in a block's memory for so many bytes more; others give way, the oldest first. */
    void reserve(Block block, int more) {
        int growth = block.growth(more);
        while (growth > 0 && maxBytes - keptBytes < growth && (dropUnused() || endOldestBut(block))) {
            growth = block.growth(more);
        }
        if (growth > 0) {
            block.grow(growth);
            keptBytes += growth;
        }
    }

    private boolean dropUnused() {
        if (unusedMemory.isEmpty()) {
            return false;
        }
        keptBytes -= unusedMemory.pop().length;
        return true;
    }

    private boolean endOldestBut(Block kept) {
        for (Block block : blocks.keySet()) {
            if (block != kept) {
                end(block);
                return true;
            }
        }
        return false;
    }

    /** Returns the memory of all blocks, in bytes. */
    long keptBytes() {
        return keptBytes;
    }

    /** Takes the memory of a block that is done. */
    void release(Block block) {
        byte[] memory = block.release();
        if (memory.length > 0) {
            unusedMemory.push(memory);
        }
    }

    /** Ends the blocks whose time is over. Returns whether others are left. */
    boolean expire(long nowNs) {
        while (!blocks.isEmpty() && nowNs - blocks.keySet().iterator().next().beganNs() >= maxAgeNs) {
            endOldest();
        }
        return !blocks.isEmpty();
    }

    /** Ends all blocks. */
    void endAll() {
        while (!blocks.isEmpty()) {
            endOldest();
        }
    }

    private void endOldest() {
        end(blocks.keySet().iterator().next());
    }

    private void end(Block block) {
        blocks.remove(block);
        if (block == last) {
            last = null;
        }
        if (!block.hadEnded()) {
            end.accept(block);
        }
        ended.add(block);
        release(block);
        unused.push(block);
    }
}

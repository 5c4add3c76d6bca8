package org.tamanoir.services.extra.fec;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.services.extra.KeyedHash;

/**
 * Which data packets of blocks that have ended are here, so that none goes on a second time: of the {@value #MAX_BLOCKS}
 * blocks that ended last, of all sessions together.
 *
 * <p>Thread contract: one thread.
 */
final class EndedBlocks {
    static final int MAX_BLOCKS = 1 << 16;

    private final KeyedHash hash;
    private final Map<Id, Long> data = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Id, Long> eldest) {
            return size() > MAX_BLOCKS;
        }
    };

    private record Id(KeyedHash hash, long session, int number) {
        @Override
        public int hashCode() {
            return Block.hash(hash, session, number);
        }
    }

    /** @param hash of the table of blocks: senders choose session and number */
    EndedBlocks(KeyedHash hash) {
        this.hash = hash;
    }

    /** Remembers a block that has ended. */
    void add(Block block) {
        Id id = new Id(hash, block.session(), block.number());
        data.remove(id); // It is the last that ended, again.
        data.put(id, block.data());
    }

    /** Returns which data packets of a block are here, a bit for each; null where the block is not remembered. */
    @Nullable
    Long data(long session, int number) {
        return data.get(new Id(hash, session, number));
    }
}

package org.tamanoir.services.extra.fec;

import org.jspecify.annotations.Nullable;
import org.tamanoir.services.extra.FlowTable;
import org.tamanoir.services.extra.Header;

/** A flow on the side that makes repairs. Thread contract: one thread. */
final class FecFlow implements FlowTable.Flow {
    private final Header header;
    private final long session;
    private final RepairNeed need;
    private int blocks;
    private @Nullable OpenBlock block;

    FecFlow(Header header, long session, RepairNeed need) {
        this.header = header;
        this.session = session;
        this.need = need;
    }

    @Override
    public Header header() {
        return header;
    }

    long session() {
        return session;
    }

    RepairNeed need() {
        return need;
    }

    /** Returns the block that the next packet belongs to, begun by one before; null if it begins one. */
    @Nullable
    OpenBlock block() {
        return block;
    }

    /** Goes on with this block. @param memory of a block that ended */
    OpenBlock begin(OpenBlock memory, int maxData) {
        block = memory;
        return memory.begin(this, blocks++, need.repairs(maxData));
    }

    /** Ends the block, if there is one, and returns it. */
    @Nullable
    OpenBlock end() {
        OpenBlock ended = block;
        block = null;
        return ended;
    }
}

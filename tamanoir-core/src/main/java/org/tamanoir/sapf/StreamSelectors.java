package org.tamanoir.sapf;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The selectors that this node has issued for one connection, {@value #MOST} at most, and for all together no more than
 * there are slots in the table of the others. They live until they are released, or the connection ends: who is at its
 * other end has shown that by connecting.
 *
 * <p>Thread contract: the connection's thread.
 */
final class StreamSelectors {
    static final int MOST = 64;

    /** Of all connections. */
    private final AtomicInteger issued;

    private final int epoch;
    private final IntSupplier random;
    private final long[] selectors = new long[MOST];
    private final @Nullable HeaderTemplate[] headers = new @Nullable HeaderTemplate[MOST];
    private int bound;

    /** @param random gives bits that nobody can foresee */
    StreamSelectors(AtomicInteger issued, int epoch, IntSupplier random) {
        this.issued = issued;
        this.epoch = epoch;
        this.random = random;
    }

    /** Binds a selector to a header; {@link Selector#NONE} where there is none left. */
    long bind(HeaderTemplate header) {
        if (bound == MOST || issued.getAndUpdate(all -> Math.min(all + 1, Selector.SLOTS)) == Selector.SLOTS) {
            return Selector.NONE;
        }
        int slot = 0;
        while (headers[slot] != null) {
            slot++;
        }
        bound++;
        headers[slot] = header;
        selectors[slot] = Selector.of(epoch, random.getAsInt(), slot);
        return selectors[slot];
    }

    boolean isFull() {
        return bound == MOST;
    }

    /** Returns what a selector stands for; null when it is none of these. */
    @Nullable
    HeaderTemplate find(long selector) {
        int slot = Selector.slot(selector);
        return slot < MOST && selectors[slot] == selector ? headers[slot] : null;
    }

    void release(long selector) {
        if (find(selector) != null) {
            int slot = Selector.slot(selector);
            headers[slot] = null;
            selectors[slot] = Selector.NONE;
            bound--;
            issued.decrementAndGet();
        }
    }

    void releaseAll() {
        for (long selector : selectors) {
            release(selector);
        }
    }
}

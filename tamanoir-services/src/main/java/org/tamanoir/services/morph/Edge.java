package org.tamanoir.services.morph;

import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;

/**
 * What leads from a port to a handler, or out. It remembers the way of the format that came last.
 *
 * <p>Thread contract: the thread of the context that it begins in.
 */
final class Edge {
    /** Null: the message leaves the chain. */
    final @Nullable Stage target;

    private @Nullable Format format;
    private @Nullable Row row;

    Edge(@Nullable Stage target) {
        this.target = target;
    }

    /** Returns how messages of the format come into the target; where that is in the same context. */
    Row row(Stage to, Format of) {
        Row last = row;
        if (last != null && format == of) {
            return last;
        }
        Row found = to.row(of);
        format = of;
        row = found;
        return found;
    }
}

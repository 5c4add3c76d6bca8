package org.tamanoir.ee;

import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;

/** Where the services of a node get formats of records from. Any thread. */
final class NodeFormats {
    /** Known at once by a node that asks nobody for others. */
    private static final int MAX_FORMATS = 1024;

    private static final long MAX_BYTES = 16 << 20;

    private volatile FormatSource source = FormatSource.of(new FormatRegistry(MAX_FORMATS, MAX_BYTES));

    FormatSource source() {
        return source;
    }

    void use(FormatSource other) {
        source = other;
    }
}

package org.tamanoir.ee;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;

/** Where the services of a node get formats of records from, and who is told of those that nobody has. Any thread. */
final class NodeFormats {
    /** Known at once by a node that asks nobody for others. */
    private static final int MAX_FORMATS = 1024;

    private static final long MAX_BYTES = 16 << 20;

    private volatile FormatSource source = new Telling(FormatSource.of(new FormatRegistry(MAX_FORMATS, MAX_BYTES)));
    private volatile Consumer<FormatId> unknown = id -> {};

    FormatSource source() {
        return source;
    }

    void use(FormatSource other) {
        source = new Telling(other);
    }

    void onUnknown(Consumer<FormatId> told) {
        unknown = told;
    }

    /** Tells of what was asked for in vain. */
    private final class Telling implements FormatSource {
        private final FormatSource asked;

        Telling(FormatSource asked) {
            this.asked = asked;
        }

        @Override
        public FormatRegistry known() {
            return asked.known();
        }

        @Override
        public void request(FormatId id, @Nullable InetSocketAddress previousNode, Consumer<@Nullable Format> then) {
            asked.request(id, previousNode, format -> {
                if (format == null) {
                    unknown.accept(id);
                }
                then.accept(format);
            });
        }
    }
}

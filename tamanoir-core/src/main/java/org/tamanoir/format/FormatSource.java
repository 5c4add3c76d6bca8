package org.tamanoir.format;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The formats that a node knows, and how it asks for others: the previous active node first, then format servers.
 *
 * <p>Thread contract: any threads.
 */
public interface FormatSource {
    /** Returns a source that has nobody to ask. */
    static FormatSource of(FormatRegistry known) {
        return new FormatSource() {
            @Override
            public FormatRegistry known() {
                return known;
            }

            @Override
            public void request(
                    FormatId id, @Nullable InetSocketAddress previousNode, Consumer<@Nullable Format> then) {
                then.accept(known.find(id));
            }
        };
    }

    /** Returns the formats that are known; one object of {@link Format} for each identifier comes from here. */
    FormatRegistry known();

    /** Returns whether a format that a packet describes may be kept: what is kept, all services go by. */
    default boolean takesDescriptions() {
        return true;
    }

    /**
     * Asks for a format. What is asked for several times is asked once.
     *
     * @param previousNode where the code server of the node is that the record came from; null if there is none
     * @param then called once, on any thread, within a bounded time: the format, which is {@link #known} then, or null
     *     where nobody has it
     */
    void request(FormatId id, @Nullable InetSocketAddress previousNode, Consumer<@Nullable Format> then);
}

package org.tamanoir.message;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatRegistry;
import org.tamanoir.format.FormatSource;

/** Formats of which some are known, and others when the test says so. */
final class TestFormats implements FormatSource {
    private final FormatRegistry known = new FormatRegistry(1024, 1 << 20);
    final Map<FormatId, Consumer<@Nullable Format>> requests = new ConcurrentHashMap<>();
    volatile @Nullable InetSocketAddress askedAt;
    boolean takesDescriptions = true;

    TestFormats(Format... formats) {
        for (Format format : formats) {
            known.add(format);
        }
    }

    @Override
    public FormatRegistry known() {
        return known;
    }

    @Override
    public boolean takesDescriptions() {
        return takesDescriptions;
    }

    @Override
    public void request(FormatId id, @Nullable InetSocketAddress previousNode, Consumer<@Nullable Format> then) {
        askedAt = previousNode;
        requests.put(id, then);
    }

    /** Answers a request with the format; any thread. */
    void answer(Format format) {
        known.add(format);
        Objects.requireNonNull(requests.remove(format.id())).accept(format);
    }

    /** Answers that nobody has it; any thread. */
    void refuse(Format format) {
        Objects.requireNonNull(requests.remove(format.id())).accept(null);
    }
}

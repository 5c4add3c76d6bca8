package org.tamanoir.cluster;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a director remembers, so that its successor goes on where it ended. What the kernel's table says is not repeated
 * here.
 *
 * @param format 1
 * @param drains orders to drain
 * @param services that were deployed beside those of the configuration
 * @param settings of the kernel as they were before a director changed them
 */
record DirectorState(
        int format, List<Known> registered, List<Drain> drains, List<String> services, Map<String, String> settings) {
    static final int FORMAT = 1;
    static final DirectorState EMPTY = new DirectorState(FORMAT, List.of(), List.of(), List.of(), Map.of());

    /** A back-end that registered. */
    record Known(
            String name,
            String address,
            String admin,
            @Nullable Integer weight) {}

    /**
     * An order to drain.
     *
     * @param until when its streams are cut off, ISO 8601; null = it is drained
     */
    record Drain(String name, @Nullable String until) {
        Drain {
            if (until != null) {
                Instant.parse(until);
            }
        }
    }

    DirectorState {
        if (format != FORMAT) {
            throw new IllegalArgumentException("format " + format + " must be " + FORMAT);
        }
        registered = List.copyOf(registered);
        drains = List.copyOf(drains);
        services = List.copyOf(services);
        settings = new TreeMap<>(settings);
    }
}

package org.tamanoir.traffic;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.tamanoir.service.Counter;

/**
 * Counters that a service names as it goes, bounded in number: what comes later is counted together.
 *
 * <p>Thread contract: the service's thread names and counts; any thread reads {@link #values}.
 */
public final class NamedCounters {
    private static final int MAX_NAMES = 64;
    private static final String REST = "others";

    private final ConcurrentHashMap<String, Counter> byName = new ConcurrentHashMap<>();

    /** The counter of this name, the same one each time. */
    public Counter get(String name) {
        Counter counter = byName.get(name);
        return counter != null
                ? counter
                : byName.computeIfAbsent(byName.size() < MAX_NAMES ? name : REST, Counter::new);
    }

    public Map<String, Long> values() {
        Map<String, Long> values = new TreeMap<>();
        byName.forEach((name, counter) -> values.put(name, counter.get()));
        return values;
    }
}

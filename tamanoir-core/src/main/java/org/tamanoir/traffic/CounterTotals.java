package org.tamanoir.traffic;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.Counter;

/**
 * What the counters of all instances of a service come to, those of ended instances included. Names are bounded over all
 * instances: what comes later is counted together, under {@value #REST}.
 *
 * <p>Thread contract: any thread. An instance comes here when it names a counter first and when it ends, and not when it
 * counts.
 */
public final class CounterTotals {
    private static final int MAX_NAMES = 64;
    private static final String REST = "others";

    private final ConcurrentHashMap<String, Counter.Kind> kinds = new ConcurrentHashMap<>();
    /** By name, without gauges, and without extremes that have no value. */
    private final Map<String, Long> ended = new TreeMap<>();

    private final Set<NamedCounters> running = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Returns the kind of this name's counters; null while nobody has named one. */
    Counter.@Nullable Kind kind(String name) {
        return kinds.get(name);
    }

    /** Returns the name that counters of this name and kind go by here: their own, or that of the rest. */
    String admit(String name, Counter.Kind kind) {
        Counter.Kind known = kinds.get(name);
        if (known == null) {
            // Values of several kinds do not add up. The rest's own names come on top of the others.
            String admitted = kinds.size() < MAX_NAMES
                    ? name
                    : kind == Counter.Kind.SUM ? REST : REST + "-" + kind.name().toLowerCase(Locale.ROOT);
            known = kinds.putIfAbsent(admitted, kind);
            if (known == null || !admitted.equals(name)) {
                return admitted;
            }
        }
        if (known != kind) {
            throw new IllegalArgumentException(
                    "counter " + name + ": is a " + known + " already, and cannot be a " + kind + ": use another name");
        }
        return name;
    }

    synchronized void begin(NamedCounters instance) {
        running.add(instance);
    }

    /** Keeps what an instance has counted; its gauges end with it. */
    synchronized void end(NamedCounters instance) {
        if (running.remove(instance)) {
            instance.all().forEach(counter -> {
                if (counter.kind() != Counter.Kind.GAUGE) {
                    join(counter, ended);
                }
            });
        }
    }

    private static void join(Counter counter, Map<String, Long> into) {
        if (counter.hasValue()) {
            into.merge(counter.name(), counter.get(), counter.kind()::join);
        }
    }

    /** Returns the totals now, by name; extremes that have no value yet are left out, 0 would be one. */
    public synchronized Map<String, CounterTotal> values() {
        Map<String, Long> now = new TreeMap<>(ended);
        running.forEach(instance -> instance.all().forEach(counter -> join(counter, now)));
        Map<String, CounterTotal> totals = new TreeMap<>();
        kinds.forEach((name, kind) -> {
            if (!kind.isExtreme() || now.containsKey(name)) {
                totals.put(name, new CounterTotal(kind, now.getOrDefault(name, 0L)));
            }
        });
        return totals;
    }

    /** Returns the totals of counters that are all sums. */
    public Map<String, Long> sums() {
        Map<String, Long> sums = new TreeMap<>();
        values().forEach((name, total) -> sums.put(name, total.value()));
        return sums;
    }
}

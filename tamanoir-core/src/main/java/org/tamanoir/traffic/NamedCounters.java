package org.tamanoir.traffic;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.tamanoir.service.Counter;

/**
 * Counters that an instance of a service names as it goes, as many as its {@link CounterTotals} admit.
 *
 * <p>Thread contract: the service's thread names and counts; any thread reads {@link #values} and says that it has ended.
 */
public final class NamedCounters {
    private final CounterTotals totals;
    private final ConcurrentHashMap<String, Counter> byName = new ConcurrentHashMap<>();
    /** Guarded by this. */
    private boolean ended;

    /** Makes counters that count for the totals of a service. */
    public NamedCounters(CounterTotals totals) {
        this.totals = totals;
    }

    /** Returns the counter of this name, the same one each time; a sum if the service has said nothing else. */
    public Counter get(String name) {
        Counter counter = byName.get(name);
        if (counter != null) {
            return counter;
        }
        Counter.Kind kind = totals.kind(name);
        return named(name, kind == null ? Counter.Kind.SUM : kind);
    }

    /**
     * Returns the counter of this name, the same one each time.
     *
     * @throws IllegalArgumentException if the service has one of this name that is of another kind
     */
    public Counter get(String name, Counter.Kind kind) {
        Counter counter = byName.get(name);
        return counter != null && counter.kind() == kind ? counter : named(name, kind);
    }

    private Counter named(String name, Counter.Kind kind) {
        String admitted = totals.admit(name, kind);
        Counter counter = byName.get(admitted);
        return counter == null ? begin(admitted, kind) : counter;
    }

    private synchronized Counter begin(String name, Counter.Kind kind) {
        if (byName.isEmpty() && !ended) {
            totals.begin(this);
        }
        return byName.computeIfAbsent(name, own -> new Counter(own, kind));
    }

    /** Has the totals keep what is counted now; what the instance still counts is nobody's any more. */
    public synchronized void end() {
        ended = true;
        totals.end(this);
    }

    Collection<Counter> all() {
        return byName.values();
    }

    public Map<String, Long> values() {
        Map<String, Long> values = new TreeMap<>();
        byName.forEach((name, counter) -> values.put(name, counter.get()));
        return values;
    }
}

package org.tamanoir.catalog;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.tamanoir.nodeos.LevelCounters;

/**
 * What levels below the JVM have done for all instances of a service, those that have ended included.
 *
 * <p>Thread contract: any thread. Levels are asked without the lock, since each question may be one to the kernel.
 */
public final class LevelTotals {
    private final Set<Source> running = Collections.newSetFromMap(new IdentityHashMap<>());
    private LevelCounters ended = LevelCounters.ZERO;

    /** An instance that levels work for. */
    @FunctionalInterface
    public interface Source {
        /** Returns what they have done for it, also when it has ended. Any thread. */
        LevelCounters counters();
    }

    /** Counts an instance from now on. Idempotent until its end. */
    public synchronized void begin(Source instance) {
        running.add(instance);
    }

    /** Keeps what was done for an instance, for which nothing is done any more; nothing if it never began. */
    public void end(Source instance) {
        LevelCounters last = instance.counters();
        synchronized (this) {
            if (running.remove(instance)) {
                ended = ended.plus(last);
            }
        }
    }

    /** Returns what was done for all of them: for each either what was kept of it, or what it says now. */
    public LevelCounters sum() {
        List<Source> now;
        LevelCounters sum;
        synchronized (this) {
            now = List.copyOf(running);
            sum = ended;
        }
        for (Source instance : now) {
            sum = sum.plus(instance.counters());
        }
        return sum;
    }
}

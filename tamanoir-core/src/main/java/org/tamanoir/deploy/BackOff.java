package org.tamanoir.deploy;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What failed, and when it may be tried again: after a pause that doubles with each failure. It remembers a bounded
 * number of things; the one that was looked at least recently is forgotten first.
 *
 * <p>Thread contract: any thread.
 *
 * @param <K> what can fail
 * @param <W> why
 */
final class BackOff<K, W> {
    /**
     * A pause.
     *
     * @param leftNs until it ends, more than 0
     */
    record Pause<W>(W why, long leftNs) {}

    private record Failure<W>(W why, long atNs, long pauseNs) {}

    private final long minNs;
    private final long maxNs;
    private final LongSupplier clockNs;
    private final Map<K, Failure<W>> failures;

    BackOff(long minNs, long maxNs, int limit, LongSupplier clockNs) {
        this.minNs = minNs;
        this.maxNs = Math.max(minNs, maxNs);
        this.clockNs = clockNs;
        this.failures = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, Failure<W>> eldest) {
                return size() > limit;
            }
        };
    }

    /** Null when it may be tried. */
    synchronized @Nullable Pause<W> pause(K what) {
        Failure<W> failure = failures.get(what);
        if (failure == null) {
            return null;
        }
        long leftNs = failure.pauseNs - (clockNs.getAsLong() - failure.atNs);
        return leftNs > 0 ? new Pause<>(failure.why, leftNs) : null;
    }

    /**
     * Notes a failure.
     *
     * @param startedNs when the attempt began: one that began before the last failure says nothing new
     */
    synchronized void failed(K what, W why, long startedNs) {
        Failure<W> last = failures.get(what);
        if (last != null && startedNs - last.atNs < 0) {
            return;
        }
        long pauseNs = last == null ? minNs : Math.min(maxNs, Math.max(minNs, last.pauseNs * 2));
        failures.put(what, new Failure<>(why, clockNs.getAsLong(), pauseNs));
    }

    synchronized void succeeded(K what) {
        failures.remove(what);
    }

    synchronized void clear() {
        failures.clear();
    }
}

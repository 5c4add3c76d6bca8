package org.tamanoir.deploy;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
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
public final class BackOff<K, W> {
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
    private final Cache<K, Failure<W>> failures;

    BackOff(long minNs, long maxNs, int limit, LongSupplier clockNs) {
        this.minNs = minNs;
        this.maxNs = Math.max(minNs, maxNs);
        this.clockNs = clockNs;
        this.failures =
                CacheBuilder.newBuilder().maximumSize(limit).concurrencyLevel(1).build();
    }

    /** Returns the pause after one more failure: twice the last one, which is 0 before the first, within the bounds. */
    public static long doubled(long pause, long min, long max) {
        return Math.min(max, Math.max(min, pause * 2));
    }

    /** Returns null when it may be tried. */
    synchronized @Nullable Pause<W> pause(K what) {
        Failure<W> failure = failures.getIfPresent(what);
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
        Failure<W> last = failures.getIfPresent(what);
        if (last != null && startedNs - last.atNs < 0) {
            return;
        }
        long pauseNs = last == null ? minNs : doubled(last.pauseNs, minNs, maxNs);
        failures.put(what, new Failure<>(why, clockNs.getAsLong(), pauseNs));
    }

    synchronized void succeeded(K what) {
        failures.invalidate(what);
    }

    synchronized void clear() {
        failures.invalidateAll();
    }
}

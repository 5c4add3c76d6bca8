package org.tamanoir.manager;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how often things of each kind are told, so that somebody who causes many of one kind hides no other. A token
 * bucket for each kind: {@code burst} at once, then one in each {@link #INTERVAL}; in each interval in which some
 * were left out, one of those with the number of the others.
 *
 * <p>Kinds are told apart up to a bound; those beyond it share one bucket until others have been quiet.
 *
 * <p>Thread contract: any thread.
 *
 * @param <K> a kind, with equals and hashCode
 * @param <T> what is told
 */
public final class KindLimiter<K, T> {
    /** Between two of one kind, once the burst is used up, and between summaries of what was left out. */
    public static final Duration INTERVAL = Duration.ofSeconds(1);

    private static final long INTERVAL_NS = INTERVAL.toNanos();

    private final int burst;
    private final int maxKinds;
    private final LongSupplier clockNs;
    private final Map<K, Bucket<T>> buckets = new HashMap<>();
    private final Bucket<T> others;
    private long sweptNs;

    /**
     * Makes a limiter.
     *
     * @param burst of one kind that are told at once
     * @param maxKinds told apart at once
     * @param clockNs as {@link System#nanoTime}
     */
    public KindLimiter(int burst, int maxKinds, LongSupplier clockNs) {
        this.burst = burst;
        this.maxKinds = maxKinds;
        this.clockNs = clockNs;
        this.others = new Bucket<>(burst, clockNs.getAsLong());
        this.sweptNs = clockNs.getAsLong();
    }

    /**
     * What was left out of one kind.
     *
     * @param sample the first of them
     * @param more how many came behind it
     */
    public record LeftOut<T>(T sample, long more) {
        /**
         * Returns a text with the number of those that are not shown: {@code "… (and 11,987 like it in the last
         * second)"}.
         */
        public String say(String text) {
            return more == 0 ? text : String.format(Locale.ROOT, "%s (and %,d like it in the last second)", text, more);
        }
    }

    private static final class Bucket<T> {
        int tokens;
        /** When the last token was put in, or would have been. */
        long filledNs;

        @Nullable
        T sample;

        long sampledNs;
        long more;

        Bucket(int burst, long nowNs) {
            tokens = burst;
            filledNs = nowNs;
        }

        void fill(int burst, long nowNs) {
            long intervals = (nowNs - filledNs) / INTERVAL_NS;
            if (intervals > 0) {
                tokens = (int) Math.min(burst, tokens + intervals);
                filledNs += intervals * INTERVAL_NS;
            }
        }
    }

    /**
     * Returns whether one of this kind may be told; otherwise it is counted, and the first is kept for {@link #due}.
     *
     * @param sample makes what is kept; called while there is none, outside of the lock, since texts of services may
     *     be part of it
     */
    public boolean admits(K kind, Supplier<? extends T> sample) {
        Bucket<T> bucket;
        synchronized (this) {
            long nowNs = clockNs.getAsLong();
            bucket = bucket(kind, nowNs);
            bucket.fill(burst, nowNs);
            if (bucket.tokens > 0) {
                bucket.tokens--;
                return true;
            }
            if (bucket.sample != null) {
                bucket.more++;
                return false;
            }
        }
        keep(bucket, sample.get());
        return false;
    }

    private synchronized void keep(Bucket<T> bucket, T sample) {
        if (bucket.sample == null) {
            bucket.sample = sample;
            bucket.sampledNs = clockNs.getAsLong();
        } else {
            bucket.more++; // Another thread's came in between.
        }
    }

    private Bucket<T> bucket(K kind, long nowNs) {
        Bucket<T> known = buckets.get(kind);
        if (known != null) {
            return known;
        }
        if (buckets.size() >= maxKinds && nowNs - sweptNs >= INTERVAL_NS) {
            sweptNs = nowNs;
            buckets.values().removeIf(bucket -> {
                bucket.fill(burst, nowNs);
                return bucket.tokens == burst && bucket.sample == null;
            });
        }
        if (buckets.size() >= maxKinds) {
            return others;
        }
        Bucket<T> made = new Bucket<>(burst, nowNs);
        buckets.put(kind, made);
        return made;
    }

    /** Returns what was left out in intervals that are over, a summary for each kind, and forgets it. */
    public synchronized List<LeftOut<T>> due() {
        long nowNs = clockNs.getAsLong();
        List<LeftOut<T>> due = new ArrayList<>();
        buckets.values().forEach(bucket -> takeDue(bucket, nowNs, due));
        takeDue(others, nowNs, due);
        return due;
    }

    private static <T> void takeDue(Bucket<T> bucket, long nowNs, List<LeftOut<T>> due) {
        T sample = bucket.sample;
        if (sample != null && nowNs - bucket.sampledNs >= INTERVAL_NS) {
            due.add(new LeftOut<>(sample, bucket.more));
            bucket.sample = null;
            bucket.more = 0;
        }
    }

    /** Returns whether something was left out that {@link #due} has not returned yet. */
    public synchronized boolean isPending() {
        return others.sample != null || buckets.values().stream().anyMatch(bucket -> bucket.sample != null);
    }
}

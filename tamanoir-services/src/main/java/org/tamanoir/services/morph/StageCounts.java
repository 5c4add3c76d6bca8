package org.tamanoir.services.morph;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.Counter;

/**
 * What became of the messages at one stage: in + made = out + dropped + merged + held. They stay with a handler when the
 * plan changes around it.
 *
 * <p>Thread contract: one thread writes, any reads.
 */
final class StageCounts {
    /** Reasons that are told apart; later ones count together. */
    private static final int MAX_REASONS = 32;

    private static final String OTHERS = "others";
    /** Samples in which the compiler has done its work. */
    private static final int WARM_UP = 64;

    final Counter in = new Counter("in");
    final Counter made = new Counter("made");
    final Counter out = new Counter("out");
    final Counter dropped = new Counter("dropped");
    final Counter merged = new Counter("merged");
    final Counter held = new Counter("held", Counter.Kind.GAUGE);
    /** Messages that the handler threw on; they are dropped or go on, as its policy says. */
    final Counter failed = new Counter("failed");
    /** Bytes that the handler holds, as it said last. */
    final Counter heldBytes = new Counter("heldBytes", Counter.Kind.GAUGE);
    /** Time for a message without those behind, smoothed over sixteen samples. */
    final Counter nsPerMessage = new Counter("nsPerMessage", Counter.Kind.GAUGE);

    /** Replaced as a whole when a reason comes, so that readers need no lock. */
    private volatile Map<String, Counter> reasons = Map.of();

    /** Why it failed last. */
    volatile @Nullable String lastFailure;

    private @Nullable String lastReason;
    private int samples;
    private Counter last = new Counter(OTHERS);

    void drop(String reason, long messages) {
        dropped.add(messages);
        reason(reason).add(messages);
    }

    private Counter reason(String reason) {
        if (reason.equals(lastReason)) {
            return last;
        }
        Map<String, Counter> known = reasons;
        String name = known.containsKey(reason) || known.size() < MAX_REASONS ? reason : OTHERS;
        Counter counter = known.get(name);
        if (counter == null) {
            counter = new Counter(name);
            Map<String, Counter> more = new LinkedHashMap<>(known);
            more.put(name, counter);
            reasons = more;
        }
        lastReason = reason;
        last = counter;
        return counter;
    }

    void sample(long ns) {
        long before = nsPerMessage.get();
        // The first ones are those of code that is not compiled: the least of them counts.
        if (samples < WARM_UP) {
            samples++;
            nsPerMessage.set(before == 0 ? Math.max(1, ns) : Math.min(before, Math.max(1, ns)));
        } else {
            nsPerMessage.set(before + (ns - before) / 16);
        }
    }

    /** Adds what another has counted, but for what it holds. */
    void add(StageCounts other) {
        in.add(other.in.get());
        made.add(other.made.get());
        out.add(other.out.get());
        merged.add(other.merged.get());
        held.add(other.held.get());
        failed.add(other.failed.get());
        heldBytes.add(other.heldBytes.get());
        other.reasons.forEach((reason, counter) -> drop(reason, counter.get()));
        if (other.nsPerMessage.get() > 0) {
            nsPerMessage.set(other.nsPerMessage.get());
        }
    }

    /** Counts what is held as dropped: its instance is gone. */
    void settle() {
        if (held.get() > 0) {
            drop("ENDED", held.get());
            held.set(0);
        }
        heldBytes.set(0);
    }

    Map<String, Long> droppedBy() {
        Map<String, Long> by = new TreeMap<>();
        reasons.forEach((reason, counter) -> by.put(reason, counter.get()));
        return by;
    }

    /** Returns what in + made exceeds the rest by: 0 where nothing is lost and nobody is at work. */
    long unaccounted() {
        return in.get() + made.get() - out.get() - dropped.get() - merged.get() - held.get();
    }
}

package org.tamanoir.message;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.service.Counter;

/**
 * What became of messages: {@code in + made = out + dropped + merged + held}, whenever no message is in a handler's hands.
 * Shown as counters {@code messages.in}, {@code messages.dropped} and {@code messages.dropped.REASON}; reasons beyond
 * {@value #REASONS} count as {@code others}, so that a service's 64 names suffice.
 *
 * <p>Thread contract: one thread counts, any reads.
 */
public final class MessageCounts {
    static final int REASONS = 40;

    private static final String REST = "others";

    private final Counter.Source counters;
    private final Counter in;
    private final Counter made;
    private final Counter out;
    private final Counter merged;
    private final Counter held;
    private final Counter dropped;
    private final Map<String, Counter> reasons = new HashMap<>();
    private String lastReason = "";
    private @Nullable Counter lastCounter;

    /** Makes counts that are kept in counters of these names. */
    public MessageCounts(Counter.Source counters) {
        this.counters = counters;
        in = counters.counter("messages.in");
        made = counters.counter("messages.made");
        out = counters.counter("messages.out");
        merged = counters.counter("messages.merged");
        held = counters.counter("messages.held", Counter.Kind.GAUGE);
        dropped = counters.counter("messages.dropped");
    }

    void in(long messages) {
        in.add(messages);
    }

    void made(long messages) {
        made.add(messages);
    }

    void out(long messages) {
        out.add(messages);
    }

    void merged(long messages) {
        merged.add(messages);
    }

    void held(long more) {
        held.add(more);
    }

    void dropped(String reason, long messages) {
        dropped.add(messages);
        Counter counter = lastCounter;
        if (counter == null || !lastReason.equals(reason)) {
            counter = counter(reason);
            lastReason = reason;
            lastCounter = counter;
        }
        counter.add(messages);
    }

    private Counter counter(String reason) {
        synchronized (reasons) {
            String name = reasons.containsKey(reason) || reasons.size() < REASONS ? reason : REST;
            return reasons.computeIfAbsent(name, n -> counters.counter("messages.dropped." + n));
        }
    }

    /** Returns the messages that came. */
    public long in() {
        return in.get();
    }

    /** Returns the messages that handlers made, and copies beyond the first. */
    public long made() {
        return made.get();
    }

    /** Returns the messages that left. */
    public long out() {
        return out.get();
    }

    /** Returns the messages that went into others. */
    public long merged() {
        return merged.get();
    }

    /** Returns the messages that are held: by handlers, for packets that lack, for formats. */
    public long held() {
        return held.get();
    }

    /** Returns the messages that were dropped. */
    public long dropped() {
        return dropped.get();
    }

    /** Returns those by reason. */
    public Map<String, Long> droppedByReason() {
        Map<String, Long> values = new TreeMap<>();
        synchronized (reasons) {
            reasons.forEach((reason, counter) -> values.put(reason, counter.get()));
        }
        return values;
    }

    /** Returns whether the counts balance; asked while the service works, they may not. */
    public boolean isBalanced() {
        return in() + made() == out() + dropped() + merged() + held();
    }

    @Override
    public String toString() {
        return in() + " in + " + made() + " made = " + out() + " out + " + dropped() + " dropped + " + merged()
                + " merged + " + held() + " held; dropped " + droppedByReason();
    }
}

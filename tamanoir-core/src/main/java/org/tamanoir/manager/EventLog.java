package org.tamanoir.manager;

import com.google.common.collect.EvictingQueue;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The last events of a node, {@value #KEPT} of each kind, so that none pushes out another. Where more than
 * {@value #BURST} of a kind come at once, one a second is kept that says how many others there were. Kinds are
 * constants of the node; ids grow, and count events that were left out as well.
 *
 * <p>Thread contract: any thread.
 */
public final class EventLog {
    private static final int KEPT = 256;
    private static final int BURST = 128;
    /** More than the node has: beyond it kinds would share a bound. */
    private static final int MAX_KINDS = 64;

    private final Map<String, Queue<Event>> byKind = new HashMap<>();
    private final KindLimiter<String, Event> limiter;
    private long lastId;

    /** Makes an empty log. */
    public EventLog() {
        this(System::nanoTime);
    }

    EventLog(LongSupplier clockNs) {
        limiter = new KindLimiter<>(BURST, MAX_KINDS, clockNs);
    }

    synchronized void add(String kind, String text, Map<String, String> details) {
        addLeftOut();
        Map<String, String> copy = Map.copyOf(details);
        if (limiter.admits(kind, () -> new Event(0, Instant.now(), kind, text, copy))) {
            add(new Event(++lastId, Instant.now(), kind, text, copy));
        }
        notifyAll();
    }

    private void add(Event event) {
        byKind.computeIfAbsent(event.kind(), kind -> EvictingQueue.create(KEPT)).add(event);
    }

    private void addLeftOut() {
        for (KindLimiter.LeftOut<Event> leftOut : limiter.due()) {
            Event first = leftOut.sample();
            lastId += 1 + leftOut.more();
            add(new Event(lastId, first.time(), first.kind(), leftOut.say(first.text()), first.details()));
        }
    }

    /** Adds the summaries that are due; returns the id of the newest event then, 0 when there was none. */
    public synchronized long catchUp() {
        addLeftOut();
        return lastId;
    }

    /** Returns events with a higher id, as far as they are kept, oldest first. */
    public synchronized List<Event> after(long id) {
        addLeftOut();
        return byKind.values().stream()
                .flatMap(Queue::stream)
                .filter(event -> event.id() > id)
                .sorted(Comparator.comparingLong(Event::id))
                .toList();
    }

    /** Returns what {@link #after} does, and waits for an event when there is none; the list is empty when the time is up. */
    public synchronized List<Event> await(long id, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        long left;
        while (catchUp() <= id && (left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())) > 0) {
            wait(limiter.isPending() ? Math.min(left, KindLimiter.INTERVAL.toMillis()) : left);
        }
        return after(id);
    }
}

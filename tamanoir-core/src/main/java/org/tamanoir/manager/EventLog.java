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
 * constants of the node.
 *
 * <p>Ids grow, and count events that were left out as well. They begin behind those of an earlier process of the node, so
 * that whoever has seen some of that one's asks for those behind them, and gets all of this one's.
 *
 * <p>Thread contract: any thread.
 */
public final class EventLog {
    private static final int KEPT = 256;
    private static final int BURST = 128;
    /** More than the node has: beyond it kinds would share a bound. */
    private static final int MAX_KINDS = 64;
    /** More than a node has on average; numbers of JavaScript hold such ids for two hundred years. */
    private static final int MAX_PER_MS = 1000;

    private final Map<String, Queue<Event>> byKind = new HashMap<>();
    private final KindLimiter<String, Event> limiter;
    private final long idBefore;
    private long lastId;

    /** Makes an empty log. */
    public EventLog() {
        this(System::nanoTime, System.currentTimeMillis());
    }

    /** @param startMs of the process, by the wall clock */
    EventLog(LongSupplier clockNs, long startMs) {
        idBefore = startMs * MAX_PER_MS;
        lastId = idBefore;
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

    /** Returns how many events there were since the start, with those that were left out. */
    public synchronized long count() {
        return catchUp() - idBefore;
    }

    /** Adds the summaries that are due; returns the id of the newest event then, or one before the first. */
    public synchronized long catchUp() {
        addLeftOut();
        return lastId;
    }

    /**
     * Returns events with a higher id, as far as they are kept, oldest first; all of them where the id is to come: it is of
     * an earlier process, whose clock was ahead.
     */
    public synchronized List<Event> after(long lastSeen) {
        long id = catchUp() < lastSeen ? 0 : lastSeen;
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
        while (after(id).isEmpty() && (left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())) > 0) {
            wait(limiter.isPending() ? Math.min(left, KindLimiter.INTERVAL.toMillis()) : left);
        }
        return after(id);
    }
}

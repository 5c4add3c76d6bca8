package org.tamanoir.manager;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The last events of a node, {@value #KEPT} of them. Any thread may call. */
public final class EventLog {
    private static final int KEPT = 1024;

    private final Deque<Event> events = new ArrayDeque<>();
    private long lastId;

    /** An empty log. */
    public EventLog() {}

    synchronized void add(String kind, String text, Map<String, String> details) {
        events.addLast(new Event(++lastId, Instant.now(), kind, text, Map.copyOf(details)));
        if (events.size() > KEPT) {
            events.removeFirst();
        }
        notifyAll();
    }

    /** The id of the newest event; 0 when there was none. */
    public synchronized long lastId() {
        return lastId;
    }

    /** Events with a higher id, as far as they are kept, oldest first. */
    public synchronized List<Event> after(long id) {
        return events.stream().filter(event -> event.id() > id).toList();
    }

    /** The same, and waits for one when there is none; empty when the time is up. */
    public synchronized List<Event> await(long id, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        long left;
        while (lastId <= id && (left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())) > 0) {
            wait(left);
        }
        return after(id);
    }
}

package org.tamanoir.services.extra.cache;

import java.util.ArrayList;
import java.util.List;
import org.tamanoir.services.extra.Deadlines;
import org.tamanoir.services.extra.Header;

/** What an origin is asked, and who waits for the answer. Thread contract: one thread. */
final class Question extends Deadlines.Item<Question> {
    /**
     * A request that waits.
     *
     * @param header of its packet
     * @param id which the answer has
     * @param maxBytes of the answer's packet
     */
    record Waiting(Header header, long id, int maxBytes) {}

    private final CacheKey key;
    private final long id;
    private final List<Waiting> waiting = new ArrayList<>(1);
    private boolean isPurged;

    Question(CacheKey key, long id) {
        this.key = key;
        this.id = id;
    }

    CacheKey key() {
        return key;
    }

    /** Returns the id that the origin's answer has: nobody else can know it but who sees packets on their way. */
    long id() {
        return id;
    }

    List<Waiting> waiting() {
        return waiting;
    }

    /** Has the answer not be kept: it may be older than what was said since. */
    void purge() {
        isPurged = true;
    }

    boolean isPurged() {
        return isPurged;
    }
}

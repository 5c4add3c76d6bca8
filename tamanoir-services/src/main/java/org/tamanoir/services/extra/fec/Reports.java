package org.tamanoir.services.extra.fec;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.services.extra.Header;

/**
 * What has come and what should have, by session, for those that want reports. The session that was begun first gives
 * way when there are too many.
 *
 * <p>Thread contract: one thread.
 */
final class Reports {
    private static final int MAX_SESSIONS = 1024;

    /** The totals of one session. */
    static final class Session {
        private final long id;
        private final Header header;
        private long expected;
        private long received;
        private boolean isNew;

        private Session(long id, Header header) {
            this.id = id;
            this.header = header;
        }

        long id() {
            return id;
        }

        /** Returns the header of a packet of the flow. */
        Header header() {
            return header;
        }

        long expected() {
            return expected;
        }

        long received() {
            return received;
        }
    }

    private final Map<Long, Session> sessions = new LinkedHashMap<>();

    /** Takes note that a report is wanted for this session; the header of a packet of it is copied if it is new. */
    void want(long id, Header header) {
        if (!sessions.containsKey(id)) {
            if (sessions.size() == MAX_SESSIONS) {
                sessions.remove(sessions.keySet().iterator().next());
            }
            sessions.put(id, new Session(id, header.copy()));
        }
    }

    /** Counts a block that has ended. */
    void count(Block block) {
        @Nullable Session session = sessions.get(block.session());
        if (session != null && block.expectedPackets() > 0) {
            session.expected += block.expectedPackets();
            session.received += block.receivedPackets();
            session.isNew = true;
        }
    }

    /** Gives the sessions that have something new since the last time. */
    void drain(Consumer<Session> to) {
        for (Session session : sessions.values()) {
            if (session.isNew) {
                session.isNew = false;
                to.accept(session);
            }
        }
    }
}

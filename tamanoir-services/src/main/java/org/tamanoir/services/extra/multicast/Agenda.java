package org.tamanoir.services.extra.multicast;

import java.util.Comparator;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The flows by the time that each is to be looked at, so that looking costs for those alone. Thread contract: one thread. */
final class Agenda {
    private final TreeSet<Flow> flows =
            new TreeSet<>(Comparator.<Flow>comparingLong(Flow::wakeNs).thenComparingLong(Flow::session));

    /** Has a flow be looked at then. */
    void set(Flow flow, long atNs) {
        flows.remove(flow);
        flow.wakeNs(atNs);
        flows.add(flow);
    }

    /** Has a flow be looked at then, if that is earlier than it would be. */
    void setAtMost(Flow flow, long atNs) {
        if (atNs < flow.wakeNs()) {
            set(flow, atNs);
        }
    }

    void remove(Flow flow) {
        flows.remove(flow);
    }

    /** Returns a flow that is to be looked at by then; null if there is none. It stays until it is set to later. */
    @Nullable
    Flow due(long nowNs) {
        return dueNs() <= nowNs ? flows.first() : null;
    }

    /** Returns when the first one is to be looked at. */
    long dueNs() {
        return flows.isEmpty() ? Long.MAX_VALUE : flows.first().wakeNs();
    }
}

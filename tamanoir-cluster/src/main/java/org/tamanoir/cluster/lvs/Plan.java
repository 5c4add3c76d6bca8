package org.tamanoir.cluster.lvs;

import java.util.List;

/**
 * The difference between wanted and actual table, in an order in which no connection is lost: services and back-ends
 * come before what is edited, and what is removed comes last.
 *
 * @param before the table that it starts from
 */
public record Plan(LvsTable before, List<Change> changes) {
    public Plan {
        changes = List.copyOf(changes);
    }

    public boolean isEmpty() {
        return changes.isEmpty();
    }
}

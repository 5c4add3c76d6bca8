package org.tamanoir.cluster.lvs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** Tables of tests, written as ipvsadm does. */
final class Tables {
    private Tables() {}

    /** The table that these lines make, thresholds too. */
    static LvsTable table(String... lines) throws ClusterException {
        return TableEditor.parse(String.join("\n", lines));
    }

    static VirtualAddress tcp(String endpoint) {
        return new VirtualAddress(Protocol.TCP, LvsText.addressOf(endpoint), LvsText.portOf(endpoint));
    }

    static VirtualAddress udp(String endpoint) {
        return new VirtualAddress(Protocol.UDP, LvsText.addressOf(endpoint), LvsText.portOf(endpoint));
    }

    /** What is to be done from one to the other, all of both being owned. */
    static Plan plan(LvsTable from, LvsTable to) throws ClusterException {
        Set<VirtualAddress> owned = from.services().keySet();
        return Planner.plan(to, from, owned);
    }

    static List<String> lines(Plan plan) {
        return plan.changes().stream().map(Change::line).toList();
    }

    /** Lines that take it back, the last step first. */
    static List<String> undo(Plan plan) {
        List<Change> changes = new ArrayList<>(plan.changes());
        Collections.reverse(changes);
        return changes.stream().map(Change::undo).toList();
    }
}

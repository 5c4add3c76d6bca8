package org.tamanoir.node.admin;

import java.util.List;
import org.tamanoir.cluster.DirectorStatus;
import org.tamanoir.cluster.lvs.Change;
import org.tamanoir.cluster.lvs.Plan;

/** What the director's API shows beside its status, as director-openapi.yaml describes it. Any thread may call. */
final class DirectorViews {
    private DirectorViews() {}

    /** All back-ends. */
    record BackEnds(List<DirectorStatus.Member> backEnds) {}

    /** What would be changed, as lines for {@code ipvsadm --restore}. */
    record Planned(List<String> lines) {
        static Planned of(Plan plan) {
            return new Planned(plan.changes().stream().map(Change::line).toList());
        }
    }

    /** A back-end that was told something. */
    record BackEnd(String backEnd) {}

    /** A service that was told about. */
    record Service(String service) {}
}

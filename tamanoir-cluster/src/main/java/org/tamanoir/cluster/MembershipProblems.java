package org.tamanoir.cluster;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.config.Welcome;

/**
 * What does not fit between a back-end and what its directors say, one line each with the remedy. Any thread.
 *
 * @param code in force since the node's start
 * @param served services that the host is set up for; null = not yet
 * @param ports where the node listens
 */
record MembershipProblems(Welcome.Code code, @Nullable List<Welcome.Served> served, MembershipPorts ports) {
    /** @param said by each director that has answered */
    List<String> of(List<Welcome> said, List<MembershipStatus.Wanted> wanted) {
        List<String> problems = new ArrayList<>();
        if (served != null) {
            problems.addAll(ports.findings(served));
        }
        Welcome last = null;
        for (Welcome each : said) {
            if (last != null && !last.cluster().equals(each.cluster())) {
                problems.add(Bounds.line("directors " + last.director() + " and " + each.director()
                        + " do not serve the same cluster: " + last.cluster() + "; " + each.cluster()));
            }
            last = each;
            changed(each, problems);
        }
        for (MembershipStatus.Wanted each : wanted) {
            if (each.problem() != null) {
                problems.add(Bounds.line("service " + each.service() + " is not deployed: " + each.problem()));
            }
        }
        return problems;
    }

    private void changed(Welcome said, List<String> problems) {
        boolean sameSources = said.code().repositories().equals(code.repositories())
                && said.code().publishers().equals(code.publishers());
        if (!sameSources) {
            problems.add("repositories or publishers of director " + said.director()
                    + " are others than those in force: restart the node to take them over");
        }
        if (served != null && !said.services().equals(served)) {
            problems.add("services of director " + said.director()
                    + " are others than those that the host is set up for: restart the node to take them over");
        }
    }
}

package org.tamanoir.manager;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.CodeUnavailableException;

/** Counts deployments by what came of them. Any thread may call. */
final class Outcomes {
    private final Map<String, Long> counts = new TreeMap<>();
    private final Map<String, Double> seconds = new TreeMap<>();
    private int running;

    synchronized void begin() {
        running++;
    }

    synchronized void end(String outcome, long durationNs) {
        running--;
        counts.merge(outcome, 1L, Long::sum);
        seconds.merge(outcome, durationNs / 1e9, Double::sum);
    }

    /** Returns {@code cache}, {@code repository} or {@code previous-node}. */
    static String ofSource(String source) {
        return source.startsWith("repository")
                ? "repository"
                : source.startsWith("previous node") ? "previous-node" : "cache";
    }

    static String ofFailure(Exception e) {
        if (e instanceof CodeRefusedException refused) {
            return refused.refusal().name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
        return e instanceof CodeUnavailableException unavailable && unavailable.isUnknown() ? "unknown" : "unavailable";
    }

    synchronized DeploymentStatistics snapshot(long waiting) {
        return new DeploymentStatistics(Map.copyOf(counts), Map.copyOf(seconds), running, waiting);
    }
}

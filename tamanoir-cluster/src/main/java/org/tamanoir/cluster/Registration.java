package org.tamanoir.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.lvs.RealServer;

/**
 * What a node tells the director, at first and again in every interval: body of {@code PUT /v1/back-ends/NAME}, JSON.
 *
 * @param address where packets are to be sent to; null = the one that the request comes from
 * @param admin base address of its admin API, http or https, without a name in it
 * @param weight fixed; null = by the director's policy
 * @param leaving the node stops: no new streams, it is drained
 * @param findings of the host's set-up, empty when all is right, one line each
 * @param services that it has deployed of those that the director wants, {@code name:version}
 */
public record Registration(
        @Nullable String address,
        String admin,
        @Nullable Integer weight,
        boolean leaving,
        List<String> findings,
        List<String> services) {
    private static final int MOST_LINES = 1000;

    public Registration {
        findings = List.copyOf(findings);
        services = List.copyOf(services);
        Bounds.check("findings", findings.size(), 0, MOST_LINES);
        Bounds.check("services", services.size(), 0, MOST_LINES);
        if (weight != null) {
            Bounds.check("weight", weight, 1, RealServer.MAX_WEIGHT);
        }
    }
}

package org.tamanoir.cluster;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.lvs.Counters;

/**
 * What a director knows at one moment; the answer of {@code GET /v1/status}, JSON.
 *
 * @param ready whether the table is as wanted
 * @param problem why not, one line
 * @param active whether the virtual addresses are here: false = the other director has them
 */
public record DirectorStatus(
        String name,
        boolean ready,
        @Nullable String problem,
        boolean active,
        List<Service> services,
        List<Member> backEnds) {
    /**
     * A virtual service.
     *
     * @param name of the cluster's service
     * @param at as in {@code tcp 10.0.0.1:3322}
     * @param persistenceSeconds 0 = none
     * @param counters of the kernel
     */
    public record Service(
            String name,
            String at,
            String forwarding,
            String scheduler,
            int persistenceSeconds,
            boolean onePacket,
            Counters counters,
            List<Server> servers) {
        public Service {
            servers = List.copyOf(servers);
        }
    }

    /** A back-end in a virtual service's table. */
    public record Server(String backEnd, String endpoint, int weight, Counters counters) {}

    /**
     * A back-end.
     *
     * @param state label of {@link BackEndState}
     * @param reason why it is not up, or what its last answer said; null = nothing to say
     * @param listed in the configuration, else registered
     * @param weight in the table now, 0 while it drains, null = not in the table
     * @param load null = not known yet
     * @param busy part of its processors in use, 0 to 1, damped; null = not known yet
     * @param findings of its host's set-up, one line each
     * @param services that it has deployed of those wanted
     * @param drainEnds when a drain is cut off, ISO 8601; null = it does not drain
     */
    public record Member(
            String name,
            String address,
            String admin,
            String state,
            @Nullable String reason,
            boolean listed,
            @Nullable Integer weight,
            @Nullable Load load,
            @Nullable Double busy,
            List<String> findings,
            List<String> services,
            @Nullable String drainEnds) {
        public Member {
            findings = List.copyOf(findings);
            services = List.copyOf(services);
        }
    }

    /**
     * Counters of all nodes added up: {@code GET /cluster}. Totals never go back while the director runs: what a node
     * had counted before it left, died or started anew stays in.
     *
     * @param nodes that are in the sums
     * @param unreachable names of those whose last known counters stand in for newer ones
     * @param services counters of services by name, then counter, with {@code packetsIn}, {@code packetsOut},
     *     {@code bytesIn}, {@code bytesOut}, {@code dropped} beside those that services keep themselves
     */
    public record Totals(
            int nodes,
            List<String> unreachable,
            int streams,
            Load.Traffic traffic,
            Map<String, Map<String, Long>> services) {
        public Totals {
            unreachable = List.copyOf(unreachable);
            services = Map.copyOf(services);
        }
    }

    public DirectorStatus {
        services = List.copyOf(services);
        backEnds = List.copyOf(backEnds);
    }
}

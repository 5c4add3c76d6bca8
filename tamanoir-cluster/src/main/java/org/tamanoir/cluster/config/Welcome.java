package org.tamanoir.cluster.config;

import java.util.List;

/**
 * What the director answers to a registration, JSON.
 *
 * @param director its name
 * @param cluster the names of all services of the cluster, sorted, with commas: the same from all its directors
 * @param state of the back-end: the label that operators see
 * @param connections of its own that the kernel of this director still has, all services together
 * @param intervalMs after which the registration is to be repeated
 * @param services what the node's host has to be set up for
 * @param code where services come from
 */
public record Welcome(
        String director,
        String cluster,
        String state,
        long connections,
        long intervalMs,
        List<Served> services,
        Code code) {
    /**
     * A service of the cluster.
     *
     * @param protocols tcp, udp
     * @param forwarding nat, direct or tunnel
     */
    public record Served(
            String name, String address, int port, int backEndPort, List<String> protocols, String forwarding) {
        public Served {
            protocols = List.copyOf(protocols);
        }
    }

    /** {@link CodeSources} as text. */
    public record Code(List<String> repositories, List<CodeSources.Publisher> publishers, List<String> services) {
        public Code {
            repositories = List.copyOf(repositories);
            publishers = List.copyOf(publishers);
            services = List.copyOf(services);
        }
    }

    public Welcome {
        services = List.copyOf(services);
    }
}

package org.tamanoir.cluster.config;

import java.net.URI;
import java.util.List;

/**
 * Where the cluster's nodes get services from, whom they believe, and what they run: told to each that registers.
 *
 * @param repositories in the order in which they are asked
 * @param publishers whose code may run
 * @param services names, or names with versions, that every node deploys at once instead of on demand
 */
public record CodeSources(List<URI> repositories, List<Publisher> publishers, List<String> services) {
    /**
     * A publisher.
     *
     * @param key the text of its public key's file
     * @param names patterns of services that it may sign; empty = all
     */
    public record Publisher(String key, List<String> names) {
        public Publisher {
            names = List.copyOf(names);
        }
    }

    public static final CodeSources NONE = new CodeSources(List.of(), List.of(), List.of());

    public CodeSources {
        repositories = List.copyOf(repositories);
        publishers = List.copyOf(publishers);
        services = List.copyOf(services);
    }
}

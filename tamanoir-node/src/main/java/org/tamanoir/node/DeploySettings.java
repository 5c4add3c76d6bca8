package org.tamanoir.node;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.CodeSources;
import org.tamanoir.cluster.Welcome;
import org.tamanoir.deploy.PublisherKey;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.manager.Deployment.ServiceSettings;

/** Where the node's code comes from and whose it may be, while that is put together. One thread. */
final class DeploySettings {
    static final long DEFAULT_MAX_JAR = 64L << 20;
    static final long DEFAULT_MAX_UNPACKED = 256L << 20;
    static final long DEFAULT_CACHE_OCTETS = 1L << 30;

    boolean onDemand = true;
    List<URI> repositories = new ArrayList<>();
    /** Null = a folder of the user's. */
    @Nullable
    Path cache;

    long cacheOctets = DEFAULT_CACHE_OCTETS;
    List<InetSocketAddress> neighbours = new ArrayList<>();
    final List<TrustPolicy.Publisher> publishers = new ArrayList<>();
    final Set<String> revoked = new LinkedHashSet<>();
    boolean allowUnsigned;
    long maxJarOctets = DEFAULT_MAX_JAR;
    long maxUnpackedOctets = DEFAULT_MAX_UNPACKED;
    Duration connectTimeout = Duration.ofSeconds(2);
    Duration idleTimeout = Duration.ofSeconds(5);
    Duration totalTimeout = Duration.ofSeconds(30);
    Duration backOffMin = Duration.ofSeconds(1);
    Duration backOffMax = Duration.ofMinutes(1);
    boolean serve = true;
    /** Null = beside the first TCP address that the node listens on, at a free port. */
    @Nullable
    InetSocketAddress codeServer;

    boolean tls;
    private final Map<String, ServiceSettings> services = new HashMap<>();
    private final Map<String, String> given = new HashMap<>();

    /** Whether any code could run: without that nothing is fetched. */
    boolean isConfigured() {
        return !publishers.isEmpty() || allowUnsigned;
    }

    /** Trusts a publisher; {@code names} empty = for all names. */
    void trust(Path keyFile, List<String> names) {
        try {
            publishers.add(
                    new TrustPolicy.Publisher(PublisherKey.read(keyFile), names.isEmpty() ? List.of("*") : names));
            policy(); // Says what is wrong with a pattern.
        } catch (IOException e) {
            throw new IllegalArgumentException(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Adds what a cluster's directors say, behind what the node has of its own; what is there already stays once.
     *
     * @throws IllegalArgumentException in one line, if a key or pattern is no good
     */
    void add(Welcome.Code code) {
        for (String repository : code.repositories()) {
            URI uri = repository(repository);
            if (!repositories.contains(uri)) {
                repositories.add(uri);
            }
        }
        for (CodeSources.Publisher each : code.publishers()) {
            TrustPolicy.Publisher publisher = new TrustPolicy.Publisher(
                    PublisherKey.parse(each.key()), each.names().isEmpty() ? List.of("*") : each.names());
            if (!publishers.contains(publisher)) {
                publishers.add(publisher);
            }
        }
    }

    TrustPolicy policy() {
        TrustPolicy policy = new TrustPolicy(publishers, Set.of(), Set.of(), allowUnsigned);
        for (String each : revoked) {
            policy = policy.revoking(each);
        }
        return policy;
    }

    /** Settings of a service that is not on the class path, from {@code where}; needs a deployment to have a meaning. */
    void service(String where, String name, ServiceSettings settings) {
        services.put(name, settings);
        given.put(name, where);
    }

    /** What was set for a service by its name, for one that other settings are put over. */
    @Nullable
    ServiceSettings service(String name) {
        return services.get(name);
    }

    /** The settings of a version: its own, else those of its name. */
    ServiceSettings of(ServiceId id) {
        ServiceSettings own = services.get(id.toString());
        return own != null ? own : services.getOrDefault(id.name(), ServiceSettings.DEFAULT);
    }

    /** Looks at what only shows when all is there. */
    void check(Problems problems) {
        if (isConfigured()) {
            return;
        }
        given.forEach((name, where) -> problems.add(
                where,
                "class " + name + " is not on the class path: add its jar to it, correct the name, or say in 'deploy' "
                        + "whose code may be fetched"));
        if (!repositories.isEmpty() || !neighbours.isEmpty()) {
            problems.add(
                    "deploy",
                    "there are places to fetch code from, and nobody is trusted: add a publisher's key under "
                            + "deploy.trust, or --trust FILE");
        }
    }

    /** The base address of a repository. */
    static URI repository(String text) {
        URI uri = URI.create(text.endsWith("/") ? text : text + "/");
        boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        if (!http || uri.getHost() == null || uri.getQuery() != null || uri.getUserInfo() != null) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no repository: http://HOST:PORT or https://HOST:PORT is wanted");
        }
        return uri;
    }
}

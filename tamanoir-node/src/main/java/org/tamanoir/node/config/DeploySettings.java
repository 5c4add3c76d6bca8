package org.tamanoir.node.config;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.deploy.PublisherKey;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.manager.DeploymentConfig.ServiceSettings;

/** Where the node's code comes from and whose it may be: its settings, and what its cluster adds. One thread. */
public final class DeploySettings {
    /**
     * A publisher whose code runs.
     *
     * @param key file with its key; the key's id when a director named it
     */
    public record Trusted(String key, TrustPolicy.Publisher publisher) {}

    private static final Records<Trusted> PUBLISHERS = new Records<>("deploy.trust");
    private static final Setting<Path> KEY =
            PUBLISHERS.require("key", Kind.path("file"), "publisher.pub", publisher -> Path.of(publisher.key));
    private static final Setting<List<String>> NAMES = PUBLISHERS.add(
            "names",
            Kind.list("list of patterns", text -> text),
            List.of(),
            "all",
            publisher -> publisher.publisher.names());

    static final Kind<List<Trusted>> TRUST = new Kind<>(
            "list of `key` and `names`",
            (deploy, key) -> deploy.has(key) ? publishers(deploy, key, DeploySettings::trusted) : null,
            DeploySettings::trusted,
            publishers -> publishers.stream().map(PUBLISHERS::data).toList(),
            List.of());

    private final Values values;
    private final Map<String, ServiceSettings> services;
    private final List<URI> repositories;
    private final List<Trusted> publishers;

    /** @param services settings of those that are not on the class path, by name or name and version */
    DeploySettings(Values values, Map<String, ServiceSettings> services) {
        this.values = values;
        this.services = Map.copyOf(services);
        repositories = new ArrayList<>(values.get(NodeSettings.REPOSITORIES));
        publishers = new ArrayList<>(values.get(NodeSettings.TRUST));
    }

    /** Whether any code could run: without that nothing is fetched. */
    public boolean isConfigured() {
        return !publishers.isEmpty() || values.get(NodeSettings.ALLOW_UNSIGNED);
    }

    public List<URI> repositories() {
        return repositories;
    }

    /**
     * Adds what a cluster's directors say, behind what the node has of its own; what is there already stays once.
     *
     * @throws IllegalArgumentException in one line, if a key or pattern is no good
     */
    public void add(Welcome.Code code) {
        for (String repository : code.repositories()) {
            URI uri = repository(repository);
            if (!repositories.contains(uri)) {
                repositories.add(uri);
            }
        }
        for (CodeSources.Publisher each : code.publishers()) {
            TrustPolicy.Publisher publisher = publisher(PublisherKey.parse(each.key()), each.names());
            if (publishers.stream().noneMatch(known -> known.publisher.equals(publisher))) {
                publishers.add(new Trusted(String.valueOf(publisher.key().id()), publisher));
            }
        }
    }

    /**
     * Returns what a node has behind a reload: these services' settings, and these sources and publishers where both
     * could run code, else those of before.
     *
     * @param inForce values of all settings
     */
    DeploySettings having(Values inForce, DeploySettings before) {
        DeploySettings from = isConfigured() && before.isConfigured() ? this : before;
        DeploySettings having = new DeploySettings(inForce, services);
        having.repositories.clear();
        having.repositories.addAll(from.repositories);
        having.publishers.clear();
        having.publishers.addAll(from.publishers);
        return having;
    }

    /** The values of the settings with what was added. */
    Values inForce() {
        Values all = values.copy();
        all.put(NodeSettings.REPOSITORIES, List.copyOf(repositories), "");
        all.put(NodeSettings.TRUST, List.copyOf(publishers), "");
        return all;
    }

    public TrustPolicy policy() {
        TrustPolicy policy = new TrustPolicy(
                publishers.stream().map(Trusted::publisher).toList(),
                Set.of(),
                Set.of(),
                values.get(NodeSettings.ALLOW_UNSIGNED));
        for (String each : values.get(NodeSettings.REVOKED)) {
            policy = policy.revoking(each);
        }
        return policy;
    }

    /** The settings of a version: its own, else those of its name. */
    public ServiceSettings of(ServiceId id) {
        return services.getOrDefault(id.toString(), services.getOrDefault(id.name(), ServiceSettings.DEFAULT));
    }

    // ---- values ----------------------------------------------------------------------------------------------------

    /**
     * Reads a list of publishers.
     *
     * @param maker makes one of the file of its key and the patterns of its names
     */
    public static <T> List<T> publishers(Section section, String key, BiFunction<Path, List<String>, T> maker) {
        List<T> all = new ArrayList<>();
        for (Section each : section.sections(key)) {
            Values given = PUBLISHERS.read(each);
            Path file = given.find(KEY);
            try {
                if (file != null) {
                    all.add(maker.apply(file, given.get(NAMES)));
                }
            } catch (IllegalArgumentException e) {
                section.problems().add(given.where(KEY), String.valueOf(e.getMessage()));
            }
        }
        return all;
    }

    /** Reads a publisher of the command line: {@code FILE[=PATTERN,...]}. */
    private static List<Trusted> trusted(String text) {
        String[] parts = text.split("=", 2);
        return List.of(trusted(Path.of(parts[0]), parts.length < 2 ? List.of() : List.of(parts[1].split(",", -1))));
    }

    /** A publisher by the file of its key; without names for all. */
    public static Trusted trusted(Path file, List<String> names) {
        try {
            TrustPolicy.Publisher publisher = publisher(PublisherKey.read(file), names);
            new TrustPolicy(List.of(publisher), Set.of(), Set.of(), false); // Says what is wrong with a pattern.
            return new Trusted(file.toString(), publisher);
        } catch (IOException e) {
            throw new IllegalArgumentException(String.valueOf(e.getMessage()), e);
        }
    }

    private static TrustPolicy.Publisher publisher(PublisherKey key, List<String> names) {
        return new TrustPolicy.Publisher(key, names.isEmpty() ? List.of("*") : names);
    }

    /** The base address of a repository. */
    public static URI repository(String text) {
        URI uri = URI.create(text.endsWith("/") ? text : text + "/");
        boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        if (!http
                || uri.getHost() == null
                || uri.getPort() == 0
                || uri.getQuery() != null
                || uri.getUserInfo() != null) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no repository: http://HOST:PORT or https://HOST:PORT is wanted");
        }
        return uri;
    }
}

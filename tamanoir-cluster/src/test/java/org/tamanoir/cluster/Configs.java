package org.tamanoir.cluster;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.HealthPolicy;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.Scheduler;

/** Configurations of directors for tests. */
final class Configs {
    static final HealthPolicy HEALTH = new HealthPolicy(Duration.ofMillis(100), Duration.ofSeconds(5), 2, 2, 0);
    static final WeightPolicy WEIGHTS = new WeightPolicy(true, 100, 100, Duration.ofMillis(100));
    static final RegistrationPolicy REGISTRATION =
            new RegistrationPolicy(List.of(), Duration.ofSeconds(2), Duration.ofMinutes(5), 4);

    private Configs() {}

    static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    static ClusterService service(String address, Forwarding forwarding) {
        return new ClusterService(
                "anep",
                address(address),
                3322,
                3322,
                Set.of(Protocol.TCP, Protocol.UDP),
                forwarding,
                Scheduler.WLC,
                List.of(),
                0,
                32,
                false);
    }

    static BackEnd backEnd(String name, String address, @Nullable Integer weight) {
        return new BackEnd(name, address(address), URI.create("http://" + address + ":3324"), weight);
    }

    /** With a virtual service by NAT at 10.99.0.1. */
    static DirectorConfig director(
            Path folder, WeightPolicy weights, @Nullable RegistrationPolicy registration, BackEnd... listed) {
        return director(folder, weights, registration, false, listed);
    }

    static DirectorConfig director(
            Path folder,
            WeightPolicy weights,
            @Nullable RegistrationPolicy registration,
            boolean removeAtEnd,
            BackEnd... listed) {
        return director(folder, HEALTH, weights, registration, removeAtEnd, listed);
    }

    static DirectorConfig director(
            Path folder,
            HealthPolicy health,
            WeightPolicy weights,
            @Nullable RegistrationPolicy registration,
            boolean removeAtEnd,
            BackEnd... listed) {
        return new DirectorConfig(
                "front",
                folder,
                null,
                List.of(service("10.99.0.1", Forwarding.NAT)),
                List.of(listed),
                health,
                weights,
                Duration.ofSeconds(60),
                removeAtEnd,
                DirectorConfig.DEFAULT_SETTINGS,
                registration,
                null,
                new CodeSources(List.of(URI.create("http://10.99.0.9:3323")), List.of(), List.of("Monitor")),
                null);
    }

    static Map<String, Map<String, Long>> counters(String service, String counter, long value) {
        return Map.of(service, Map.of(counter, value));
    }
}

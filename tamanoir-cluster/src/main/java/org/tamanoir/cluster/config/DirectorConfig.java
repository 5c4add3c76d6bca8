package org.tamanoir.cluster.config;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.tls.TlsFiles;

/**
 * All that a director is started with.
 *
 * @param name of this director, in logs, plans and what back-ends are told
 * @param stateFolder where it remembers what is its own, and who registered
 * @param networkInterface where it puts the virtual addresses; null = they are there already, or keepalived's
 * @param services what clients see
 * @param backEnds those that are listed
 * @param drainDeadline how long streams may take to end when a back-end is drained
 * @param removeAtEnd whether virtual services go when the director ends; else connections and new ones go on without it
 * @param settings of the kernel, under {@code net.ipv4.vs.}, by their last names, that it holds
 * @param registration null = nobody may register
 * @param vrrp null = this director is alone
 * @param tls for questions to admin APIs by https; null = authorities of the JDK
 */
public record DirectorConfig(
        String name,
        Path stateFolder,
        @Nullable String networkInterface,
        List<ClusterService> services,
        List<BackEnd> backEnds,
        HealthPolicy health,
        WeightPolicy weights,
        Duration drainDeadline,
        boolean removeAtEnd,
        Map<String, String> settings,
        @Nullable RegistrationPolicy registration,
        @Nullable Vrrp vrrp,
        CodeSources code,
        @Nullable TlsFiles tls) {
    /**
     * What a director needs of the kernel's settings: a connection to a back-end that is gone is forgotten at its next
     * packet, and clients do not stay with one that drains.
     */
    public static final Map<String, String> DEFAULT_SETTINGS =
            Map.of("expire_nodest_conn", "1", "expire_quiescent_template", "1");

    /** The most that one director has. */
    public static final int MOST_SERVICES = 64;

    /** The most that are listed; how many register is bounded by {@link RegistrationPolicy#maxBackEnds}. */
    public static final int MOST_BACK_ENDS = 256;

    public DirectorConfig {
        services = List.copyOf(services);
        backEnds = List.copyOf(backEnds);
        settings = Map.copyOf(settings);
        Bounds.check("services", services.size(), 1, MOST_SERVICES);
    }

    /** Returns whether a service has this address. */
    public boolean isVirtual(InetAddress address) {
        return services.stream().anyMatch(service -> service.address().equals(address));
    }
}

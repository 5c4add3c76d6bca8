package org.tamanoir.manager;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.Multimaps;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ServiceStatus.State;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.service.SizeEffect;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.traffic.TrafficSnapshot;

/**
 * The state of the versions of services on a node, those of the class path and those that were deployed.
 *
 * <p>Thread contract: any thread.
 */
final class ServiceStatuses {
    private static final TrafficSnapshot NOTHING = new TrafficSnapshot(0, 0, 0, 0, 0, 0, Map.of(), 0);

    private final ExecutionEnvironment environment;
    private final ServiceCatalog catalog;
    private final @Nullable Deployer deployer;
    private final WantedServices wanted;

    /**
     * Reads the state of services, with those that are wanted and that the node does not have.
     *
     * @param deployer null = only services of the class path
     */
    ServiceStatuses(
            ExecutionEnvironment environment,
            ServiceCatalog catalog,
            @Nullable Deployer deployer,
            WantedServices wanted) {
        this.environment = environment;
        this.catalog = catalog;
        this.deployer = deployer;
        this.wanted = wanted;
    }

    /** Returns the services that somebody wants and the node does not have, with who does. */
    Map<String, String> missing() {
        Map<String, String> missing = new TreeMap<>(wanted.names());
        missing.keySet().removeIf(name -> catalog.find(ServiceKey.of(name)) != null);
        return missing;
    }

    /** Returns the refusal of what is asked of a service that the node does not have, though it may list it. */
    ManagerException absent(String service) {
        String who = missing().get(service);
        return new ManagerException(
                ManagerException.Kind.NOT_FOUND,
                service
                        + (who == null
                                ? " is not on this node; 'services' lists what is"
                                : " is missing: " + who + " names it, and the node does not have it; deploy it, or "
                                        + "correct the name"));
    }

    /** Returns the names of all services in {@link #all}. */
    Set<String> names() {
        Set<String> names = new HashSet<>(missing().keySet());
        catalog.all().forEach(definition -> names.add(definition.name()));
        if (deployer != null) {
            deployer.leaving().forEach(service -> names.add(service.id.name()));
        }
        return names;
    }

    /** Returns all versions of all services, by name and version. */
    List<ServiceStatus> all() {
        ListMultimap<ServiceDefinition, InstanceStatus> running =
                Multimaps.index(environment.instances(), InstanceStatus::service);
        Map<ServiceDefinition, TrafficSnapshot> crossed = environment.trafficByService();
        List<ServiceStatus> all = new ArrayList<>();
        for (ServiceDefinition definition : catalog.all()) {
            List<InstanceStatus> instances = running.get(definition);
            TrafficSnapshot traffic = crossed.getOrDefault(definition, NOTHING);
            DeployedVersion service = deployer == null ? null : deployer.with(definition);
            all.add(service == null ? ofClassPath(definition, instances, traffic) : of(service, instances, traffic));
        }
        if (deployer != null) {
            deployer.leaving().forEach(service -> all.add(of(service)));
        }
        missing().forEach((name, who) -> all.add(missing(name, who)));
        all.sort(Comparator.comparing(ServiceStatus::name)
                .thenComparing(
                        ServiceStatus::version,
                        (a, b) -> a.isEmpty() || b.isEmpty() ? a.compareTo(b) : ServiceId.VERSION_ORDER.compare(a, b)));
        return all;
    }

    private ServiceStatus ofClassPath(
            ServiceDefinition definition, List<InstanceStatus> instances, TrafficSnapshot traffic) {
        return new ServiceStatus(
                definition.name(),
                "",
                state(definition.health()),
                isCurrent(definition),
                "class path",
                null,
                null,
                null,
                tcpStreams(instances),
                servesUdp(instances),
                definition.control().isWanted(),
                definition.traits().sizes(),
                traffic,
                definition.health().counters().values(),
                definition.health().dropReasons().sums(),
                definition.health(),
                definition.placement().status(),
                definition.health().below().sum(),
                List.of());
    }

    /** Returns the status of a version, deployed or on its way out. */
    ServiceStatus of(DeployedVersion service) {
        ServiceDefinition definition = service.definition();
        return of(
                service,
                environment.instances().stream()
                        .filter(instance -> instance.service() == definition)
                        .toList(),
                definition == null ? null : environment.traffic(definition));
    }

    private ServiceStatus of(
            DeployedVersion service, List<InstanceStatus> instances, @Nullable TrafficSnapshot traffic) {
        ServiceDefinition definition = service.definition();
        return new ServiceStatus(
                service.id.name(),
                service.id.version(),
                state(service),
                isCurrent(definition),
                service.source(),
                service.publisherId(),
                service.jarSha256(),
                service.since,
                tcpStreams(instances),
                servesUdp(instances),
                definition != null && definition.control().isWanted(),
                definition == null ? SizeEffect.KEEPS : definition.traits().sizes(),
                traffic,
                service.life.counters().values(),
                service.life.dropReasons().sums(),
                service.life,
                service.placement.status(),
                service.life.below().sum(),
                service.holders());
    }

    private static State state(DeployedVersion service) {
        if (service.closed()) {
            return State.UNLOADING;
        }
        if (service.leaving) {
            return State.DRAINING;
        }
        return state(service.life);
    }

    private static State state(ServiceHealth health) {
        if (health.quarantinedUntil() != null) {
            return State.QUARANTINED;
        }
        return health.fault().isEmpty() ? State.RUNNING : State.FAILED;
    }

    /** Returns the status of a service that the node does not have: its last deployment failed, or there was none. */
    private ServiceStatus missing(String label, String who) {
        int colon = label.indexOf(':');
        String refusal = wanted.refusal(label);
        ServiceHealth health = new ServiceHealth();
        health.began(
                StreamInfo.Transport.UDP,
                refusal == null
                        ? "the node does not have it, and " + who + " names it: deploy it, or correct the name"
                        : "its deployment was refused: " + refusal);
        return new ServiceStatus(
                colon < 0 ? label : label.substring(0, colon),
                colon < 0 ? "" : label.substring(colon + 1),
                refusal == null ? State.MISSING : State.FAILED,
                false,
                "nowhere",
                null,
                null,
                null,
                0,
                false,
                false,
                SizeEffect.KEEPS,
                NOTHING,
                Map.of(),
                Map.of(),
                health,
                new Placement().status(),
                LevelCounters.ZERO,
                List.of());
    }

    private boolean isCurrent(@Nullable ServiceDefinition definition) {
        return definition != null && catalog.find(ServiceKey.of(definition.name())) == definition;
    }

    private static int tcpStreams(List<InstanceStatus> instances) {
        return (int) instances.stream()
                .filter(instance -> instance.stream().transport() == StreamInfo.Transport.TCP)
                .count();
    }

    private static boolean servesUdp(List<InstanceStatus> instances) {
        return tcpStreams(instances) < instances.size();
    }

    /** Returns the versions that {@code name:version} or a bare name means. */
    List<ServiceStatus> named(String service) {
        return all().stream()
                .filter(status ->
                        status.name().equals(service) || (status.name() + ":" + status.version()).equals(service))
                .toList();
    }
}

package org.tamanoir.manager;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.CodeUnavailableException;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.ee.InstanceStatus;
import org.tamanoir.ee.Placement;
import org.tamanoir.ee.QosStatus;
import org.tamanoir.ee.ServiceCatalog;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.manager.ManagerException.Kind;
import org.tamanoir.manager.ServiceStatus.State;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.StreamInfo;

/**
 * The Active Node Manager (Tamanoir, 2003): brings services to the node when streams ask for them or an operator
 * does, takes them away, changes routes, and knows the node's state.
 *
 * <p>Thread contract: any thread.
 */
public final class ActiveNodeManager implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ActiveNodeManager.class);

    private final ExecutionEnvironment environment;
    private final ServiceCatalog catalog;
    private final RoutingTable routes;
    private final @Nullable Deployment deployment;
    private final @Nullable Deployments deployments;
    private final @Nullable OnDemand onDemand;
    private final Outcomes outcomes = new Outcomes();
    private final EventLog events = new EventLog();
    private final Placements placements;
    private volatile @Nullable String notReady = "the node has not started";

    /**
     * A manager for an environment that is not started; it becomes that one's source of services.
     *
     * @param deployment null = only services of the class path
     */
    public ActiveNodeManager(
            ExecutionEnvironment environment,
            ServiceCatalog catalog,
            RoutingTable routes,
            @Nullable Deployment deployment) {
        this.environment = environment;
        this.catalog = catalog;
        this.routes = routes;
        this.deployment = deployment;
        this.placements = new Placements(environment, catalog, events);
        environment.onIncident(incident -> events.add(
                incident.kind().name().toLowerCase(Locale.ROOT),
                incident.text(),
                Map.of(
                        "service",
                        incident.service().name(),
                        "version",
                        incident.service().version())));
        if (deployment == null) {
            deployments = null;
            onDemand = null;
            return;
        }
        Deployments loaded = new Deployments(environment, catalog, deployment, events, outcomes);
        deployments = loaded;
        onDemand = deployment.onDemand() ? new OnDemand(loaded, deployment.neighbours(), deployment.tls()) : null;
        if (onDemand != null) {
            environment.fetchFrom(onDemand);
        }
    }

    // ---- services --------------------------------------------------------------------------------------------------

    /** All versions of all services, by name and version. */
    public List<ServiceStatus> services() {
        Map<ServiceDefinition, List<InstanceStatus>> running = new IdentityHashMap<>();
        environment
                .instances()
                .forEach(instance -> running.computeIfAbsent(instance.service(), service -> new ArrayList<>())
                        .add(instance));
        List<ServiceStatus> all = new ArrayList<>();
        for (ServiceDefinition definition : catalog.all()) {
            List<InstanceStatus> instances = running.getOrDefault(definition, List.of());
            Deployed service = deployments == null ? null : deployments.with(definition);
            all.add(service == null ? ofClassPath(definition, instances) : ofDeployed(service, instances));
        }
        if (deployments != null) {
            deployments.leaving().forEach(service -> all.add(ofDeployed(service)));
        }
        all.sort(Comparator.comparing(ServiceStatus::name)
                .thenComparing(
                        ServiceStatus::version,
                        (a, b) -> a.isEmpty() || b.isEmpty() ? a.compareTo(b) : ServiceId.VERSION_ORDER.compare(a, b)));
        return all;
    }

    private ServiceStatus ofClassPath(ServiceDefinition definition, List<InstanceStatus> instances) {
        return new ServiceStatus(
                definition.name(),
                "",
                definition.life().quarantinedUntil() == null ? State.RUNNING : State.QUARANTINED,
                isCurrent(definition),
                "class path",
                null,
                null,
                null,
                tcpStreams(instances),
                servesUdp(instances),
                environment.traffic(definition),
                summed(instances, InstanceStatus::counters),
                summed(instances, InstanceStatus::dropReasons),
                definition.life(),
                definition.placement().status(),
                below(instances),
                List.of());
    }

    private ServiceStatus ofDeployed(Deployed service) {
        ServiceDefinition definition = service.definition();
        return ofDeployed(
                service,
                environment.instances().stream()
                        .filter(instance -> instance.service() == definition)
                        .toList());
    }

    private ServiceStatus ofDeployed(Deployed service, List<InstanceStatus> instances) {
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
                definition == null ? null : environment.traffic(definition),
                summed(instances, InstanceStatus::counters),
                summed(instances, InstanceStatus::dropReasons),
                service.life,
                service.placement.status(),
                below(instances),
                service.holders());
    }

    private static State state(Deployed service) {
        if (service.closed()) {
            return State.UNLOADING;
        }
        if (service.leaving) {
            return State.DRAINING;
        }
        return service.life.quarantinedUntil() == null ? State.RUNNING : State.QUARANTINED;
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

    private static Map<String, Long> summed(
            List<InstanceStatus> instances, Function<InstanceStatus, Map<String, Long>> of) {
        Map<String, Long> sums = new TreeMap<>();
        instances.forEach(instance -> of.apply(instance).forEach((name, value) -> sums.merge(name, value, Long::sum)));
        return sums;
    }

    private static LevelCounters below(List<InstanceStatus> instances) {
        return instances.stream().map(InstanceStatus::below).reduce(LevelCounters.ZERO, LevelCounters::plus);
    }

    /** Whether this version is to be served to other nodes: streams that come get it. */
    public boolean isServed(ServiceId id) {
        return deployments != null && deployments.has(id);
    }

    /**
     * Gets a service from the repositories and puts it into the catalog; blocks until that is done, in bounded time.
     *
     * @param service {@code name:version}, or a bare name for the newest version
     * @param allowOlder whether a bare name may come to mean an older version than it did
     */
    public ServiceStatus deploy(String service, boolean allowOlder) throws ManagerException {
        Deployments to = deployments();
        long key = key(service);
        block(key, false);
        try {
            Deployed now = to.deployAndWait(key, fetcher -> fetcher.update(key, allowOlder));
            return ofDeployed(now);
        } catch (CodeRefusedException e) {
            throw new ManagerException(Kind.REFUSED, e.getMessage() + " (" + e.refusal() + ")");
        } catch (CodeUnavailableException e) {
            throw new ManagerException(
                    e.isUnknown() ? Kind.NOT_FOUND : Kind.UNAVAILABLE, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ManagerException(Kind.UNAVAILABLE, "the node stops");
        }
    }

    /**
     * Takes a service from streams to come; those that run it go on until they end. Of a bare name all versions.
     *
     * @return what drains
     */
    public List<ServiceStatus> drain(String service) throws ManagerException {
        return undeploy(service, Deployments.NO_DEADLINE, true);
    }

    /**
     * Takes a service away: streams to come do not get it, those that run it have until the deadline, then its
     * classes are unloaded. Returns at once.
     *
     * @param service {@code name:version}, or a bare name for all versions
     * @param block whether it stays away until it is deployed by name; else streams may bring it back
     */
    public List<ServiceStatus> undeploy(String service, Duration deadline, boolean block) throws ManagerException {
        Deployments from = deployments();
        long key = key(service);
        List<Deployed> leaving = from.all().stream()
                .filter(version -> version.id.key() == key || version.id.nameKey() == key)
                .toList();
        if (leaving.isEmpty()) {
            throw new ManagerException(Kind.NOT_FOUND, notDeployed(service));
        }
        if (block) {
            block(key, true);
            leaving.forEach(version -> block(version.id.key(), true));
        }
        leaving.forEach(version -> from.remove(version, deadline, "undeployed by the operator"));
        return leaving.stream().map(this::ofDeployed).toList();
    }

    private String notDeployed(String service) {
        boolean ships = catalog.all().stream()
                .anyMatch(definition ->
                        definition.version().isEmpty() && definition.name().equals(service));
        return service
                + (ships
                        ? " is on the class path: start the node without it"
                        : " is not deployed; 'services' lists what is");
    }

    private void block(long key, boolean block) {
        if (onDemand != null) {
            onDemand.block(key, block);
        }
    }

    /** Ends a service's quarantine. Of a bare name that of all versions. */
    public List<ServiceStatus> release(String service) throws ManagerException {
        key(service);
        List<ServiceStatus> held = named(service);
        if (held.isEmpty()) {
            throw new ManagerException(Kind.NOT_FOUND, service + " is not on this node; 'services' lists what is");
        }
        held.forEach(status -> status.life().release());
        return named(service); // Their states are others now.
    }

    /** Has the services that are to be handled below the JVM placed there. Once, when the node has started. */
    public void placeAll() {
        placements.all();
    }

    /**
     * Has a service's UDP packets handled elsewhere from now on; none is lost or overtaken. Waits, bounded, until that was
     * tried. Of a bare name all versions.
     *
     * @return what came of it
     */
    public List<ServiceStatus> place(String service, Placement.Wanted wanted) throws ManagerException {
        key(service);
        placements.change(service, wanted);
        return named(service);
    }

    private List<ServiceStatus> named(String service) {
        return services().stream()
                .filter(status ->
                        status.name().equals(service) || (status.name() + ":" + status.version()).equals(service))
                .toList();
    }

    /**
     * Runs this code no more: undeploys it at once and refuses it from now on, also after a restart.
     *
     * @param keyIdOrDigest a publisher's key id, 16 hexadecimal digits, or a jar's SHA-256, 64 of them
     */
    public void revoke(String keyIdOrDigest) throws ManagerException {
        Deployments from = deployments();
        TrustStore trust = deployment == null ? null : deployment.trust();
        if (trust == null) {
            return;
        }
        try {
            trust.revoke(keyIdOrDigest);
        } catch (IllegalArgumentException e) {
            throw new ManagerException(Kind.INVALID, String.valueOf(e.getMessage()));
        } catch (IOException e) {
            LOG.error("revocation of {} is not written and ends with the process: {}", keyIdOrDigest, e.toString());
        }
        events.add("revoked", keyIdOrDigest + " revoked", Map.of("revoked", keyIdOrDigest));
        for (Deployed version : from.all()) {
            if (keyIdOrDigest.equals(version.publisherId()) || keyIdOrDigest.equals(version.jarSha256())) {
                from.remove(version, Duration.ZERO, "revoked");
            }
        }
    }

    /** Whose code runs. */
    public TrustPolicy trust() {
        return deployment == null ? TrustPolicy.NOBODY : deployment.trust().get();
    }

    /** Deployments so far. */
    public DeploymentStatistics deploymentStatistics() {
        return outcomes.snapshot(environment.waitingForCode());
    }

    private Deployments deployments() throws ManagerException {
        Deployments there = deployments;
        if (there == null) {
            throw new ManagerException(
                    Kind.CONFLICT, "this node deploys nothing: start it with a repository and a publisher to trust");
        }
        return there;
    }

    private static long key(String service) throws ManagerException {
        try {
            return service.indexOf(':') < 0
                    ? ServiceKey.of(ServiceId.requireName(service))
                    : ServiceId.parse(service).key();
        } catch (IllegalArgumentException e) {
            throw new ManagerException(Kind.INVALID, String.valueOf(e.getMessage()));
        }
    }

    // ---- routes ----------------------------------------------------------------------------------------------------

    /** All routes, longest prefix first. */
    public List<Route> routes() {
        return routes.routes();
    }

    /** Adds a route, or replaces that of the same prefix; packets on their way follow it from the next batch on. */
    public void putRoute(Route route) {
        routes.add(route);
        events.add(
                "route",
                "route to " + route.prefix() + " set",
                Map.of("prefix", route.prefix().toString()));
    }

    /** Removes the route of exactly this prefix. */
    public void removeRoute(Prefix prefix) throws ManagerException {
        if (!routes.remove(prefix)) {
            throw new ManagerException(Kind.NOT_FOUND, "there is no route to " + prefix + "; 'routes' lists them");
        }
        events.add("route", "route to " + prefix + " removed", Map.of("prefix", prefix.toString()));
    }

    /** Puts these in place of all routes, at once. */
    public void replaceRoutes(List<Route> replacement) {
        routes.replace(replacement);
        events.add("route", "all routes replaced, now " + replacement.size(), Map.of());
    }

    // ---- quality of service ----------------------------------------------------------------------------------------

    /** How traffic is scheduled now. */
    public QosConfig qos() {
        return environment.qos();
    }

    /** What scheduling has done; without points while it is off. */
    public QosStatus qosStatus() {
        return environment.qosStatus();
    }

    /**
     * Schedules traffic so from now on; nothing that waits is lost.
     *
     * @throws ManagerException with all problems, each in a line; nothing is changed then
     */
    public void changeQos(QosConfig config) throws ManagerException {
        try {
            environment.qos(config);
        } catch (IllegalArgumentException e) {
            throw new ManagerException(Kind.INVALID, String.valueOf(e.getMessage()));
        }
        events.add("qos", "qos changed: " + summary(config), Map.of());
    }

    private static String summary(QosConfig config) {
        if (config.isOff()) {
            return "off";
        }
        StringBuilder text = new StringBuilder("classes ");
        text.append(config.classes().stream().map(TrafficClass::name).collect(Collectors.joining(", ")));
        PreProcessing pre = config.pre();
        if (pre != null) {
            text.append("; before processing ").append(pre.discipline());
            text.append(" on ").append(pre.processors()).append(" processors");
        }
        for (Link link : config.links()) {
            text.append("; link ").append(link.name()).append(' ').append(link.discipline());
            text.append(" at ").append(link.rate()).append(" octets/s");
        }
        return text.toString();
    }

    // ---- state -----------------------------------------------------------------------------------------------------

    /** The packet path: traffic, instances, streams, addresses, tap. */
    public ExecutionEnvironment environment() {
        return environment;
    }

    /** What happened. */
    public EventLog events() {
        return events;
    }

    /** Null when the node does its work, else in one line why not. */
    public @Nullable String notReady() {
        return notReady;
    }

    /** Says whether the node does its work: null, or in one line why not. */
    public void ready(@Nullable String whyNot) {
        notReady = whyNot;
        events.add("node", whyNot == null ? "the node is ready" : whyNot, Map.of());
    }

    /** Deploys no more. */
    @Override
    public void close() {
        if (deployments != null) {
            deployments.close();
        }
    }
}

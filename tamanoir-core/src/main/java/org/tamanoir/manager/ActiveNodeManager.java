package org.tamanoir.manager;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.CodeUnavailableException;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ManagerException.Kind;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.FeedStatus;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RouteFeed;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.service.ServiceControl;

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
    private final GivenRoutes given;
    private final @Nullable DeploymentConfig deployment;
    private final @Nullable Deployer deployer;
    private final Outcomes outcomes = new Outcomes();
    private final EventLog events = new EventLog();
    private final WantedServices wanted = new WantedServices();
    private final Placements placements;
    private final ServiceStatuses statuses;
    private final Reconfiguration reconfiguration;
    private volatile @Nullable RouteFeed feed;
    private volatile @Nullable String notReady = "the node has not started";

    /**
     * Makes a manager for an environment that is not started; it becomes that one's source of services.
     *
     * @param deployment null = only services of the class path
     */
    public ActiveNodeManager(
            ExecutionEnvironment environment,
            ServiceCatalog catalog,
            RoutingTable routes,
            @Nullable DeploymentConfig deployment) {
        this.environment = environment;
        this.catalog = catalog;
        this.routes = routes;
        given = new GivenRoutes(routes);
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
        environment.onUnknownFormat(id -> events.add(
                "unknown-format",
                "nobody has the format " + id + ": records of it are refused until one knows it",
                Map.of("format", id.toString())));
        if (deployment == null) {
            deployer = null;
            reconfiguration = new Reconfiguration(this, catalog, null);
            statuses = new ServiceStatuses(environment, catalog, null, wanted);
            return;
        }
        Deployer loaded = new Deployer(environment, catalog, deployment, events, outcomes, wanted);
        deployer = loaded;
        reconfiguration = new Reconfiguration(this, catalog, loaded);
        statuses = new ServiceStatuses(environment, catalog, loaded, wanted);
        if (deployment.onDemand()) {
            UpstreamCodeServers upstream = new UpstreamCodeServers(deployment.neighbours(), deployment.tls());
            environment.fetchFrom((key, then) -> OnDemandFetch.of(loaded, upstream, key, then));
        }
    }

    /** Returns all versions of all services, by name and version. */
    public List<ServiceStatus> services() {
        return statuses.all();
    }

    /** Returns the names in {@link #services}, at little cost. */
    public Set<String> serviceNames() {
        return statuses.names();
    }

    /** Has {@link #services} show those too that the configuration names, with what names each, and the node does not have. */
    public void wanted(Supplier<Map<String, String>> names) {
        wanted.names(names);
    }

    /** Tells of each service that the configuration names and the node does not have: once, when the node has started. */
    public void reportMissing() {
        statuses.missing().forEach((name, who) -> {
            String line = "the node does not have service " + name + ", which " + who + " names";
            LOG.warn("{}", line);
            events.add("missing", line, Map.of("service", name));
        });
    }

    /** Returns whether packets may be for services that the node does not have: these are fetched, or other nodes'. */
    public boolean mayHaveOthers() {
        return deployer != null || environment.passesUnknown();
    }

    /** Returns the services that streams can get now: those of {@link #services} but what only ends, without counts. */
    public Collection<ServiceDefinition> definitions() {
        return catalog.all();
    }

    /** Returns whether this version is to be served to other nodes: streams that come get it. */
    public boolean isServed(ServiceId id) {
        return deployer != null && deployer.has(id);
    }

    /**
     * Gets a service from the repositories and puts it into the catalog; blocks until that is done, in bounded time.
     *
     * @param service {@code name:version}, or a bare name for the newest version
     * @param allowOlder whether a bare name may come to mean an older version than it did
     */
    public ServiceStatus deploy(String service, boolean allowOlder) throws ManagerException {
        Deployer to = deployer();
        long key = key(service);
        to.unblock(key);
        try {
            DeployedVersion now = to.deployAndWait(key, fetcher -> fetcher.update(key, allowOlder));
            return statuses.of(now);
        } catch (CodeRefusedException e) {
            wanted.refused(ServiceKey.of(service.replaceFirst(":.*", "")), String.valueOf(e.getMessage()));
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
        return undeploy(service, Deployer.NO_DEADLINE, true);
    }

    /**
     * Takes a service away: streams to come do not get it, those that run it have until the deadline, then its
     * classes are unloaded. Returns at once.
     *
     * @param service {@code name:version}, or a bare name for all versions
     * @param block whether it stays away until it is deployed by name; else streams may bring it back
     */
    public List<ServiceStatus> undeploy(String service, Duration deadline, boolean block) throws ManagerException {
        Deployer from = deployer();
        long key = key(service);
        List<DeployedVersion> leaving = from.undeploy(key, deadline, block);
        if (leaving.isEmpty()) {
            throw new ManagerException(Kind.NOT_FOUND, notDeployed(service));
        }
        return leaving.stream().map(statuses::of).toList();
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

    /** Ends a service's quarantine, and has it tried again where it did not begin. Of a bare name that of all versions. */
    public List<ServiceStatus> release(String service) throws ManagerException {
        key(service);
        List<ServiceStatus> held = statuses.named(service);
        if (held.isEmpty()) {
            throw statuses.absent(service);
        }
        List<ServiceHealth> released = held.stream()
                .filter(status -> status.state() == ServiceStatus.State.QUARANTINED
                        || status.state() == ServiceStatus.State.FAILED)
                .map(ServiceStatus::health)
                .toList();
        List<ServiceDefinition> definitions = catalog.all().stream()
                .filter(definition -> released.contains(definition.health()))
                .toList();
        if (definitions.isEmpty()) {
            throw new ManagerException(
                    Kind.CONFLICT,
                    service + " is not in quarantine, and began: nothing is released; 'services' lists states");
        }
        released.forEach(ServiceHealth::release);
        definitions.forEach(environment::renew);
        return statuses.named(service); // Their states are others now.
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
        if (!placements.change(service, wanted)) {
            throw statuses.absent(service);
        }
        return statuses.named(service);
    }

    /** Has services handled elsewhere, by their names; returns which are not where they are wanted, a line each. */
    List<String> place(Map<String, Placement.Wanted> levels) {
        return placements.change(levels);
    }

    /**
     * Returns what the control of a service shows. Waits, bounded.
     *
     * @param service a bare name, or {@code name:version}
     */
    public Map<String, Object> control(String service) throws ManagerException {
        return ask(service, ServiceControl::view);
    }

    /**
     * Has the control of a service change it, wholly or not at all. Waits, bounded.
     *
     * @return what was done
     * @throws ManagerException {@link Kind#INVALID} with the lines of the refusal, a line for each thing that is wrong
     */
    public Map<String, Object> control(String service, String operation, Map<String, Object> arguments)
            throws ManagerException {
        Map<String, Object> done = ask(service, control -> control.change(operation, arguments));
        events.add(
                "control", "service " + service + ": " + operation, Map.of("service", service, "operation", operation));
        return done;
    }

    /** Returns the service that streams get by a bare name, or by {@code name:version}. */
    public ServiceDefinition definition(String service) throws ManagerException {
        ServiceDefinition definition = catalog.find(key(service));
        if (definition == null) {
            throw statuses.absent(service);
        }
        return definition;
    }

    private Map<String, Object> ask(String service, Function<ServiceControl, Map<String, Object>> question)
            throws ManagerException {
        ServiceDefinition definition = definition(service);
        if (definition.control().get() == null) {
            throw new ManagerException(
                    Kind.CONFLICT,
                    "service " + definition.label()
                            + " has no control: ask for one whose class names one in @ControlledBy");
        }
        try {
            return environment.control(definition, question);
        } catch (IllegalArgumentException e) {
            throw new ManagerException(Kind.INVALID, String.valueOf(e.getMessage()));
        } catch (IllegalStateException e) {
            throw new ManagerException(
                    Kind.UNAVAILABLE, "the control of service " + definition.label() + ": " + e.getMessage());
        }
    }

    /**
     * Runs this code no more: undeploys it at once and refuses it from now on, also after a restart.
     *
     * @param keyIdOrDigest a publisher's key id, 16 hexadecimal digits, or a jar's SHA-256, 64 of them
     * @throws ManagerException {@link Kind#NOT_KEPT} when it is revoked, but only until the process ends
     */
    public void revoke(String keyIdOrDigest) throws ManagerException {
        Deployer from = deployer();
        String notKept;
        try {
            notKept = from.revoke(keyIdOrDigest);
        } catch (IllegalArgumentException e) {
            throw new ManagerException(Kind.INVALID, String.valueOf(e.getMessage()));
        }
        String line = keyIdOrDigest + " revoked"
                + (notKept == null
                        ? ""
                        : " until this node ends, and not after that: " + notKept
                                + "; free space or make the folder writable, then revoke it again");
        events.add("revoked", line, Map.of("revoked", keyIdOrDigest));
        if (notKept != null) {
            LOG.error("{}", line);
            throw new ManagerException(Kind.NOT_KEPT, line);
        }
    }

    /**
     * Revokes what another process has revoked in the same file, as while one takes the place of the other.
     *
     * @throws IOException in one line, if the file cannot be read
     */
    public void revokedElsewhere() throws IOException {
        if (deployer != null && deployer.revokedElsewhere()) {
            LOG.info("what another process has revoked is revoked here too");
            events.add("revoked", "what another process has revoked is revoked here too", Map.of());
        }
    }

    /** Returns whose code runs. */
    public TrustPolicy trust() {
        return deployment == null ? TrustPolicy.NOBODY : deployment.trust().get();
    }

    /** Returns the deployments so far. */
    public DeploymentStatistics deploymentStatistics() {
        return outcomes.snapshot(environment.waitingForCode());
    }

    private Deployer deployer() throws ManagerException {
        Deployer there = deployer;
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

    /** Has the state of the feed that the routes have told, before it begins. */
    public void feed(RouteFeed routeFeed) {
        feed = routeFeed;
    }

    /** Returns how the feed of routes does, null = there is none. */
    public @Nullable FeedStatus feedStatus() {
        RouteFeed now = feed;
        return now == null ? null : now.status();
    }

    /**
     * Says which routes stand in the configuration, once, before the node serves.
     *
     * @param file from which the others are, null = there are none
     */
    public void givenRoutes(List<Route> configured, @Nullable String file) {
        given.replace(configured, file);
    }

    /** Returns the routes in force that the configuration or operators gave one by one, without those of files. */
    public List<Route> givenRoutes() {
        return given.inForce();
    }

    /** Says in one line how many routes there are besides {@link #givenRoutes()}, and from where; empty = none. */
    public String otherRoutes() {
        return given.others(feed != null);
    }

    /** Returns all routes by first address, the wider first, IPv4 before IPv6. */
    public List<Route> routes() {
        return routes.routes();
    }

    /** Returns as many routes at most, as {@link RoutingTable#walk} meets them. */
    public List<Route> routes(@Nullable Prefix within, @Nullable Prefix after, int limit) {
        List<Route> found = new ArrayList<>();
        routes.walk(within, after, route -> found.add(route) && found.size() < limit);
        return found;
    }

    /** Returns how many routes there are. */
    public int routeCount() {
        return routes.size();
    }

    /** Returns the route of exactly this prefix, null = there is none. */
    public @Nullable Route route(Prefix prefix) {
        return routes.get(prefix);
    }

    /** Returns the route that decides about packets to an address. */
    public Route decidingRoute(Prefix address) throws ManagerException {
        Route route = routes.deciding(address.high(), address.low());
        if (route == null) {
            throw new ManagerException(Kind.NOT_FOUND, "no route holds " + address + "; 'routes' lists them");
        }
        return route;
    }

    /** Adds a route, or replaces that of the same prefix; packets on their way follow it from the next batch on. */
    public void putRoute(Route route) throws ManagerException {
        try {
            routes.add(route);
        } catch (IllegalArgumentException e) {
            throw new ManagerException(Kind.INVALID, String.valueOf(e.getMessage()));
        }
        given.add(route.prefix());
        events.add(
                "route",
                "route to " + route.prefix() + " set",
                Map.of("prefix", route.prefix().toString()));
    }

    /** Removes the route of exactly this prefix. */
    public void removeRoute(Prefix prefix) throws ManagerException {
        if (!routes.remove(prefix)) {
            if (routes.get(prefix) != null) {
                throw new ManagerException(
                        Kind.CONFLICT,
                        "the route to " + prefix
                                + " is the feed's: have the routing daemon withdraw it, or put one over it");
            }
            throw new ManagerException(Kind.NOT_FOUND, "there is no route to " + prefix + "; 'routes' lists them");
        }
        given.remove(prefix);
        events.add("route", "route to " + prefix + " removed", Map.of("prefix", prefix.toString()));
    }

    /** Puts these in place of all routes but the feed's, at once. */
    public void replaceRoutes(List<Route> replacement) {
        routes.replace(replacement);
        given.replace(replacement, null);
        events.add("route", "all routes replaced, now " + routes.size(), Map.of());
    }

    /** Puts these of a file in place of all routes but the feed's, at once; the set is the node's from now on. */
    public void replaceRoutes(RouteSet replacement, String file) {
        routes.replace(replacement);
        given.replace(List.of(), file);
        events.add("route", "all routes replaced, now " + routes.size(), Map.of());
    }

    /**
     * Changes several things at once, all of them or nothing. Streams keep the services that they run. Waits, bounded,
     * until services are placed anew.
     *
     * @return what did not come of it though it was not refused, a line each
     * @throws ManagerException {@link Kind#INVALID}, with a line for each thing that is wrong; nothing is changed then
     */
    public List<String> change(NodeChange change) throws ManagerException {
        return reconfiguration.apply(change);
    }

    /** Removes routes and then puts others as one change, all of them or none. */
    void changeRoutes(List<Route> put, List<Prefix> removed) throws ManagerException {
        try {
            routes.change(put, removed);
        } catch (IllegalArgumentException e) {
            throw new ManagerException(Kind.INVALID, "routes: " + e.getMessage());
        }
        removed.forEach(given::remove);
        put.forEach(route -> given.add(route.prefix()));
        events.add("route", "routes changed: " + put.size() + " set, " + removed.size() + " removed", Map.of());
    }

    /** Returns how traffic is scheduled now. */
    public QosConfig qos() {
        return environment.qos();
    }

    /** Returns what scheduling has done; without points while it is off. */
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
            text.append(" at ").append(link.rate()).append(" bytes/s");
        }
        return text.toString();
    }

    /** Returns the packet path: traffic, instances, streams, addresses, tap. */
    public ExecutionEnvironment environment() {
        return environment;
    }

    /** Returns what happened. */
    public EventLog events() {
        return events;
    }

    /** Adds an event of a part of the node that the manager does not know. */
    public void report(String kind, String text, Map<String, String> details) {
        events.add(kind, text, details);
    }

    /** Returns null when the node does its work, else in one line why not. */
    public @Nullable String notReady() {
        List<String> problems = environment.coreProblems();
        return problems.isEmpty() ? notReady : problems.get(0);
    }

    /** Says whether the node does its work: null, or in one line why not. */
    public void ready(@Nullable String whyNot) {
        notReady = whyNot;
        events.add("node", whyNot == null ? "the node is ready" : whyNot, Map.of());
    }

    /** Deploys no more. */
    @Override
    public void close() {
        if (deployer != null) {
            deployer.close();
        }
    }
}

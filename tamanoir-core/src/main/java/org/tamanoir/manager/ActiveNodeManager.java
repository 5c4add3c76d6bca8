package org.tamanoir.manager;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.CodeCache;
import org.tamanoir.deploy.CodeFetcher;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.ee.Origin;
import org.tamanoir.ee.ServiceCatalog;
import org.tamanoir.ee.ServiceSource;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;

/**
 * The Active Node Manager (Tamanoir, 2003): brings services to the node when streams ask for them or an operator
 * does, takes them away, changes routes, and knows the node's state.
 *
 * <p>Thread contract: any thread. Deployments run on up to {@value #MAX_DEPLOYMENTS} threads of their own, which end
 * when there is nothing to deploy.
 */
public final class ActiveNodeManager implements ServiceSource, AutoCloseable {
    static final int MAX_DEPLOYMENTS = 4;

    /**
     * What the operator wants of a deployed service.
     *
     * @param config for its instances
     * @param failurePolicy null = drop
     * @param limits beside those of its manifest
     */
    public record ServiceSettings(ServiceConfig config, FailurePolicy failurePolicy, ServiceLimits limits) {}

    /**
     * Settings.
     *
     * @param onDemand whether streams can cause a deployment
     * @param neighbours code servers of nodes that may be asked although they are not a stream's peer
     * @param tls whether code servers of other nodes are asked by https
     * @param settings by service name, for services not on the class path
     */
    public record Settings(
            boolean onDemand,
            List<InetSocketAddress> neighbours,
            boolean tls,
            java.util.function.Function<String, ServiceSettings> settings) {}

    /** A manager for an environment that is not started; it becomes that one's source of services. */
    public ActiveNodeManager(
            Settings settings,
            ExecutionEnvironment environment,
            ServiceCatalog catalog,
            RoutingTable routes,
            @Nullable CodeCache cache,
            @Nullable CodeFetcher fetcher) {
        throw new UnsupportedOperationException("manager");
    }

    @Override
    public void request(long key, Origin origin, Consumer<Answer> then) {
        throw new UnsupportedOperationException("request");
    }

    // ---- services --------------------------------------------------------------------------------------------------

    /** All versions of all services, by name and version. */
    public List<ServiceStatus> services() {
        throw new UnsupportedOperationException("services");
    }

    /** Whether this version is to be served to other nodes: it is in the catalog. */
    public boolean isServed(ServiceId id) {
        throw new UnsupportedOperationException("isServed");
    }

    /**
     * Gets a service from the repositories and puts it into the catalog; blocks until that is done, in bounded time.
     *
     * @param service {@code name:version}, or a bare name for the newest version
     * @param allowOlder whether a bare name may come to mean an older version than it did
     */
    public ServiceStatus deploy(String service, boolean allowOlder) throws ManagerException {
        throw new UnsupportedOperationException("deploy");
    }

    /**
     * Takes a service from new streams; those that run it go on. Of a bare name all versions.
     *
     * @return what drains
     */
    public List<ServiceStatus> drain(String service) throws ManagerException {
        throw new UnsupportedOperationException("drain");
    }

    /**
     * Takes a service away: new streams do not get it, those that run it have until the deadline, then its classes
     * are unloaded. Returns at once. Streams that ask for it again may bring it back, unless it is blocked.
     *
     * @param block whether it stays away until it is deployed by name
     */
    public List<ServiceStatus> undeploy(String service, Duration deadline, boolean block) throws ManagerException {
        throw new UnsupportedOperationException("undeploy");
    }

    /** Ends a quarantine. */
    public ServiceStatus release(String service) throws ManagerException {
        throw new UnsupportedOperationException("release");
    }

    /** Runs this code no more: undeploys it at once and refuses it from now on, also after a restart. */
    public void revoke(String keyIdOrDigest) throws ManagerException {
        throw new UnsupportedOperationException("revoke");
    }

    /** The policy in force. */
    public TrustPolicy trust() {
        throw new UnsupportedOperationException("trust");
    }

    /** Deployments so far. */
    public DeploymentStatistics deployments() {
        throw new UnsupportedOperationException("deployments");
    }

    // ---- routes ----------------------------------------------------------------------------------------------------

    /** All routes, longest prefix first. */
    public List<Route> routes() {
        throw new UnsupportedOperationException("routes");
    }

    /** Adds a route, or replaces that of the same prefix; packets on their way follow it from the next batch on. */
    public void putRoute(Route route) {
        throw new UnsupportedOperationException("putRoute");
    }

    /** Removes the route of exactly this prefix. */
    public void removeRoute(Prefix prefix) throws ManagerException {
        throw new UnsupportedOperationException("removeRoute");
    }

    /** Puts these in place of all routes, at once. */
    public void replaceRoutes(List<Route> routes) {
        throw new UnsupportedOperationException("replaceRoutes");
    }

    // ---- state -----------------------------------------------------------------------------------------------------

    /** The packet path: traffic, instances, streams, addresses, tap. */
    public ExecutionEnvironment environment() {
        throw new UnsupportedOperationException("environment");
    }

    /** What happened. */
    public EventLog events() {
        throw new UnsupportedOperationException("events");
    }

    /** Whether the node does its work: null, or in one line why not. */
    public @Nullable String notReady() {
        throw new UnsupportedOperationException("notReady");
    }

    @Override
    public void close() {}
}

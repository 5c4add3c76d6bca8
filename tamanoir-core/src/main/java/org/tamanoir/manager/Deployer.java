package org.tamanoir.manager;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.deploy.CodeFetcher;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.CodeSearch;
import org.tamanoir.deploy.CodeUnavailableException;
import org.tamanoir.deploy.LoadedService;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.deploy.Refusal;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.ServicePackage;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.nodeos.Level;
import org.tamanoir.service.ServiceConfig;

/**
 * The versions of services that are loaded: puts them into the catalog, takes them out, sees that they unload.
 *
 * <p>Thread contract: any thread. Deployments run on up to {@value #MAX_THREADS} background threads, nodes that sent
 * streams are asked on up to {@value #MAX_PEER_THREADS} more; they end when there is nothing to do. A version that goes
 * has one of its own until it has unloaded.
 */
final class Deployer {
    private static final Logger LOG = LoggerFactory.getLogger(Deployer.class);
    /** For streams that may run on as long as they like. */
    static final Duration NO_DEADLINE = Duration.ofDays(365);
    /** How long classes of a removed version may stay in memory before that is reported. */
    private static final Duration UNLOAD_PATIENCE = Duration.ofSeconds(30);

    private static final Duration UNLOAD_LOOK = Duration.ofMillis(500);

    /** For what the operator configured. */
    private static final int MAX_THREADS = 4;
    /** One of the threads is always left for others. */
    private static final int MAX_AT_WORK = MAX_THREADS - 1;
    /** For nodes that sent streams: they mostly wait. */
    private static final int MAX_PEER_THREADS = 16;
    /** Deployments of one party that wait for a thread; what comes beyond is refused. */
    private static final int MAX_QUEUED = 64;

    private final ExecutionEnvironment environment;
    private final ServiceCatalog catalog;
    private final DeploymentConfig from;
    private final EventLog events;
    private final Outcomes outcomes;
    private final Map<String, ServiceDefinition> classPath = new HashMap<>();
    private final Map<ServiceId, DeployedVersion> deployed = new HashMap<>();
    /** Another process has revoked what may still run here. Of the thread that looks for it. */
    private boolean isRevokedElsewhere;

    private final List<DeployedVersion> leaving = new ArrayList<>();
    /** Keys that an operator keeps away from streams. */
    private final Set<Long> blocked = ConcurrentHashMap.newKeySet();

    private final WantedServices wanted;
    private final FairThreads threads;
    private final FairThreads peerThreads;

    Deployer(
            ExecutionEnvironment environment,
            ServiceCatalog catalog,
            DeploymentConfig from,
            EventLog events,
            Outcomes outcomes,
            WantedServices wanted) {
        this.environment = environment;
        this.catalog = catalog;
        this.from = from;
        this.events = events;
        this.outcomes = outcomes;
        this.wanted = wanted;
        catalog.all().forEach(definition -> classPath.put(definition.name(), definition));
        threads = new FairThreads(environment, "deploy-", MAX_THREADS, MAX_AT_WORK, MAX_QUEUED);
        peerThreads = new FairThreads(environment, "deploy-peer-", MAX_PEER_THREADS, 1, MAX_QUEUED);
    }

    /** Returns where the cache is searched, and the operator's repositories and neighbours are asked. */
    FairThreads threads() {
        return threads;
    }

    /** Returns where nodes that sent streams are asked: of each party one at a time. */
    FairThreads peerThreads() {
        return peerThreads;
    }

    /** Gets a service for an operator, on one of the threads for that; waits for it. */
    DeployedVersion deployAndWait(long key, Fetch fetch)
            throws CodeUnavailableException, CodeRefusedException, InterruptedException {
        FutureTask<DeployedVersion> task = new FutureTask<>(() -> deploy(key, fetch));
        if (!threads.offer("operator", task)) {
            throw new CodeUnavailableException("too many deployments wait; ask again later", false);
        }
        try {
            return task.get();
        } catch (CancellationException e) {
            throw new CodeUnavailableException("the node stops", false);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof CodeUnavailableException unavailable) {
                throw unavailable;
            }
            if (cause instanceof CodeRefusedException refused) {
                throw refused;
            }
            throw new IllegalStateException("a fault of the node: " + cause, cause);
        }
    }

    void close() {
        threads.close();
        peerThreads.close();
    }

    @Nullable
    ServiceDefinition find(long key) {
        return catalog.find(key);
    }

    interface Fetch {
        ServicePackage from(CodeFetcher fetcher) throws CodeUnavailableException, CodeRefusedException;
    }

    private DeployedVersion deploy(long key, Fetch fetch) throws CodeUnavailableException, CodeRefusedException {
        Attempt attempt = begin(key);
        try {
            return attempt.succeeded(fetch.from(from.fetcher()), false);
        } catch (CodeRefusedException | CodeUnavailableException e) {
            attempt.failed(e);
            throw e;
        } finally {
            attempt.end();
        }
    }

    /** Begins a deployment; its caller ends it. */
    Attempt begin(long key) {
        return new Attempt(this, outcomes, events, wanted, key);
    }

    /** Begins a search for a key's code. */
    CodeSearch search(long key) {
        return from.fetcher().search(key);
    }

    /**
     * Loads code that was found, and puts it into the catalog. Verifies again what was verified before it was fetched:
     * who revokes or keeps away takes this lock too, and finds what was installed before.
     *
     * @param forStream whether nobody but a stream wants it
     */
    DeployedVersion install(long key, ServicePackage code, boolean forStream)
            throws CodeRefusedException, CodeUnavailableException {
        DeployedVersion fresh = null;
        DeployedVersion installed = null;
        try {
            while ((installed = install(key, code, forStream, fresh)) == null) {
                fresh = load(code);
            }
            return installed;
        } finally {
            if (fresh != null && fresh != installed) {
                environment.undefine(Objects.requireNonNull(fresh.definition()));
                fresh.close();
            }
        }
    }

    /** @return null when the version is not loaded, and {@code fresh} is not it: its control is made without the lock */
    private synchronized @Nullable DeployedVersion install(
            long key, ServicePackage code, boolean forStream, @Nullable DeployedVersion fresh)
            throws CodeRefusedException, CodeUnavailableException {
        ServiceId id = code.manifest().id();
        from.trust().get().verifyAgain(code.manifest(), code.publisherId());
        if (forStream && isBlocked(key)) {
            throw new CodeUnavailableException(id + " was undeployed while it was fetched", true);
        }
        DeployedVersion service = deployed.get(id);
        if (service == null) {
            if (fresh == null) {
                return null;
            }
            service = fresh;
            deployed.put(id, service);
            from.cache().pin(id);
        }
        ServiceDefinition definition = Objects.requireNonNull(service.definition());
        catalog.add(id.key(), definition);
        DeployedVersion before = null;
        if (key == id.key()) {
            service.pinned = true;
        } else {
            before = with(catalog.find(key));
            catalog.add(key, definition);
        }
        if (!definition.placement().wantsJvm()) {
            environment.place(definition);
        }
        if (before != null && before != service && !before.pinned) {
            remove(before, NO_DEADLINE, "streams to come get " + id);
        }
        return service;
    }

    private DeployedVersion load(ServicePackage code) throws CodeRefusedException, CodeUnavailableException {
        ServiceId id = code.manifest().id();
        DeploymentConfig.ServiceSettings settings = from.settings().apply(id);
        ServiceLimits limits = settings.limits().and(code.manifest().limits());
        LoadedService loaded = from.fetcher().load(code);
        ServiceDefinition definition = new ServiceDefinition(
                id.name(),
                id.version(),
                loaded.factory(),
                settings.config(),
                settings.failurePolicy(),
                new ServiceHealth(limits.processors(), limits.allocationBytesPerSecond(), limits.packetBudgetNs()),
                new Placement(Level.allowedBy(code.manifest().levels()), settings.level()),
                DefinedControl.of(loaded.controls()),
                settings.dispatch(),
                loaded.traits());
        try {
            requireSettings(definition, settings.config());
            environment.define(definition);
        } catch (IllegalArgumentException e) {
            loaded.close();
            throw new CodeRefusedException(Refusal.NOT_A_SERVICE, String.valueOf(e.getMessage()));
        }
        return new DeployedVersion(id, loaded, definition);
    }

    /** @throws IllegalArgumentException in one line, if they are not what the service declares */
    private static void requireSettings(ServiceDefinition definition, ServiceConfig given) {
        List<String> problems = definition.traits().settings().problems(given);
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("service " + definition.label() + ": config: "
                    + OneLine.of(String.join("; ", problems)) + "; correct it under services, and reload");
        }
    }

    /** Returns which deployed versions do not take the settings that the configuration has for them now, a line each. */
    List<String> misfits() {
        List<String> misfits = new ArrayList<>();
        for (DeployedVersion version : all()) {
            ServiceDefinition definition = version.definition();
            try {
                if (definition != null) {
                    requireSettings(
                            definition, from.settings().apply(version.id).config());
                }
            } catch (IllegalArgumentException e) {
                misfits.add(String.valueOf(e.getMessage()));
            }
        }
        return misfits;
    }

    void tell(String kind, DeployedVersion service, String what, String detail, String value) {
        LOG.info("service {} {}", service.id, what);
        events.add(
                kind,
                "service " + service.id + " " + what,
                Map.of("service", service.id.name(), "version", service.id.version(), detail, value));
    }

    /** Takes all versions that a key means away; returns them. @param block whether streams may not bring them back */
    synchronized List<DeployedVersion> undeploy(long key, Duration deadline, boolean block) {
        List<DeployedVersion> going = deployed.values().stream()
                .filter(version -> version.id.key() == key || version.id.nameKey() == key)
                .toList();
        for (DeployedVersion version : going) {
            if (block) {
                blocked.add(key);
                blocked.add(version.id.key());
            }
            remove(version, deadline, "undeployed by the operator");
        }
        return going;
    }

    /** Returns whether streams do not get a key's service. Takes no lock. */
    boolean isBlocked(long key) {
        return blocked.contains(key);
    }

    /** Lets streams have a key's service again. */
    void unblock(long key) {
        blocked.remove(key);
    }

    /**
     * Revokes, keeps that, and ends what runs of it: what is deployed, and what still drains. Waits for the disk without
     * the lock, and for streams only where no thread is to be had that would.
     *
     * @return null, or in one line why it was not kept
     * @throws IllegalArgumentException in one line, if it cannot be revoked
     */
    @Nullable
    String revoke(String keyIdOrDigest) {
        List<Runnable> left = withdraw(() -> from.trust().revoke(keyIdOrDigest), "revoked");
        String notKept = keepRevocations();
        left.forEach(Runnable::run);
        return notKept;
    }

    /**
     * Ends what runs of what another process has revoked.
     *
     * @return whether there was anything new
     * @throws IOException in one line, if what is revoked cannot be read
     */
    boolean revokedElsewhere() throws IOException {
        isRevokedElsewhere |= from.trust().readAgain();
        if (!isRevokedElsewhere) {
            return false;
        }
        withdraw(() -> {}, "revoked").forEach(Runnable::run);
        isRevokedElsewhere = false; // Only now: what fails is tried again.
        return true;
    }

    /** Trusts as the operator's policy says from now on, what was revoked apart, and ends what runs of others. */
    void trust(TrustPolicy operators) {
        withdraw(() -> from.trust().replace(operators), "trusted no more").forEach(Runnable::run);
    }

    /** Asks these repositories from the next deployment on. */
    void repositories(List<URI> replacement) {
        from.fetcher().mirrors(replacement);
    }

    /** Returns what could not be given to threads of its own, for want of memory: the caller runs it. */
    private synchronized List<Runnable> withdraw(Runnable change, String why) {
        change.run();
        TrustPolicy trust = from.trust().get();
        List<Runnable> left = new ArrayList<>();
        for (DeployedVersion draining : leaving) {
            ServiceDefinition definition = draining.definition();
            if (definition != null && !isTrusted(draining, trust)) {
                Runnable cut = () -> environment.retire(definition, Duration.ZERO);
                try {
                    environment.background("revoke " + draining.id, cut).start();
                } catch (OutOfMemoryError e) {
                    left.add(cut);
                }
            }
        }
        for (DeployedVersion version : all()) {
            if (!isTrusted(version, trust)) {
                try {
                    remove(version, Duration.ZERO, why);
                } catch (OutOfMemoryError e) {
                    left.add(() -> {
                        catalog.remove(Objects.requireNonNull(version.definition()));
                        end(version, Duration.ZERO);
                    });
                }
            }
        }
        return left;
    }

    private static boolean isTrusted(DeployedVersion service, TrustPolicy trust) {
        try {
            trust.verifyAgain(service.loaded.code().manifest(), service.publisherId());
            return true;
        } catch (CodeRefusedException e) {
            return false;
        }
    }

    /** Writes what was revoked; null, or in one line why that failed. Waits for the disk, without the lock. */
    private @Nullable String keepRevocations() {
        try {
            from.trust().keep();
            return null;
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Puts a service of the class path in place of another one, for streams to come; null = none. */
    synchronized void redefine(@Nullable ServiceDefinition before, @Nullable ServiceDefinition fresh) {
        if (before != null) {
            classPath.remove(before.name());
        }
        if (fresh != null) {
            classPath.put(fresh.name(), fresh);
        }
        catalog.replace(before, fresh);
    }

    /** Keeps a version from streams to come; a thread of its own waits for those that run it, and unloads it. */
    synchronized void remove(DeployedVersion service, Duration deadline, String why) {
        if (service.leaving) {
            return;
        }
        service.leaving = true;
        deployed.remove(service.id);
        leaving.add(service);
        ServiceDefinition definition = Objects.requireNonNull(service.definition());
        catalog.remove(definition);
        ServiceDefinition original = classPath.get(service.id.name());
        if (original != null && catalog.find(original.key()) == null) {
            catalog.add(original);
        }
        tell("draining", service, "drains: " + why, "why", why);
        environment
                .background("retire " + service.id, () -> retire(service, deadline))
                .start();
    }

    private void retire(DeployedVersion service, Duration deadline) {
        int cut = end(service, deadline);
        if (awaitUnloading(service)) {
            tell("unloaded", service, "unloaded", "cut", Integer.toString(cut));
        } else {
            String holders = String.join("; ", service.holders());
            tell("leak", service, "stays in memory, held by: " + holders, "holders", holders);
        }
    }

    /** Waits for those that run it, and cuts them; returns how many. */
    private int end(DeployedVersion service, Duration deadline) {
        ServiceDefinition definition = Objects.requireNonNull(service.definition());
        int cut = environment.retire(definition, deadline);
        environment.undefine(definition);
        service.close();
        synchronized (this) {
            if (!deployed.containsKey(service.id)) {
                from.cache().unpin(service.id);
            }
        }
        tell("undeployed", service, "undeployed, streams cut: " + cut, "cut", Integer.toString(cut));
        return cut;
    }

    /** Waits until the classes of a version are gone, on after a report that they are not, as long as the node runs. */
    private boolean awaitUnloading(DeployedVersion service) {
        long deadlineNs = System.nanoTime() + UNLOAD_PATIENCE.toNanos();
        try {
            while (!service.loaded.isUnloaded()) {
                if (System.nanoTime() - deadlineNs > 0) {
                    return false;
                }
                TimeUnit.MILLISECONDS.sleep(UNLOAD_LOOK.toMillis());
            }
        } catch (InterruptedException e) {
            return false;
        }
        synchronized (this) {
            leaving.remove(service);
        }
        return true;
    }

    /** Returns the versions in the catalog. */
    synchronized List<DeployedVersion> all() {
        return List.copyOf(deployed.values());
    }

    /** Returns the versions that are being taken away, or have not unloaded. */
    synchronized List<DeployedVersion> leaving() {
        leaving.removeIf(service -> service.closed() && service.loaded.isUnloaded());
        return List.copyOf(leaving);
    }

    synchronized boolean has(ServiceId id) {
        return deployed.containsKey(id);
    }

    /** Returns the version with this definition; null when it is of the class path. */
    synchronized @Nullable DeployedVersion with(@Nullable ServiceDefinition definition) {
        for (DeployedVersion service : deployed.values()) {
            if (service.definition() == definition) {
                return service;
            }
        }
        return null;
    }
}

package org.tamanoir.manager;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.CodeFetcher;
import org.tamanoir.deploy.CodeRefusedException;
import org.tamanoir.deploy.CodeUnavailableException;
import org.tamanoir.deploy.LoadedService;
import org.tamanoir.deploy.ServiceId;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.deploy.ServicePackage;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.ee.Placement;
import org.tamanoir.ee.ServiceCatalog;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.ee.ServiceLife;
import org.tamanoir.nodeos.Level;

/**
 * The versions of services that are loaded: puts them into the catalog, takes them out, sees that they unload.
 *
 * <p>Thread contract: any thread. Deployments run on up to {@value #MAX_THREADS} background threads, which end when
 * there is nothing to do; a version that goes has one of its own until it has unloaded.
 */
final class Deployments {
    private static final Logger LOG = LoggerFactory.getLogger(ActiveNodeManager.class);
    /** For streams that may run on as long as they like. */
    static final Duration NO_DEADLINE = Duration.ofDays(365);
    /** How long classes of a removed version may stay in memory before that is reported. */
    private static final Duration UNLOAD_PATIENCE = Duration.ofSeconds(30);

    private static final Duration UNLOAD_LOOK = Duration.ofMillis(500);

    private static final int MAX_THREADS = 4;
    /** Deployments that wait for a thread; what comes beyond is refused. */
    private static final int MAX_WAITING = 1024;

    private static final Duration KEEP_THREAD = Duration.ofSeconds(5);

    private final ExecutionEnvironment environment;
    private final ServiceCatalog catalog;
    private final Deployment from;
    private final EventLog events;
    private final Outcomes outcomes;
    private final Map<String, ServiceDefinition> classPath = new HashMap<>();
    private final Map<ServiceId, Deployed> deployed = new HashMap<>();
    private final List<Deployed> leaving = new ArrayList<>();
    private final ThreadPoolExecutor threads;

    Deployments(
            ExecutionEnvironment environment,
            ServiceCatalog catalog,
            Deployment from,
            EventLog events,
            Outcomes outcomes) {
        this.environment = environment;
        this.catalog = catalog;
        this.from = from;
        this.events = events;
        this.outcomes = outcomes;
        catalog.all().forEach(definition -> classPath.put(definition.name(), definition));
        AtomicInteger number = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                MAX_THREADS,
                MAX_THREADS,
                KEEP_THREAD.toMillis(),
                TimeUnit.MILLISECONDS,
                new ArrayBlockingQueue<>(MAX_WAITING),
                task -> environment.background("deploy-" + number.incrementAndGet(), task));
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Runs a deployment on one of the threads for that.
     *
     * @throws RejectedExecutionException if too many wait
     */
    void execute(Runnable task) {
        threads.execute(task);
    }

    /** Like {@link #deploy(long, Fetch)}, on one of the threads for that; waits for it. */
    Deployed deployAndWait(long key, Fetch fetch)
            throws CodeUnavailableException, CodeRefusedException, InterruptedException {
        try {
            return threads.submit(() -> deploy(key, fetch)).get();
        } catch (RejectedExecutionException e) {
            throw new CodeUnavailableException("too many deployments wait; ask again later", false);
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
        threads.shutdownNow();
    }

    @Nullable
    ServiceDefinition find(long key) {
        return catalog.find(key);
    }

    // ---- bringing --------------------------------------------------------------------------------------------------

    interface Fetch {
        ServicePackage from(CodeFetcher fetcher) throws CodeUnavailableException, CodeRefusedException;
    }

    /** Fetches, loads, and puts into the catalog; counts and tells what came of it. */
    Deployed deploy(long key, Fetch fetch) throws CodeUnavailableException, CodeRefusedException {
        outcomes.begin();
        long beginNs = System.nanoTime();
        String outcome = "unavailable";
        try {
            ServicePackage code = fetch.from(from.fetcher());
            Deployed service = install(key, code);
            outcome = Outcomes.ofSource(code.source());
            deployed(service, System.nanoTime() - beginNs);
            return service;
        } catch (CodeRefusedException e) {
            outcome = Outcomes.ofFailure(e);
            failed("code-refused", key, e, outcome);
            throw e;
        } catch (CodeUnavailableException e) {
            outcome = Outcomes.ofFailure(e);
            failed("deployment-failed", key, e, outcome);
            throw e;
        } finally {
            outcomes.end(outcome, System.nanoTime() - beginNs);
        }
    }

    private synchronized Deployed install(long key, ServicePackage code) throws CodeRefusedException {
        ServiceId id = code.manifest().id();
        Deployed service = deployed.get(id);
        if (service == null) {
            service = load(id, code);
            deployed.put(id, service);
            from.cache().pin(id);
        }
        ServiceDefinition definition = Objects.requireNonNull(service.definition());
        catalog.add(id.key(), definition);
        Deployed before = null;
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

    private Deployed load(ServiceId id, ServicePackage code) throws CodeRefusedException {
        Deployment.ServiceSettings settings = from.settings().apply(id);
        ServiceLimits limits = settings.limits().and(code.manifest().limits());
        LoadedService loaded = LoadedService.load(code);
        ServiceDefinition definition = new ServiceDefinition(
                id.name(),
                id.version(),
                loaded.factory(),
                settings.config(),
                settings.failurePolicy(),
                new ServiceLife(limits.processors(), limits.allocationOctetsPerSecond()),
                new Placement(Level.allowedBy(code.manifest().levels()), settings.level()));
        return new Deployed(id, loaded, definition);
    }

    private void deployed(Deployed service, long tookNs) {
        String ms = Long.toString(TimeUnit.NANOSECONDS.toMillis(tookNs));
        String signer = service.publisherId() == null ? "unsigned" : "signed by " + service.publisherId();
        tell("deployed", service, "deployed from " + service.source() + " in " + ms + " ms, " + signer, "ms", ms);
    }

    private void failed(String kind, long key, Exception e, String outcome) {
        String hex = ServiceKey.toString(key);
        String which = "service key " + hex + ": ";
        String message = String.valueOf(e.getMessage());
        String line = message.startsWith(which) ? message : which + message; // The fetcher says the key itself.
        LOG.warn("not deployed: {}", line);
        events.add(kind, line, Map.of("key", hex, "outcome", outcome));
    }

    private void tell(String kind, Deployed service, String what, String detail, String value) {
        LOG.info("service {} {}", service.id, what);
        events.add(
                kind,
                "service " + service.id + " " + what,
                Map.of("service", service.id.name(), "version", service.id.version(), detail, value));
    }

    // ---- taking away -----------------------------------------------------------------------------------------------

    /** Keeps a version from streams to come; a thread of its own waits for those that run it, and unloads it. */
    synchronized void remove(Deployed service, Duration deadline, String why) {
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

    private void retire(Deployed service, Duration deadline) {
        int cut = environment.retire(Objects.requireNonNull(service.definition()), deadline);
        service.close();
        synchronized (this) {
            if (!deployed.containsKey(service.id)) {
                from.cache().unpin(service.id);
            }
        }
        tell("undeployed", service, "undeployed, streams cut: " + cut, "cut", Integer.toString(cut));
        if (awaitUnloading(service)) {
            tell("unloaded", service, "unloaded", "cut", Integer.toString(cut));
        } else {
            String holders = String.join("; ", service.holders());
            tell("leak", service, "stays in memory, held by: " + holders, "holders", holders);
        }
    }

    /** Until its classes are gone; waits on after it has been reported that they are not, as long as the node runs. */
    private boolean awaitUnloading(Deployed service) {
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

    // ---- what there is ---------------------------------------------------------------------------------------------

    /** Versions in the catalog. */
    synchronized List<Deployed> all() {
        return List.copyOf(deployed.values());
    }

    /** Versions that are being taken away, or have not unloaded. */
    synchronized List<Deployed> leaving() {
        leaving.removeIf(service -> service.closed() && service.loaded.isUnloaded());
        return List.copyOf(leaving);
    }

    synchronized boolean has(ServiceId id) {
        return deployed.containsKey(id);
    }

    /** The version with this definition; null when it is of the class path. */
    synchronized @Nullable Deployed with(@Nullable ServiceDefinition definition) {
        for (Deployed service : deployed.values()) {
            if (service.definition() == definition) {
                return service;
            }
        }
        return null;
    }
}

package org.tamanoir.manager;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ManagerException.Kind;
import org.tamanoir.qdisc.QosConfig;

/**
 * Changes several things of a node at once: what can be refused comes first and is taken back when something is refused
 * behind it, what cannot comes last. A service of the class path is changed as a version is by the next one: streams
 * keep the instance that they have, those to come get the new one, and UDP packets what the catalog says.
 *
 * <p>Thread contract: any thread, one at a time; a service that goes has a thread of its own until its last stream ends.
 */
final class Reconfiguration {
    private static final Logger LOG = LoggerFactory.getLogger(Reconfiguration.class);
    /** Services that were redefined and still have streams: each has a thread that waits for them. */
    private static final int MAX_RETIRING = 64;

    private final ActiveNodeManager manager;
    private final ExecutionEnvironment environment;
    private final ServiceCatalog catalog;
    private final @Nullable Deployer deployer;
    private final AtomicInteger retiring = new AtomicInteger();

    /** @param deployer null = only services of the class path */
    Reconfiguration(ActiveNodeManager manager, ServiceCatalog catalog, @Nullable Deployer deployer) {
        this.manager = manager;
        this.environment = manager.environment();
        this.catalog = catalog;
        this.deployer = deployer;
    }

    synchronized void apply(NodeChange change) throws ManagerException {
        List<ServiceDefinition> defined = new ArrayList<>();
        QosConfig scheduled = environment.qos();
        boolean isDone = false;
        try {
            define(change.services(), defined);
            if (change.qos() != null) {
                manager.changeQos(change.qos());
            }
            if (!change.put().isEmpty() || !change.removed().isEmpty()) {
                manager.changeRoutes(change.put(), change.removed());
            }
            isDone = true;
        } finally {
            if (!isDone) {
                defined.forEach(environment::undefine);
                if (environment.qos() != scheduled) {
                    environment.qos(scheduled);
                }
            }
        }
        change.services().forEach(this::replace);
        if (deployer != null && change.repositories() != null) {
            deployer.repositories(change.repositories());
        }
        if (deployer != null && change.trust() != null) {
            deployer.trust(change.trust());
        }
        place(change.levels());
    }

    private void define(List<NodeChange.Redefined> services, List<ServiceDefinition> defined) throws ManagerException {
        long going =
                services.stream().filter(service -> service.before() != null).count();
        if (retiring.get() + going > MAX_RETIRING) {
            throw new ManagerException(
                    Kind.CONFLICT,
                    retiring.get() + " services that were redefined still have streams, and " + going
                            + " more would: the limit is " + MAX_RETIRING + "; wait for their streams, or restart");
        }
        List<String> refused = new ArrayList<>();
        for (NodeChange.Redefined service : services) {
            if (service.fresh() != null) {
                try {
                    environment.define(service.fresh());
                    defined.add(service.fresh());
                } catch (IllegalArgumentException e) {
                    refused.add(String.valueOf(e.getMessage()));
                }
            }
        }
        if (!refused.isEmpty()) {
            throw new ManagerException(Kind.INVALID, String.join("\n", refused));
        }
    }

    private void replace(NodeChange.Redefined service) {
        ServiceDefinition before = service.before();
        ServiceDefinition fresh = service.fresh();
        if (deployer != null) {
            deployer.redefine(before, fresh);
        } else {
            catalog.replace(before, fresh);
        }
        if (fresh != null && !fresh.placement().wantsJvm() && catalog.has(fresh)) {
            environment.place(fresh);
        }
        if (before != null) {
            retiring.incrementAndGet();
            Thread retire = environment.background("retire " + before.label(), () -> retire(before));
            try {
                retire.start();
            } catch (OutOfMemoryError e) {
                retiring.decrementAndGet();
                LOG.warn("service {}: no memory for the thread that closes its earlier definition", before.label());
            }
        }
    }

    private void retire(ServiceDefinition before) {
        try {
            environment.retire(before, Deployer.NO_DEADLINE);
            environment.undefine(before);
        } finally {
            retiring.decrementAndGet();
        }
    }

    private void place(Map<String, Placement.Wanted> levels) throws ManagerException {
        for (Map.Entry<String, Placement.Wanted> level : levels.entrySet()) {
            try {
                manager.place(level.getKey(), level.getValue());
            } catch (ManagerException e) {
                if (e.kind() != Kind.NOT_FOUND) { // It is deployed later, and placed then.
                    throw e;
                }
            }
        }
    }
}

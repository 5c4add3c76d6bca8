package org.tamanoir.manager;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ManagerException.Kind;
import org.tamanoir.qdisc.QosConfig;

/**
 * Changes several things of a node at once: what can be refused comes first, and is taken back when something is refused
 * behind it; nothing that comes behind the routes is refused. A service of the class path is changed as a version is by
 * the next one: streams keep the instance that they have, those to come get the new one, and UDP packets what the catalog
 * says.
 *
 * <p>Thread contract: any thread, one at a time.
 */
final class Reconfiguration {
    private static final Logger LOG = LoggerFactory.getLogger(Reconfiguration.class);

    private final ActiveNodeManager manager;
    private final ExecutionEnvironment environment;
    private final ServiceCatalog catalog;
    private final @Nullable Deployer deployer;

    /** @param deployer null = only services of the class path */
    Reconfiguration(ActiveNodeManager manager, ServiceCatalog catalog, @Nullable Deployer deployer) {
        this.manager = manager;
        this.environment = manager.environment();
        this.catalog = catalog;
        this.deployer = deployer;
    }

    /**
     * Applies all of a change or nothing.
     *
     * @return what did not come of it though it was not refused, a line each
     * @throws ManagerException {@link Kind#INVALID} with a line for each thing that is refused; nothing is changed then
     */
    synchronized List<String> apply(NodeChange change) throws ManagerException {
        List<ServiceDefinition> defined = new ArrayList<>();
        boolean isAccepted = false;
        try {
            accept(change, defined);
            isAccepted = true;
        } finally {
            if (!isAccepted) {
                defined.forEach(environment::undefine);
            }
        }
        List<String> failed = new ArrayList<>();
        QosConfig qos = change.qos();
        if (qos != null) {
            attempt("qos", failed, () -> manager.changeQos(qos));
        }
        for (NodeChange.Redefined service : change.services()) {
            replace(service, failed);
        }
        if (deployer != null) {
            deploy(deployer, change, failed);
        }
        attempt("services", failed, () -> failed.addAll(manager.place(change.levels())));
        return failed;
    }

    /** What can be refused; the routes come last, since they are in force when they are not. */
    private void accept(NodeChange change, List<ServiceDefinition> defined) throws ManagerException {
        List<String> refused = new ArrayList<>();
        if (change.qos() != null) {
            refused.addAll(change.qos().problems());
        }
        for (NodeChange.Redefined service : change.services()) {
            if (service.fresh() != null) {
                try {
                    environment.define(service.fresh());
                    defined.add(service.fresh());
                } catch (IllegalArgumentException e) {
                    refused.add(String.valueOf(e.getMessage()));
                }
            }
        }
        if (deployer != null) {
            refused.addAll(deployer.misfits());
        }
        if (!refused.isEmpty()) {
            throw new ManagerException(Kind.INVALID, String.join("\n", refused));
        }
        if (!change.put().isEmpty() || !change.removed().isEmpty()) {
            manager.changeRoutes(change.put(), change.removed());
        }
    }

    private void replace(NodeChange.Redefined service, List<String> failed) {
        ServiceDefinition before = service.before();
        ServiceDefinition fresh = service.fresh();
        if (before != null && fresh != null && before.label().equals(fresh.label())) {
            fresh.health().goOnCounting(before.health());
        }
        if (deployer != null) {
            deployer.redefine(before, fresh);
        } else {
            catalog.replace(before, fresh);
        }
        if (fresh != null && !fresh.placement().wantsJvm() && catalog.has(fresh)) {
            attempt("service " + fresh.label(), failed, () -> environment.place(fresh));
        }
        if (before != null) {
            attempt("service " + before.label(), failed, () -> environment.drain(before));
        }
    }

    private static void deploy(Deployer deployer, NodeChange change, List<String> failed) {
        List<URI> repositories = change.repositories();
        if (repositories != null) {
            attempt("deploy.repositories", failed, () -> deployer.repositories(repositories));
        }
        TrustPolicy trust = change.trust();
        if (trust != null) {
            attempt("deploy.trust", failed, () -> deployer.trust(trust));
        }
    }

    private interface Step {
        void run() throws ManagerException;
    }

    /** Does what cannot be refused any more: if it fails all the same, the rest is done, and a line says so. */
    private static void attempt(String what, List<String> failed, Step step) {
        try {
            step.run();
        } catch (ManagerException | RuntimeException e) {
            LOG.error("{}: a change that was accepted failed", what, e);
            failed.add(what + ": failed, for a fault of the node: " + e);
        }
    }
}

package org.tamanoir.manager;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.manager.ManagerException.Kind;

/**
 * Has services handled at the levels where an operator wants them.
 *
 * <p>Thread contract: any thread.
 */
final class Placements {
    /** An instance may have to be made first. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final ExecutionEnvironment environment;
    private final ServiceCatalog catalog;
    private final EventLog events;

    Placements(ExecutionEnvironment environment, ServiceCatalog catalog, EventLog events) {
        this.environment = environment;
        this.catalog = catalog;
        this.events = events;
    }

    /** Places all that are wanted elsewhere than in the JVM, before there is traffic. */
    void all() {
        for (ServiceDefinition definition : catalog.all()) {
            if (!definition.placement().wantsJvm()) {
                definition.placement().calm();
                environment.place(definition);
            }
        }
    }

    /** Places a service, of a bare name all versions; waits, bounded, until that was tried. */
    void change(String service, Placement.Wanted wanted) throws ManagerException {
        List<ServiceDefinition> versions = catalog.all().stream()
                .filter(definition ->
                        definition.name().equals(service) || definition.label().equals(service))
                .toList();
        if (versions.isEmpty()) {
            throw new ManagerException(Kind.NOT_FOUND, service + " is not on this node; 'services' lists what is");
        }
        for (ServiceDefinition version : versions) {
            version.placement().want(wanted);
            environment.place(version);
        }
        try {
            for (ServiceDefinition version : versions) {
                version.placement().awaitTried(PATIENCE);
                tell(version);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ManagerException(Kind.UNAVAILABLE, "the node stops");
        }
    }

    private void tell(ServiceDefinition version) {
        Placement.Status status = version.placement().status();
        String level = status.actual().label();
        String why = status.reason() == null ? "" : ", since " + status.reason();
        events.add(
                "placed",
                "service " + version.label() + " is handled at level " + level + ", wanted at " + status.wanted() + why,
                Map.of("service", version.name(), "version", version.version(), "level", level));
    }
}

package org.tamanoir.manager;

import java.time.Duration;
import java.util.ArrayList;
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

    /**
     * Places a service, of a bare name all versions; waits, bounded, until that was tried.
     *
     * @return whether the node has it
     */
    boolean change(String service, Placement.Wanted wanted) throws ManagerException {
        List<ServiceDefinition> versions = place(service, wanted);
        awaitTried(versions);
        if (Thread.currentThread().isInterrupted()) {
            throw new ManagerException(Kind.UNAVAILABLE, "the node stops");
        }
        return !versions.isEmpty();
    }

    /**
     * Places services by their names, all at once; waits, bounded, until that was tried. One that the node does not have
     * is passed over: it is deployed later, and placed then.
     *
     * @return which are not where they are wanted, a line each
     */
    List<String> change(Map<String, Placement.Wanted> levels) {
        List<ServiceDefinition> all = new ArrayList<>();
        levels.forEach((service, wanted) -> all.addAll(place(service, wanted)));
        return awaitTried(all);
    }

    private List<ServiceDefinition> place(String service, Placement.Wanted wanted) {
        List<ServiceDefinition> versions = catalog.all().stream()
                .filter(definition ->
                        definition.name().equals(service) || definition.label().equals(service))
                .toList();
        for (ServiceDefinition version : versions) {
            version.placement().want(wanted);
            environment.place(version);
        }
        return versions;
    }

    /** Returns which are not where they are wanted, a line each; all share the time. */
    private List<String> awaitTried(List<ServiceDefinition> versions) {
        List<String> misplaced = new ArrayList<>();
        long endNs = System.nanoTime() + PATIENCE.toNanos();
        for (ServiceDefinition version : versions) {
            boolean isTried = false;
            try {
                isTried = version.placement().awaitTried(Duration.ofNanos(endNs - System.nanoTime()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            Placement.Status status = version.placement().status();
            String why = isTried ? status.reason() : "that is still being tried; 'services' shows what comes of it";
            String line = "service " + version.label() + " is handled at level "
                    + status.actual().label() + ", wanted at " + status.wanted();
            events.add(
                    "placed",
                    line + (why == null ? "" : ", since " + why),
                    Map.of(
                            "service",
                            version.name(),
                            "version",
                            version.version(),
                            "level",
                            status.actual().label()));
            if (why != null) {
                misplaced.add(line + ": " + why);
            }
        }
        return misplaced;
    }
}

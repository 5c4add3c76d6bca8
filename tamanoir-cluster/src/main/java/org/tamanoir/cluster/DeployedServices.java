package org.tamanoir.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.tamanoir.cluster.config.Bounds;
import org.tamanoir.cluster.lvs.ClusterException;

/**
 * What every node of the cluster deploys at once: what the configuration says, and what was told since.
 *
 * <p>Thread contract: none, its owner guards it.
 */
final class DeployedServices {
    private static final Pattern SERVICE = Pattern.compile("[A-Za-z0-9_.$-]{1,200}(:[A-Za-z0-9_.+-]{1,64})?");
    private static final int MOST = 1000;

    private final List<String> configured;
    private final List<String> told;

    DeployedServices(List<String> configured, List<String> told) {
        this.configured = List.copyOf(configured);
        this.told = new ArrayList<>(told);
    }

    /** Adds a service, in place of another version of it. */
    void add(String service) throws ClusterException {
        if (!SERVICE.matcher(service).matches()) {
            throw new ClusterException("'" + Bounds.line(service) + "' must be the name of a service, as in Monitor or "
                    + "org.example.Gzip:1.2");
        }
        if (told.size() >= MOST) {
            throw new ClusterException(MOST + " services are deployed, the most that may be: undeploy one");
        }
        told.removeIf(each -> name(each).equals(name(service)));
        if (!configured.contains(service)) {
            told.add(service);
        }
    }

    /** Takes it back, whatever its version if none is given. */
    void remove(String service) throws ClusterException {
        boolean removed =
                told.removeIf(each -> each.equals(service) || name(each).equals(service));
        if (removed) {
            return;
        }
        boolean kept = configured.stream()
                .anyMatch(each -> each.equals(service) || name(each).equals(service));
        throw new ClusterException(
                kept
                        ? "service " + service + " is deployed by the director's configuration: remove it from "
                                + "code.deploy there"
                        : "service '" + Bounds.line(service) + "' is not deployed in the cluster; these are: "
                                + (all().isEmpty() ? "none" : String.join(", ", all())));
    }

    /** Returns what was told. */
    List<String> told() {
        return List.copyOf(told);
    }

    /** Returns all; of two versions the one that was told counts. */
    List<String> all() {
        List<String> names = told.stream().map(DeployedServices::name).toList();
        return Stream.concat(configured.stream().filter(each -> !names.contains(name(each))), told.stream())
                .toList();
    }

    private static String name(String service) {
        int colon = service.indexOf(':');
        return colon < 0 ? service : service.substring(0, colon);
    }
}

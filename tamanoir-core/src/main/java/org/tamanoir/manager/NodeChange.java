package org.tamanoir.manager;

import java.net.URI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;

/**
 * A change of several things in a node that runs.
 *
 * @param put routes, each in place of one with the same prefix
 * @param removed prefixes that lose their routes; one that has none is passed over
 * @param qos how traffic is scheduled; null = as it is
 * @param services of the class path that come, go, or are defined anew
 * @param levels where services are to be handled, by their names; one that the node does not have is passed over
 * @param trust the operator's, of whose code runs; null = as it is
 * @param repositories that are asked for code; null = as they are
 */
public record NodeChange(
        List<Route> put,
        List<Prefix> removed,
        @Nullable QosConfig qos,
        List<Redefined> services,
        Map<String, Placement.Wanted> levels,
        @Nullable TrustPolicy trust,
        @Nullable List<URI> repositories) {
    /**
     * A service of the class path that comes, goes, or is defined anew.
     *
     * @param before null = it comes
     * @param fresh null = it goes
     */
    public record Redefined(
            @Nullable ServiceDefinition before, @Nullable ServiceDefinition fresh) {}

    public NodeChange {
        put = List.copyOf(put);
        removed = List.copyOf(removed);
        services = List.copyOf(services);
        levels = Map.copyOf(levels);
    }
}

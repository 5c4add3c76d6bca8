package org.tamanoir.node;

import java.time.Duration;
import java.util.List;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.ee.ServiceCatalog;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;

/**
 * All that a node is started with: the configuration file with the command line's options put over it.
 *
 * @param environment addresses, limits and time-outs
 * @param routes one per prefix
 * @param services those found on the class path and those of the configuration, by name
 * @param drainTimeout how long streams may take to finish once the node is told to stop
 */
record NodeConfig(EeConfig environment, List<Route> routes, List<ServiceDefinition> services, Duration drainTimeout) {
    NodeConfig {
        routes = List.copyOf(routes);
        services = List.copyOf(services);
    }

    /**
     * The node, not started.
     *
     * @throws RuntimeException in one line, if the host lacks what it needs
     */
    ExecutionEnvironment newEnvironment() {
        ServiceCatalog catalog = new ServiceCatalog();
        services.forEach(catalog::add);
        return new ExecutionEnvironment(environment, new RoutingTable(routes), catalog);
    }
}

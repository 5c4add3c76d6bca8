package org.tamanoir.node;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Route;

/**
 * All that a node is started with: the configuration file with the command line's options put over it.
 *
 * @param environment addresses, limits and time-outs
 * @param routes one per prefix
 * @param services those found on the class path and those of the configuration, by name
 * @param drainTimeout how long streams may take to finish once the node is told to stop
 * @param qos how traffic is scheduled
 * @param deploy where code comes from that is not on the class path
 * @param levels what is wanted of levels below the JVM
 * @param admin where the node can be looked at and steered
 * @param cluster that it is a back-end of; null = of none
 */
record NodeConfig(
        EeConfig environment,
        List<Route> routes,
        List<ServiceDefinition> services,
        Duration drainTimeout,
        QosConfig qos,
        DeploySettings deploy,
        KernelConfig levels,
        AdminConfig admin,
        @Nullable ClusterConfig cluster) {
    NodeConfig {
        routes = List.copyOf(routes);
        services = List.copyOf(services);
    }
}

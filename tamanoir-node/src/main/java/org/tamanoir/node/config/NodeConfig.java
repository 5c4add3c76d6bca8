package org.tamanoir.node.config;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.AuthRules;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.cluster.MembershipSettings;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Route;

/**
 * All that a node is started with: the configuration file with the command line's options put over it.
 *
 * @param values of the settings that the rest was made from
 * @param environment addresses, limits and time-outs
 * @param routes one per prefix
 * @param services those found on the class path and those of the configuration, by name
 * @param serviceSettings what was said of services, by their names; of those that will be deployed too
 * @param qos how traffic is scheduled
 * @param deploy where code comes from that is not on the class path
 * @param levels what is wanted of levels below the JVM
 * @param admin where the node can be looked at and steered
 * @param cluster that it is a back-end of; null = of none
 * @param element that it is a unit of; null = of none
 */
public record NodeConfig(
        Values values,
        EeConfig environment,
        List<Route> routes,
        List<ServiceDefinition> services,
        Map<String, Values> serviceSettings,
        QosConfig qos,
        DeploySettings deploy,
        KernelConfig levels,
        AdminConfig admin,
        @Nullable MembershipSettings cluster,
        @Nullable ElementConfig element) {
    public NodeConfig {
        routes = List.copyOf(routes);
        services = List.copyOf(services);
    }

    /** Returns whether a service stands in the configuration, and is not just on the class path. */
    public boolean names(ServiceDefinition service) {
        return service.version().isEmpty() && serviceSettings.containsKey(service.name());
    }

    /** Returns the services that gateways and levels name, with what names each. */
    public Map<String, String> wanted() {
        Map<String, String> wanted = new TreeMap<>();
        serviceSettings.forEach((name, settings) -> {
            if (settings.differs(ServiceTable.LEVEL)) {
                wanted.put(name, "level " + settings.get(ServiceTable.LEVEL).label());
            }
        });
        for (GatewayLine gateway : get(NodeSettings.GATEWAYS)) {
            if (gateway.service() != null) {
                wanted.put(gateway.service(), "gateway " + gateway.text());
            }
        }
        return wanted;
    }

    /** Returns which packets must be authenticated, and which are signed. */
    public AuthRules authentication() {
        return NodeSettings.AUTHENTICATION.rules(values);
    }

    /** Returns the keys of the file of keys. */
    public List<AuthKey> keys() {
        return NodeSettings.AUTHENTICATION.keys(values);
    }

    /** Returns in one line why packets cannot be authenticated by a node that has all this; empty when they can. */
    public String whyNoAuthentication() {
        return NodeSettings.AUTHENTICATION.misfit(values);
    }

    /** The value of a setting; null when nobody gave it and it has no default. */
    public <T> @Nullable T find(Setting<T> setting) {
        return values.find(setting);
    }

    /** The value of a setting that has a default. */
    public <T> T get(Setting<T> setting) {
        return values.get(setting);
    }
}

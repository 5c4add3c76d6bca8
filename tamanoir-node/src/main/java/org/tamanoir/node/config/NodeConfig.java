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
import org.tamanoir.plain.PlainRule;
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

    /** Returns the services that the configuration names, but for rules of quality of service, with what names each. */
    public Map<String, String> wanted() {
        Map<String, String> wanted = new TreeMap<>();
        serviceSettings.forEach((name, settings) -> {
            if (settings.differs(ServiceTable.LEVEL)) {
                wanted.put(name, "level " + settings.get(ServiceTable.LEVEL).label());
            }
        });
        naming(values).forEach((name, naming) -> wanted.put(name, naming.what() + " " + naming.text()));
        return wanted;
    }

    /** What names a service, and the setting that it stands in. */
    record Naming(Setting<?> setting, String what, String text) {}

    /** Returns the services that these settings name, with the first that names each. */
    static Map<String, Naming> naming(Values values) {
        Map<String, Naming> naming = new TreeMap<>();
        for (GatewayLine gateway : values.get(NodeSettings.GATEWAYS)) {
            if (gateway.service() != null) {
                naming.putIfAbsent(gateway.service(), new Naming(NodeSettings.GATEWAYS, "gateway", gateway.text()));
            }
        }
        List<PlainRule> rules = values.get(NodeSettings.PLAIN);
        for (int i = 0; i < rules.size(); i++) {
            naming.putIfAbsent(
                    rules.get(i).service(),
                    new Naming(NodeSettings.PLAIN, "rule", NodeSettings.PLAIN.path() + "[" + i + "]"));
        }
        for (AdminConfig.ControlRight right : values.get(NodeSettings.CONTROL)) {
            right.services()
                    .forEach(name -> naming.putIfAbsent(
                            name,
                            new Naming(
                                    NodeSettings.CONTROL,
                                    "token",
                                    right.tokenFile().toString())));
        }
        values.get(NodeSettings.UDP_AMPLIFIERS)
                .keySet()
                .forEach(name -> naming.putIfAbsent(
                        name, new Naming(NodeSettings.UDP_AMPLIFIERS, "setting", NodeSettings.UDP_AMPLIFIERS.path())));
        return naming;
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

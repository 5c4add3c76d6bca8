package org.tamanoir.node.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Route;

/** The configuration in force as a configuration file that says the same; of secrets the files alone are named. */
public final class ConfigText {
    private ConfigText() {}

    /**
     * Writes the text.
     *
     * @param routes in force now, that stand in the text
     * @param others what is said in a line of the other routes, which may be millions; empty = there are none
     * @param qos in force now
     */
    public static String of(NodeConfig config, List<Route> routes, String others, QosConfig qos) {
        Map<String, @Nullable Object> settings = new LinkedHashMap<>();
        config.deploy().inForce().write(NodeSettings.ALL, settings);
        return part("routes", routes.stream().map(RouteTable.ROUTES::data).toList(), "[]")
                + (others.isEmpty() ? "" : "# " + others + "\n")
                + part("services", services(config), "[]")
                + part("qos", QosTable.data(qos), "{}")
                + Yaml.of(settings);
    }

    /** Writes the services of the class path, each at the level where it is wanted now, and those to be deployed. */
    private static List<Map<String, @Nullable Object>> services(NodeConfig config) {
        Map<String, Values> all = new TreeMap<>(config.serviceSettings());
        for (ServiceDefinition service : config.services()) {
            Values now = ServiceTable.merged(all.get(service.name()), new Values());
            now.put(ServiceTable.NAME, service.name(), "");
            now.put(
                    ServiceTable.LEVEL,
                    Placement.Wanted.of(service.placement().status().wanted()),
                    "");
            all.put(service.name(), now);
        }
        return all.values().stream()
                .map(service -> service.write(ServiceTable.ALL, new LinkedHashMap<>()))
                .toList();
    }

    /** Says of what is empty that it is, which is easily missed else. */
    private static String part(String name, Object data, String empty) {
        String text = Yaml.of(Map.of(name, data));
        return text.isEmpty() ? name + ": " + empty + "\n" : text;
    }
}

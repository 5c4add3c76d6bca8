package org.tamanoir.cluster;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Adds the counters of all nodes up. A counter that begins at zero again, as its node or service started anew, or that is
 * heard no more, leaves what it had behind: sums never go back.
 *
 * <p>Thread contract: none, its owner guards it.
 */
final class ClusterTotals {
    /** The last that a node said. */
    private static final class Node {
        private final String instance;
        private Load.Traffic traffic = Load.Traffic.NONE;
        /** By name and version, then counter. */
        private Map<String, Map<String, Long>> services = Map.of();

        Node(String instance) {
            this.instance = instance;
        }
    }

    private final Map<String, Node> nodes = new HashMap<>();
    private Load.Traffic pastTraffic = Load.Traffic.NONE;
    /** By name, then counter. */
    private final Map<String, Map<String, Long>> pastServices = new TreeMap<>();

    void heard(String backEnd, Load load) {
        Node node = nodes.get(backEnd);
        if (node == null || !node.instance.equals(load.instance())) {
            forget(backEnd);
            node = new Node(load.instance());
            nodes.put(backEnd, node);
        }
        node.traffic = load.traffic();
    }

    /**
     * Counters of services, heard after the node's load.
     *
     * @param services by name and version with a space between, then counter
     */
    void heard(String backEnd, Map<String, Map<String, Long>> services) {
        Node node = nodes.get(backEnd);
        if (node == null) {
            return;
        }
        node.services.forEach((key, counters) -> counters.forEach((counter, before) -> {
            Map<String, Long> now = services.getOrDefault(key, Map.of());
            if (now.getOrDefault(counter, -1L) < before) {
                add(pastServices, key, counter, before);
            }
        }));
        node.services = services;
    }

    /** Forgets a node that leaves: what it counted stays in the sums. */
    void forget(String backEnd) {
        Node node = nodes.remove(backEnd);
        if (node != null) {
            pastTraffic = pastTraffic.plus(node.traffic);
            addAll(pastServices, node.services);
        }
    }

    /** Returns whether a back-end is in the sums. */
    boolean has(String backEnd) {
        return nodes.containsKey(backEnd);
    }

    Load.Traffic traffic() {
        return nodes.values().stream().map(node -> node.traffic).reduce(pastTraffic, Load.Traffic::plus);
    }

    Map<String, Map<String, Long>> services() {
        Map<String, Map<String, Long>> sums = new TreeMap<>();
        pastServices.forEach((name, counters) -> sums.put(name, new TreeMap<>(counters)));
        nodes.values().forEach(node -> addAll(sums, node.services));
        return sums;
    }

    private static void addAll(Map<String, Map<String, Long>> sums, Map<String, Map<String, Long>> services) {
        services.forEach((key, counters) -> counters.forEach((counter, value) -> add(sums, key, counter, value)));
    }

    private static void add(Map<String, Map<String, Long>> sums, String key, String counter, long value) {
        String name = key.substring(0, key.indexOf(' '));
        sums.computeIfAbsent(name, any -> new TreeMap<>()).merge(counter, value, Long::sum);
    }
}

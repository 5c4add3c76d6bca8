package org.tamanoir.node.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.deploy.OneLine;
import org.tamanoir.manager.NodeChange;
import org.tamanoir.manager.NodeChange.Redefined;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;

/**
 * Compares the configuration that a node has with one that is read later: what changed, a line each, and which of it
 * the running node can take. Values of a service's own settings are not shown, for they may be secrets; of other
 * secrets a configuration has the files' names alone. Immutable when it is made; any thread.
 */
public final class ConfigChanges {
    /** Characters of a value in a line. */
    private static final int MAX_SHOWN = 200;

    private final NodeConfig now;
    private final NodeConfig wanted;
    private final List<String> taken = new ArrayList<>();
    private final List<String> left = new ArrayList<>();
    private final List<Setting<?>> takenSettings = new ArrayList<>();
    private final List<Route> put = new ArrayList<>();
    private final List<Prefix> removed = new ArrayList<>();
    private final List<Redefined> services = new ArrayList<>();
    private final Map<String, Placement.Wanted> levels = new TreeMap<>();

    /**
     * Compares.
     *
     * @param now what the node was started with and has taken since
     * @param wanted what is read now, by the same class path and command line
     */
    public ConfigChanges(NodeConfig now, NodeConfig wanted) {
        this.now = now;
        this.wanted = wanted;
        compareRoutes();
        compareServices();
        if (!now.qos().equals(wanted.qos())) {
            taken.add("qos: " + change(flow(QosTable.data(now.qos())), flow(QosTable.data(wanted.qos()))));
        }
        NodeSettings.ALL.forEach(this::compare);
    }

    /** Returns what changed and the running node takes, a line each. */
    public List<String> taken() {
        return List.copyOf(taken);
    }

    /** Returns what changed and counts from the next start on, a line each. */
    public List<String> left() {
        return List.copyOf(left);
    }

    /** Returns what the node has to do for {@link #taken}. */
    public NodeChange toChange() {
        DeploySettings deploy = inForce().deploy(); // What is wanted has settings too that need a restart.
        return new NodeChange(
                put,
                removed,
                now.qos().equals(wanted.qos()) ? null : wanted.qos(),
                services,
                levels,
                isTaken(NodeSettings.TRUST) || isTaken(NodeSettings.REVOKED) ? deploy.policy() : null,
                isTaken(NodeSettings.REPOSITORIES) ? deploy.repositories() : null);
    }

    /** Returns the configuration that the node has when it has taken what it can. */
    public NodeConfig inForce() {
        Values values = now.values().copy();
        takenSettings.forEach(setting -> values.take(setting, wanted.values()));
        Map<String, ServiceDefinition> definitions = byName(now.services());
        for (Redefined service : services) {
            if (service.before() != null) {
                definitions.remove(service.before().name());
            }
            if (service.fresh() != null) {
                definitions.put(service.fresh().name(), service.fresh());
            }
        }
        return new NodeConfig(
                values,
                now.environment(),
                wanted.routes(),
                List.copyOf(definitions.values()),
                wanted.serviceSettings(),
                wanted.qos(),
                wanted.deploy().having(values, now.deploy()),
                now.levels(),
                now.admin(),
                now.cluster(),
                now.element());
    }

    // ---- routes ----------------------------------------------------------------------------------------------------

    private void compareRoutes() {
        Map<Prefix, Route> before = byPrefix(now.routes());
        Map<Prefix, Route> after = byPrefix(wanted.routes());
        after.forEach((prefix, route) -> {
            Route old = before.get(prefix);
            if (!route.equals(old)) {
                put.add(route);
                taken.add("routes " + prefix + ": " + change(text(old), text(route)));
            }
        });
        before.forEach((prefix, route) -> {
            if (!after.containsKey(prefix)) {
                removed.add(prefix);
                taken.add("routes " + prefix + ": " + change(text(route), null));
            }
        });
    }

    private static Map<Prefix, Route> byPrefix(List<Route> routes) {
        Map<Prefix, Route> byPrefix = new LinkedHashMap<>();
        routes.forEach(route -> byPrefix.put(route.prefix(), route));
        return byPrefix;
    }

    private static @Nullable String text(@Nullable Route route) {
        if (route == null) {
            return null;
        }
        Map<String, @Nullable Object> data = new LinkedHashMap<>(RouteTable.ROUTES.data(route));
        data.remove(RouteTable.TO.key());
        data.values().removeIf(Objects::isNull);
        return flow(data);
    }

    // ---- services --------------------------------------------------------------------------------------------------

    private void compareServices() {
        Map<String, ServiceDefinition> before = byName(now.services());
        Map<String, ServiceDefinition> after = byName(wanted.services());
        Set<String> names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        names.addAll(now.serviceSettings().keySet());
        names.addAll(wanted.serviceSettings().keySet());
        for (String name : names) {
            compareService(name, before.get(name), after.get(name));
        }
    }

    private void compareService(String name, @Nullable ServiceDefinition before, @Nullable ServiceDefinition after) {
        Values old = now.serviceSettings().getOrDefault(name, new Values());
        Values fresh = wanted.serviceSettings().getOrDefault(name, new Values());
        String deployed = before == null && after == null ? "; from its next deployment on" : "";
        boolean isAnother = (before == null) != (after == null);
        if (isAnother) {
            taken.add("services " + name + ": " + change(present(before), present(after)));
        }
        for (Setting<?> setting : ServiceTable.ALL) {
            String line = setting.equals(ServiceTable.CONFIG) ? configChange(old, fresh) : change(setting, old, fresh);
            if (setting.equals(ServiceTable.NAME) || line.isEmpty()) {
                continue;
            }
            if (setting.equals(ServiceTable.LEVEL)) {
                levels.put(name, fresh.get(ServiceTable.LEVEL));
                taken.add("services " + name + " level: " + line);
            } else {
                isAnother = true;
                taken.add("services " + name + " " + setting.path() + ": " + line + deployed);
            }
        }
        if (isAnother && deployed.isEmpty()) {
            services.add(new Redefined(before, after));
            levels.remove(name); // It begins there.
        }
    }

    private static @Nullable String present(@Nullable ServiceDefinition service) {
        return service == null ? null : "there";
    }

    /** Returns the keys of a service's own settings that changed; empty = none. */
    private static String configChange(Values old, Values fresh) {
        Map<String, String> before = old.get(ServiceTable.CONFIG);
        Map<String, String> after = fresh.get(ServiceTable.CONFIG);
        Set<String> keys = new TreeSet<>(before.keySet());
        keys.addAll(after.keySet());
        keys.removeIf(key -> Objects.equals(before.get(key), after.get(key)));
        return keys.isEmpty() ? "" : OneLine.of(String.join(", ", keys)) + " changed; values are not shown";
    }

    private static Map<String, ServiceDefinition> byName(List<ServiceDefinition> services) {
        Map<String, ServiceDefinition> byName = new TreeMap<>();
        services.forEach(service -> byName.put(service.name(), service));
        return byName;
    }

    // ---- settings --------------------------------------------------------------------------------------------------

    private void compare(Setting<?> setting) {
        String line = change(setting, now.values(), wanted.values());
        if (line.isEmpty()
                && (setting.equals(NodeSettings.TRUST) || setting.equals(NodeSettings.AUTHENTICATION.keys))
                && !Objects.equals(now.values().find(setting), wanted.values().find(setting))) {
            line = "a key in one of its files is another";
        }
        if (line.isEmpty()) {
            return;
        }
        boolean isTaken = setting.isLive() && hasRoomFor(setting);
        if (isTaken) {
            takenSettings.add(setting);
        }
        (isTaken ? taken : left).add(setting.path() + ": " + line);
    }

    /** Returns whether the running node has what the setting is for. */
    private boolean hasRoomFor(Setting<?> setting) {
        if (setting.section().equals("deploy")) {
            return now.deploy().isConfigured() && wanted.deploy().isConfigured();
        }
        return !(setting.equals(NodeSettings.PLAIN) || setting.equals(NodeSettings.PLAIN_ALERTS))
                || !now.get(NodeSettings.PLAIN_INTERFACES).isEmpty();
    }

    private boolean isTaken(Setting<?> setting) {
        return takenSettings.contains(setting);
    }

    /** Returns both values of a setting; empty when they are the same. */
    private static <T> String change(Setting<T> setting, Values old, Values fresh) {
        Object before = setting.data(old.find(setting));
        Object after = setting.data(fresh.find(setting));
        return Objects.equals(before, after) ? "" : change(flow(before), flow(after));
    }

    private static String change(@Nullable String before, @Nullable String after) {
        return shown(before) + " -> " + shown(after);
    }

    private static String shown(@Nullable String text) {
        String whole = text == null || text.isEmpty() ? "nothing" : OneLine.of(text);
        return whole.length() <= MAX_SHOWN ? whole : whole.substring(0, MAX_SHOWN) + "...";
    }

    private static @Nullable String flow(@Nullable Object data) {
        return data == null ? null : Yaml.flow(data);
    }
}

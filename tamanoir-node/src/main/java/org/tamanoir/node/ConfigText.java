package org.tamanoir.node;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.tamanoir.cluster.MembershipSettings;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.nodeos.Level;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Route;

/** The configuration in force as a configuration file that says the same; of secrets the files alone are named. */
final class ConfigText {
    private final StringBuilder text = new StringBuilder();

    private ConfigText() {}

    /**
     * The text.
     *
     * @param routes in force now
     * @param qos in force now
     */
    static String of(NodeConfig config, List<Route> routes, QosConfig qos) {
        ConfigText out = new ConfigText();
        EeConfig environment = config.environment();
        out.line(0, "listen:");
        out.addresses("tcp", environment.tcp());
        out.addresses("udp", environment.udp());
        out.addresses("tls", environment.tls());
        out.line(0, routes.isEmpty() ? "routes: []" : "routes:");
        routes.forEach(out::route);
        out.line(0, config.services().isEmpty() ? "services: []" : "services:");
        config.services().forEach(out::service);
        List<String> scheduling = QosText.yaml(QosText.fields(qos)).lines().toList();
        out.line(0, scheduling.isEmpty() ? "qos: {}" : "qos:");
        scheduling.forEach(line -> out.line(1, line));
        out.deploy(config.deploy());
        out.levels(config.levels());
        out.admin(config.admin());
        if (config.cluster() != null) {
            out.cluster(config.cluster());
        }
        out.line(
                0,
                "limits: {max-streams: " + environment.maxStreams() + ", inbox: "
                        + Quantity.toString(environment.inboxOctets()) + "}");
        out.line(0, "timeouts:");
        out.line(1, "first-packet: " + Quantity.toString(environment.firstPacketTimeout()));
        out.line(1, "connect: " + Quantity.toString(environment.connectTimeout()));
        out.line(1, "stall: " + Quantity.toString(environment.stallTimeout()));
        out.line(1, "linger: " + Quantity.toString(environment.lingerTimeout()));
        out.line(1, "drain: " + Quantity.toString(config.drainTimeout()));
        out.line(0, "unknown-service: " + word(environment.unknownService()));
        out.line(0, "type-id: " + environment.typeId());
        out.line(0, "hop-budget: " + environment.hopBudget());
        out.line(0, "transport: " + word(environment.transport()));
        return out.text.toString();
    }

    private void route(Route route) {
        NextHop next = route.nextHop();
        String host = next.address() == null
                ? Settings.DIRECT
                : Endpoint.toString(new InetSocketAddress(next.address(), next.port()));
        String via = next.address() != null && next.port() != 0
                ? host
                : next.address() == null
                        ? host + (next.port() == 0 ? "" : ":" + next.port())
                        : host.substring(0, host.lastIndexOf(':'));
        boolean tls = next.transport() == NextHop.Transport.TLS;
        line(
                1,
                "- {to: " + quoted(route.prefix()) + ", via: " + quoted(via)
                        + (tls ? ", tls: true" : ", transport: " + word(next.transport()))
                        + ", kind: " + (next.kind() == NextHop.Kind.HOST ? "host" : "active") + "}");
    }

    private void service(ServiceDefinition service) {
        line(1, "- name: " + service.name());
        line(2, "failure-policy: " + word(service.failurePolicy()));
        line(2, "level: " + service.placement().status().wanted());
        Map<String, String> settings = new TreeMap<>(service.config().asMap());
        if (!settings.isEmpty()) {
            line(2, "config:");
            settings.forEach((key, value) -> line(3, key + ": " + quoted(value)));
        }
    }

    private void deploy(DeploySettings deploy) {
        line(0, "deploy:");
        line(1, "on-demand: " + deploy.onDemand);
        line(1, "repositories: " + list(deploy.repositories));
        line(
                1,
                "neighbours: "
                        + list(deploy.neighbours.stream()
                                .map(Endpoint::toString)
                                .toList()));
        line(1, deploy.publishers.isEmpty() ? "trust: []" : "trust: # by key id; the files are not read again");
        deploy.publishers.forEach(
                publisher -> line(2, "- {key: " + publisher.key().id() + ", names: " + list(publisher.names()) + "}"));
        line(1, "revoked: " + list(deploy.revoked));
        line(1, "allow-unsigned: " + deploy.allowUnsigned);
        line(1, "cache-size: " + Quantity.toString(deploy.cacheOctets));
        line(1, "max-jar: " + Quantity.toString(deploy.maxJarOctets));
        line(1, "max-unpacked: " + Quantity.toString(deploy.maxUnpackedOctets));
        line(1, "connect-timeout: " + Quantity.toString(deploy.connectTimeout));
        line(1, "idle-timeout: " + Quantity.toString(deploy.idleTimeout));
        line(1, "total-timeout: " + Quantity.toString(deploy.totalTimeout));
        line(1, "back-off: " + Quantity.toString(deploy.backOffMin));
        line(1, "max-back-off: " + Quantity.toString(deploy.backOffMax));
        line(1, "tls: " + deploy.tls);
    }

    private void levels(KernelConfig levels) {
        line(0, "levels:");
        line(
                1,
                "allowed: "
                        + list(levels.levels().stream()
                                .sorted()
                                .map(Level::label)
                                .toList()));
        line(1, "interfaces: " + list(levels.interfaces()));
        line(1, "unknown: " + LevelSettings.unknown(levels.unknownUp()));
    }

    private void admin(AdminConfig admin) {
        line(0, "admin:");
        line(1, "listen: " + (admin.listen() == null ? "off" : quoted(Endpoint.toString(admin.listen()))));
        if (admin.tokenFile() != null) {
            line(1, "token-file: " + quoted(admin.tokenFile()));
        }
        line(1, "read-only: " + admin.readOnly());
        line(1, "hosts: " + list(admin.hosts()));
        if (admin.accessLog() != null) {
            line(1, "access-log: " + quoted(admin.accessLog()));
        }
        line(1, "tls: " + admin.tls());
    }

    private void cluster(ClusterConfig cluster) {
        MembershipSettings membership = cluster.membership();
        line(0, "cluster:");
        line(1, "directors: " + list(membership.directors()));
        line(1, "token-file: " + quoted(cluster.tokenFile()));
        line(1, "name: " + quoted(membership.name()));
        if (membership.address() != null) {
            line(1, "address: " + quoted(membership.address()));
        }
        if (membership.networkInterface() != null) {
            line(1, "interface: " + quoted(membership.networkInterface()));
        }
        if (membership.weight() != null) {
            line(1, "weight: " + membership.weight());
        }
        line(1, "set-up: \"" + membership.setUp().label() + '"');
        line(1, "plain: " + cluster.plain());
    }

    private void addresses(String key, List<InetSocketAddress> addresses) {
        line(1, key + ": " + list(addresses.stream().map(Endpoint::toString).toList()));
    }

    private static String list(Collection<?> values) {
        List<String> each = new ArrayList<>();
        values.forEach(value -> each.add(quoted(value)));
        return "[" + String.join(", ", each) + "]";
    }

    private static String quoted(Object value) {
        return '"' + value.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private void line(int depth, String line) {
        text.append("  ".repeat(depth)).append(line).append('\n');
    }
}

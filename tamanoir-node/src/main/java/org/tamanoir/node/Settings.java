package org.tamanoir.node;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tamanoir.anep.Anep;
import org.tamanoir.deploy.ServiceLimits;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.Placement;
import org.tamanoir.ee.ServiceDefinition;
import org.tamanoir.ee.ServiceLife;
import org.tamanoir.manager.Deployment.ServiceSettings;
import org.tamanoir.nodeos.Level;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.transport.TransportKind;

/**
 * A node's settings while they are put together: defaults, then the file, then the command line. One thread.
 */
final class Settings {
    static final int MAX_STREAMS = 1_000_000;
    static final int MAX_HOPS = 65_535;
    static final int MAX_TYPE_ID = 65_535;
    static final Duration DEFAULT_DRAIN = Duration.ofSeconds(10);
    static final Duration MAX_DRAIN = Duration.ofHours(24);
    static final String DIRECT = "destination";
    private static final EeConfig DEFAULTS = EeConfig.defaults();
    private static final List<InetSocketAddress> LOOPBACK =
            List.of(new InetSocketAddress("127.0.0.1", Anep.DEFAULT_PORT));

    final Problems problems;
    List<InetSocketAddress> tcp = LOOPBACK;
    List<InetSocketAddress> udp = LOOPBACK;
    List<InetSocketAddress> tlsAddresses = List.of();
    final TlsSettings tls = new TlsSettings();
    int typeId = DEFAULTS.typeId();
    TransportKind transport = DEFAULTS.transport();
    FailurePolicy unknownService = DEFAULTS.unknownService();
    int maxStreams = DEFAULTS.maxStreams();
    int hopBudget = DEFAULTS.hopBudget();
    int inboxOctets = DEFAULTS.inboxOctets();
    Duration firstPacketTimeout = DEFAULTS.firstPacketTimeout();
    Duration connectTimeout = DEFAULTS.connectTimeout();
    Duration stallTimeout = DEFAULTS.stallTimeout();
    Duration lingerTimeout = DEFAULTS.lingerTimeout();
    Duration drainTimeout = DEFAULT_DRAIN;
    QosConfig qos = QosConfig.OFF;
    AdminConfig admin = AdminConfig.defaults();
    final DeploySettings deploy = new DeploySettings();
    final LevelSettings levels = new LevelSettings();
    final ClusterSettings cluster = new ClusterSettings();
    private final Map<Prefix, Route> routes = new LinkedHashMap<>();
    private final Map<String, ServiceDefinition> services;
    private final Map<String, ServiceSettings> classPathSettings = new HashMap<>();
    private final Map<Object, String> givenBySource = new HashMap<>();

    Settings(Problems problems) {
        this.problems = problems;
        services = new TreeMap<>(ServiceClasses.discover(problems));
    }

    /** From here on prefixes and services may be given again: the command line overrides the file. */
    void beginOverrides() {
        givenBySource.clear();
    }

    /**
     * Adds a route, in place of one from an earlier source; a second one from the same source is an error.
     *
     * @param via {@code host:port}, a host alone, {@value #DIRECT} or {@code destination:port}
     * @param kind null = an active node, for direct delivery a host
     */
    void route(String where, Prefix prefix, String via, NextHop.Transport transport, NextHop.@Nullable Kind kind) {
        if (isSecond(where, prefix, "this prefix has a route already")) {
            return;
        }
        Endpoint endpoint = Endpoint.parse(via, 1);
        if (endpoint.host().isEmpty()) {
            throw new IllegalArgumentException(
                    "'" + via + "' is a port alone: host:port is wanted, or '" + DIRECT + "' for direct delivery");
        }
        boolean direct = endpoint.host().equals(DIRECT);
        if (direct && kind == NextHop.Kind.ACTIVE_NODE) {
            throw new IllegalArgumentException(
                    "direct delivery ends at a host, not at an active node: leave the kind out, or give the node's address");
        }
        NextHop.Kind whom = kind != null ? kind : direct ? NextHop.Kind.HOST : NextHop.Kind.ACTIVE_NODE;
        int port = endpoint.port() == Endpoint.NO_PORT ? 0 : endpoint.port();
        routes.put(prefix, new Route(prefix, new NextHop(direct ? null : endpoint.address(), port, transport, whom)));
    }

    /**
     * Adds a service, or gives one that is known already further settings; a second time from the same source is
     * an error. One that is not on the class path is taken for one that will be deployed.
     *
     * @param className null = what it was, else the name without its version
     * @param policy null = what it was, else drop
     * @param config put over what there was
     * @param limits null = what they were, else none
     * @param level null = what it was, else the JVM
     */
    void service(
            String where,
            String name,
            @Nullable String className,
            @Nullable FailurePolicy policy,
            Map<String, String> config,
            @Nullable ServiceLimits limits,
            Placement.@Nullable Wanted level) {
        if (!isSecond(where, name, "service " + name + " has settings already")) {
            put(where, name, className, policy, config, limits, level);
        }
    }

    private void put(
            String where,
            String name,
            @Nullable String className,
            @Nullable FailurePolicy policy,
            Map<String, String> config,
            @Nullable ServiceLimits limits,
            Placement.@Nullable Wanted level) {
        ServiceDefinition known = services.get(name);
        String wanted = className == null ? withoutVersion(name) : className;
        if (known == null && className == null && !ServiceClasses.exists(wanted)) {
            ServiceSettings merged = merged(deploy.service(name), policy, config, limits, level);
            deploy.service(where, name, merged);
            return;
        }
        Supplier<? extends Service> factory =
                known != null && className == null ? known.factory() : ServiceClasses.factory(wanted);
        ServiceSettings before = known == null ? null : classPathSettings.get(name);
        ServiceSettings merged = merged(before, policy, config, limits, level);
        classPathSettings.put(name, merged);
        ServiceLife life =
                new ServiceLife(merged.limits().processors(), merged.limits().allocationOctetsPerSecond());
        Placement placement = new Placement(EnumSet.allOf(Level.class), merged.level());
        services.put(
                name,
                new ServiceDefinition(name, "", factory, merged.config(), merged.failurePolicy(), life, placement));
    }

    private static ServiceSettings merged(
            @Nullable ServiceSettings before,
            @Nullable FailurePolicy policy,
            Map<String, String> config,
            @Nullable ServiceLimits limits,
            Placement.@Nullable Wanted level) {
        ServiceSettings base = before == null ? ServiceSettings.DEFAULT : before;
        Map<String, String> all = new HashMap<>(base.config().asMap());
        all.putAll(config);
        return new ServiceSettings(
                new ServiceConfig(all),
                policy == null ? base.failurePolicy() : policy,
                limits == null ? base.limits() : limits,
                level == null ? base.level() : level);
    }

    /** Places a service that is there, or will be deployed; its other settings stay. */
    void place(String where, String name, Placement.Wanted level) {
        if (!isSecond(where, "level of " + name, "service " + name + " has a level already")) {
            put(where, name, null, null, Map.of(), null, level);
        }
    }

    /** The full name of a service: one without a dot is among those that ship with the node. */
    static String serviceName(String text) {
        if (!text.matches("[\\p{L}_$][\\p{L}\\p{N}_$.]*(:[\\w.+-]+)?")) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no service name: NAME, package.NAME or package.NAME:VERSION is wanted");
        }
        return withoutVersion(text).indexOf('.') < 0 ? ServiceClasses.SHORT_NAME_PACKAGE + text : text;
    }

    /** Looks at what only shows when file and command line have been read. */
    void check() {
        tls.check(tcp, tlsAddresses, problems);
        if (!cluster.isConfigured()) {
            deploy.check(problems); // Else directors may say whose code runs.
        }
        levels.check(problems);
        cluster.check(admin, problems);
        if (tls.certificate == null && (deploy.tls || admin.tls())) {
            problems.add(
                    deploy.tls ? "deploy.tls" : "admin.tls",
                    "a server must show a certificate; name files of a certificate and its key under tls");
        }
    }

    /** All settings; to be used only when no problem was found. */
    NodeConfig build() {
        EeConfig environment = new EeConfig(
                        tcp,
                        udp,
                        typeId,
                        transport,
                        unknownService,
                        maxStreams,
                        hopBudget,
                        inboxOctets,
                        firstPacketTimeout,
                        connectTimeout,
                        stallTimeout,
                        lingerTimeout)
                .withTls(tlsAddresses, tls.files())
                .waitingForCode(deploy.totalTimeout.multipliedBy(2));
        return new NodeConfig(
                environment,
                List.copyOf(routes.values()),
                List.copyOf(services.values()),
                drainTimeout,
                qos,
                deploy,
                levels.build(),
                cluster.isConfigured() ? admin.fixed() : admin,
                cluster.build(
                        admin,
                        CodeStore.folder(deploy, tcp.isEmpty() ? 0 : tcp.get(0).getPort()),
                        tls.files()));
    }

    private boolean isSecond(String where, Object what, String problem) {
        String first = givenBySource.putIfAbsent(what, where);
        if (first != null) {
            problems.add(where, problem + ", given by " + first + "; remove one");
        }
        return first != null;
    }

    private static String withoutVersion(String name) {
        int colon = name.indexOf(':');
        return colon < 0 ? name : name.substring(0, colon);
    }
}

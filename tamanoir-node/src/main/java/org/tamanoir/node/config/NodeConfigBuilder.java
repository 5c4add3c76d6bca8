package org.tamanoir.node.config;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tamanoir.admission.StreamLimits;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.cluster.MembershipSettings;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.kernel.KernelConfig;
import org.tamanoir.manager.DeploymentConfig.ServiceSettings;
import org.tamanoir.nodeos.Level;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.QuicPort;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

/**
 * Puts a node's configuration together: defaults, then the file, then the command line. One thread.
 */
public final class NodeConfigBuilder {
    final Problems problems;
    final Values values = new Values();
    public QosConfig qos = QosConfig.OFF;
    /** Where its links stand, as {@code FILE:LINE: path}. */
    String links = "qos.links";
    /** Where its rules stand. */
    String rules = "qos.rules";

    private final Map<Prefix, Route> routes = new LinkedHashMap<>();
    private final Map<String, ServiceDefinition> services;
    /** What was said of services, by their names. */
    private final Map<String, Values> given = new TreeMap<>();
    /** Where services stand that are not on the class path: those that will be deployed. */
    private final Map<String, String> deployedWhere = new LinkedHashMap<>();

    private final Map<Object, String> givenBySource = new HashMap<>();
    private final List<String> warnings = new ArrayList<>();

    public NodeConfigBuilder(Problems problems) {
        this.problems = problems;
        services = new TreeMap<>(ServiceClasses.discover(problems));
    }

    /** From here on prefixes and services may be given again: the command line overrides the file. */
    void beginOverrides() {
        givenBySource.clear();
    }

    /** Adds a route, in place of one from an earlier source; a second one from the same source is an error. */
    void route(String where, Route route) {
        if (!isSecond(where, route.prefix(), "this prefix has a route already")) {
            routes.put(route.prefix(), route);
        }
    }

    /**
     * Adds a service, or gives one that is known already further settings; a second time from the same source is
     * an error. One that is not on the class path is taken for one that will be deployed.
     *
     * @param added its name and what is new: a class, else it is what it was, or the name without its version;
     *     settings put over those that there are; the others stay, or are the defaults
     */
    void service(String where, Values added) {
        String name = added.get(ServiceTable.NAME);
        if (!isSecond(where, name, "service " + name + " has settings already")) {
            put(where, name, added);
        }
    }

    /** Adds services of the class path that only a gateway or a rule for plain IP names. */
    private void addNamed() {
        values.get(NodeSettings.GATEWAYS).forEach(line -> addNamed(NodeSettings.GATEWAYS, line.service()));
        values.get(NodeSettings.PLAIN).forEach(rule -> addNamed(NodeSettings.PLAIN, rule.service()));
    }

    private void addNamed(Setting<?> by, @Nullable String name) {
        if (name == null || services.containsKey(name) || given.containsKey(name) || !ServiceClasses.exists(name)) {
            return;
        }
        Values added = new Values();
        added.put(ServiceTable.NAME, name, values.where(by));
        try {
            put(values.where(by), name, added);
        } catch (IllegalArgumentException e) {
            problems.add(values.where(by), String.valueOf(e.getMessage()));
        }
    }

    private void put(String where, String name, Values added) {
        ServiceDefinition known = services.get(name);
        String className = added.find(ServiceTable.CLASS);
        String wanted = className == null ? withoutVersion(name) : className;
        Values merged = ServiceTable.merged(given.get(name), added);
        ServiceTable.misfit(merged).ifPresent(line -> problems.add(where, line));
        if (known == null && className == null && !ServiceClasses.exists(wanted)) {
            given.put(name, merged);
            deployedWhere.put(name, where);
            return;
        }
        ServiceClasses.Makers makers =
                known != null && className == null ? ServiceClasses.Makers.like(known) : ServiceClasses.makers(wanted);
        given.put(name, merged);
        ServiceSettings settings = ServiceTable.settings(merged);
        String whereConfig = merged.where(ServiceTable.CONFIG);
        makers.traits().settings().problems(settings.config()).forEach(problem -> problems.add(whereConfig, problem));
        String misfit = settings.dispatch().whyNot(merged.find(ServiceTable.CLASS, wanted), makers.traits());
        if (!misfit.isEmpty()) {
            problems.add(where, misfit);
        }
        ServiceHealth life = new ServiceHealth(
                settings.limits().processors(),
                settings.limits().allocationBytesPerSecond(),
                settings.limits().packetBudgetNs());
        Placement placement = new Placement(EnumSet.allOf(Level.class), settings.level());
        services.put(
                name,
                new ServiceDefinition(
                        name,
                        "",
                        makers.instances(),
                        settings.config(),
                        settings.failurePolicy(),
                        life,
                        placement,
                        makers.control(),
                        settings.dispatch(),
                        makers.traits()));
    }

    /** Places a service that is there, or will be deployed; its other settings stay. */
    void place(String where, String name, Placement.Wanted level) {
        if (!isSecond(where, "level of " + name, "service " + name + " has a level already")) {
            Values added = new Values();
            added.put(ServiceTable.NAME, name, where);
            added.put(ServiceTable.LEVEL, level, where);
            put(where, name, added);
        }
    }

    /** The full name of a service: one without a dot is among those that ship with the node. */
    public static String serviceName(String text) {
        if (!text.matches("[\\p{L}_$][\\p{L}\\p{N}_$.]*(:[\\w.+-]+)?")) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no service name: NAME, package.NAME or package.NAME:VERSION is wanted");
        }
        return withoutVersion(text).indexOf('.') < 0 ? ServiceClasses.SHORT_NAME_PACKAGE + text : text;
    }

    /** Looks at what only shows when file and command line have been read. */
    public void check() {
        addNamed();
        NodeSettings.TLS.check(values, problems);
        NodeSettings.AUTHENTICATION.check(values, problems);
        checkTlsAddresses();
        checkQuic();
        new ListenAddresses(values, problems).check();
        checkHandOver();
        String noThreads = ExecutionEnvironment.whyNot(
                values.get(NodeSettings.THREADS), Transport.of(values.get(NodeSettings.TRANSPORT)));
        if (!noThreads.isEmpty()) {
            problems.add(values.where(NodeSettings.THREADS), noThreads);
        }
        AdminConfig admin = AdminConfig.of(values);
        ClusterSettings cluster = new ClusterSettings(values, admin);
        boolean mayFetch = cluster.isConfigured() || deploy().isConfigured();
        if (!cluster.isConfigured()) {
            checkTrust(); // Else directors may say whose code runs.
        }
        missing().forEach((name, who) -> checkMissing(name, who, mayFetch));
        whyNoFolder(NodeSettings.ACCESS_LOG).ifPresent(why -> problems.add(values.where(NodeSettings.ACCESS_LOG), why));
        // Folders that a service manager makes for the node when it starts it.
        for (Setting<Path> setting : List.of(NodeSettings.ARENA, NodeSettings.HAND_OVER)) {
            whyNoFolder(setting).ifPresent(why -> warnings.add(values.where(setting) + ": " + why));
        }
        checkInterfaces(NodeSettings.INTERFACES);
        checkInterfaces(NodeSettings.PLAIN_INTERFACES);
        if (!values.get(NodeSettings.PLAIN).isEmpty()
                && values.get(NodeSettings.PLAIN_INTERFACES).isEmpty()) {
            problems.add(
                    values.where(NodeSettings.PLAIN),
                    "rules for plain IP and no interface: name those that its packets come in through, in plain-interfaces");
        }
        AdminConfig.whyNotPlain(
                        admin.listen(), admin.tls() || values.get(NodeSettings.ADMIN_PLAIN), AdminConfig.PLAIN_REMEDY)
                .ifPresent(why -> problems.add(values.where(NodeSettings.ADMIN), why));
        admin.tokens().check(values, problems);
        cluster.check(problems);
        new ElementSettings(values).check(problems, qos, links);
        boolean isServedByTls = values.get(NodeSettings.DEPLOY_TLS);
        if (!NodeSettings.TLS.hasCertificate(values) && (isServedByTls || admin.tls())) {
            problems.add(
                    values.where(isServedByTls ? NodeSettings.DEPLOY_TLS : NodeSettings.ADMIN_TLS),
                    "a server must show a certificate; name files of a certificate and its key under tls");
        }
    }

    /** Returns which services are named and not on the class path, with what names each and where that stands. */
    private Map<String, Wanting> missing() {
        Map<String, Wanting> missing = new TreeMap<>();
        deployedWhere.forEach((name, where) -> missing.put(name, new Wanting(where, "services")));
        NodeConfig.naming(values).forEach((name, naming) -> {
            if (isMissing(name)) {
                missing.putIfAbsent(name, new Wanting(values.where(naming.setting()), naming.text()));
            }
        });
        if (values.get(NodeSettings.UNKNOWN_SERVICE) != FailurePolicy.PASS) { // Else they may be other nodes'.
            QosSection.missing(qos, services.keySet())
                    .forEach(name -> missing.putIfAbsent(name, new Wanting(rules, "a rule")));
        }
        return missing;
    }

    private boolean isMissing(String name) {
        return !services.containsKey(name) && !ServiceClasses.exists(name);
    }

    /** What names a service, and where that stands. */
    private record Wanting(String where, String what) {}

    private void checkMissing(String name, Wanting wanting, boolean mayFetch) {
        if (mayFetch) {
            warnings.add(wanting.where() + ": service " + name + " is not on the class path, so neither its name nor "
                    + "its settings are checked until it is fetched");
        } else if (!deployedWhere.containsKey(name)) { // Those are told of already.
            problems.add(wanting.where(), ServiceClasses.nobodyHas(wanting.what(), name, services.keySet()));
        }
    }

    /** Returns in one line why a file that the node makes cannot be made yet: it has no folder. */
    private Optional<String> whyNoFolder(Setting<Path> setting) {
        Path file = values.find(setting);
        Path folder = file == null ? null : file.toAbsolutePath().getParent();
        return folder == null || Files.isDirectory(folder)
                ? Optional.empty()
                : Optional.of(file + ": there is no folder " + folder + "; make it, or name a file in another one");
    }

    /** Returns what may be meant otherwise, a line each, though it is no error. */
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    private void checkInterfaces(Setting<List<String>> setting) {
        int interfaces = values.get(setting).size();
        if (interfaces > KernelConfig.MAX_INTERFACES) {
            problems.add(
                    values.where(setting), interfaces + " interfaces: must be at most " + KernelConfig.MAX_INTERFACES);
        }
    }

    /** Returns whether the node hands over to a process that takes its place. */
    public boolean handsOver() {
        return values.isGiven(NodeSettings.HAND_OVER);
    }

    private void checkTlsAddresses() {
        List<InetSocketAddress> tls = values.get(NodeSettings.TLS_ADDRESSES);
        String where = values.where(NodeSettings.TLS_ADDRESSES);
        if (!tls.isEmpty() && !NodeSettings.TLS.hasCertificate(values)) {
            problems.add(
                    where,
                    "a server must show a certificate; name files of a certificate and its key under tls, or with "
                            + "--tls-cert and --tls-key");
        }
    }

    private void checkQuic() {
        List<InetSocketAddress> quic = values.get(NodeSettings.QUIC_ADDRESSES);
        String where = values.where(NodeSettings.QUIC_ADDRESSES);
        if (!quic.isEmpty() && !QuicPort.whyNot().isEmpty()) {
            problems.add(where, QuicPort.whyNot());
        }
        if (!quic.isEmpty() && !NodeSettings.TLS.hasCertificate(values)) {
            problems.add(
                    where,
                    "a server must show a certificate; name files of a certificate and its key under tls, or with "
                            + "--tls-cert and --tls-key");
        }
    }

    /** Whatever ties traffic or the host's set-up to one process cannot go to another. */
    private void checkHandOver() {
        if (!values.isGiven(NodeSettings.HAND_OVER)) {
            return;
        }
        String where = values.where(NodeSettings.HAND_OVER);
        for (Setting<? extends List<?>> tied : List.of(
                NodeSettings.QUIC_ADDRESSES,
                NodeSettings.INTERFACES,
                NodeSettings.PLAIN_INTERFACES,
                NodeSettings.TRAFFIC_CONTROL,
                NodeSettings.DIRECTORS,
                NodeSettings.UNITS)) {
            if (!values.get(tied).isEmpty()) {
                problems.add(where, "what " + tied.path() + " makes cannot be handed over; remove one of the two");
            }
        }
        if (values.isGiven(NodeSettings.ARENA)) {
            problems.add(
                    where,
                    "the file of " + NodeSettings.ARENA.path()
                            + " is one process' alone, and two have the node while it "
                            + "is handed over; remove one of the two");
        }
        TransportKind wanted = values.get(NodeSettings.TRANSPORT);
        if (UdpSockets.resolve(wanted) != TransportKind.NATIVE) {
            problems.add(where, "only native sockets can be handed over: " + UdpSockets.explain(wanted));
        }
    }

    private void checkTrust() {
        if (deploy().isConfigured()) {
            return;
        }
        deployedWhere.forEach((name, where) -> problems.add(
                where,
                "class " + name + " is not on the class path: add its jar to it, correct the name, or say in 'deploy' "
                        + "whose code may be fetched"));
        if (!values.get(NodeSettings.REPOSITORIES).isEmpty()) { // Neighbours also give formats.
            problems.add(
                    "deploy",
                    "there are places to fetch code from, and nobody is trusted: add a publisher's key under "
                            + "deploy.trust, or --trust FILE");
        }
    }

    private DeploySettings deploy() {
        Map<String, ServiceSettings> deployed = new HashMap<>();
        given.forEach((name, service) -> {
            if (deployedWhere.containsKey(name)) {
                deployed.put(name, ServiceTable.settings(service));
            }
        });
        return new DeploySettings(values, deployed);
    }

    /** All settings; to be used only when no problem was found. */
    public NodeConfig build() {
        List<InetSocketAddress> tcp = values.get(NodeSettings.TCP);
        TlsFiles tls = NodeSettings.TLS.files(values);
        AdminConfig admin = AdminConfig.of(values);
        MembershipSettings cluster = new ClusterSettings(values, admin)
                .build(CodeStore.folder(values, tcp.isEmpty() ? 0 : tcp.get(0).getPort()), tls);
        EeConfig environment = new EeConfig(
                        tcp,
                        values.get(NodeSettings.UDP_ADDRESSES),
                        values.get(NodeSettings.TYPE_ID),
                        values.get(NodeSettings.TRANSPORT),
                        values.get(NodeSettings.UNKNOWN_SERVICE),
                        values.get(NodeSettings.MAX_STREAMS),
                        values.get(NodeSettings.HOP_BUDGET),
                        values.get(NodeSettings.INBOX),
                        values.get(NodeSettings.FIRST_PACKET),
                        values.get(NodeSettings.CONNECT),
                        values.get(NodeSettings.STALL),
                        values.get(NodeSettings.LINGER))
                .bounding(new UdpBounds(
                        values.get(NodeSettings.UDP_GROWTH),
                        values.get(NodeSettings.UDP_BYTES).intValue(),
                        values.get(NodeSettings.UDP_ANSWER_GROWTH),
                        values.get(NodeSettings.UDP_AMPLIFIERS)))
                .limiting(new StreamLimits(
                        values.get(NodeSettings.MAX_STREAMS_PER_PEER),
                        values.get(NodeSettings.MAX_BRANCHES),
                        values.get(NodeSettings.IDLE)))
                .withTls(values.get(NodeSettings.TLS_ADDRESSES), tls)
                .running(values.get(NodeSettings.THREADS))
                .waitingForCode(values.get(NodeSettings.FETCH_TOTAL_TIMEOUT).multipliedBy(2));
        return new NodeConfig(
                values,
                environment,
                List.copyOf(routes.values()),
                List.copyOf(services.values()),
                Map.copyOf(given),
                qos,
                deploy(),
                new KernelConfig(
                        values.get(NodeSettings.LEVELS),
                        values.get(NodeSettings.INTERFACES),
                        values.get(NodeSettings.UNKNOWN_UP)),
                cluster != null || handsOver() ? admin.fixed() : admin, // Others find it there.
                cluster,
                new ElementSettings(values).build());
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

package org.tamanoir.node.run;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.arena.ArenaFile;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.cluster.Membership;
import org.tamanoir.cluster.MembershipSettings;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.ClusterException;
import org.tamanoir.deploy.CodeCache;
import org.tamanoir.deploy.CodeFetcher;
import org.tamanoir.deploy.FormatStore;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.kernel.KernelBridge;
import org.tamanoir.kernel.PlainConfig;
import org.tamanoir.manager.ActiveNodeManager;
import org.tamanoir.manager.DeploymentConfig;
import org.tamanoir.manager.ManagerException;
import org.tamanoir.manager.ServiceStatus;
import org.tamanoir.manager.TrustStore;
import org.tamanoir.node.admin.AccessLog;
import org.tamanoir.node.admin.AdminServer;
import org.tamanoir.node.admin.AdminSettings;
import org.tamanoir.node.admin.AdminToken;
import org.tamanoir.node.admin.ChangeLog;
import org.tamanoir.node.admin.Reloading;
import org.tamanoir.node.admin.StreamSpans;
import org.tamanoir.node.config.AdminConfig;
import org.tamanoir.node.config.CodeStore;
import org.tamanoir.node.config.ConfigChanges;
import org.tamanoir.node.config.ConfigText;
import org.tamanoir.node.config.DeploySettings;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.config.FeedConfig;
import org.tamanoir.node.config.FormatFiles;
import org.tamanoir.node.config.GatewayLine;
import org.tamanoir.node.config.NodeConfig;
import org.tamanoir.node.config.NodeSettings;
import org.tamanoir.node.tc.TcRule;
import org.tamanoir.node.tc.TrafficControl;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.ServiceGroups;
import org.tamanoir.platform.ThreadRanks;
import org.tamanoir.qdisc.Disciplines;
import org.tamanoir.repository.CodeServer;
import org.tamanoir.routing.RouteFeed;
import org.tamanoir.routing.RouteSet;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.sapf.SapfSettings;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.LinuxServiceGroups;
import org.tamanoir.transport.LinuxThreadRanks;
import org.tamanoir.transport.ListeningSockets;
import org.tamanoir.transport.Transport;

/**
 * A whole node: the execution environment, its manager, and the servers by which other nodes get its code and people
 * look at it.
 *
 * <p>Thread contract: one thread starts it and one stops it; the rest is any thread's.
 */
public final class Node {
    private static final Logger LOG = LoggerFactory.getLogger(Node.class);

    /** A source of code that failed is asked again after the first, which doubles up to the second. */
    private static final Duration BACK_OFF = Duration.ofSeconds(1);

    private static final Duration MAX_BACK_OFF = Duration.ofMinutes(1);

    private volatile NodeConfig config;
    private final Duration backOff;
    private final ListeningSockets sockets;
    private final ServiceCatalog catalog = new ServiceCatalog();
    private final RoutingTable routes;
    private final @Nullable String routesFile;
    private final @Nullable RouteFeed feed;
    private final ExecutionEnvironment environment;
    /** What was opened, to be closed in the opposite order. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Lets other processes have what comes to the servers. */
    private final List<Runnable> leaving = new ArrayList<>();

    /** Have servers read the files of TLS again, by their names. */
    private final Map<String, TlsFiles.Renewal> renewing = new LinkedHashMap<>();

    private final Map<String, String> servers = new LinkedHashMap<>();
    private @Nullable ActiveNodeManager manager;
    private @Nullable Membership membership;
    private @Nullable NodeElement element;
    private Welcome.@Nullable Code ofCluster;
    private @Nullable Reloading reloading;
    private @Nullable StreamSpans spans;
    private @Nullable TrafficControl trafficControl;
    private boolean takesOver;
    private volatile boolean isStarted;

    /**
     * A node that is not started.
     *
     * @throws RuntimeException in one line, if the host lacks what it needs
     */
    public Node(NodeConfig config) {
        this(config, new RouteSet(), null);
    }

    /**
     * A node that has these routes besides its configuration's, which take the place of those with the same prefix.
     *
     * @param file from which they are, null = there are none
     */
    Node(NodeConfig config, RouteSet more, @Nullable String file) {
        this(config, more, file, BACK_OFF);
    }

    /** A node that asks sources of code again sooner. */
    Node(NodeConfig config, Duration backOff) {
        this(config, new RouteSet(), null, backOff);
    }

    private Node(NodeConfig config, RouteSet more, @Nullable String file, Duration backOff) {
        this.config = config;
        routesFile = file;
        this.backOff = backOff;
        config.services().forEach(catalog::add);
        config.routes().forEach(route -> more.put(route.prefix(), route.nextHop()));
        routes = new RoutingTable(List.of(), config.get(NodeSettings.COMPACT_ROUTES));
        FeedConfig following = config.find(NodeSettings.ROUTE_FEED);
        feed = following == null ? null : routes.feed(following.nextHops());
        routes.replace(more); // Behind the feed, which would have the look-ups made anew.
        sockets = HandOver.sockets(config);
        environment = new ExecutionEnvironment(
                config.environment(),
                routes,
                catalog,
                new BufferPool(),
                Platform.SYSTEM,
                Transport.of(config.environment().transport(), sockets));
        environment.tryOut(service -> this.config.names(service));
    }

    /**
     * Makes the services' controls, as a start does, closes them, and returns why services cannot be defined. Nothing is
     * fetched: a control that needs another service finds those of the class path alone.
     */
    static List<String> refused(NodeConfig config) {
        try (ExecutionEnvironment defined = new Node(config).environment) {
            return defined.refused();
        }
    }

    /**
     * Opens the sockets and begins to accept; packets cross from then on, while the servers start.
     *
     * @throws IOException in one line, if something that was asked for cannot be had; nothing is left open then
     */
    public void start() throws IOException {
        try {
            ThreadRanks ranks = LinuxThreadRanks.of(config.get(NodeSettings.PRIORITIES));
            if (ranks != ThreadRanks.NONE) {
                LOG.info("priorities: {}", ranks.text());
            }
            environment.rank(ranks);
            ServiceGroups groups = LinuxServiceGroups.of(config.get(NodeSettings.GROUPS));
            opened.push(groups);
            if (groups != ServiceGroups.NONE) {
                LOG.info("groups: {}", groups.text());
            }
            environment.group(groups);
            showArena();
            joinCluster();
            DeploymentConfig deployment = config.deploy().isConfigured() ? deployment() : null;
            FormatStore formats = formats(deployment);
            environment.formats(formats);
            ActiveNodeManager started = new ActiveNodeManager(environment, catalog, routes, deployment);
            started.givenRoutes(config.routes(), routesFile);
            started.wanted(() -> this.config.wanted());
            manager = started;
            opened.push(started);
            AccessLog log = config.admin().accessLog() == null
                    ? null
                    : AccessLog.open(config.admin().accessLog());
            if (log != null) {
                opened.push(log);
                environment.onStreamEnd(log);
            }
            sendSpans();
            Disciplines.problems().forEach(problem -> LOG.warn("quality of service: {}", problem));
            NodeElement unit = joinElement(started);
            environment.qos(config.qos());
            NodeOs levels = KernelBridge.open(config.levels());
            opened.push(levels);
            environment.levels(levels);
            PlainTraffic plain = KernelBridge.plain(new PlainConfig(
                    new PlainRules(config.get(NodeSettings.PLAIN)),
                    config.get(NodeSettings.PLAIN_INTERFACES),
                    config.get(NodeSettings.PLAIN_ALERTS)));
            opened.push(plain);
            environment.plain(plain);
            followRoutes(started);
            environment.authentication().onRefusal(line -> started.report("authentication", line, Map.of()));
            environment.authentication().change(config.authentication(), List.of(), config.keys());
            environment.quic(config.get(NodeSettings.QUIC_ADDRESSES), config.get(NodeSettings.QUIC_CONNECTIONS));
            environment.udpGateways(config.get(NodeSettings.GATEWAYS).stream()
                    .filter(GatewayLine::isUdp)
                    .map(line -> line.udpGateway(environment.typeId()))
                    .toList());
            environment.gateways(config.get(NodeSettings.GATEWAYS).stream()
                    .filter(line -> !line.isUdp())
                    .map(line -> line.gateway(environment.typeId()))
                    .toList());
            environment.sapf(new SapfSettings(
                    config.get(NodeSettings.SAPF_ACCEPT),
                    config.get(NodeSettings.SAPF_NEXT_HOPS),
                    config.get(NodeSettings.SAPF_LIFETIME)));
            environment.start();
            controlTraffic(started);
            if (unit != null) {
                unit.start();
            }
            started.placeAll();
            if (deployment != null) {
                environment.background("warm-up", new WarmUp()).start();
            }
            if (deployment != null && config.find(NodeSettings.HAND_OVER) != null) {
                RevocationWatch watch = new RevocationWatch(started);
                opened.push(watch);
                environment.background("revocations", watch).start();
            }
            serveCode(deployment == null ? null : deployment.cache(), started, formats);
            serveAdmin(started);
            isStarted = true;
            started.reportMissing();
            started.ready(null);
            serveCluster(started);
        } catch (IOException | RuntimeException e) {
            stop(Duration.ZERO);
            throw e;
        }
    }

    /** Before streams come; the library is not loaded where nobody wants spans. */
    private void sendSpans() {
        URI endpoint = config.find(NodeSettings.TRACING_ENDPOINT);
        if (endpoint != null) {
            StreamSpans sent = new StreamSpans(endpoint, config.get(NodeSettings.TRACING_SAMPLE));
            spans = sent;
            opened.push(sent);
            environment.onStreamEnd(sent);
        }
    }

    /** Before traffic is scheduled. */
    private void showArena() throws IOException {
        Path file = config.find(NodeSettings.ARENA);
        if (file != null) {
            ArenaFile shown = ArenaFile.create(file);
            opened.push(shown);
            environment.show(shown);
        }
    }

    /** Also without rules, where a node with rules crashed. */
    private void controlTraffic(ActiveNodeManager manager) {
        List<TcRule> rules = config.get(NodeSettings.TRAFFIC_CONTROL);
        Path file = CodeStore.trafficControl(config);
        if (!rules.isEmpty() || Files.exists(file)) {
            TrafficControl control =
                    new TrafficControl(rules, config.get(NodeSettings.TC_DRY_RUN), file, manager::qosStatus, line -> {
                        LOG.info("traffic control: {}", line);
                        manager.report("traffic-control", line, Map.of());
                    });
            opened.push(control);
            trafficControl = control;
            environment.background("traffic-control", control).start();
        }
    }

    /** Before packets come: for them the routes are there. */
    private void followRoutes(ActiveNodeManager manager) throws IOException {
        FeedConfig following = config.find(NodeSettings.ROUTE_FEED);
        if (following != null && feed != null) {
            manager.feed(feed);
            opened.push(KernelBridge.follow(
                    following.tableNumber(),
                    following.protocolNumbers(),
                    feed,
                    line -> manager.report("feed", line, Map.of())));
        }
    }

    /** Before anything else: directors say where code comes from, and give the host addresses to listen on. */
    private void joinCluster() throws IOException {
        MembershipSettings cluster = config.cluster();
        if (cluster == null) {
            return;
        }
        Membership joining = new Membership(cluster);
        membership = joining;
        opened.push(joining); // First in, last out: it takes the host's set-up back when streams have ended.
        joining.join();
        try {
            ofCluster = joining.code();
            config.deploy().add(joining.code());
        } catch (IllegalArgumentException e) {
            throw new IOException("code sources of the cluster: " + e.getMessage(), e);
        }
    }

    /** Before the links are there: one of them holds packets for the token. */
    private @Nullable NodeElement joinElement(ActiveNodeManager manager) throws IOException {
        if (config.element() == null) {
            return null;
        }
        NodeElement joining = new NodeElement(config.element(), manager);
        opened.push(joining);
        element = joining;
        environment.gates(joining.unit());
        return joining;
    }

    private void serveCluster(ActiveNodeManager manager) {
        Membership joined = membership;
        if (joined != null) {
            List<InetSocketAddress> tcp = new ArrayList<>(environment.tcpAddresses());
            tcp.addAll(environment.tlsAddresses());
            joined.serve(service -> deploy(manager, service), tcp, environment.udpAddresses());
        }
    }

    /** As a director wants it; one of the class path is there already. */
    private static String deploy(ActiveNodeManager manager, String service) throws ClusterException {
        boolean ships = manager.services().stream()
                .anyMatch(status -> status.version().isEmpty() && status.name().equals(service));
        if (ships) {
            return service;
        }
        try {
            ServiceStatus deployed = manager.deploy(service, false);
            return deployed.name() + ":" + deployed.version();
        } catch (ManagerException e) {
            throw new ClusterException(String.valueOf(e.getMessage()), e);
        }
    }

    /** What the node knows as a back-end; null when it is none. */
    @Nullable
    MembershipStatus cluster() {
        Membership joined = membership;
        return joined == null ? null : joined.status();
    }

    /**
     * Other nodes get the code that this one runs and the formats that it knows, and learn where from packets that go to
     * them. Without code only where the operator says so.
     */
    private void serveCode(@Nullable CodeCache cache, ActiveNodeManager manager, FormatStore formats)
            throws IOException {
        Optional<InetSocketAddress> given = config.find(NodeSettings.CODE_SERVER);
        if (given == null ? cache == null : given.isEmpty()) {
            return;
        }
        InetSocketAddress wanted = given == null ? besideStreams() : given.orElseThrow();
        CodeServer server = CodeServer.start(
                wanted,
                config.get(NodeSettings.DEPLOY_TLS) ? files() : null,
                path -> cache == null ? null : cache.file(path, manager::isServed),
                new CodeServer.Formats(new NodeShelf(formats), config.get(NodeSettings.FORMATS_REGISTER)),
                sockets);
        opened.push(server);
        leaving.add(server::leave);
        renewing.put("code server", server::renew);
        environment.advertise(server.address());
        servers.put("code server", Endpoint.toString(server.address()));
    }

    /** The first address that TCP streams come to, with a free port. */
    private InetSocketAddress besideStreams() {
        return environment.tcpAddresses().stream()
                .findFirst()
                .map(beside -> new InetSocketAddress(beside.getAddress(), 0))
                .orElseGet(() -> new InetSocketAddress("127.0.0.1", 0));
    }

    /** At the port that the operator gave, or else at the usual one or, when that is taken, a free one. */
    private void serveAdmin(ActiveNodeManager manager) throws IOException {
        AdminConfig admin = config.admin();
        if (admin.listen() == null) {
            return;
        }
        List<AdminToken> tokens = AdminSettings.read(admin.tokens());
        AdminServer server;
        try {
            server = startAdmin(manager, admin, admin.listen(), tokens);
        } catch (IOException e) {
            if (admin.portIsGiven()) {
                throw e;
            }
            server = startAdmin(
                    manager, admin, new InetSocketAddress(admin.listen().getAddress(), 0), tokens);
        }
        opened.push(server);
        leaving.add(server::leave);
        renewing.put("admin API", server::renew);
        servers.put("admin API", (admin.tls() ? "https://" : "http://") + Endpoint.toString(server.address()));
    }

    private AdminServer startAdmin(
            ActiveNodeManager manager, AdminConfig admin, InetSocketAddress address, List<AdminToken> tokens)
            throws IOException {
        AdminServer server = new AdminServer(
                manager,
                new AdminSettings(
                        address, tokens, admin.readOnly(), Set.copyOf(admin.hosts()), admin.tls() ? files() : null),
                sockets,
                () -> ConfigText.of(config, manager.givenRoutes(), manager.otherRoutes(), manager.qos()));
        Membership joined = membership;
        server.cluster(this::cluster, from -> joined != null && joined.isDirector(from));
        if (reloading != null) {
            server.reloading(reloading);
        }
        NodeElement unit = element;
        if (unit != null) {
            server.element(unit::status);
        }
        TrafficControl control = trafficControl;
        if (control != null) {
            server.trafficControl(control::status);
        }
        StreamSpans sent = spans;
        if (sent != null) {
            server.missedSpans(sent::missed);
        }
        try {
            server.start();
            return server;
        } catch (IOException e) {
            server.close();
            throw e;
        }
    }

    private @Nullable TlsFiles files() {
        return config.environment().tlsFiles();
    }

    /** The node's HTTP servers with their addresses. */
    public Map<String, String> servers() {
        return Collections.unmodifiableMap(servers);
    }

    private FormatStore formats(@Nullable DeploymentConfig deployment) throws IOException {
        DeploySettings code = config.deploy();
        TlsFiles files = files();
        FormatStore store = new FormatStore(
                new FormatStore.Settings(
                        config.get(NodeSettings.FORMAT_SERVERS),
                        code.repositories(),
                        config.get(NodeSettings.NEIGHBOURS)::contains, // What packets say is not believed.
                        config.get(NodeSettings.DEPLOY_TLS),
                        config.get(NodeSettings.FORMATS_ON_DEMAND),
                        config.get(NodeSettings.FORMATS_SIGNED),
                        config.get(NodeSettings.MAX_FORMATS),
                        config.get(NodeSettings.FORMAT_BYTES),
                        config.get(NodeSettings.FETCH_CONNECT_TIMEOUT),
                        config.get(NodeSettings.FETCH_IDLE_TIMEOUT),
                        config.get(NodeSettings.FORMAT_TIMEOUT),
                        backOff,
                        MAX_BACK_OFF,
                        files == null ? null : files.context()),
                FormatFiles.read(config.get(NodeSettings.FORMAT_FILES)),
                deployment == null ? () -> config.deploy().policy() : deployment.trust());
        opened.push(store);
        return store;
    }

    private DeploymentConfig deployment() throws IOException {
        CodeCache cache = CodeStore.open(
                config,
                config.environment().tcp().stream()
                        .findFirst()
                        .map(InetSocketAddress::getPort)
                        .orElse(0),
                takesOver);
        opened.push(cache);
        TlsFiles files = files();
        DeploySettings settings = config.deploy();
        TrustStore trust = TrustStore.open(settings.policy(), cache.folder().resolve("revoked"));
        CodeFetcher fetcher = new CodeFetcher(
                new CodeFetcher.Settings(
                        settings.repositories(),
                        config.get(NodeSettings.FETCH_CONNECT_TIMEOUT),
                        config.get(NodeSettings.FETCH_IDLE_TIMEOUT),
                        config.get(NodeSettings.FETCH_TOTAL_TIMEOUT),
                        config.get(NodeSettings.MAX_JAR),
                        config.get(NodeSettings.MAX_UNPACKED),
                        backOff,
                        MAX_BACK_OFF,
                        files == null ? null : files.context(),
                        config.get(NodeSettings.CHECKPOINTS)),
                cache,
                trust);
        opened.push(fetcher);
        return new DeploymentConfig(
                fetcher,
                cache,
                trust,
                config.get(NodeSettings.ON_DEMAND),
                config.get(NodeSettings.NEIGHBOURS),
                config.get(NodeSettings.DEPLOY_TLS),
                id -> config.deploy().of(id));
    }

    /** Has it share the folders of the node whose place it takes. Before {@link #start}. */
    void takingOver() {
        takesOver = true;
    }

    /** Returns the sockets that it shares with the process before it and the one behind it. */
    ListeningSockets sockets() {
        return sockets;
    }

    /** Leaves what comes to its sockets to another process that has them too; {@link #stop} is to follow. */
    void leaveListeners() {
        Duration drain = config.get(NodeSettings.DRAIN);
        Duration firstPacket = config.environment().firstPacketTimeout();
        leaving.forEach(Runnable::run);
        environment.leaveListeners(firstPacket.compareTo(drain) < 0 ? firstPacket : drain);
    }

    /**
     * Takes leave of the cluster, lets streams finish until the deadline, then ends.
     *
     * @return streams that had to be cut
     */
    public int stop(Duration deadline) {
        Membership joined = membership;
        if (joined != null) {
            joined.leave(); // Packets come until all directors know.
        }
        ActiveNodeManager known = manager;
        if (known != null) {
            known.ready("the node stops");
        }
        // Streams of the cluster end while the node still serves: one over UDP has no end that it could see.
        Duration left = joined == null ? deadline : joined.drain(deadline);
        NodeElement unit = element;
        if (unit != null) {
            left = unit.leave(left);
        }
        int cut = environment.stop(left);
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                LOG.warn("not closed in order: {}", e.toString());
            }
        }
        return cut;
    }

    /**
     * Records a change that came by no token; until the node has started there are no events, and nothing is recorded.
     *
     * @param peer the signal or the process that asked for it
     * @param outcome {@code done}, or why not
     */
    void record(String peer, String operation, String outcome) {
        ActiveNodeManager known = manager;
        if (known != null) {
            ChangeLog.of(known).record(peer, ChangeLog.NO_TOKEN, operation, outcome);
        }
    }

    /** Lets the admin API have the configuration read again. Before {@link #start}. */
    void reloading(Reloading again) {
        reloading = again;
    }

    /** Returns the configuration in force. */
    NodeConfig config() {
        return config;
    }

    /**
     * Applies what another configuration says and this one does not, as far as a running node can. One call at a time.
     *
     * @throws ManagerException if something of it is refused; nothing is changed then
     */
    Reloading.Outcome apply(NodeConfig wanted) throws ManagerException {
        ActiveNodeManager started = manager;
        if (started == null || !isStarted) {
            throw new ManagerException(
                    ManagerException.Kind.UNAVAILABLE, "the node starts: reload it when it is ready");
        }
        if (ofCluster != null) {
            wanted.deploy().add(ofCluster);
        }
        ConfigChanges changes = new ConfigChanges(config, wanted);
        NodeConfig before = config;
        NodeConfig after = changes.inForce();
        changeAuthentication(before, after);
        PlainReload plain = null;
        config = after; // Versions that are deployed meanwhile get their settings from it.
        List<String> failed;
        try {
            plain = PlainReload.stage(environment, before, after);
            failed = new ArrayList<>(started.change(changes.toChange()));
        } catch (ManagerException | RuntimeException e) {
            config = before;
            if (plain != null) {
                plain.abandon();
            }
            environment.authentication().change(before.authentication(), after.keys(), before.keys());
            throw e;
        }
        failed.addAll(plain.commit());
        started.reportMissing();
        List<String> taken = new ArrayList<>(changes.taken());
        renewTls(taken, failed);
        started.report(
                "reload",
                "configuration read again: " + taken.size() + " changes taken, "
                        + failed.size() + " without effect, "
                        + changes.left().size() + " need a restart",
                Map.of());
        return new Reloading.Outcome(taken, failed, changes.left());
    }

    /**
     * Has connections from now on show what the files of TLS hold now.
     *
     * @param taken gets a line when that is another certificate
     * @param failed gets a line when the files are no good, which changes nothing, or else for each server that goes on
     *     as before
     */
    private void renewTls(List<String> taken, List<String> failed) {
        TlsFiles files = files();
        if (files == null) {
            return;
        }
        try {
            if (environment.renewTls()) {
                taken.add("tls.certificate: another one in " + files.certificate() + ", which expires at "
                        + environment.certificateExpiry());
            }
        } catch (IOException e) {
            failed.add(String.valueOf(e.getMessage()));
            return;
        }
        renewing.forEach((server, renewal) -> {
            try {
                renewal.run();
            } catch (IOException e) {
                failed.add(server + ": " + e.getMessage());
            }
        });
    }

    private void changeAuthentication(NodeConfig before, NodeConfig after) throws ManagerException {
        String misfit = after.whyNoAuthentication();
        if (!misfit.isEmpty()) {
            throw new ManagerException(ManagerException.Kind.INVALID, "authentication: " + misfit);
        }
        try {
            environment.authentication().change(after.authentication(), before.keys(), after.keys());
        } catch (IllegalArgumentException e) {
            throw new ManagerException(ManagerException.Kind.INVALID, "authentication: " + e.getMessage());
        }
    }

    /** Returns how many routes there are. */
    int routes() {
        return routes.size();
    }

    public ExecutionEnvironment environment() {
        return environment;
    }
}

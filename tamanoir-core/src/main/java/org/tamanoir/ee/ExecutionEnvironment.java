package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.admission.Places;
import org.tamanoir.admission.StreamCounts;
import org.tamanoir.admission.StreamLimits;
import org.tamanoir.admission.StreamPlaces;
import org.tamanoir.anep.Packet;
import org.tamanoir.arena.Arena;
import org.tamanoir.arena.ArenaFile;
import org.tamanoir.auth.Authentication;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceFetches;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatSource;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.gateway.UdpGateway;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.offload.Levels;
import org.tamanoir.offload.PlainChange;
import org.tamanoir.offload.UpcallMetadata;
import org.tamanoir.plain.PlainRules;
import org.tamanoir.plain.PlainTraffic;
import org.tamanoir.platform.Platform;
import org.tamanoir.platform.ServiceGroups;
import org.tamanoir.platform.ThreadKind;
import org.tamanoir.platform.ThreadRanks;
import org.tamanoir.platform.VirtualThreads;
import org.tamanoir.qdisc.GatedDiscipline;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.rtp.RtpSnapshot;
import org.tamanoir.sapf.Sapf;
import org.tamanoir.sapf.SapfSettings;
import org.tamanoir.sapf.SapfStatistics;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.sched.QualityOfService;
import org.tamanoir.service.Checkpoint;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.supervision.CoreThreads;
import org.tamanoir.supervision.FailureLog;
import org.tamanoir.supervision.Incident;
import org.tamanoir.supervision.Incidents;
import org.tamanoir.supervision.InstanceFactory;
import org.tamanoir.supervision.Watchdog;
import org.tamanoir.tls.TlsClient;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.trace.TraceResult;
import org.tamanoir.trace.Traces;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.Traffic;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.BackgroundThread;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.UdpEgressSockets;
import org.tamanoir.transport.UdpPort;
import org.tamanoir.transport.UdpSocket;

/**
 * Accepts ANEP streams over TCP and UDP, runs them through services and sends them on. One thread receives what is
 * new; each TCP stream, and each service for all UDP traffic, has a thread of its own.
 *
 * <p>Thread contract: any thread.
 */
public final class ExecutionEnvironment implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    private final EeConfig config;
    private final Arena arena = new Arena();
    final NodeContext context;
    final Instances instances;
    final UdpServices udp;
    private final ServiceFetches missing;
    private final Controls controls;
    private final ServiceDrain drain;
    private final InstanceFactory maker;
    private final PointChoice points;
    final TcpStreams streams;
    private final Traffic receptionTraffic;
    private final TraceEntry tracing;
    private volatile Predicate<ServiceDefinition> tried = definition -> false;
    private volatile Duration stuckTimeout = Duration.ofSeconds(30);
    private @Nullable Watchdog<Instance> watchdog;
    private final List<InetSocketAddress> tcpAddresses = new ArrayList<>();
    private final List<InetSocketAddress> tlsAddresses = new ArrayList<>();
    private final QuicStreams quic;
    private final Gateways gateways;
    private @Nullable Acceptor reception;
    private volatile @Nullable Sapf sapf;

    /** Makes an environment that is not started. */
    public ExecutionEnvironment(EeConfig config, RoutingTable routes, ServiceCatalog services) {
        this(config, routes, services, new BufferPool(), Platform.SYSTEM, Transport.of(config.transport()));
    }

    /**
     * Makes the same with this memory for packets, on this machine and network.
     *
     * @param pool becomes the environment's
     */
    public ExecutionEnvironment(
            EeConfig config,
            RoutingTable routes,
            ServiceCatalog services,
            BufferPool pool,
            Platform platform,
            Transport transport) {
        this.config = config;
        CoreThreads threads = new CoreThreads(platform);
        FailureLog failures = new FailureLog();
        this.context = new NodeContext(
                config,
                platform,
                transport,
                pool,
                services,
                new NextHopResolver(routes),
                new QualityOfService(
                        () -> new QosTimerThread(threads),
                        platform::nanoTime,
                        platform::processorNs,
                        Checkpoint::want,
                        BufferPool.MEDIUM_BYTES,
                        config.stallTimeout(),
                        arena),
                new Tap(),
                threads,
                failures,
                new Incidents(failures),
                new Levels(),
                new UdpEgressSockets(transport),
                new TlsClient(),
                new NodeFormats(),
                new Traces(platform::nanoTime, UpcallMetadata.MAX_TRACE),
                new StreamSapf(),
                new Authentication(platform::nanoTime));
        this.points = new PointChoice(context.qualityOfService(), services);
        this.quic = new QuicStreams(context);
        context.forwarder().overQuic(quic::port);
        this.receptionTraffic = new Traffic(context.tap(), "reception");
        this.instances = new Instances(services, platform);
        this.gateways = new Gateways(context, instances);
        this.missing = new ServiceFetches(config.deployTimeout(), platform);
        this.controls = new Controls(context, missing);
        this.drain = new ServiceDrain(instances, controls, platform);
        this.maker = new InstanceFactory(config.makeTimeout(), threads, points::made);
        int inMemory = Places.inMemory(pool, Runtime.getRuntime().maxMemory());
        Places places = new Places(config.maxStreams(), inMemory, config.streamLimits());
        this.streams = new TcpStreams(context, instances, places, missing, maker);
        this.udp = new UdpServices(context, instances, maker, missing);
        this.tracing = new TraceEntry(context, udp);
    }

    /** Returns in one line why services cannot run on such threads here, and what would help; empty when they can. */
    public static String whyNot(ThreadKind threads, Transport transport) {
        if (threads == ThreadKind.PLATFORM) {
            return "";
        }
        String noThreads = VirtualThreads.whyNot();
        if (!noThreads.isEmpty()) {
            return noThreads;
        }
        String noParking = transport.whyNoParking();
        return noParking.isEmpty()
                ? ""
                : "virtual threads need the native transport, and there is " + noParking
                        + "; leave threads at 'platform'";
    }

    /** Asks this source for services that the catalog lacks. Before {@link #start}. */
    public void fetchFrom(ServiceSource source) {
        missing.from(source);
    }

    /** Has services get formats from this source. Before {@link #start} and {@link #define}. */
    public void formats(FormatSource source) {
        context.formats().use(source);
    }

    /** Tells of each format that was asked for and that nobody has, on any thread; must not block. */
    public void onUnknownFormat(Consumer<FormatId> told) {
        context.formats().onUnknown(told);
    }

    /** Returns where services get formats from, as it was given. */
    public FormatSource formats() {
        return context.formats().given();
    }

    /**
     * Has an instance of each of these services initialised and closed when it is defined, which refuses those that do not
     * take their settings. Before {@link #start} and {@link #define}.
     */
    public void tryOut(Predicate<ServiceDefinition> services) {
        tried = services;
    }

    /**
     * Makes the control of a service, before it stands in the catalog; those that stand there are made by {@link #start}.
     * Waits, bounded.
     *
     * @throws IllegalArgumentException why it cannot be defined, in one line; or in several, as the control wrote them
     */
    public void define(ServiceDefinition definition) {
        controls.open(definition);
        if (tried.test(definition)) {
            try {
                controls.tryOut(definition);
            } catch (IllegalArgumentException e) {
                controls.close(definition);
                throw e;
            }
        }
    }

    /** Closes the control of a service that was {@link #define}d, when it has been {@link #retire}d. Waits, bounded. */
    public void undefine(ServiceDefinition definition) {
        controls.close(definition);
    }

    /**
     * Asks the control of a service. Waits, bounded.
     *
     * @throws IllegalArgumentException what the control refuses, in its lines
     * @throws IllegalStateException in one line, that there is none, or that it failed or did not answer
     */
    public <T> T control(ServiceDefinition definition, Function<ServiceControl, T> call) {
        return controls.call(definition, call);
    }

    /**
     * Has these levels below the JVM look at packets, from {@link #start} on. {@link #stop} releases them first, so
     * that new packets go by the node while it drains, and closes them at its end; without a start they stay the caller's.
     * Before {@link #start}.
     */
    public void levels(NodeOs levels) {
        context.levels().use(levels);
    }

    /** Has plain datagrams come up, from {@link #start} on, as {@link #levels}. */
    public void plain(PlainTraffic plain) {
        context.levels().use(plain);
    }

    /** Returns which plain datagrams come up. */
    public PlainTraffic plain() {
        return context.levels().plain();
    }

    /**
     * Makes other rules for plain IP ready; see {@link Levels#stage}.
     *
     * @throws LevelException in one line, if they cannot be had; nothing is changed then
     */
    public PlainChange stage(PlainRules rules, int alertsPerSecond) throws LevelException {
        return context.levels().stage(rules, alertsPerSecond);
    }

    /** Returns whether plain datagrams to this address are let go by, since they end at this host or at its links. */
    public boolean endsHere(InetAddress address) {
        return context.levels().endsHere(address);
    }

    /** Returns the levels below the JVM. */
    public NodeOs levels() {
        return context.levels().os();
    }

    /**
     * Names this node's code server to the next nodes, in previous-active-node options that packets bring along.
     *
     * @param codeServer null = none; an unspecified address stands for the one that packets come from
     */
    public void advertise(@Nullable InetSocketAddress codeServer) {
        context.forwarder().advertise(codeServer);
    }

    /** Tells one more listener of each TCP stream that ends, on its thread; must not block. Before {@link #start}. */
    public void onStreamEnd(Consumer<StreamRecord> log) {
        streams.log(log);
    }

    /** Tells of services that are quarantined, throttled or stuck, on any thread; must not block. */
    public void onIncident(Consumer<Incident> log) {
        context.incidents().to(log);
    }

    /**
     * Calls this when a thread is lost that the node cannot do without, with its name and what ended it: the node does
     * not do its work any more, and the best is to end the process. Called on that thread; it may find no memory left.
     */
    public void onCoreThreadLoss(BiConsumer<String, Throwable> told) {
        context.threads().onLoss(told);
    }

    /**
     * Returns what is wrong with the threads that the node cannot do without, a line for each: it has ended, or has not
     * come round for 10 s. Empty while all do their work.
     */
    public List<String> coreProblems() {
        return context.threads().problems();
    }

    /**
     * Sets how long an instance may stay in its service's code without getting anywhere before it is interrupted and then
     * given up; 30 s unless this is called. Before {@link #start}.
     */
    public void stuckAfter(Duration timeout) {
        if (timeout.compareTo(Duration.ofMillis(100)) < 0) {
            throw new IllegalArgumentException("a service stuck after " + timeout + ": must be PT0.1S or more");
        }
        stuckTimeout = timeout;
    }

    /**
     * Has the arena stand in this file, which stays the caller's, for other processes to read. Before {@link #qos}.
     *
     * @throws IllegalStateException if traffic is scheduled already
     */
    public void show(ArenaFile file) {
        arena.moveTo(file);
    }

    /** Gives threads that start from now on what their ranks have here. Before {@link #qos} and {@link #start}. */
    public void rank(ThreadRanks ranks) {
        context.threads().rank(ranks);
    }

    /** Returns what threads get by their ranks. */
    public ThreadRanks ranks() {
        return context.threads().ranks();
    }

    /** Has services' threads that start from now on join these, which stay the caller's. Before {@link #start}. */
    public void group(ServiceGroups groups) {
        context.threads().group(groups);
    }

    /** Returns the groups that services' threads are in. */
    public ServiceGroups groups() {
        return context.threads().groups();
    }

    /** Makes a thread that is not started, for work beside the streams, which they are to feel as little as can be. */
    public Thread background(String name, Runnable task) {
        return new BackgroundThread(name, task);
    }

    /** Has this open the gates of gated disciplines, from the next configuration of links on. */
    public void gates(GatedDiscipline.Opener opener) {
        context.qualityOfService().opener(opener);
    }

    /**
     * Schedules traffic so from now on; before {@link #start} or under load. Nothing that waits is lost, and the packets
     * of a stream keep their order.
     *
     * @throws IllegalArgumentException with all {@link QosConfig#problems}, each in a line, and nothing is changed
     */
    public void qos(QosConfig config) {
        points.change(config);
    }

    /** Returns how traffic is to be scheduled. */
    public QosConfig qos() {
        return points.asked();
    }

    /** Returns what scheduling has done; without points while it is off. */
    public QosStatus qosStatus() {
        return context.qualityOfService().status();
    }

    /**
     * Sends a packet through the node as if it had come in as a datagram, and waits for its end, so long at most. After
     * {@link #start}.
     *
     * @param source where it came from, and where an answer goes; null = a socket that is there as long as this waits
     * @throws IllegalStateException in one line, when other packets are under way, or no UDP packets are received
     * @throws IllegalArgumentException in one line, when the source is not of the family of a socket for UDP
     */
    public TraceResult trace(Packet packet, @Nullable InetSocketAddress source, Duration atMost)
            throws InterruptedException {
        return tracing.trace(packet, source, atMost);
    }

    /** Returns the keys by which packets are checked and signed; nothing is, until it is told what. */
    public Authentication authentication() {
        return context.authentication();
    }

    /** Returns the Type ID of the packets that services process. */
    public int typeId() {
        return config.typeId();
    }

    /** Returns whether packets go on whose service the node does not have. */
    public boolean passesUnknown() {
        return config.unknownService() == FailurePolicy.PASS;
    }

    /** Looks into the packet path. */
    public Tap tap() {
        return context.tap();
    }

    /**
     * Ends the instances of a service that stands in the catalog no more: UDP instances at once, when they have
     * handled what has reached them; TCP streams by themselves until the deadline, then they are cut.
     *
     * @return TCP streams that were cut
     */
    public int retire(ServiceDefinition definition, Duration deadline) {
        udp.retire(definition);
        return instances.retire(definition, deadline);
    }

    /**
     * Has the instances of a service that stands in the catalog no more end as {@link #retire} does, with no deadline, and
     * then closes its control. Returns at once.
     */
    public void drain(ServiceDefinition definition) {
        udp.retire(definition);
        drain.add(definition);
    }

    /**
     * Has a service handled where its {@link ServiceDefinition#placement} wants it: makes its instance for UDP if there is
     * none yet. Returns at once; the placement tells what came of it. After {@link #start}.
     */
    public void place(ServiceDefinition definition) {
        List<UdpSocket> sockets = context.egress().receiving();
        if (sockets.isEmpty()) {
            definition.placement().failed(definition.label(), "the node receives no UDP packets");
        } else {
            udp.place(definition, sockets.get(0));
        }
    }

    /** Has another instance for UDP tried at once where the last one of a service did not begin. */
    public void renew(ServiceDefinition definition) {
        List<UdpSocket> sockets = context.egress().receiving();
        if (!sockets.isEmpty()) {
            udp.renew(definition, sockets.get(0));
        }
    }

    /**
     * Opens the sockets and begins to accept.
     *
     * @throws IOException in one line, if an address or memory cannot be had; nothing is left open then
     */
    public void start() throws IOException {
        String noThreads = whyNot(config.threads(), context.transport());
        if (!noThreads.isEmpty()) {
            throw new IOException(noThreads);
        }
        if (maxStreams() < config.maxStreams()) {
            LOG.info(
                    "{} streams at once, not {} (limits.max-streams): the JVM has no memory for more;"
                            + " raise -Xmx or -XX:MaxDirectMemorySize",
                    maxStreams(),
                    config.maxStreams());
        }
        context.threads().beginStarter();
        defineAll();
        Acceptor started = new Acceptor(context, streams, udp, receptionTraffic);
        started.start();
        Watchdog<Instance> guard = new Watchdog<>(instances, context.incidents(), context.threads(), stuckTimeout);
        synchronized (this) {
            reception = started;
            watchdog = guard;
        }
        udp.sharedPorts(started::adopt);
        instances.watchedBy(guard);
        guard.start();
        try {
            for (InetSocketAddress address : config.udp()) {
                UdpSocket socket = context.egress().bind(address);
                context.forwarder().own(StreamInfo.Transport.UDP, socket.localAddress());
            }
            for (InetSocketAddress address : config.tcp()) {
                InetSocketAddress bound = started.listen(address, null);
                synchronized (this) {
                    tcpAddresses.add(bound);
                }
                context.forwarder().own(StreamInfo.Transport.TCP, bound);
            }
            startTls(started);
            quic.start(started);
            gateways.start(started);
            List<UdpSocket> plain = attachLevels(started);
            // What levels send up comes from now on.
            for (UdpSocket socket : context.egress().receiving()) {
                started.adopt(UdpPort.ready(socket));
            }
            for (UdpSocket socket : plain) {
                started.adopt(UdpPort.ready(socket));
            }
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private void defineAll() throws IOException {
        List<String> refused = refused();
        if (!refused.isEmpty()) {
            close();
            throw new IOException(String.join("\n", refused));
        }
    }

    /**
     * Makes the controls of all services in the catalog, as {@link #start} does, and returns why services cannot be
     * defined. Waits, bounded. {@link #close} closes the controls.
     */
    public List<String> refused() {
        List<String> refused = new ArrayList<>();
        for (ServiceDefinition definition : context.services().all()) {
            try {
                define(definition);
            } catch (IllegalArgumentException e) {
                refused.add(String.valueOf(e.getMessage()));
            }
        }
        refused.sort(null);
        return refused;
    }

    /** Returns the sockets that plain datagrams come to. */
    private List<UdpSocket> attachLevels(Acceptor started) throws IOException {
        if (context.levels().isNone()) {
            return attach(started, List.of());
        }
        if (context.authentication().isOn()) {
            throw new IOException(
                    "levels below the JVM let packets by that nobody checks: authenticate packets, or use" + " levels");
        }
        String obstacle = started.acceptInTransit();
        if (!obstacle.isEmpty()) {
            LOG.warn("no level looks at TCP: {}", obstacle);
        }
        return attach(started, obstacle.isEmpty() ? tcpAddresses() : List.of());
    }

    private List<UdpSocket> attach(Acceptor started, List<InetSocketAddress> tcp) {
        return context.levels()
                .attach(context.egress().receiving(), tcp, config.typeId(), config.transport(), started::open);
    }

    private void startTls(Acceptor started) throws IOException {
        TlsContext shown = config.tlsFiles() == null
                ? TlsContext.of(TlsFiles.NONE)
                : context.tls().use(config.tlsFiles());
        for (InetSocketAddress address : config.tls()) {
            TlsContext server = shown.requireCertificate("TLS on " + Addresses.text(address));
            InetSocketAddress bound = started.listen(address, server);
            synchronized (this) {
                tlsAddresses.add(bound);
            }
            context.forwarder().own(StreamInfo.Transport.TCP, bound);
        }
    }

    /**
     * Reads the files of TLS again: streams from now on begin with what they hold, both ways, over TCP and QUIC.
     *
     * @return whether they hold another certificate than before
     * @throws IOException in one line, if one is no good; nothing is changed then
     */
    public boolean renewTls() throws IOException {
        TlsFiles files = config.tlsFiles();
        return files != null && quic.renewTls(files.load());
    }

    /** Returns when the first of the certificates that this node shows expires; null when it shows none. */
    public @Nullable Instant certificateExpiry() {
        return context.tls().expiry();
    }

    /**
     * Accepts no more TCP connections, which another process takes from the same sockets, and waits until those that were
     * accepted are streams, so long at most; {@link #stop} is to follow.
     */
    public void leaveListeners(Duration patience) {
        Acceptor accepting;
        synchronized (this) {
            accepting = reception;
        }
        if (accepting != null) {
            accepting.leaveListeners(patience);
        }
    }

    /**
     * Stops accepting, lets streams finish until the deadline, then closes what is left. Returns when every thread
     * has ended, but for services that do not return.
     *
     * @return streams that had to be cut
     */
    public int stop(Duration deadline) {
        Acceptor stopped;
        synchronized (this) {
            stopped = reception;
            reception = null;
        }
        udp.sharedPorts(null);
        context.egress().stop();
        streams.close();
        if (stopped == null) {
            controls.closeAll();
            context.threads().endStarter();
            context.qualityOfService().close();
            return 0;
        }
        context.levels().release();
        quic.stopListening();
        stopped.closeListeners();
        udp.close();
        instances.all().forEach(Instance::nodeStops);
        instances.awaitEnd(deadline);
        List<Instance> left = instances.all();
        left.forEach(each -> each.thread.cut());
        instances.awaitEnd(Instances.CUT_PATIENCE);
        instances.watchedBy(null);
        Watchdog<Instance> guard;
        synchronized (this) {
            guard = watchdog;
            watchdog = null;
        }
        for (Instance instance : instances.all()) {
            LOG.warn("{}: its service does not return; left behind", instance.thread.name());
            if (guard != null) {
                guard.giveUp(instance);
            }
        }
        stopped.stop();
        gateways.close();
        quic.close();
        if (guard != null) {
            guard.stop();
        }
        context.levels().close();
        context.egress().close();
        context.levels().closePath();
        context.qualityOfService().close();
        maker.close();
        controls.closeAll();
        context.threads().endStarter();
        context.pool().close();
        return (int) left.stream()
                .filter(each -> each.isStream() && each.trunk() == each)
                .count();
    }

    /** {@link #stop} at once. */
    @Override
    public void close() {
        stop(Duration.ZERO);
    }

    /** Returns where TCP streams are accepted, with the real ports. */
    public synchronized List<InetSocketAddress> tcpAddresses() {
        return List.copyOf(tcpAddresses);
    }

    /** Returns where TCP streams are accepted inside TLS, with the real ports. */
    public synchronized List<InetSocketAddress> tlsAddresses() {
        return List.copyOf(tlsAddresses);
    }

    /**
     * Takes streams over QUIC at these addresses, too. Before {@link #start}.
     *
     * @param connections at once, of which half, or what {@link StreamLimits#perPeer} says, from one address
     */
    public void quic(List<InetSocketAddress> addresses, int connections) {
        quic.configure(addresses, connections);
    }

    /** Has packets come and leave as SAPF, too. Before {@link #start}. */
    public void sapf(SapfSettings settings) {
        if (settings.isOn()) {
            Sapf made = new Sapf(
                    settings,
                    config.udpBounds().growth(),
                    config.typeId(),
                    context.platform()::nanoTime,
                    context.tap());
            context.egress().over(made::over);
            context.sapf().begin(made);
            sapf = made;
        }
    }

    /** Returns what was done in SAPF; null where it is off. */
    public @Nullable SapfStatistics sapfStatistics() {
        Sapf known = sapf;
        return known == null ? null : known.statistics();
    }

    /** Returns where streams are taken over QUIC, with the real ports. */
    public List<InetSocketAddress> quicAddresses() {
        return quic.addresses();
    }

    /** Carries connections that do not speak in packets, too. Before {@link #start}. */
    public void gateways(List<Gateway> all) {
        gateways.configure(all);
    }

    /** Carries datagrams that are no packets, too. Before {@link #start}. */
    public void udpGateways(List<UdpGateway> all) {
        gateways.configureUdp(all);
    }

    /** Returns the sources of RTP whose packets cross gateways for it. */
    public RtpSnapshot rtp() {
        return gateways.rtp();
    }

    /** Returns what each gateway is and has done, in their order, those for UDP last. */
    public List<GatewayStatus> gatewayStatus() {
        return gateways.status();
    }

    /** Returns where gateways listen, in their order, those for UDP last, with the real ports. */
    public List<InetSocketAddress> gatewayAddresses() {
        return gateways.addresses();
    }

    /** Returns where UDP packets are received, with the real ports. */
    public List<InetSocketAddress> udpAddresses() {
        return context.egress().receiving().stream()
                .map(UdpSocket::localAddress)
                .toList();
    }

    /** Returns one line: which sockets are in use, and why if not the native ones. */
    public String transport() {
        return context.transport().explain();
    }

    /** Returns all that has crossed the node since its start. */
    public TrafficSnapshot traffic() {
        Traffic.Sum sum = new Traffic.Sum();
        instances.addTo(sum);
        receptionTraffic.addTo(sum);
        udp.traffic().addTo(sum);
        tracing.traffic().addTo(sum);
        gateways.addTo(sum);
        Sapf framing = sapf;
        if (framing != null) {
            framing.traffic().addTo(sum);
        }
        return sum.ofNode();
    }

    /** Returns what crossed the instances of one service since the node's start, those that ended included. */
    public TrafficSnapshot traffic(ServiceDefinition definition) {
        Traffic.Sum sum = new Traffic.Sum();
        instances.addTo(sum, definition);
        return sum.ofInstance();
    }

    /**
     * Returns what {@link #traffic(ServiceDefinition)} does for each service that had an instance: where many are asked
     * for, one look at all instances in place of one for each service. Measures what processor time they have used, for
     * the services' {@link ServiceDefinition#health}.
     */
    public Map<ServiceDefinition, TrafficSnapshot> trafficByService() {
        instances.all().forEach(each -> each.supervision().processorNs());
        Map<ServiceDefinition, TrafficSnapshot> traffic = new HashMap<>();
        instances.sums().forEach((service, sum) -> traffic.put(service, sum.ofInstance()));
        return traffic;
    }

    /** Returns how many TCP streams and UDP packets wait for a service's code now. */
    public long waitingForCode() {
        return missing.waitingStreams() + udp.packetsWaiting();
    }

    /** Instances of services that run now. */
    public List<InstanceStatus> instances() {
        return instances.all().stream().map(each -> each.thread.status()).toList();
    }

    /** Counts TCP streams: now, since the start, and refused for want of room. */
    public StreamCounts streams() {
        return streams.places().connections();
    }

    /** Returns how many TCP streams, and further services of their connections, the node takes at once. */
    public int maxStreams() {
        return streams.places().limit();
    }

    /** Returns the room for TCP streams, and who got none. */
    public StreamPlaces places() {
        return streams.places().status();
    }
}

package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.BackgroundThread;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/**
 * Accepts ANEP streams over TCP and UDP, runs them through services and sends them on. One thread receives what is
 * new; each TCP stream, and each service for all UDP traffic, has a thread of its own.
 *
 * <p>Thread contract: any thread.
 */
public final class ExecutionEnvironment implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutionEnvironment.class);
    /** Large buffers in use at once: 64 MiB. */
    private static final int MAX_LARGE_BUFFERS = 256;

    private final EeConfig config;
    private final TransportKind kind;
    private final ServiceCatalog services;
    private final Forwarder forwarder;
    private final BufferPool pool = new BufferPool(MAX_LARGE_BUFFERS);
    private final FailureLog failures = new FailureLog();
    private final Tap tap = new Tap();
    private final Traffic receptionTraffic = new Traffic(tap, "reception");
    private final Instances instances = new Instances(this);
    private final QualityOfService qos = new QualityOfService();

    private volatile Consumer<StreamRecord> streamLog = record -> {};
    private final Incidents incidents = new Incidents(failures);
    private volatile Duration stuckTimeout = Duration.ofSeconds(30);
    private @Nullable Watchdog watchdog;
    private volatile NodeOs levels = NodeOs.NONE;
    private volatile @Nullable UpPath upPath;
    private final MissingServices missing;
    private final InstanceMaker maker;
    private final UdpServices udp;
    private final List<InetSocketAddress> tcpAddresses = new ArrayList<>();
    private final List<InetSocketAddress> tlsAddresses = new ArrayList<>();
    private @Nullable TlsContext tls;
    private final List<UdpSocket> udpSockets = new ArrayList<>();
    private final Map<Class<?>, UdpSocket> egressSockets = new HashMap<>();
    private @Nullable Reception reception;
    private boolean stopping;

    /** An environment that is not started. */
    public ExecutionEnvironment(EeConfig config, RoutingTable routes, ServiceCatalog services) {
        this.config = config;
        this.services = services;
        this.kind = UdpSockets.resolve(config.transport());
        this.forwarder = new Forwarder(routes);
        this.missing = new MissingServices(config.deployTimeout());
        this.maker = new InstanceMaker(config.makeTimeout());
        this.udp = new UdpServices(this, maker, missing);
    }

    /** Asks this source for services that the catalog lacks. Before {@link #start}. */
    public void fetchFrom(ServiceSource source) {
        missing.from(source);
    }

    /**
     * Has these levels below the JVM look at packets, from {@link #start} on. {@link #stop} releases them first, so
     * that new packets go by the node while it drains, and closes them at its end; without a start they stay the caller's.
     * Before {@link #start}.
     */
    public void levels(NodeOs levels) {
        this.levels = levels;
    }

    /** The levels below the JVM. */
    public NodeOs levels() {
        return levels;
    }

    /**
     * Names this node's code server to the next nodes, in previous-active-node options that packets bring along.
     *
     * @param codeServer null = none; an unspecified address stands for the one that packets come from
     */
    public void advertise(@Nullable InetSocketAddress codeServer) {
        forwarder.advertise(codeServer);
    }

    /** Tells of each TCP stream that ends, on its thread; must not block. Before {@link #start}. */
    public void onStreamEnd(Consumer<StreamRecord> log) {
        streamLog = log;
    }

    /** Tells of services that are quarantined, throttled or stuck, on any thread; must not block. */
    public void onIncident(Consumer<Incident> log) {
        incidents.to(log);
    }

    /**
     * How long an instance may stay in its service's code without getting anywhere before it is interrupted and then
     * given up; 30 s unless this is called. Before {@link #start}.
     */
    public void stuckAfter(Duration timeout) {
        if (timeout.compareTo(Duration.ofMillis(100)) < 0) {
            throw new IllegalArgumentException("a service stuck after " + timeout + ": must be PT0.1S or more");
        }
        stuckTimeout = timeout;
    }

    /** A thread that is not started, for work beside the streams, which they are to feel as little as can be. */
    public Thread background(String name, Runnable task) {
        return new BackgroundThread(name, task);
    }

    /**
     * Schedules traffic so from now on; before {@link #start} or under load. Nothing that waits is lost, and the packets
     * of a stream keep their order.
     *
     * @throws IllegalArgumentException with all {@link QosConfig#problems}, each in a line, and nothing is changed
     */
    public void qos(QosConfig config) {
        qos.change(config);
    }

    /** How traffic is scheduled now. */
    public QosConfig qos() {
        return qos.now().config();
    }

    /** What scheduling has done; without points while it is off. */
    public QosStatus qosStatus() {
        return qos.status();
    }

    /** Looks into the packet path. */
    public Tap tap() {
        return tap;
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
     * Has a service handled where its {@link ServiceDefinition#placement} wants it: makes its instance for UDP if there is
     * none yet. Returns at once; the placement tells what came of it. After {@link #start}.
     */
    public void place(ServiceDefinition definition) {
        UdpSocket socket;
        synchronized (this) {
            socket = udpSockets.isEmpty() ? null : udpSockets.get(0);
        }
        if (socket == null) {
            definition.placement().failed(definition.label(), "the node receives no UDP packets");
        } else {
            udp.place(definition, socket);
        }
    }

    // ---- life ------------------------------------------------------------------------------------------------------

    /**
     * Opens the sockets and begins to accept.
     *
     * @throws IOException in one line, if an address cannot be had; nothing is left open then
     */
    public void start() throws IOException {
        Reception started = new Reception(this, receptionTraffic);
        started.start();
        Watchdog guard = new Watchdog(this, stuckTimeout);
        synchronized (this) {
            reception = started;
            watchdog = guard;
        }
        instances.watchedBy(guard);
        guard.start();
        try {
            for (InetSocketAddress address : config.udp()) {
                UdpSocket socket = UdpSockets.bind(kind, address);
                synchronized (this) {
                    udpSockets.add(socket);
                }
                forwarder.own(StreamInfo.Transport.UDP, socket.localAddress());
            }
            for (InetSocketAddress address : config.tcp()) {
                InetSocketAddress bound = started.listen(address, null);
                synchronized (this) {
                    tcpAddresses.add(bound);
                }
                forwarder.own(StreamInfo.Transport.TCP, bound);
            }
            startTls(started);
            attachLevels(started);
            // What levels send up comes from now on.
            udpSockets.forEach(socket -> started.adopt(new UdpPort(socket)));
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private static void quietly(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.error("the levels below the JVM fail", e);
        }
    }

    private void attachLevels(Reception started) {
        if (levels == NodeOs.NONE) {
            return;
        }
        try {
            String obstacle = started.acceptInTransit();
            if (!obstacle.isEmpty()) {
                LOG.warn("no level looks at TCP: {}", obstacle);
            }
            List<InetSocketAddress> tcp = obstacle.isEmpty() ? tcpAddresses() : List.of();
            upPath = UpPath.attach(levels, udpSockets, tcp, config.typeId());
        } catch (IOException | LevelException e) {
            LOG.warn("no level below the JVM: {}", e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("no level below the JVM: by a fault of theirs", e);
        }
    }

    private void startTls(Reception started) throws IOException {
        if (config.tlsFiles() != null) {
            TlsContext context = TlsContext.of(config.tlsFiles());
            synchronized (this) {
                tls = context;
            }
        }
        for (InetSocketAddress address : config.tls()) {
            TlsContext context = TlsContext.of(config.tlsFiles() == null ? TlsFiles.NONE : config.tlsFiles())
                    .requireCertificate("TLS on " + address.getHostString() + ":" + address.getPort());
            InetSocketAddress bound = started.listen(address, context);
            synchronized (this) {
                tlsAddresses.add(bound);
            }
            forwarder.own(StreamInfo.Transport.TCP, bound);
        }
    }

    /**
     * Stops accepting, lets streams finish until the deadline, then closes what is left. Returns when every thread
     * has ended, but for services that do not return.
     *
     * @return streams that had to be cut
     */
    public int stop(Duration deadline) {
        Reception stopped;
        synchronized (this) {
            stopped = reception;
            reception = null;
            stopping = true;
        }
        instances.close();
        if (stopped == null) {
            qos.close();
            return 0;
        }
        quietly(levels::release);
        stopped.closeListeners();
        udp.close();
        instances.all().forEach(instance -> {
            if (instance instanceof UdpService udp) {
                udp.endInput();
            }
        });
        instances.awaitEnd(deadline);
        List<ServiceInstance> left = instances.all();
        left.forEach(ServiceInstance::cut);
        instances.awaitEnd(Instances.CUT_PATIENCE);
        instances.watchedBy(null);
        Watchdog guard;
        synchronized (this) {
            guard = watchdog;
            watchdog = null;
        }
        for (ServiceInstance instance : instances.all()) {
            LOG.warn(
                    "{}: its service does not return; left behind",
                    instance.thread().getName());
            if (guard != null) {
                guard.giveUp(instance);
            }
        }
        try {
            stopped.stop();
            if (guard != null) {
                guard.stop();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        quietly(levels::close);
        synchronized (this) {
            udpSockets.forEach(UdpSocket::close);
            egressSockets.values().forEach(UdpSocket::close);
        }
        UpPath up = upPath;
        if (up != null) {
            up.close();
        }
        qos.close();
        maker.close();
        pool.close();
        return (int) left.stream().filter(TcpStream.class::isInstance).count();
    }

    /** {@link #stop} at once. */
    @Override
    public void close() {
        stop(Duration.ZERO);
    }

    // ---- what an operator sees ------------------------------------------------------------------------------------

    /** Where TCP streams are accepted, with the real ports. */
    public synchronized List<InetSocketAddress> tcpAddresses() {
        return List.copyOf(tcpAddresses);
    }

    /** Where TCP streams are accepted inside TLS, with the real ports. */
    public synchronized List<InetSocketAddress> tlsAddresses() {
        return List.copyOf(tlsAddresses);
    }

    /** Where UDP packets are received, with the real ports. */
    public synchronized List<InetSocketAddress> udpAddresses() {
        return udpSockets.stream().map(UdpSocket::localAddress).toList();
    }

    /** One line: which sockets are in use, and why if not the native ones. */
    public String transport() {
        return UdpSockets.explain(config.transport());
    }

    /** All that has crossed the node since its start. */
    public TrafficSnapshot traffic() {
        Traffic.Sum sum = new Traffic.Sum();
        instances.addTo(sum);
        receptionTraffic.addTo(sum);
        udp.traffic().addTo(sum);
        return sum.ofNode();
    }

    /** What crossed the instances of one service since the node's start, those that ended included. */
    public TrafficSnapshot traffic(ServiceDefinition definition) {
        Traffic.Sum sum = new Traffic.Sum();
        instances.addTo(sum, definition);
        return sum.ofInstance();
    }

    /** TCP streams and UDP packets that wait for a service's code now. */
    public long waitingForCode() {
        return missing.waitingStreams() + udp.packetsWaiting();
    }

    /** Instances of services that run now. */
    public List<InstanceStatus> instances() {
        return instances.all().stream().map(ServiceInstance::status).toList();
    }

    /** TCP streams now, since the start, and refused for want of room. */
    public StreamCounts streams() {
        return instances.streams();
    }

    /** TCP streams that it takes at once. */
    public int maxStreams() {
        return config.maxStreams();
    }

    // ---- for the threads of this environment ----------------------------------------------------------------------

    EeConfig config() {
        return config;
    }

    /** How datagrams come up from levels; null while none are attached. */
    @Nullable
    UpPath upPath() {
        return upPath;
    }

    /** What connections to TLS next hops begin with; null, and a line in the log, when there can be none. */
    synchronized @Nullable TlsContext tls() {
        if (tls == null) {
            try {
                tls = TlsContext.of(TlsFiles.NONE);
            } catch (IOException e) {
                LOG.warn("no TLS next hop can be reached: {}", e.getMessage());
            }
        }
        return tls;
    }

    Instances running() {
        return instances;
    }

    ServiceCatalog services() {
        return services;
    }

    Forwarder forwarder() {
        return forwarder;
    }

    BufferPool pool() {
        return pool;
    }

    FailureLog failures() {
        return failures;
    }

    Incidents incidents() {
        return incidents;
    }

    QualityOfService qualityOfService() {
        return qos;
    }

    MissingServices missing() {
        return missing;
    }

    InstanceMaker maker() {
        return maker;
    }

    UdpServices udp() {
        return udp;
    }

    IoLoop newLoop() {
        return new IoLoop(kind, pool);
    }

    synchronized @Nullable Reception reception() {
        return reception;
    }

    /** What packets for a service meet first: while it is in quarantine, none of its code. */
    static ServiceDefinition entrance(ServiceDefinition definition) {
        return definition.life().isQuarantined() ? Transit.DEFINITION : definition;
    }

    /** A TCP stream has ended. Its thread. */
    void streamEnded(StreamRecord record) {
        try {
            streamLog.accept(record);
        } catch (RuntimeException e) {
            LOG.error("the log of streams failed", e);
        }
    }

    /**
     * The socket that datagrams to {@code address} leave through: one that the node receives on, so that answers
     * find it, where it can reach that address; else one of its own. Null when none is to be had.
     */
    synchronized @Nullable UdpSocket udpSocketTowards(InetAddress address) {
        for (UdpSocket socket : udpSockets) {
            InetAddress local = socket.localAddress().getAddress();
            if (local.getClass() == address.getClass()
                    && (local.isAnyLocalAddress() || local.isLoopbackAddress() == address.isLoopbackAddress())) {
                return socket;
            }
        }
        UdpSocket known = egressSockets.get(address.getClass());
        if (known == null && !stopping) {
            try {
                byte[] any = new byte[address.getAddress().length];
                known = UdpSockets.bind(kind, new InetSocketAddress(InetAddress.getByAddress(any), 0));
                egressSockets.put(address.getClass(), known);
            } catch (IOException e) {
                LOG.warn("no UDP socket towards {}: {}", address, e.getMessage());
            }
        }
        return known;
    }
}

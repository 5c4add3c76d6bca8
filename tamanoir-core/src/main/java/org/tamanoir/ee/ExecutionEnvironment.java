package org.tamanoir.ee;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tamanoir.anep.DropReason;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.tls.TlsContext;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.BackgroundThread;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.TcpConnection;
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
    /** How long threads may take to notice that they are cut; a service that does not return takes longer. */
    private static final Duration CUT_PATIENCE = Duration.ofSeconds(3);
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
    private final Traffic.Sum endedTraffic = new Traffic.Sum();
    /** Of services that exist, since the sums of those that are gone are of no use to anybody. */
    private final Map<ServiceDefinition, Traffic.Sum> endedByService = new WeakHashMap<>();

    private volatile Consumer<StreamRecord> streamLog = record -> {};
    private final Incidents incidents = new Incidents(failures);
    private volatile Duration stuckTimeout = Duration.ofSeconds(30);
    /** Instances given up whose threads still run. */
    private final Set<ServiceInstance> leftBehind = new LinkedHashSet<>();

    private @Nullable Watchdog watchdog;
    private final Set<ServiceInstance> instances = new LinkedHashSet<>();
    private final MissingServices missing;
    private final InstanceMaker maker;
    private final UdpServices udp;
    private final List<InetSocketAddress> tcpAddresses = new ArrayList<>();
    private final List<InetSocketAddress> tlsAddresses = new ArrayList<>();
    private @Nullable TlsContext tls;
    private final List<UdpSocket> udpSockets = new ArrayList<>();
    private final Map<Class<?>, UdpSocket> egressSockets = new HashMap<>();
    private @Nullable Reception reception;
    private int streams;
    private long streamsRefused;
    private long streamsTotal;
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
        long deadlineNs = System.nanoTime() + deadline.toNanos();
        Set<TcpStream> cut = new HashSet<>();
        synchronized (this) {
            awaitEnd(definition, deadlineNs);
            for (ServiceInstance instance : instances) {
                TcpStream stream = instance instanceof TcpStream trunk
                        ? trunk
                        : instance instanceof TcpBranch branch ? branch.trunk() : null;
                if (stream != null && instance.definition() == definition && cut.add(stream)) {
                    LOG.info(
                            "{}: cut: its service is taken away",
                            stream.thread().getName());
                    stream.cut();
                }
            }
            awaitEnd(definition, System.nanoTime() + CUT_PATIENCE.toNanos());
            instances.stream()
                    .filter(instance -> instance.definition() == definition)
                    .forEach(ServiceInstance::cut);
        }
        return cut.size();
    }

    /** Waits, bounded, until no instance of a service is left. */
    private synchronized void awaitEnd(ServiceDefinition definition, long deadlineNs) {
        boolean interrupted = false;
        while (!interrupted && instances.stream().anyMatch(instance -> instance.definition() == definition)) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
            if (left <= 0) {
                break;
            }
            try {
                wait(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
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
        guard.start();
        try {
            for (InetSocketAddress address : config.udp()) {
                UdpSocket socket = UdpSockets.bind(kind, address);
                synchronized (this) {
                    udpSockets.add(socket);
                }
                forwarder.own(StreamInfo.Transport.UDP, socket.localAddress());
                started.adopt(new UdpPort(socket));
            }
            for (InetSocketAddress address : config.tcp()) {
                InetSocketAddress bound = started.listen(address, null);
                synchronized (this) {
                    tcpAddresses.add(bound);
                }
                forwarder.own(StreamInfo.Transport.TCP, bound);
            }
            startTls(started);
        } catch (IOException e) {
            close();
            throw e;
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
        if (stopped == null) {
            return 0;
        }
        stopped.closeListeners();
        udp.close();
        snapshotInstances().forEach(instance -> {
            if (instance instanceof UdpService udp) {
                udp.endInput();
            }
        });
        awaitInstances(deadline);
        List<ServiceInstance> left = snapshotInstances();
        left.forEach(ServiceInstance::cut);
        awaitInstances(CUT_PATIENCE);
        Watchdog guard;
        synchronized (this) {
            guard = watchdog;
            watchdog = null;
        }
        for (ServiceInstance instance : snapshotInstances()) {
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
        synchronized (this) {
            udpSockets.forEach(UdpSocket::close);
            egressSockets.values().forEach(UdpSocket::close);
        }
        maker.close();
        pool.close();
        return (int) left.stream().filter(TcpStream.class::isInstance).count();
    }

    /** {@link #stop} at once. */
    @Override
    public void close() {
        stop(Duration.ZERO);
    }

    private synchronized void awaitInstances(Duration time) {
        long deadline = System.nanoTime() + time.toNanos();
        boolean interrupted = false;
        while (!instances.isEmpty()) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                break;
            }
            try {
                wait(left);
            } catch (InterruptedException e) {
                interrupted = true;
                break;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- what an operator sees
    // ---------------------------------------------------------------------------------------

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
        synchronized (this) {
            sum.add(endedTraffic);
            receptionTraffic.addTo(sum);
            udp.traffic().addTo(sum);
            instances.forEach(instance -> instance.traffic.addTo(sum));
        }
        return sum.ofNode();
    }

    /** What crossed the instances of one service since the node's start, those that ended included. */
    public TrafficSnapshot traffic(ServiceDefinition definition) {
        Traffic.Sum sum = new Traffic.Sum();
        synchronized (this) {
            Traffic.Sum ended = endedByService.get(definition);
            if (ended != null) {
                sum.add(ended);
            }
            for (ServiceInstance instance : instances) {
                if (instance.definition().equals(definition)) {
                    instance.traffic.addTo(sum);
                }
            }
        }
        return sum.ofInstance();
    }

    /** TCP streams and UDP packets that wait for a service's code now. */
    public long waitingForCode() {
        return missing.waitingStreams() + udp.packetsWaiting();
    }

    /** Instances of services that run now. */
    public List<InstanceStatus> instances() {
        return snapshotInstances().stream().map(ServiceInstance::status).toList();
    }

    /** TCP streams now, since the start, and refused for want of room. */
    public synchronized StreamCounts streams() {
        return new StreamCounts(streams, streamsTotal, streamsRefused);
    }

    private synchronized List<ServiceInstance> snapshotInstances() {
        return List.copyOf(instances);
    }

    // ---- for the threads of this environment
    // ---------------------------------------------------------------------------

    EeConfig config() {
        return config;
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

    /** Counts a connection in; false when there are too many. */
    synchronized boolean admit() {
        if (stopping || streams >= config.maxStreams()) {
            streamsRefused++;
            return false;
        }
        streams++;
        streamsTotal++;
        return true;
    }

    /** Counts a connection out. */
    synchronized void leave() {
        streams--;
    }

    /**
     * Moves a connection onto a thread of its own, which runs this service. The reception's thread.
     *
     * @param key what its first packet names the service by
     * @return false when the service has been replaced or taken away since it was found
     */
    boolean openStream(TcpConnection connection, ServiceDefinition definition, long key, Service service) {
        TcpStream stream;
        try {
            StreamInfo info =
                    new StreamInfo(StreamInfo.Transport.TCP, connection.remoteAddress(), connection.localAddress());
            stream = new TcpStream(this, definition, service, connection, info);
        } catch (RuntimeException | Error e) {
            failures.failed(definition.name(), "its start", e, "stream closed");
            TcpInput.drop(connection, receptionTraffic, DropReason.NO_INSTANCE, config.typeId());
            connection.reset();
            leave();
            return true;
        }
        if (definition != Transit.DEFINITION) {
            stream.serves(key);
        }
        if (!registerIfCurrent(stream, key)) {
            stream.loop.own();
            stream.loop.close();
            return false;
        }
        connection.leave(() -> startOrEnd(stream));
        return true;
    }

    /** Who takes a service away finds every instance that was begun before. */
    private synchronized boolean registerIfCurrent(ServiceInstance instance, long key) {
        ServiceDefinition definition = instance.definition();
        if (definition != Transit.DEFINITION && services.find(key) != definition) {
            return false;
        }
        register(instance);
        return true;
    }

    /** A second service for a stream; null when it cannot be started, or was taken away since it was found. */
    @Nullable
    TcpBranch openBranch(TcpStream trunk, ServiceDefinition definition, long key, Service service) {
        try {
            TcpBranch branch = new TcpBranch(this, definition, service, trunk);
            if (!registerIfCurrent(branch, key)) {
                branch.loop.own();
                branch.loop.close();
                branch.free(trunk.traffic);
                return null;
            }
            return startOrEnd(branch) ? branch : null;
        } catch (RuntimeException | Error e) {
            failures.failed(definition.name(), "its start", e, "packet dropped");
            return null;
        }
    }

    /** Starts an instance; false when there is no thread for it. */
    boolean begin(ServiceInstance instance) {
        register(instance);
        return startOrEnd(instance);
    }

    private boolean startOrEnd(ServiceInstance instance) {
        try {
            instance.start();
            return true;
        } catch (OutOfMemoryError e) {
            // No thread is to be had: the instance ends on this one, without having run.
            LOG.warn("{}: no thread to be had: {}", instance.thread().getName(), e.getMessage());
            instance.cut();
            instance.run(instance.service());
            return false;
        }
    }

    private synchronized void register(ServiceInstance instance) {
        instances.add(instance);
        if (instances.size() == 1 && watchdog != null) {
            watchdog.wake();
        }
    }

    /** Instances that run, and those given up that still do. */
    synchronized List<ServiceInstance> watched() {
        leftBehind.removeIf(instance -> !instance.isAlive());
        List<ServiceInstance> all = new ArrayList<>(instances);
        all.addAll(leftBehind);
        return all;
    }

    /** An instance does not return from its service's code. False when it has. */
    boolean abandon(ServiceInstance instance, DropReason reason) {
        if (!instance.abandon(reason)) {
            return false;
        }
        synchronized (this) {
            leftBehind.add(instance);
        }
        ended(instance);
        return true;
    }

    /** What packets for a service meet first: while it is in quarantine, none of its code. */
    static ServiceDefinition entrance(ServiceDefinition definition) {
        return definition.life().isQuarantined() ? Transit.DEFINITION : definition;
    }

    /** An instance has ended; its counts stay. */
    synchronized void ended(ServiceInstance instance) {
        if (instances.remove(instance)) {
            instance.traffic.addTo(endedTraffic);
            instance.traffic.addTo(
                    endedByService.computeIfAbsent(instance.definition(), definition -> new Traffic.Sum()));
            if (instance instanceof TcpStream) {
                streams--;
            } else if (instance instanceof UdpService service) {
                udp.ended(service);
            }
            notifyAll();
        }
    }

    /** A TCP stream has ended. Its thread. */
    void streamEnded(StreamRecord record) {
        try {
            streamLog.accept(record);
        } catch (RuntimeException e) {
            LOG.error("the log of streams failed", e);
        }
    }

    /** Waits, bounded, until the threads of these instances have ended. */
    void join(Collection<? extends ServiceInstance> ending) {
        long deadline = System.nanoTime() + CUT_PATIENCE.toNanos();
        for (ServiceInstance instance : ending) {
            if (instance.isAbandoned()) {
                continue;
            }
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            try {
                instance.thread().join(Math.max(1, left));
            } catch (InterruptedException e) {
                return;
            }
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

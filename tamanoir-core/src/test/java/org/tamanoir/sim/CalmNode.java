package org.tamanoir.sim;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.ee.SimulatedLife;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.BufferPool;

/**
 * An environment in virtual time on a network where nothing goes wrong, with senders and one next hop that are never
 * slow: what it gives to whom is its scheduling's doing alone. Packets that leave are checked for wholeness and order.
 *
 * <p>Thread contract: whoever has the baton, but for {@link #play}.
 */
final class CalmNode {
    private static final InetSocketAddress ADDRESS = SimNet.at("10.0.0.1", 3322);
    private static final InetSocketAddress HOP = SimNet.at("10.0.2.1", 4000);
    /** Hosts that packets go to straight. */
    static final String RECEIVERS = "10.0.3.0/24";

    private static final long MILLISECOND_NS = 1_000_000;
    private static final long PATIENCE_NS = 300_000 * MILLISECOND_NS;
    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(2);
    static final Duration LINGER_TIMEOUT = Duration.ofSeconds(1);
    /** Packets that an endless sender has ready for the next millisecond: more than the node takes in that time. */
    private static final int AHEAD = 64;

    final Simulation simulation;
    final ExecutionEnvironment environment;
    /** How each stream ended. */
    final List<String> ends = new ArrayList<>();

    private final SimNet net;
    private final BufferPool pool = BufferPool.of(64 << 20);
    private final ServiceCatalog catalog = new ServiceCatalog();
    private final Map<Integer, Integer> arrived = new HashMap<>();
    private final Map<Integer, Long> arrivedBytes = new HashMap<>();
    private final Map<Integer, Integer> lastOfFlow = new HashMap<>();
    private boolean isWriting = true;

    /** What a test does with a node. */
    interface Body {
        /** Runs it. */
        void run(CalmNode node) throws Exception;
    }

    private CalmNode(Simulation simulation, Duration stallTimeout) {
        this.simulation = simulation;
        this.net = new SimNet(simulation);
        net.isCalm = true;
        net.listen(HOP, (toFar, toNode) -> {
            FarTcp far = new FarTcp(simulation, toFar, toNode, this::arrive, this::fault, true);
            far.endWithNode();
            return far;
        });
        net.receive(HOP, datagram -> {
            Packet packet = new Packet();
            ParseFault fault = packet.parse(ByteBuffer.wrap(datagram), 0, datagram.length);
            if (fault != null) {
                fault("a datagram that is no packet: " + fault);
            } else {
                arrive(packet);
            }
        });
        EeConfig defaults = EeConfig.defaults();
        EeConfig config = new EeConfig(
                List.of(ADDRESS),
                List.of(ADDRESS),
                defaults.typeId(),
                defaults.transport(),
                FailurePolicy.DROP,
                64,
                16,
                1 << 20,
                Duration.ofSeconds(2),
                Duration.ofSeconds(10),
                stallTimeout,
                LINGER_TIMEOUT);
        NextHop hop = new NextHop(HOP.getAddress(), HOP.getPort(), NextHop.Transport.SAME, NextHop.Kind.HOST);
        this.environment = new ExecutionEnvironment(
                config,
                new RoutingTable(List.of(
                        new Route(Prefix.parse("0.0.0.0/0"), hop),
                        new Route(
                                Prefix.parse(RECEIVERS),
                                new NextHop(null, 0, NextHop.Transport.SAME, NextHop.Kind.HOST)))),
                catalog,
                pool,
                simulation,
                net);
        environment.onStreamEnd(record -> ends.add(record.end()));
    }

    /** Plays a body with a node, from its start to its end, at which nothing may be left of it. */
    static void play(long seed, Body body) throws Exception {
        play(seed, STALL_TIMEOUT, body);
    }

    /** Plays likewise with a node that closes streams which get nothing for this time. */
    static void play(long seed, Duration stallTimeout, Body body) throws Exception {
        Simulation simulation = new Simulation(seed);
        Runnable ending = Journal.begin();
        try {
            Journal.listen(simulation);
            simulation.run(() -> {
                CalmNode node = new CalmNode(simulation, stallTimeout);
                try {
                    body.run(node);
                    node.end();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            Journal.forget(simulation);
        } finally {
            ending.run();
        }
        Throwable failure = simulation.failure();
        if (failure != null) {
            throw new AssertionError("seed " + seed + ": " + failure.getMessage(), failure);
        }
    }

    private void fault(String what) {
        simulation.fail(new AssertionError(what));
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    // ---- what comes out --------------------------------------------------------------------------------------------

    private void arrive(Packet packet) {
        String fault = Content.fault(packet.payload());
        if (fault != null) {
            fault(fault);
            return;
        }
        Content content = Content.read(packet.payload());
        arrived.merge(content.stream(), 1, Integer::sum);
        arrivedBytes.merge(content.stream(), (long) packet.length(), Long::sum);
        Integer before = lastOfFlow.put(content.stream(), content.sequence());
        if (before != null && before >= content.sequence()) {
            fault(content + " came behind " + before);
        }
    }

    /** Returns how many packets of a sender have arrived at the next hop. */
    int arrived(int sender) {
        return arrived.getOrDefault(sender, 0);
    }

    /** Returns how many bytes of a sender's packets have arrived at the next hop. */
    long arrivedBytes(int sender) {
        return arrivedBytes.getOrDefault(sender, 0L);
    }

    // ---- services and senders --------------------------------------------------------------------------------------

    /** Adds a service; returns its health. */
    ServiceHealth service(String name, Supplier<? extends Service> factory) {
        return service(name, SimulatedLife.of(simulation::nanoTime), factory);
    }

    /** Adds a service with this health, and returns that. */
    ServiceHealth service(String name, ServiceHealth health, Supplier<? extends Service> factory) {
        catalog.add(new ServiceDefinition(name, "", factory, ServiceConfig.EMPTY, FailurePolicy.DROP, health));
        return health;
    }

    /** Adds a service of which several threads run instances, in the order of its streams; returns its health. */
    ServiceHealth shared(String name, Class<? extends Service> type, Supplier<? extends Service> factory) {
        ServiceHealth health = SimulatedLife.of(simulation::nanoTime);
        catalog.add(new ServiceDefinition(
                name,
                "",
                factory,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                health,
                new Placement(),
                DefinedControl.NONE,
                new Dispatch(true, true, 64),
                ServiceTraits.of(type)));
        return health;
    }

    /** Has a service tried at once, as an operator's release does. */
    void release(String name) {
        ServiceDefinition definition = catalog.all().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
        definition.health().release();
        environment.renew(definition);
    }

    /** Adds a service of this class, and so of what it says of itself. */
    void service(String name, Class<? extends Service> type, Supplier<? extends Service> factory) {
        catalog.add(new ServiceDefinition(
                name,
                "",
                factory,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                SimulatedLife.of(simulation::nanoTime),
                new Placement(),
                DefinedControl.NONE,
                Dispatch.STREAM,
                ServiceTraits.of(type)));
    }

    /** Adds a service whose datagrams go to several workers. */
    void workers(String name, Class<? extends Service> type, Supplier<? extends Service> factory) {
        catalog.add(new ServiceDefinition(
                name,
                "",
                factory,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                SimulatedLife.of(simulation::nanoTime),
                new Placement(),
                DefinedControl.NONE,
                new Dispatch(true, true, Dispatch.MIN_JOBS),
                ServiceTraits.of(type)));
    }

    /** Takes a service away, whose instances are cut at the deadline. */
    void retire(String name, Duration deadline) {
        ServiceDefinition definition = Objects.requireNonNull(catalog.find(ServiceKey.of(name)));
        catalog.remove(definition);
        environment.retire(definition, deadline);
    }

    /** Lets a host of {@link #RECEIVERS} take TCP connections, and hands on what it gets. */
    void receiver(InetSocketAddress address, Consumer<Packet> taker) {
        net.listen(address, (toFar, toNode) -> {
            FarTcp far = new FarTcp(simulation, toFar, toNode, taker, this::fault, true);
            far.endWithNode();
            return far;
        });
    }

    /** Lets a host take TCP connections, and never read. */
    void deafReceiver(InetSocketAddress address) {
        net.listen(address, (toFar, toNode) -> {
            FarTcp far = new FarTcp(simulation, toFar, toNode, packet -> {}, this::fault, true);
            far.stall();
            return far;
        });
    }

    /** Lets nobody answer who connects to a host. */
    void blackHole(InetSocketAddress address) {
        net.swallow(address);
    }

    /** Returns the length of a sender's packets that ask for this service and carry so much. */
    static int packetBytes(String service, int payloadBytes) {
        return packet(1, 0, service, 0, payloadBytes).length;
    }

    private static byte[] packet(int sender, int sequence, String service, int trafficClass, int payloadBytes) {
        PacketBuilder builder = new PacketBuilder()
                        .source(SimNet.at("10.0.9." + sender, 0).getAddress())
                        .destination(SimNet.at("10.0.1.1", 0).getAddress())
                        .classOfService(trafficClass, 0)
                        .stream(sender)
                        .hopBudget(9);
        ByteBuffer payload = ByteBuffer.allocate(payloadBytes);
        new Content(sender, sequence, Content.Action.FORWARD, 0, 0, false).write(payload);
        ByteBuffer bytes = (service.isEmpty() ? builder : builder.service(service))
                .build(payload)
                .buffer()
                .duplicate()
                .rewind();
        byte[] all = new byte[bytes.remaining()];
        bytes.get(all);
        return all;
    }

    /** Begins a TCP stream that sends so many packets and ends its side. */
    void stream(int sender, String service, int trafficClass, int packets, int payloadBytes) {
        FarTcp far = connect(sender);
        for (int i = 0; i < packets; i++) {
            far.send(ByteBuffer.wrap(packet(sender, i, service, trafficClass, payloadBytes)));
        }
        far.endWhenSent();
    }

    /** Begins a TCP stream that always has something to send until {@link #endWriting}. */
    void endlessStream(int sender, String service, int trafficClass, int payloadBytes) {
        FarTcp far = connect(sender);
        int[] sequence = {0};
        everyMillisecond(() -> {
            if (!isWriting || far.isOver()) {
                far.endWhenSent();
                return false;
            }
            int count = far.hasSent() ? AHEAD : 0;
            for (int i = 0; i < count; i++) {
                far.send(ByteBuffer.wrap(packet(sender, sequence[0]++, service, trafficClass, payloadBytes)));
            }
            return true;
        });
    }

    /** Begins a TCP stream that sends a packet every so many milliseconds until {@link #endWriting}. */
    void slowStream(int sender, String service, int trafficClass, int payloadBytes, int everyMs) {
        slowly(connect(sender), sender, 0, service, trafficClass, payloadBytes, everyMs);
    }

    private void slowly(
            FarTcp far, int sender, int sequence, String service, int trafficClass, int payloadBytes, int everyMs) {
        if (!isWriting) {
            far.endWhenSent();
            return;
        }
        far.send(ByteBuffer.wrap(packet(sender, sequence, service, trafficClass, payloadBytes)));
        simulation.at(
                everyMs * MILLISECOND_NS,
                () -> slowly(far, sender, sequence + 1, service, trafficClass, payloadBytes, everyMs));
    }

    /**
     * Begins a TCP stream that sends packets and these bytes behind them all at once, reads nothing of what comes back, of
     * which no more than a window of 256 bytes can leave, and breaks after so many milliseconds.
     */
    void lostSender(int sender, String service, int packets, int payloadBytes, byte[] behind, int afterMs) {
        FarTcp far = connect(sender, 256);
        ByteBuffer all = ByteBuffer.allocate(packets * packetBytes(service, payloadBytes) + behind.length);
        for (int i = 0; i < packets; i++) {
            all.put(packet(sender, i, service, 0, payloadBytes));
        }
        far.stall();
        far.send(all.put(behind).flip());
        simulation.at(afterMs * MILLISECOND_NS, far::cut);
    }

    /** Begins a stream that can be told to stop, with one packet and these bytes behind it, and ends its side. */
    void stoppedSender(int sender, String service, byte[] behind) {
        net.stopsSenders = true;
        FarTcp far = connect(sender);
        far.send(ByteBuffer.wrap(packet(sender, 0, service, 0, 100)));
        far.send(ByteBuffer.wrap(behind));
        far.endWhenSent();
    }

    private FarTcp connect(int sender) {
        return connect(sender, 1 << 16);
    }

    private FarTcp connect(int sender, int windowBytes) {
        SimPipe toFar = new SimPipe(simulation, net, windowBytes);
        SimPipe toNode = new SimPipe(simulation, net, 1 << 16);
        check(
                net.connectToNode(ADDRESS, SimNet.at("10.0.9." + sender, 9000), pool, toFar, toNode),
                "the node does not listen");
        return new FarTcp(simulation, toFar, toNode, packet -> {}, this::fault, true);
    }

    /** Sends so many datagrams every millisecond until {@link #endWriting}. */
    void endlessDatagrams(int sender, String service, int trafficClass, int payloadBytes, int perMillisecond) {
        int[] sequence = {0};
        everyMillisecond(() -> {
            for (int i = 0; isWriting && i < perMillisecond; i++) {
                datagram(sender, sequence[0]++, service, trafficClass, payloadBytes);
            }
            return isWriting;
        });
    }

    /** Sends a datagram. */
    void datagram(int sender, int sequence, String service, int trafficClass, int payloadBytes) {
        byte[] bytes = packet(sender, sequence, service, trafficClass, payloadBytes);
        net.sendToNode(bytes, SimNet.at("10.0.9." + sender, 9000), ADDRESS);
    }

    private void everyMillisecond(BooleanSupplier step) {
        if (step.getAsBoolean()) {
            simulation.at(MILLISECOND_NS, () -> everyMillisecond(step));
        }
    }

    /** Ends what the endless senders send. */
    void endWriting() {
        isWriting = false;
    }

    // ---- waits and counts ------------------------------------------------------------------------------------------

    /** Waits, in virtual time, until something is so. */
    void await(BooleanSupplier condition) {
        long endNs = simulation.nanoTime() + PATIENCE_NS;
        while (!condition.getAsBoolean()) {
            check(
                    simulation.nanoTime() < endNs,
                    "what is waited for does not come: " + environment.traffic() + ", ends: " + ends + ", qos: "
                            + environment.qosStatus());
            simulation.sleep(MILLISECOND_NS, false);
        }
    }

    /** Returns how a class fares at a point of scheduling. */
    QosStatus.ClassStatus status(int point, int trafficClass) {
        return environment.qosStatus().points().get(point).classes().get(trafficClass);
    }

    /** Waits until nothing is left in the node, and returns what was dropped. */
    Map<DropReason, Long> settle() {
        await(() -> environment.traffic().held() == 0 && environment.streams().open() == 0 && net.unread() == 0);
        return environment.traffic().drops();
    }

    private void end() {
        isWriting = false;
        environment.stop(Duration.ofSeconds(1));
        simulation.sleep(60_000 * MILLISECOND_NS, false); // Services that were stuck come back.
        TrafficSnapshot traffic = environment.traffic();
        check(
                traffic.packetsIn() + traffic.packetsMade() == traffic.packetsOut() + traffic.dropped()
                        && traffic.held() == 0,
                "packets do not add up: " + traffic);
        check(net.leaks().isEmpty(), "left open: " + net.leaks());
        check(pool.usedBytes() == 0, "memory is left: " + pool.usedBytes() + " bytes");
        Journal.check(simulation);
        check(simulation.threads().equals(List.of("operator")), "threads are left: " + simulation.threads());
    }
}

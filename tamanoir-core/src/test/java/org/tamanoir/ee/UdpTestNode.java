package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceSource;
import org.tamanoir.platform.Platform;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.Allotment;
import org.tamanoir.service.Counter;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Tiers;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpSockets;

/** A node on free loopback ports, with the services and routes of a test. */
final class UdpTestNode implements AutoCloseable {
    static final Duration PATIENCE = Waiting.PATIENCE;

    final RoutingTable routes = new RoutingTable();
    final ServiceCatalog services = new ServiceCatalog();
    final ExecutionEnvironment environment;

    UdpTestNode(EeConfig config) {
        environment = new ExecutionEnvironment(config, routes, services);
    }

    UdpTestNode(EeConfig config, Platform platform) {
        this(config, platform, new BufferPool());
    }

    UdpTestNode(EeConfig config, Platform platform, BufferPool pool) {
        environment =
                new ExecutionEnvironment(config, routes, services, pool, platform, Transport.of(config.transport()));
    }

    /** A node that receives UDP, and TCP, on 127.0.0.1. */
    static UdpTestNode start(TransportKind kind) {
        return start(config(kind));
    }

    static UdpTestNode start(EeConfig config) {
        return start(config, Platform.SYSTEM);
    }

    /** A node whose time is this platform's. */
    static UdpTestNode start(EeConfig config, Platform platform) {
        if (config.transport() == TransportKind.NATIVE) {
            boolean works = UdpSockets.resolve(TransportKind.AUTO) == TransportKind.NATIVE;
            Tiers.require("native", works, UdpSockets.explain(TransportKind.AUTO));
        }
        return start(new UdpTestNode(config, platform));
    }

    /** A node that gets services from this source. */
    static UdpTestNode start(EeConfig config, ServiceSource source) {
        UdpTestNode node = new UdpTestNode(config);
        node.environment.fetchFrom(source);
        return start(node);
    }

    private static UdpTestNode start(UdpTestNode node) {
        try {
            node.environment.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return node;
    }

    static EeConfig config(TransportKind kind) {
        return config(kind, FailurePolicy.DROP, 1 << 20, 32);
    }

    static EeConfig config(TransportKind kind, FailurePolicy unknownService, int inboxBytes, int hopBudget) {
        EeConfig config = new EeConfig(
                List.of(at("127.0.0.1", 0)),
                List.of(at("127.0.0.1", 0)),
                Anep.DEFAULT_TYPE_ID,
                kind,
                unknownService,
                64,
                hopBudget,
                inboxBytes,
                Waiting.PATIENCE,
                Waiting.PATIENCE,
                Waiting.PATIENCE,
                Waiting.PATIENCE);
        return config.deploying(Waiting.PATIENCE, Waiting.PATIENCE, 4 << 20);
    }

    static InetSocketAddress at(String host, int port) {
        return new InetSocketAddress(address(host), port);
    }

    static InetAddress address(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e);
        }
    }

    InetSocketAddress udp() {
        return environment.udpAddresses().get(0);
    }

    InetSocketAddress tcp() {
        return environment.tcpAddresses().get(0);
    }

    // ---- routes and services ---------------------------------------------------------------------------------------

    /** Lets packets to this prefix go straight to their destination. */
    UdpTestNode deliver(String prefix, NextHop.Transport transport) {
        return route(prefix, null, 0, transport, NextHop.Kind.HOST);
    }

    /** Sends packets for {@code prefix} to another node. */
    UdpTestNode via(String prefix, InetSocketAddress node, NextHop.Transport transport) {
        return route(prefix, node.getAddress(), node.getPort(), transport, NextHop.Kind.ACTIVE_NODE);
    }

    /** Sends packets for {@code prefix} to a host that runs no node. */
    UdpTestNode toHost(String prefix, InetSocketAddress host, NextHop.Transport transport) {
        return route(prefix, host.getAddress(), host.getPort(), transport, NextHop.Kind.HOST);
    }

    private UdpTestNode route(
            String prefix, @Nullable InetAddress address, int port, NextHop.Transport transport, NextHop.Kind kind) {
        routes.add(new Route(Prefix.parse(prefix), new NextHop(address, port, transport, kind)));
        return this;
    }

    UdpTestNode service(String name, Step step) {
        return service(name, FailurePolicy.DROP, () -> new Scripted(step));
    }

    UdpTestNode service(String name, FailurePolicy policy, Supplier<? extends Service> factory) {
        services.add(new ServiceDefinition(name, factory, ServiceConfig.EMPTY, policy));
        return this;
    }

    /** What a test's service does with a packet. */
    interface Step {
        Verdict process(Scripted service, Packet packet) throws Exception;
    }

    /** A service that does as the test says. */
    static class Scripted extends Service {
        private final Step step;

        Scripted(Step step) {
            this.step = step;
        }

        @Override
        public Verdict process(Packet packet) throws Exception {
            return step.process(this, packet);
        }

        Verdict answer(Packet packet) {
            return Verdict.REPLY;
        }

        Verdict elsewhere(InetSocketAddress destination) {
            return forwardTo(destination.getAddress(), destination.getPort());
        }

        Verdict end(String reason) {
            return drop(reason);
        }

        Suspension suspend(Packet packet, Duration atMost) {
            return hold(packet, atMost);
        }

        Allotment look() {
            return allotment();
        }

        void send(Packet packet) {
            emit(packet);
        }

        void sendTo(InetSocketAddress destination, Packet packet) {
            emitTo(destination.getAddress(), destination.getPort(), packet);
        }

        void later(Duration delay, Runnable task) {
            after(delay, task);
        }

        void again(Duration period, Runnable task) {
            every(period, task);
        }

        Counter count(String name) {
            return counter(name);
        }
    }

    // ---- packets ---------------------------------------------------------------------------------------------------

    static PacketBuilder builder(InetSocketAddress destination, String service, int stream) {
        PacketBuilder builder = new PacketBuilder()
                .destination(destination.getAddress()).destinationPort(destination.getPort()).stream(stream);
        return service.isEmpty() ? builder : builder.service(service);
    }

    /** The bytes of one packet of this length, whose payload tells its place. */
    static byte[] packet(PacketBuilder builder, int bytes) {
        int payloadBytes = bytes - builder.headerLength();
        assertThat(payloadBytes).as("payload of a packet of %s bytes", bytes).isNotNegative();
        ByteBuffer payload = ByteBuffer.allocate(payloadBytes);
        for (int i = 0; i < payloadBytes; i++) {
            payload.put(i, (byte) (i ^ i >>> 8));
        }
        return bytes(builder.build(payload));
    }

    static byte[] bytes(Packet packet) {
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        return bytes;
    }

    static Packet parsed(byte[] bytes) {
        Packet packet = new Packet();
        assertThat(packet.parse(ByteBuffer.wrap(bytes), 0, bytes.length)).isNull();
        return packet;
    }

    // ---- what is asserted ------------------------------------------------------------------------------------------

    /** Waits until so many packets have come in and nothing is held, and checks that every one is accounted for. */
    TrafficSnapshot balanced(long packetsIn) {
        eventually().untilAsserted(() -> {
            TrafficSnapshot now = environment.traffic();
            assertThat(now.packetsIn()).as("packets in, %s", now).isEqualTo(packetsIn);
            assertThat(now.held()).as("held, %s", now).isZero();
            assertBalance(now);
        });
        TrafficSnapshot rest = environment.traffic();
        assertBalance(rest);
        return rest;
    }

    static void assertBalance(TrafficSnapshot now) {
        assertThat(now.packetsIn() + now.packetsMade())
                .as("in + made = out + dropped + held, %s", now)
                .isEqualTo(now.packetsOut() + now.dropped() + now.held());
    }

    void assertDrops(long packetsIn, Map<DropReason, Long> drops) {
        assertThat(balanced(packetsIn).drops()).isEqualTo(drops);
    }

    InstanceStatus instance(String service) {
        return environment.instances().stream()
                .filter(instance -> instance.service().name().equals(service))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public void close() {
        environment.stop(PATIENCE);
        TrafficSnapshot last = environment.traffic();
        assertThat(last.held()).as("held after the end, %s", last).isZero();
        assertBalance(last);
    }

    /** Threads of nodes. */
    static List<String> nodeThreads() {
        Thread[] threads = new Thread[Thread.activeCount() + 256];
        int count = Thread.enumerate(threads);
        return Arrays.stream(threads, 0, count)
                .map(Thread::getName)
                .filter(name -> name.equals("reception") || name.startsWith("udp ") || name.startsWith("tcp "))
                .sorted()
                .toList();
    }

    /** Sockets, epoll and event descriptors of the process, by kind; empty where there is no /proc. */
    static Map<String, Integer> descriptors() {
        Path folder = Path.of("/proc/self/fd");
        if (!Files.isDirectory(folder)) {
            return Map.of();
        }
        Map<String, Integer> kinds = new TreeMap<>();
        try (Stream<Path> links = Files.list(folder)) {
            for (Path link : links.collect(Collectors.toList())) {
                String kind = kind(link);
                if (kind.equals("socket") || kind.startsWith("anon_inode")) {
                    kinds.merge(kind, 1, Integer::sum);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return kinds;
    }

    private static String kind(Path link) {
        try {
            String target = Files.readSymbolicLink(link).toString();
            return target.startsWith("socket:") ? "socket" : target;
        } catch (IOException e) {
            return ""; // closed since it was listed
        }
    }

    /** Checks that a test leaves no thread of a node and no descriptor behind. */
    static final class NoLeaks implements BeforeEachCallback, AfterEachCallback {
        private static final Set<TransportKind> WARM = EnumSet.noneOf(TransportKind.class);
        private List<String> threads = List.of();
        private Map<String, Integer> descriptors = Map.of();

        @Override
        public void beforeEach(ExtensionContext context) throws IOException {
            warmUp();
            threads = nodeThreads();
            descriptors = descriptors();
        }

        /** What the JVM, libraries and {@link Ports} open once is no leak. */
        private static void warmUp() throws IOException {
            Ports.free();
            for (TransportKind kind : List.of(TransportKind.NIO, UdpSockets.resolve(TransportKind.AUTO))) {
                if (WARM.add(kind)) {
                    start(kind).close();
                }
            }
        }

        @Override
        public void afterEach(ExtensionContext context) {
            eventually().untilAsserted(() -> {
                // What another test's node closed only meanwhile may be gone.
                List<String> more = new ArrayList<>(nodeThreads());
                threads.forEach(more::remove);
                assertThat(more).as("threads").isEmpty();
                descriptors()
                        .forEach((kind, count) ->
                                assertThat(count).as(kind).isLessThanOrEqualTo(descriptors.getOrDefault(kind, 0)));
            });
        }
    }
}

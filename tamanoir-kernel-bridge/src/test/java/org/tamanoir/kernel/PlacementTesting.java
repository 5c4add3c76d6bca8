package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.NodeOs;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.StreamInfo.Transport;
import org.tamanoir.services.Filter;
import org.tamanoir.services.Monitor;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.TestNet;
import org.tamanoir.testkit.ServiceHarness;
import org.tamanoir.transport.TransportKind;

/**
 * Services on a router, placed at a level: what the same packets come to there, in bytes and counters, is what they come
 * to in a harness.
 *
 * <p>Thread contract: one thread, the test's.
 */
public abstract class PlacementTesting {
    private static final String MONITOR = Monitor.class.getName();
    private static final String FILTER = Filter.class.getName();
    /** Fewer than a socket's buffer holds. */
    private static final int BURST = 20;

    private static final Map<String, String> MARK = Map.of("mark", "46");
    private static final Map<String, String> RULES = Map.of("rules", """
            pass stream 7
            drop source 10.0.0.0/9
            drop destination 2001:db8::/33
            drop class 3
            pass size = 300
            drop size > 900
            drop stream 4294967295
            pass size < 200
            """, "default", "drop");
    private static final Set<String> OF_MONITOR =
            Set.of("packets", "bytes", "smallest-bytes", "largest-bytes", "unmarked");

    /** Counters and drops of a service, and what left of its packets. */
    private record Result(Map<String, Long> counters, Map<String, Long> drops, List<byte[]> bytes) {}

    /** Both services give the same at this level as in a harness. */
    protected static void assertSameAsInAHarness(TestNet net, Level level, String client, String server)
            throws Exception {
        long seed = Seeds.ofCommit(PlacementTesting.class);
        for (String service : List.of(MONITOR, FILTER)) {
            List<Packet> packets = packets(service, 200, new Random(seed));
            Result expected = inHarness(service, packets);
            Result result = onRouter(net, level, service, packets, expected.bytes.size(), client, server);
            String where = service + " at " + level + " from " + client + ", seed " + seed;
            assertThat(result.bytes).as(where).containsExactlyElementsOf(expected.bytes);
            assertThat(result.counters).as(where).isEqualTo(expected.counters);
            assertThat(result.drops).as(where).isEqualTo(expected.drops);
        }
    }

    // ---- packets ---------------------------------------------------------------------------------------------------

    private static List<Packet> packets(String service, int count, Random random) throws UnknownHostException {
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            PacketBuilder builder = new PacketBuilder().service(service);
            if (random.nextInt(4) > 0) {
                builder.classOfService(random.nextInt(6), random.nextInt(3));
            }
            if (random.nextInt(3) > 0) {
                builder.stream(random.nextBoolean() ? 7 : -1).nextSequence(i);
            }
            if (random.nextBoolean()) {
                builder.checksum();
            }
            if (random.nextBoolean()) {
                builder.source(InetAddress.getByName(random.nextBoolean() ? "10.1.2.3" : "10.200.2.3"));
            } else if (random.nextBoolean()) {
                builder.source(InetAddress.getByName("2001:db8::1"));
            }
            builder.destination(InetAddress.getByName(random.nextBoolean() ? "2001:db8::2" : "203.0.113.1"));
            int bytes = random.nextInt(4) == 0 ? 300 : builder.headerLength() + random.nextInt(1100);
            byte[] payload = new byte[Math.max(0, bytes - builder.headerLength())];
            random.nextBytes(payload);
            packets.add(builder.build(ByteBuffer.wrap(payload)));
        }
        return packets;
    }

    private static byte[] bytes(Packet packet) {
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        return bytes;
    }

    // ---- the services ----------------------------------------------------------------------------------------------

    private static Supplier<? extends Service> factory(String service) {
        return service.equals(MONITOR) ? Monitor::new : Filter::new;
    }

    private static Map<String, String> config(String service) {
        return service.equals(MONITOR) ? MARK : RULES;
    }

    /** Those that every level counts; sequence numbers are looked at in the JVM alone. */
    private static Map<String, Long> common(String service, Map<String, Long> counters) {
        Map<String, Long> common = new TreeMap<>(counters);
        if (service.equals(MONITOR)) {
            common.keySet().retainAll(OF_MONITOR);
        }
        return common;
    }

    private static Result inHarness(String service, List<Packet> packets) {
        ServiceHarness harness = ServiceHarness.run(factory(service).get(), Transport.UDP, config(service), packets);
        Map<String, Long> drops = new TreeMap<>();
        harness.drops().forEach(reason -> drops.merge(reason, 1L, Long::sum));
        return new Result(
                common(service, harness.counters()),
                drops,
                harness.packets().stream().map(PlacementTesting::bytes).toList());
    }

    private static Result onRouter(
            TestNet net, Level level, String service, List<Packet> packets, int leave, String client, String server)
            throws Exception {
        try (PlacedNode node = PlacedNode.start(net, service, level);
                TransitEnd sender = TransitEnd.open(net, net.client(), client, 7000);
                TransitEnd receiver = TransitEnd.open(net, net.server(), server, TransitNode.PORT)) {
            List<byte[]> left = new ArrayList<>();
            for (int from = 0; from < packets.size(); from += BURST) {
                List<Packet> burst = packets.subList(from, Math.min(packets.size(), from + BURST));
                Result expected = inHarness(service, burst);
                sender.send(
                        receiver.address(),
                        burst.stream().map(PlacementTesting::bytes).toList());
                receiver.receive(expected.bytes.size()).forEach(datagram -> left.add(datagram.bytes()));
            }
            assertThat(left).hasSize(leave);
            InstanceStatus status = node.awaitPackets(packets.size());
            LevelCounters below = status.below();
            if (level == Level.JVM) {
                assertThat(below).isEqualTo(LevelCounters.ZERO);
            } else {
                assertThat(below.on() + below.dropped()).as("%s", below).isEqualTo(packets.size());
                assertThat(status.traffic().packetsIn())
                        .as("packets in the JVM")
                        .isZero();
            }
            return new Result(common(service, status.counters()), status.dropReasons(), left);
        }
    }

    /** A node in the router, with one service. */
    protected static final class PlacedNode implements AutoCloseable {
        private final ServiceDefinition definition;
        private final ExecutionEnvironment environment;

        private PlacedNode(NodeOs levels, String service, Level level) {
            definition = new ServiceDefinition(
                    service,
                    "",
                    factory(service),
                    new ServiceConfig(config(service)),
                    FailurePolicy.DROP,
                    new ServiceHealth(),
                    new Placement(EnumSet.allOf(Level.class), Placement.Wanted.of(level.label())));
            ServiceCatalog services = new ServiceCatalog();
            services.add(definition);
            environment = new ExecutionEnvironment(
                    TransitNode.config(1 << 20, TransportKind.NATIVE), new RoutingTable(), services);
            environment.levels(levels);
        }

        static PlacedNode start(TestNet net, String service, Level level) throws Exception {
            // In the JVM it may be moved to any other.
            Set<Level> allowed = level == Level.JVM ? EnumSet.allOf(Level.class) : EnumSet.of(Level.JVM, level);
            if (level == Level.XDP) {
                allowed.add(Level.TC);
            }
            KernelConfig config = new KernelConfig(
                    allowed, List.of(TestNet.ROUTER_CLIENT_DEVICE, TestNet.ROUTER_SERVER_DEVICE), true);
            PlacedNode node = net.namespaces()
                    .in(net.router(), () -> new PlacedNode(KernelBridge.open(config), service, level).start());
            try {
                node.awaitLevel(level);
                return node;
            } catch (AssertionError e) {
                node.close();
                throw e;
            }
        }

        private PlacedNode start() throws IOException {
            environment.start();
            definition.placement().calm();
            environment.place(definition);
            return this;
        }

        private void awaitLevel(Level level) throws InterruptedException {
            definition.placement().awaitTried(TransitNode.PATIENCE);
            assertThat(definition.placement().status())
                    .isEqualTo(new Placement.Status(level.label(), level, null, null));
        }

        /** Waits until the service has counted so many packets. */
        InstanceStatus awaitPackets(long packets) {
            eventually().untilAsserted(() -> {
                InstanceStatus now = instance();
                assertThat(now.counters().getOrDefault("packets", 0L))
                        .as("%s; %s", now.below(), now.traffic())
                        .isEqualTo(packets);
                // The service counts the drops of a level by their reasons a moment after its packets.
                assertThat(now.dropReasons().values().stream()
                                .mapToLong(Long::longValue)
                                .sum())
                        .isGreaterThanOrEqualTo(now.below().dropped());
            });
            return instance();
        }

        private InstanceStatus instance() {
            return environment.instances().stream()
                    .filter(instance -> instance.service() == definition)
                    .findFirst()
                    .orElseThrow();
        }

        @Override
        public void close() {
            environment.stop(TransitNode.PATIENCE);
        }
    }

    /** Numbered packets cross while the service is moved to the level and back; all arrive, in their order. */
    protected static void assertNothingIsLostOrOvertaken(TestNet net, Level level) throws Exception {
        try (OrderTesting order = new OrderTesting(net, true, level)) {
            order.moveToAndFro(level, 4);
            assertThat(order.by(level)).isPositive();
            order.assertAllIsCounted();
        }
    }

    /** A service moves from one of these levels to the next while packets come: none passes it by or is handled twice. */
    protected static void assertEachIsHandledOnce(TestNet net, Level... moves) throws Exception {
        try (OrderTesting order = new OrderTesting(net, false, Level.TC, Level.MODULE)) {
            order.place(Level.JVM);
            for (Level level : moves) {
                order.sendOneByOne(20, OrderTesting.SERVICE);
                order.place(level);
                order.sendUntilTheyGo(level, OrderTesting.SERVICE);
            }
            order.assertNonePassed();
            order.assertInOrder("between levels");
            order.assertAllIsCounted();
        }
    }
}

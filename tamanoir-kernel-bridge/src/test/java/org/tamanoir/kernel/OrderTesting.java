package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.nodeos.Flow;
import org.tamanoir.nodeos.Level;
import org.tamanoir.nodeos.LevelCounters;
import org.tamanoir.nodeos.LevelException;
import org.tamanoir.nodeos.Offload;
import org.tamanoir.nodeos.Policy;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Namespaces;
import org.tamanoir.support.TestNet;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/**
 * Numbered packets through a router whose node has them handled in the JVM and at a level by turns. Each carries the way
 * by which it went, and a failure says that of the packets around the one that came late, and what the JVM saw.
 *
 * <p>The network before the node keeps order by itself: whatever processor the sender is on, one takes in what comes to
 * the router.
 *
 * <p>Thread contract: one thread, the test's.
 */
final class OrderTesting implements AutoCloseable {
    static final String SERVICE = "org.example.Way";
    static final String VERSIONED = SERVICE + ":1.0";

    private static final int BURST = 60;
    private static final int AROUND = 12;
    private static final int BY_JVM = 1;
    private static final int BY_LEVEL = 2;

    private final TestNet net;
    private final ServiceDefinition definition;
    private final ServiceCatalog services = new ServiceCatalog();
    private final ExecutionEnvironment environment;
    private final TransitEnd sender;
    private final TransitEnd receiver;
    private final ConcurrentLinkedQueue<Integer> seen = new ConcurrentLinkedQueue<>();
    volatile Step step = (service, packet) -> Verdict.FORWARD;

    private final List<Integer> arrived = new ArrayList<>();
    private final List<Integer> ways = new ArrayList<>();
    int sent;

    /** What the service does with a packet. */
    interface Step {
        Verdict process(Way service, Packet packet);
    }

    /** Marks each packet with its way. */
    final class Way extends Service {
        @Override
        public Verdict process(Packet packet) {
            seen.add(packet.buffer().getInt(packet.payloadOffset()));
            packet.setClassOfService(BY_JVM);
            return step.process(this, packet);
        }

        @Override
        public Policy policy() {
            return Policy.forward().markClass(BY_LEVEL);
        }

        /** Has a level do something else with these packets. */
        Offload ask(Flow flow, Policy policy) {
            try {
                return offload(flow, policy);
            } catch (LevelException e) {
                throw new IllegalStateException(e);
            }
        }

        Suspension suspend(Packet packet) {
            return hold(packet, Duration.ofMinutes(1));
        }
    }

    OrderTesting(TestNet net, boolean unknownUp, Level... levels) throws Exception {
        this.net = net;
        inRouter("for f in /sys/class/net/" + TestNet.ROUTER_CLIENT_DEVICE
                + "/queues/rx-*/rps_cpus; do echo 1 > $f; done");
        definition = new ServiceDefinition(
                SERVICE,
                "1.0",
                Way::new,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(EnumSet.allOf(Level.class), Placement.Wanted.JVM));
        services.add(definition);
        services.add(ServiceKey.of(VERSIONED), definition);
        environment = new ExecutionEnvironment(
                TransitNode.config(1 << 20, TransportKind.NATIVE), new RoutingTable(), services);
        net.namespaces().in(net.router(), () -> {
            environment.levels(KernelBridge.open(new KernelConfig(
                    EnumSet.copyOf(List.of(levels)),
                    List.of(TestNet.ROUTER_CLIENT_DEVICE, TestNet.ROUTER_SERVER_DEVICE),
                    unknownUp)));
            environment.start();
            return this;
        });
        sender = TransitEnd.open(net, net.client(), TestNet.CLIENT4, 7000);
        receiver = TransitEnd.open(net, net.server(), TestNet.SERVER4, TransitNode.PORT);
    }

    ExecutionEnvironment environment() {
        return environment;
    }

    /** Has it handled there from now on; returns when that was done. */
    void place(Level level) throws InterruptedException {
        wish(level);
        definition.placement().awaitTried(TransitNode.PATIENCE);
        assertThat(definition.placement().status()).isEqualTo(new Placement.Status(level.label(), level, null, null));
    }

    Placement.Status status() {
        return definition.placement().status();
    }

    void wish(Level level) {
        definition.placement().want(Placement.Wanted.of(level.label()));
        environment.place(definition);
    }

    /** Sends packets one by one, so that what a level decides may change between any two of them. */
    void sendOneByOne(int count, String... keys) {
        for (int i = 0; i < count; i++) {
            send(1, keys);
        }
    }

    /** Sends packets of these keys in turn. */
    void send(int count, String... keys) {
        List<byte[]> datagrams = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            datagrams.add(TransitNode.packet(keys[sent % keys.length], sent++, 200));
        }
        sender.send(TransitNode.at(TestNet.SERVER4, TransitNode.PORT), datagrams);
    }

    /** Takes what has been sent. */
    void receiveAll() throws IOException {
        receive(sent - arrived.size());
    }

    void receive(int count) throws IOException {
        for (TransitEnd.Datagram datagram : receiver.receive(count)) {
            Packet packet = new Packet();
            assertThat(packet.parse(ByteBuffer.wrap(datagram.bytes()), 0, datagram.bytes().length))
                    .isNull();
            arrived.add(packet.buffer().getInt(packet.payloadOffset()));
            ways.add(packet.classOfService());
        }
    }

    /** Sends until packets go this way, and takes them all. */
    void sendUntilTheyGo(Level level, String... keys) throws IOException {
        int way = level == Level.JVM ? BY_JVM : BY_LEVEL;
        long endNs = System.nanoTime() + TransitNode.PATIENCE.toNanos();
        do {
            sendOneByOne(BURST, keys);
            receiveAll();
            assertThat(System.nanoTime() - endNs)
                    .as("packets go by %s; %s", level, around(arrived.size()))
                    .isNegative();
        } while (ways.get(ways.size() - 1) != way);
    }

    long by(Level level) {
        int way = level == Level.JVM ? BY_JVM : BY_LEVEL;
        return ways.stream().filter(each -> each == way).count();
    }

    /** Fails with the ways of packets around the first that is late. */
    void assertInOrder(String where) {
        for (int i = 1; i < arrived.size(); i++) {
            if (arrived.get(i) < arrived.get(i - 1)) {
                throw new AssertionError(
                        where + ": packet " + arrived.get(i) + " came behind " + arrived.get(i - 1) + "; " + around(i));
            }
        }
        assertThat(arrived).as(where).hasSize(sent);
    }

    private String around(int at) {
        StringBuilder text = new StringBuilder("arrived by their ways:");
        List<Integer> numbers = new ArrayList<>();
        for (int i = Math.max(0, at - AROUND); i < Math.min(arrived.size(), at + AROUND); i++) {
            text.append(' ').append(arrived.get(i)).append("?jl".charAt(ways.get(i)));
            numbers.add(arrived.get(i));
        }
        int least = numbers.stream().mapToInt(Integer::intValue).min().orElse(0);
        int most = numbers.stream().mapToInt(Integer::intValue).max().orElse(0);
        List<Integer> inJvm = seen.stream()
                .filter(number -> number >= least && number <= most)
                .toList();
        return text + "; the JVM saw, in its order, of " + least + " to " + most + ": " + inJvm;
    }

    /** Moves the service to a level and back while packets come that name it in two ways, whose order is looked at each time. */
    void moveToAndFro(Level below, int times) throws Exception {
        send(1, SERVICE);
        receiveAll(); // It has begun.
        for (int i = 0; i < times; i++) {
            for (Level level : List.of(below, Level.JVM)) {
                sendOneByOne(40, SERVICE, VERSIONED);
                place(level);
                sendOneByOne(20, SERVICE, VERSIONED);
                awaitSent(); // What has left the node may still wait in a queue.
                sendOneByOne(20, SERVICE, VERSIONED);
                sendUntilTheyGo(level, SERVICE, VERSIONED);
                assertInOrder("move " + i + " to " + level.label());
            }
        }
    }

    /** Every packet that arrived has been marked, in the JVM or below. */
    void assertNonePassed() {
        long passed = ways.stream().filter(way -> way == 0).count();
        assertThat(passed)
                .as("packets of %s that nobody handled; status %s", sent, status())
                .isZero();
    }

    /** The JVM and the level have seen each packet once. */
    void assertAllIsCounted() {
        eventually()
                .untilAsserted(() -> assertThat(seen.size() + below().on())
                        .as("in the JVM %s, below %s", seen.size(), below())
                        .isEqualTo(sent));
    }

    // ---- two queues ------------------------------------------------------------------------------------------------

    /**
     * Has what leaves the router leave by two queues, by processor: level's packets by that of processor 0, which takes in
     * what comes, the service's by that of processor 1. One of them is slow.
     */
    void twoQueues(boolean isLevelSlow) throws IOException {
        String device = TestNet.ROUTER_SERVER_DEVICE;
        String queues = "/sys/class/net/" + device + "/queues/";
        net.namespaces().run(net.server(), "ethtool -L " + TestNet.SERVER_DEVICE + " rx 2");
        net.namespaces().run(net.router(), "ethtool -L " + device + " tx 2");
        inRouter("echo 1 > " + queues + "tx-0/xps_cpus; echo 2 > " + queues + "tx-1/xps_cpus;"
                + " tc qdisc replace dev " + device + " root handle 1: mq;"
                + " tc qdisc replace dev " + device + " parent 1:" + (isLevelSlow ? 1 : 2)
                + " tbf rate 2mbit burst 2000 limit 1000000");
        seenOn(1);
    }

    void oneQueue() {
        inRouter("tc qdisc del dev " + TestNet.ROUTER_SERVER_DEVICE + " root");
        net.namespaces().run(net.router(), "ethtool -L " + TestNet.ROUTER_SERVER_DEVICE + " tx 1");
    }

    /** With what the kernel shows of the router's interfaces. */
    private void inRouter(String command) {
        Namespaces.shell("ip netns exec " + net.router() + " sh -ec '" + command + "'");
    }

    /** Keeps the service's thread on a processor. */
    private void seenOn(int processor) throws IOException {
        send(1, SERVICE);
        receiveAll();
        List<Path> threads;
        try (var tasks = Files.list(Path.of("/proc/self/task"))) {
            threads = tasks.toList();
        }
        for (Path thread : threads) {
            if (Files.readString(thread.resolve("comm")).startsWith(("udp " + SERVICE).substring(0, 15))) {
                Namespaces.shell("taskset -p " + (1 << processor) + " " + thread.getFileName());
            }
        }
    }

    /** Waits until so many packets have come to the service. */
    void awaitSeen(int packets) {
        eventually().until(() -> seen.size() >= packets);
    }

    /** Waits until the node has sent all that came to it. */
    void awaitSent() {
        eventually().until(() -> {
            TrafficSnapshot now = environment.traffic();
            return now.packetsIn() == now.packetsOut() && now.packetsOut() + below().on() == sent;
        });
    }

    private LevelCounters below() {
        return environment.instances().stream()
                .filter(instance -> instance.service() == definition)
                .findFirst()
                .orElseThrow()
                .below();
    }

    @Override
    public void close() {
        sender.close();
        receiver.close();
        environment.stop(TransitNode.PATIENCE);
    }
}

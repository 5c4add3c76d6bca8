package org.tamanoir.ee;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Dispatch;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.Prefix;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.PerPacket;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Tiers;
import org.tamanoir.traffic.Tap;
import org.tamanoir.transport.BufferPool;
import org.tamanoir.transport.IoLoop;
import org.tamanoir.transport.Transport;
import org.tamanoir.transport.TransportKind;
import org.tamanoir.transport.UdpBatch;
import org.tamanoir.transport.UdpRefusals;
import org.tamanoir.transport.UdpSender;
import org.tamanoir.transport.UdpSocket;
import org.tamanoir.transport.UdpSockets;

/** Gateways for UDP when the far side, the system or the node does not do as they would have it. */
@Tag("namespace")
class UdpGatewayFaultsTest extends UdpGatewayTesting {
    /** Passes calls on; a test says which go wrong. */
    private record Net(Transport real, UnaryOperator<UdpSocket> binds, AtomicBoolean connects) implements Transport {
        @Override
        public IoLoop newLoop(BufferPool pool) {
            return real.newLoop(pool);
        }

        @Override
        public UdpSocket bind(InetSocketAddress local) throws IOException {
            return binds.apply(real.bind(local));
        }

        @Override
        public UdpSocket connect(InetSocketAddress to) throws IOException {
            if (!connects.get()) {
                throw new IOException("cannot connect to UDP " + to + ": no descriptor is left");
            }
            return real.connect(to);
        }

        @Override
        public String explain() {
            return real.explain();
        }
    }

    /** A socket whose senders that tell of refusals throw once. */
    private record Throwing(UdpSocket watched, AtomicBoolean throwsNext) implements UdpSocket {
        @Override
        public InetSocketAddress localAddress() {
            return watched.localAddress();
        }

        @Override
        public void receiveInTransit() throws IOException {
            watched.receiveInTransit();
        }

        @Override
        public UdpBatch newBatch() {
            return watched.newBatch();
        }

        @Override
        public UdpSender newSender() {
            return watched.newSender();
        }

        @Override
        public UdpSender newSender(UdpRefusals refusals) {
            UdpSender real = watched.newSender(refusals);
            return (UdpSender) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {UdpSender.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("add") && throwsNext.getAndSet(false)) {
                            throw new OutOfMemoryError("of a test");
                        }
                        return method.invoke(real, arguments);
                    });
        }

        @Override
        public int receive(UdpBatch batch) throws IOException {
            return watched.receive(batch);
        }

        @Override
        public boolean awaitReadable(Duration timeout) throws IOException {
            return watched.awaitReadable(timeout);
        }

        @Override
        public void close() {
            watched.close();
        }
    }

    private TestNode start(TransportKind kind, ServiceDefinition... services) throws IOException {
        settings.transport = kind;
        lead((InetSocketAddress) far.getLocalSocketAddress(), services.length == 0 ? "" : services[0].name());
        return node(services);
    }

    private static InetSocketAddress sender(DatagramPacket packet) {
        return (InetSocketAddress) packet.getSocketAddress();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aFarSideThatWasNotThereTakesNoDatagramOfLater(TransportKind kind) throws Exception {
        TestNode node = start(kind);
        int port = far.getLocalPort();
        far.close();
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(10, 1));
            eventually().until(() -> node.traffic().packetsOut() == 1);
            far = new DatagramSocket(port, LOOPBACK);
            far.setSoTimeout(PATIENCE_MS);
            send(client, gateway(node), octets(10, 2));
            assertThat(bytes(receive(far))).isEqualTo(octets(10, 2));
        }
        conserves(node);
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("transports")
    void wantOfSocketsIsSaidOnceAndSoonTriedAgain(TransportKind kind) throws Exception {
        AtomicBoolean connects = new AtomicBoolean();
        settings.network = real -> new Net(real, socket -> socket, connects);
        TestNode node = start(kind);
        try (DatagramSocket client = open()) {
            for (int i = 0; i < 100; i++) {
                send(client, gateway(node), octets(10, 1));
            }
            eventually().until(() -> node.dropped(DropReason.NEXT_HOP_UNREACHABLE) == 100);
            assertThat(log().stream().filter(line -> line.contains("no descriptor is left")))
                    .hasSizeLessThan(10);
            connects.set(true);
            far.setSoTimeout(100);
            eventually().ignoreExceptions().until(() -> {
                send(client, gateway(node), octets(10, 2));
                return receive(far).getLength() == 10;
            });
        }
        conserves(node);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void answersAreCountedWhateverIsThrown(TransportKind kind) throws Exception {
        AtomicBoolean throwsNext = new AtomicBoolean();
        settings.network = real -> new Net(real, socket -> new Throwing(socket, throwsNext), new AtomicBoolean(true));
        TestNode node = start(kind);
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(100, 1));
            InetSocketAddress flow = sender(receive(far));
            throwsNext.set(true);
            send(far, flow, octets(10, 1));
            eventually().until(() -> node.dropped(DropReason.SEND_ERROR) == 1);
            send(far, flow, octets(10, 2));
            assertThat(bytes(receive(client))).isEqualTo(octets(10, 2));
        }
        conserves(node);
        log().removeIf(line -> line.contains("fault of the node"));
    }

    @ParameterizedTest
    @MethodSource("transports")
    void whatFitsNoPacketEndsByNameAndSender(TransportKind kind) throws Exception {
        TestNode node = start(kind, TestServices.define("pass", () -> new Passing()));
        try (DatagramSocket client = open();
                Tap.View<Tap.Drop> drops = node.environment.tap().drops(8)) {
            send(client, gateway(node), octets(65_500, 1));
            Tap.Drop drop = requireNonNull(drops.take(Duration.ofMillis(PATIENCE_MS)));
            assertThat(drop.reason()).isEqualTo(DropReason.PACKET_TOO_LONG);
            assertThat(drop.peer()).isEqualTo(client.getLocalSocketAddress());
            assertThat(drop.serviceKey()).isEqualTo(ServiceKey.of("pass"));
        }
        conserves(node);
    }

    private static class Passing extends Service {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aGatewayThatLeadsBackEndsAllAsLocal(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.udp = List.of(new InetSocketAddress("0.0.0.0", Ports.free()));
        lead(new InetSocketAddress(LOOPBACK, settings.udp.get(0).getPort()), "");
        TestNode node = node();
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(10, 1));
            eventually().until(() -> node.dropped(DropReason.LOCAL) == 1);
        }
        conserves(node);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void ipv6GoesThereAndBack(TransportKind kind) throws Exception {
        Tiers.requireIpv6();
        InetAddress loopback = InetAddress.getByName("::1");
        far.close();
        far = new DatagramSocket(0, loopback);
        far.setSoTimeout(PATIENCE_MS);
        TestNode node = start(kind, TestServices.define("pass", () -> new Passing()));
        try (DatagramSocket client = new DatagramSocket(0, loopback)) {
            client.setSoTimeout(PATIENCE_MS);
            send(client, gateway(node), octets(100, 1));
            DatagramPacket onward = receive(far);
            assertThat(bytes(onward)).isEqualTo(octets(100, 1));
            send(far, sender(onward), octets(300, 2));
            assertThat(bytes(receive(client))).isEqualTo(octets(300, 2));
        }
        conserves(node);
        node.assertDrops(Map.of());
    }

    /** Any thread of its may have a packet. */
    @PerPacket
    private static final class Shared extends Passing {}

    @ParameterizedTest
    @MethodSource("transports")
    void workersSendThroughTheSameSockets(TransportKind kind) throws Exception {
        ServiceDefinition shared = new ServiceDefinition(
                "shared",
                "",
                Shared::new,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(),
                DefinedControl.NONE,
                new Dispatch(true, false, 64),
                ServiceTraits.of(Shared.class));
        TestNode node = start(kind, shared);
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(100, 0));
            InetSocketAddress flow = sender(receive(far));
            for (int i = 1; i <= 50; i++) {
                send(client, gateway(node), octets(100, i));
                DatagramPacket onward = receive(far);
                assertThat(sender(onward)).isEqualTo(flow);
            }
        }
        conserves(node);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aServiceIsReplacedUnderTraffic(TransportKind kind) throws Exception {
        ServiceDefinition before = TestServices.define("pass", Passing::new);
        TestNode node = start(kind, before);
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(100, 0));
            InetSocketAddress flow = sender(receive(far));
            ServiceDefinition now = before;
            for (int i = 0; i < 10; i++) {
                ServiceDefinition next = TestServices.define("pass", Passing::new);
                node.services.replace(now, next);
                now = next;
                for (int j = 0; j < 10; j++) {
                    send(client, gateway(node), octets(100, 1));
                    assertThat(sender(receive(far)))
                            .as("its socket is the gateway's, not the instance's")
                            .isEqualTo(flow);
                }
            }
        }
        conserves(node);
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("transports")
    void theNodeStopsWhileAnswersCome(TransportKind kind) throws Exception {
        TestNode node = start(kind);
        AtomicBoolean ends = new AtomicBoolean();
        AtomicInteger sent = new AtomicInteger();
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(1000, 1));
            InetSocketAddress flow = sender(receive(far));
            Thread answering = new Thread(() -> {
                while (!ends.get()) {
                    try {
                        send(far, flow, octets(1, 1));
                        sent.incrementAndGet();
                    } catch (IOException e) {
                        // Nobody is there any more.
                    }
                }
            });
            answering.start();
            try {
                eventually().until(() -> sent.get() > 100);
                node.environment.stop(TestServices.PATIENCE);
            } finally {
                ends.set(true);
                answering.join(PATIENCE_MS);
            }
        }
        node.assertConserved();
    }

    @Test
    void datagramsCrossTheLinkThatLeadsToTheFarSide() throws Exception {
        TestNode node = start(UdpSockets.resolve(TransportKind.AUTO));
        List<Prefix> towards = List.of(Prefix.parse("127.0.0.1/32"));
        node.environment.qos(new QosConfig(
                List.of(new TrafficClass("all", Set.of(), 1)),
                "all",
                List.of(),
                null,
                List.of(new Link("out", towards, 1, 1200, true, "fifo", Map.of()))));
        try (DatagramSocket client = open()) {
            send(client, gateway(node), octets(1000, 1));
            assertThat(bytes(receive(far))).isEqualTo(octets(1000, 1));
            send(client, gateway(node), octets(1000, 2));
            eventually().until(() -> node.dropped(DropReason.RATE_EXCEEDED) == 1);
        }
        conserves(node);
    }

    /** A gateway's packets have class of service 3. */
    @Test
    void datagramsLeaveWithTheCodePointOfTheirClass() throws Exception {
        settings.transport = UdpSockets.resolve(TransportKind.AUTO);
        try (UdpSocket sees = UdpSockets.bind(settings.transport, new InetSocketAddress(LOOPBACK, 0))) {
            String whyNot = "";
            try {
                sees.receiveInTransit();
            } catch (IOException e) {
                whyNot = String.valueOf(e.getMessage());
            }
            Tiers.require("namespace", whyNot.isEmpty(), whyNot);
            lead(sees.localAddress(), "");
            TestNode node = node();
            node.environment.qos(new QosConfig(
                    List.of(
                            new TrafficClass("rest", Set.of(), 1),
                            new TrafficClass("film", Set.of(3), 1, 100, 1 << 20, 34)),
                    "rest",
                    List.of(),
                    null,
                    List.of()));
            try (DatagramSocket client = open()) {
                send(client, gateway(node), octets(1000, 1));
                UdpBatch batch = sees.newBatch();
                assertThat(sees.awaitReadable(Duration.ofMillis(PATIENCE_MS))).isTrue();
                assertThat(sees.receive(batch)).isEqualTo(1);
                assertThat(batch.trafficClass(0)).isEqualTo(34 << 2);
            }
            conserves(node);
        }
    }
}

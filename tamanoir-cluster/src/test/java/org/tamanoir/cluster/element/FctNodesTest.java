package org.tamanoir.cluster.element;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceCatalog;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.ee.EeConfig;
import org.tamanoir.ee.ExecutionEnvironment;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.routing.RoutingTable;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.TrafficSnapshot;

/** Units that are whole nodes: real sockets and threads. */
class FctNodesTest {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final String DESTINATION = "10.7.7.7";
    private static final String SERVICE = "org.example.Scripted";
    /** Longer than any pause of a machine that tests run on. */
    private static final long NEVER_NS = 10_000_000_000L;

    private static final long HOLD_MAX_NS = 200_000;
    /** Packets under way: fewer than any queue takes. */
    private static final int WINDOW = 60;

    private final List<ExecutionEnvironment> nodes = new ArrayList<>();
    private DatagramSocket sink;
    private DatagramSocket source;

    @BeforeEach
    void open() throws IOException {
        sink = new DatagramSocket(0, LOOPBACK);
        sink.setSoTimeout((int) Waiting.PATIENCE.toMillis());
        source = new DatagramSocket(0, LOOPBACK);
    }

    @AfterEach
    void close() {
        nodes.forEach(ExecutionEnvironment::close);
        sink.close();
        source.close();
    }

    @Test
    void keepsTheStreamWithinTwoRoundsWhenUnitsWaitForTheirPackets() throws Exception {
        int units = 3;
        try (ThreadRing ring =
                new ThreadRing(units, unit -> new FctSettings(unit, false, 0, NEVER_NS, NEVER_NS, NEVER_NS, 64))) {
            ring.units.forEach(this::start);
            ring.begin();
            int rounds = 700;
            long[] order = spray(units, rounds);

            assertThat(order).as("payloads").containsExactlyInAnyOrder(numbers(units * rounds));
            assertThat(Reordering.of(order).min()).isGreaterThanOrEqualTo(1 - 2L * units);
            assertThat(order).as("each path").satisfies(all -> {
                for (int path = 0; path < units; path++) {
                    assertThat(pathOf(all, path, units)).isSorted();
                }
            });
        }
    }

    @Test
    void deliversAStreamOfWhichAUnitGetsNothing() throws Exception {
        try (ThreadRing ring = new ThreadRing(3, FctNodesTest::lenient)) {
            ring.units.forEach(this::start);
            ring.begin();
            long[] came = new long[200];
            for (int i = 0; i < came.length; i++) {
                send(1 + i % 2, 1 + i / 2, i); // the master has none
                came[i] = receive();
            }

            assertThat(came).isEqualTo(numbers(came.length));
        }
    }

    @Test
    void saysWhatItGotThoughNoTokenAllowsIt() throws Exception {
        FctUnit unit = new FctUnit(lenient(1), new TestRing(), () -> {});
        start(unit);
        unit.view(0, false, 3, 0);

        send(0, 9, 7);

        eventually().until(() -> unit.state().newest() == 9);
        assertThat(unit.state().round()).isZero();
    }

    @Test
    void passesTheTokenWhenItsDatagramsAreSent() throws Exception {
        TestRing ring = new TestRing();
        FctUnit unit = new FctUnit(lenient(1), ring, () -> {});
        start(unit);
        unit.view(0, false, 3, 0);
        unit.token(token(1, 2));
        send(0, 1, 7);
        assertThat(receive()).isEqualTo(7);

        unit.token(token(2, 3));

        eventually().until(() -> ring.passed.size() == 2);
        assertThat(unit.status().sent()).isEqualTo(1);
    }

    @Test
    void passesTheTokenInTheMiddleOfABatchWhenThatWaits() throws Exception {
        TestRing ring = new TestRing();
        FctUnit unit = new FctUnit(lenient(1), ring, () -> {});
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch allSent = new CountDownLatch(1);
        AtomicInteger passed = new AtomicInteger();
        start(unit, new Scripted(number -> {
            if (number == 0) { // The next ones are one batch.
                begun.countDown();
                await(allSent);
            } else if (number == 2) {
                unit.token(token(2, 9));
            } else if (number == 3) {
                passed.set(ring.passed.size());
            }
        }));
        unit.view(0, false, 3, 0);
        unit.token(token(1, 9));
        for (int i = 10; i < 30; i++) { // until the service reads the port itself
            send(0, 1, i);
            assertThat(receive()).isEqualTo(i);
        }
        send(0, 1, 0);
        assertThat(await(begun)).isTrue();
        for (int i = 1; i <= 3; i++) {
            send(0, 1, i);
        }
        allSent.countDown();
        for (int i = 0; i <= 3; i++) {
            assertThat(receive()).isEqualTo(i);
        }

        assertThat(passed).hasValue(2);
    }

    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(Waiting.PATIENCE.toMillis() / 2, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Does something with the number of each packet. */
    private static final class Scripted extends Service {
        private final LongConsumer step;

        Scripted(LongConsumer step) {
            this.step = step;
        }

        @Override
        public Verdict process(Packet packet) {
            step.accept(packet.payload().getLong());
            return Verdict.FORWARD;
        }
    }

    @Test
    void dropsWhatWaitsAtTheEndOfItsRingAndAccountsForIt() throws Exception {
        FctUnit unit = new FctUnit(lenient(1), new TestRing(), () -> {});
        ExecutionEnvironment node = start(unit);
        unit.view(0, false, 3, 0);
        for (int i = 0; i < 5; i++) {
            send(0, 1 + i, i);
        }
        eventually().until(() -> node.traffic().held() == 5);

        unit.endAfter(0);
        eventually()
                .until(() -> node.traffic().held() == 0); // A node that stops meanwhile drops them itself, SHUTDOWN.
        int cut = node.stop(Waiting.PATIENCE);

        TrafficSnapshot traffic = node.traffic();
        assertThat(cut).isZero();
        assertThat(traffic.drops()).isEqualTo(Map.of(DropReason.RING_FINISH, 5L));
        assertThat(traffic.packetsIn()).isEqualTo(5);
        assertThat(traffic.held()).isZero();
    }

    @Test
    void dropsLateDatagramsWhereTheseAreDiscarded() throws Exception {
        FctUnit unit = new FctUnit(new FctSettings(1, true, 0, 0, HOLD_MAX_NS, NEVER_NS, 64), new TestRing(), () -> {});
        ExecutionEnvironment node = start(unit);
        unit.view(0, false, 3, 0);
        unit.token(token(1, 9));

        send(0, 8, 8);
        send(0, 9, 9);

        assertThat(receive()).isEqualTo(9);
        eventually().until(() -> node.traffic().drops().equals(Map.of(DropReason.LATE, 1L)));
    }

    @Test
    void letsDatagramsWithoutARoundPassTheToken() throws Exception {
        FctUnit unit = new FctUnit(lenient(1), new TestRing(), () -> {});
        start(unit);
        unit.view(0, false, 3, 0);

        send(0, 5, 1);
        send(0, 0, 2);

        assertThat(receive()).isEqualTo(2);
    }

    private static FctSettings lenient(int unit) {
        return new FctSettings(unit, false, 0, 0, HOLD_MAX_NS, 50 * HOLD_MAX_NS, 64);
    }

    private static Token token(long serial, long round) {
        return new Token(serial, round, 0, 0, 0, 0);
    }

    // ---- nodes -----------------------------------------------------------------------------------------------------

    private ExecutionEnvironment start(FctUnit unit) {
        return start(unit, new Scripted(number -> {}));
    }

    private ExecutionEnvironment start(FctUnit unit, Service service) {
        ServiceCatalog services = new ServiceCatalog();
        services.add(new ServiceDefinition(SERVICE, () -> service, ServiceConfig.EMPTY, FailurePolicy.DROP));
        RoutingTable routes = new RoutingTable(List.of(new Route(
                Prefix.parse(DESTINATION),
                new NextHop(LOOPBACK, sink.getLocalPort(), NextHop.Transport.UDP, NextHop.Kind.HOST))));
        ExecutionEnvironment node = new ExecutionEnvironment(
                EeConfig.defaults().listening(List.of(), List.of(new InetSocketAddress(LOOPBACK, 0))),
                routes,
                services);
        nodes.add(node);
        node.gates(unit);
        node.qos(new QosConfig(
                List.of(new TrafficClass("all", Set.of(), 1)),
                "all",
                List.of(),
                null,
                List.of(new Link(
                        "out", List.of(Prefix.parse("0.0.0.0/0")), 1_000_000_000, 1 << 20, false, "fct", Map.of()))));
        try {
            node.start();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return node;
    }

    // ---- both ends -------------------------------------------------------------------------------------------------

    /** Sends round after round, one packet for each unit, and returns the numbers as they come out. */
    private long[] spray(int units, int rounds) throws IOException {
        long[] order = new long[units * rounds];
        int sent = 0;
        for (int came = 0; came < order.length; came++) {
            while (sent < order.length && sent - came < WINDOW) {
                send(sent % units, 1 + sent / units, sent);
                sent++;
            }
            order[came] = receive();
        }
        return order;
    }

    /** Sends a packet to a node. */
    private void send(int node, long round, long number) throws IOException {
        PacketBuilder builder = new PacketBuilder()
                .destination(InetAddress.getByName(DESTINATION))
                .service(SERVICE);
        if (round != 0) {
            byte[] option = ByteBuffer.allocate(12)
                    .putLong(round)
                    .putShort((short) node)
                    .array();
            builder.option(Option.ROUND.wireType(), option);
        }
        Packet packet = builder.build(ByteBuffer.allocate(Long.BYTES).putLong(0, number));
        byte[] bytes = new byte[packet.length()];
        packet.buffer().get(packet.offset(), bytes);
        source.send(new DatagramPacket(
                bytes, bytes.length, nodes.get(node).udpAddresses().get(0)));
    }

    /** Receives a packet, and returns its number. */
    private long receive() throws IOException {
        DatagramPacket datagram = new DatagramPacket(new byte[2048], 2048);
        sink.receive(datagram);
        Packet packet = new Packet();
        assertThat(packet.parse(ByteBuffer.wrap(datagram.getData()), 0, datagram.getLength()))
                .isNull();
        return packet.payload().getLong();
    }

    private static long[] numbers(int count) {
        long[] numbers = new long[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = i;
        }
        return numbers;
    }

    private static List<Long> pathOf(long[] all, int path, int units) {
        List<Long> numbers = new ArrayList<>();
        for (long number : all) {
            if (number % units == path) {
                numbers.add(number);
            }
        }
        return numbers;
    }
}

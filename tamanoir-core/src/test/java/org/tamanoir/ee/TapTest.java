package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.tamanoir.ee.TestServices.anonymous;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.traffic.Tap;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** What is seen of the packet path from outside. */
class TapTest extends TcpNodeTesting {
    private static final Duration SOON = Waiting.PATIENCE;

    /** By the first bytes of the payload: forwards, drops, consumes, throws. */
    private static final ServiceDefinition SORT = define("sort", () -> new Service() {
        @Override
        public Verdict process(Packet packet) {
            return switch (TestSink.number(packet) % 4) {
                case 0 -> Verdict.FORWARD;
                case 1 -> drop("odd one out");
                case 2 -> Verdict.CONSUME;
                default -> throw new IllegalStateException("the service's fault");
            };
        }
    });

    private static List<Tap.Drop> take(Tap.View<Tap.Drop> view, int drops) throws InterruptedException {
        List<Tap.Drop> taken = new ArrayList<>();
        while (taken.size() < drops) {
            taken.add(Objects.requireNonNull(view.take(SOON), () -> "after " + taken));
        }
        assertThat(view.take(Duration.ZERO)).isNull();
        return taken;
    }

    @Test
    void seesEachDropOnceWithWhatIsKnownOfIt() throws Exception {
        TestSink sink = sink();
        TestNode node = node(SORT).route("127.0.0.0/8", sink.address(), org.tamanoir.routing.NextHop.Kind.HOST);
        try (Tap.View<Tap.Drop> drops = node.environment.tap().drops(64);
                AnepSender sender = sender(node)) {
            for (int i = 0; i < 4; i++) {
                sender.send(packets("sort"), number(i));
            }
            sender.send(packets("absent"), number(0));
            sender.send(packets("sort").destination(java.net.InetAddress.getByName("10.0.0.1")), number(0));
            sender.finish();
            List<Tap.Drop> seen = take(drops, 5);
            assertThat(seen)
                    .extracting(Tap.Drop::reason)
                    .containsExactly(
                            DropReason.SERVICE,
                            DropReason.CONSUMED,
                            DropReason.SERVICE_FAILURE,
                            DropReason.UNKNOWN_SERVICE,
                            DropReason.NO_ROUTE);
            assertThat(seen).allSatisfy(drop -> {
                assertThat(drop.service()).isEqualTo("sort");
                assertThat(drop.peer()).isEqualTo(sender.localAddress());
                assertThat(drop.packets()).isEqualTo(1);
                assertThat(drop.bytes()).isPositive();
            });
            assertThat(seen)
                    .extracting(Tap.Drop::serviceKey)
                    .containsExactly(
                            ServiceKey.of("sort"),
                            ServiceKey.of("sort"),
                            ServiceKey.of("sort"),
                            ServiceKey.of("absent"),
                            ServiceKey.of("sort"));
            assertThat(drops.missed()).isZero();
        }
    }

    @Test
    void seesWhatEndsBeforeThereIsAService() throws Exception {
        TestNode node = node();
        try (Tap.View<Tap.Drop> drops = node.environment.tap().drops(8);
                SocketChannel rubbish = connect(node)) {
            rubbish.write(ByteBuffer.allocate(16));
            Tap.Drop drop = take(drops, 1).get(0);
            assertThat(drop.service()).isEqualTo("reception");
            assertThat(drop.reason()).isEqualTo(DropReason.VERSION);
            assertThat(drop.peer()).isEqualTo(rubbish.getLocalAddress());
            assertThat(drop.bytes()).isEqualTo(16);
        }
    }

    @Test
    void seesDropsOfDatagrams() throws Exception {
        try (UdpTestNode node = UdpTestNode.start(TransportKind.NIO).deliver("127.0.0.1/32", Transport.SAME);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                Tap.View<Tap.Drop> drops = node.environment.tap().drops(8)) {
            node.service("udp", (service, packet) -> service.end("unwanted"));
            sender.send(node.udp(), new byte[] {1, 2, 3});
            Tap.Drop first = take(drops, 1).get(0);
            assertThat(first.reason()).isEqualTo(DropReason.SHORT);
            assertThat(first.bytes()).isEqualTo(3);
            assertThat(first.peer()).isEqualTo(sender.address());
            for (int i = 0; i < 3; i++) { // The first comes through the reception, later ones do not.
                sender.send(node.udp(), UdpTestNode.packet(UdpTestNode.builder(sender.address(), "udp", 1), 200));
                assertThat(take(drops, 1).get(0))
                        .usingRecursiveComparison()
                        .ignoringFields("time")
                        .isEqualTo(new Tap.Drop(
                                first.time(),
                                DropReason.SERVICE,
                                "udp",
                                sender.address(),
                                ServiceKey.of("udp"),
                                200,
                                1));
            }
        }
    }

    @Test
    void countsWhatFoundNoRoom() throws Exception {
        TestNode node = node(SORT);
        try (Tap.View<Tap.Drop> drops = node.environment.tap().drops(3);
                AnepSender sender = sender(node)) {
            for (int i = 0; i < 10; i++) {
                sender.send(packets("sort"), number(1));
            }
            sender.finish();
            node.settleAfterDrop(DropReason.SERVICE);
            take(drops, 3);
            assertThat(drops.missed()).isEqualTo(7);
            assertThat(drops.missed()).isZero();
        }
    }

    @Test
    void seesNothingAfterItIsClosed() throws Exception {
        TestNode node = node(SORT);
        Tap tap = node.environment.tap();
        Tap.View<Tap.Drop> drops = tap.drops(3);
        Tap.View<Tap.Captured> arrivals = tap.arrivals(3);
        drops.close();
        arrivals.close();
        assertThat(tap.watchesDrops()).isFalse();
        assertThat(tap.watchesArrivals()).isFalse();
        try (AnepSender sender = sender(node)) {
            sender.send(packets("sort"), number(1));
            sender.finish();
            node.settleAfterDrop(DropReason.SERVICE);
        }
        assertThat(drops.take(Duration.ZERO)).isNull();
        assertThat(arrivals.take(Duration.ZERO)).isNull();
    }

    @Test
    void capturesExactlyAsManyPacketsAsAskedFor() throws Exception {
        TestSink sink = sink();
        TestNode node = node(TestServices.MARK).toHost(sink.address());
        try (Tap.View<Tap.Captured> arrivals = node.environment.tap().arrivals(50);
                AnepSender sender = sender(node)) {
            List<ByteBuffer> sent = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                sender.send(packets("mark"), number(i));
                sent.add(number(i));
            }
            sender.finish();
            sink.await(200);
            for (int i = 0; i < 50; i++) {
                Tap.Captured captured = Objects.requireNonNull(arrivals.take(SOON));
                Packet packet = UdpTestNode.parsed(captured.bytes());
                assertThat(packet.payload()).isEqualTo(sent.get(i));
                assertThat(packet.classOfService()).as("before the service").isZero();
                assertThat(captured.peer()).isEqualTo(sender.localAddress());
                assertThat(captured.local()).isEqualTo(node.address());
                assertThat(captured.transport()).isEqualTo(StreamInfo.Transport.TCP);
            }
            assertThat(arrivals.take(SOON)).as("no more come").isNull();
            assertThat(arrivals.missed()).isZero();
            assertThat(node.environment.tap().watchesArrivals()).isFalse();
        }
    }

    @Test
    void capturesDatagramsAndReplies() throws Exception {
        try (UdpTestNode node = UdpTestNode.start(TransportKind.NIO).deliver("127.0.0.1/32", Transport.SAME);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.NIO, "127.0.0.1");
                Tap.View<Tap.Captured> arrivals = node.environment.tap().arrivals(3)) {
            node.service("udp", (service, packet) -> Verdict.CONSUME);
            byte[] bytes = UdpTestNode.packet(UdpTestNode.builder(sender.address(), "udp", 1), 200);
            for (int i = 0; i < 3; i++) {
                sender.send(node.udp(), bytes);
                Tap.Captured captured = Objects.requireNonNull(arrivals.take(SOON));
                assertThat(captured.bytes()).isEqualTo(bytes);
                assertThat(captured.peer()).isEqualTo(sender.address());
                assertThat(captured.local()).isEqualTo(node.udp());
            }
        }
        TestSink echo = echoSink();
        TestNode node = node(TestServices.MARK).toHost(echo.address());
        try (Tap.View<Tap.Captured> arrivals = node.environment.tap().arrivals(2);
                AnepSender sender = sender(node)) {
            sender.send(packets("mark"), number(1));
            sender.flush();
            Tap.Captured there = Objects.requireNonNull(arrivals.take(SOON));
            Tap.Captured back = Objects.requireNonNull(arrivals.take(SOON));
            assertThat(there.peer()).isEqualTo(sender.localAddress());
            assertThat(back.peer()).isEqualTo(echo.address());
        }
    }

    @Test
    void refusesRoomWithoutBounds() throws IOException {
        Tap tap = node().environment.tap();
        assertThatIllegalArgumentException().isThrownBy(() -> tap.drops(0)).withMessageContaining("1 to 65536");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> tap.arrivals(65_537))
                .withMessageContaining("65537");
    }

    // ---- streams, and services
    // ---------------------------------------------------------------------------------------

    @Test
    void eachStreamIsReportedAtItsEnd() throws Exception {
        List<StreamRecord> records = new CopyOnWriteArrayList<>();
        TestSink sink = sink();
        TestNode node = node(SORT, TestServices.MARK).toHost(sink.address());
        node.environment.onStreamEnd(records::add);
        try (AnepSender sender = sender(node)) {
            sender.send(packets("sort"), number(0));
            sender.send(packets("mark"), number(0));
            sender.send(packets("sort"), number(1));
            sender.finish();
            eventually().until(() -> records.size() == 1);
            StreamRecord record = records.get(0);
            assertThat(record.end()).isEqualTo("finished");
            assertThat(record.service()).isEqualTo("sort");
            assertThat(record.stream().peer()).isEqualTo(sender.localAddress());
            assertThat(record.duration()).isPositive();
            assertThat(record.traffic().packetsIn()).isEqualTo(3);
            assertThat(record.traffic().packetsOut())
                    .as("that of both services")
                    .isEqualTo(2);
            assertThat(record.traffic().drops()).isEqualTo(Map.of(DropReason.SERVICE, 1L));
        }
        settings.connectTimeout = Duration.ofMillis(200);
        TestNode nowhere = node().toHost(nobody());
        nowhere.environment.onStreamEnd(records::add);
        try (AnepSender sender = sender(nowhere)) {
            sender.send(anonymous(), number(0));
            sender.flush();
            eventually().until(() -> records.size() == 2);
            assertThat(records.get(1).end()).startsWith("NEXT_HOP_UNREACHABLE: ");
        }
        try (AnepSender open = sender(node)) {
            open.send(packets("sort"), number(0));
            open.flush();
            sink.await(3);
            node.environment.close();
            eventually().until(() -> records.size() == 3);
            assertThat(records.get(2).end()).isEqualTo("cut at shutdown");
        }
    }

    @Test
    void countsStayWithTheServiceWhenItsInstancesEnd() throws Exception {
        TestSink sink = sink();
        TestNode node = node(SORT, TestServices.MARK).toHost(sink.address());
        for (int round = 1; round <= 2; round++) {
            try (AnepSender sender = sender(node)) {
                sender.send(packets("sort"), number(0));
                sender.send(packets("sort"), number(1));
                sender.send(packets("mark"), number(0));
                sender.finish();
                sink.await(2 * round);
            }
            node.settle();
            TrafficSnapshot sorted = node.environment.traffic(SORT);
            assertThat(sorted.packetsIn()).isEqualTo(2L * round);
            assertThat(sorted.packetsOut()).isEqualTo(round);
            assertThat(sorted.drops()).isEqualTo(new EnumMap<>(Map.of(DropReason.SERVICE, (long) round)));
            assertThat(node.environment.traffic(TestServices.MARK).packetsIn()).isEqualTo(round);
        }
        assertThat(node.environment.traffic(TestServices.ECHO).packetsIn()).isZero();
    }
}

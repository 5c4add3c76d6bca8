package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.anonymous;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;

/** What a service can do with the packets of a TCP stream. */
class TcpServiceTest extends TcpNodeTesting {
    private static void send(AnepSender sender, String service, int packets, int bytes) throws IOException {
        PacketBuilder builder = packets(service);
        for (int i = 0; i < packets; i++) {
            sender.send(builder, payload(i, bytes));
        }
        sender.finish();
    }

    private static ServiceDefinition replacing(String name, int bytes) {
        return define(name, () -> new Service() {
            private int number;

            @Override
            public Verdict process(Packet packet) {
                packet.setPayload(payload(number++, bytes));
                return Verdict.FORWARD;
            }
        });
    }

    @Test
    void replacesPayloadsByShorterAndLongerOnes() throws IOException {
        for (int bytes : new int[] {0, 1, 999, 1001, 30_000, 65_000}) {
            TestSink sink = sink();
            TestNode node = node(replacing("replace", bytes)).toHost(sink.address());
            try (AnepSender sender = sender(node)) {
                send(sender, "replace", 200, 1000);
                sink.await(200);
            }
            sink.awaitEnds();
            List<Packet> packets = sink.packets();
            for (int i = 0; i < packets.size(); i++) {
                assertThat(packets.get(i).sequence()).isEqualTo(i);
                assertThat(TestSink.bytes(packets.get(i))).isEqualTo(payload(i, bytes));
            }
            node.assertDrops(Map.of());
        }
    }

    @Test
    void makesAHundredTimesAsMuchInBoundedMemory() throws IOException {
        ServiceDefinition hundredfold = define("hundredfold", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                PacketBuilder builder = PacketBuilder.like(packet);
                for (int i = 0; i < 100; i++) {
                    emit(builder.build(payload(i, packet.payloadLength())));
                }
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(hundredfold).toHost(sink.address());
        long before = directBytes();
        long most = 0;
        try (AnepSender sender = sender(node)) {
            send(sender, "hundredfold", 10, 60_000);
            while (sink.packets().size() < 1010) {
                most = Math.max(most, directBytes());
            }
        }
        // Buffers of the node, the sender and the receiver; a packet's hundred copies alone are 6 MB.
        assertThat(most - before).isLessThan(5_000_000);
        assertThat(sink.awaitEnds().packets().get(100).payloadLength()).isEqualTo(60_000);
        node.assertDrops(Map.of());
        assertThat(node.traffic().packetsMade()).isEqualTo(1000);
    }

    @Test
    void sendsOnePacketToMany() throws IOException {
        TestSink other = sink();
        ServiceDefinition both = define("both", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws Exception {
                emitTo(InetAddress.getByName("10.1.2.3"), 4000, packet);
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(both).toHost(sink.address());
        node.route("10.0.0.0/8", other.address(), org.tamanoir.routing.NextHop.Kind.HOST);
        try (AnepSender sender = sender(node)) {
            send(sender, "both", 300, 500);
            sink.await(300);
            other.await(300);
            sender.finish();
        }
        assertThat(sink.awaitEnds().numbers())
                .isEqualTo(other.awaitEnds().numbers())
                .hasSize(300);
        node.assertDrops(Map.of());
    }

    @Test
    void dropsConsumesAndSendsElsewhere() throws IOException {
        ServiceDefinition sort = define("sort", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws Exception {
                return switch (TestSink.number(packet) % 4) {
                    case 0 -> Verdict.FORWARD;
                    case 1 -> drop("odd one out");
                    case 2 -> Verdict.CONSUME;
                    default -> forwardTo(InetAddress.getByName("10.1.2.3"), 4000);
                };
            }
        });
        TestSink sink = sink();
        TestSink other = sink();
        TestNode node = node(sort).toHost(sink.address());
        node.route("10.0.0.0/8", other.address(), org.tamanoir.routing.NextHop.Kind.HOST);
        try (AnepSender sender = sender(node)) {
            PacketBuilder builder = packets("sort");
            for (int i = 0; i < 400; i++) {
                sender.send(builder, number(i));
            }
            sender.flush();
            sink.await(100);
            other.await(100);
            eventually()
                    .until(() ->
                            node.traffic().packetsIn() == 400 && node.traffic().held() == 0);
            assertThat(node.environment.instances())
                    .singleElement()
                    .satisfies(instance -> assertThat(instance.dropReasons()).isEqualTo(Map.of("odd one out", 100L)));
            sender.finish();
        }
        assertThat(sink.awaitEnds().numbers()).allMatch(n -> n % 4 == 0);
        assertThat(other.awaitEnds().numbers()).allMatch(n -> n % 4 == 3);
        node.assertDrops(Map.of(DropReason.SERVICE, 100L, DropReason.CONSUMED, 100L));
    }

    @Test
    void namesTheServiceOfTheNextNode() throws IOException {
        ServiceDefinition first = define("first", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                packet.setServiceKey(ServiceKey.of("second"));
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode second = node(replacing("second", 5)).toHost(sink.address());
        TestNode node = node(first).toNode(second);
        try (AnepSender sender = sender(node)) {
            send(sender, "first", 50, 100);
            sink.await(50);
        }
        assertThat(sink.awaitEnds().packets()).hasSize(50).allMatch(packet -> packet.payloadLength() == 5);
        node.assertDrops(Map.of());
        second.assertDrops(Map.of());
    }

    @Test
    void sendsWhatItKeptBeforeTheStreamEnds() throws IOException {
        ServiceDefinition keep = define("keep", () -> new Service() {
            private final List<Packet> kept = new ArrayList<>();

            @Override
            public Verdict process(Packet packet) {
                kept.add(packet.copy());
                return Verdict.CONSUME;
            }

            @Override
            public void endOfStream() {
                kept.forEach(this::emit);
            }

            @Override
            public void close() {
                emit(kept.get(0)); // Too late: refused.
            }
        });
        TestSink sink = sink();
        TestNode node = node(keep).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            send(sender, "keep", 3000, 500);
            sink.await(3000);
        }
        sink.awaitEnds();
        for (int i = 0; i < 3000; i++) {
            assertThat(TestSink.bytes(sink.packets().get(i))).isEqualTo(payload(i, 500));
        }
        node.assertDrops(Map.of(DropReason.CONSUMED, 3000L));
        assertThat(log()).anyMatch(line -> line.contains("failed in close"));
    }

    @Test
    void timersRunOnItsOwnThreadAndMaySend() throws IOException {
        ServiceDefinition clock = define("clock", () -> new Service() {
            @Override
            public void init(ServiceConfig config) {
                every(Duration.ofMillis(5), () -> {
                    if (Thread.currentThread() == this) {
                        counter("ticks").add(1);
                    }
                    emit(anonymous().build(ByteBuffer.allocate(10)));
                });
            }

            @Override
            public Verdict process(Packet packet) {
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(clock).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("clock"), number(1));
            sender.flush();
            sink.await(20);
            assertThat(node.environment.instances())
                    .singleElement()
                    .satisfies(instance ->
                            assertThat(instance.counters().get("ticks")).isGreaterThanOrEqualTo(19));
            sender.finish();
            sink.awaitEnds();
        }
        node.assertDrops(Map.of());
    }

    @Test
    void countersTellWhatEachInstanceDid() throws IOException {
        TestSink sink = sink();
        TestNode node = node(TestServices.MARK).toHost(sink.address());
        List<AnepSender> senders = new ArrayList<>();
        for (int stream = 1; stream <= 3; stream++) {
            AnepSender sender = sender(node);
            senders.add(sender);
            for (int i = 0; i < stream * 10; i++) {
                sender.send(packets("mark"), number(i));
            }
            sender.flush();
        }
        sink.await(60);
        eventually()
                .untilAsserted(() -> assertThat(node.environment.instances())
                        .extracting(instance -> instance.counters().get("marked"))
                        .containsExactlyInAnyOrder(10L, 20L, 30L));
        assertThat(node.environment.instances()).allSatisfy(instance -> {
            assertThat(instance.service().name()).isEqualTo("mark");
            assertThat(instance.traffic().packetsIn())
                    .isEqualTo(instance.counters().get("marked"));
        });
        for (AnepSender sender : senders) {
            sender.finish();
        }
        node.assertDrops(Map.of());
    }
}

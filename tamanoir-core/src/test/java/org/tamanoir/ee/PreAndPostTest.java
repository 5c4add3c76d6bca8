package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.qdisc.Link;
import org.tamanoir.qdisc.PreProcessing;
import org.tamanoir.qdisc.QosConfig;
import org.tamanoir.qdisc.TrafficClass;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.routing.Prefix;
import org.tamanoir.sched.QosStatus;
import org.tamanoir.service.Allotment;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** Scheduling before and after processing at once: what a link has no room for is not processed. */
@Tag("once")
@ExtendWith(UdpTestNode.NoLeaks.class)
class PreAndPostTest {
    private static final String NAME = "org.example.Service";
    private static final int LIMIT_PACKETS = 20;
    private static final int PACKET_BYTES = 200;

    /** Invocations by class of service. */
    private final AtomicIntegerArray invocations = new AtomicIntegerArray(2);

    private Verdict forward(UdpTestNode.Scripted service, Packet packet) {
        invocations.incrementAndGet(packet.classOfService());
        return Verdict.FORWARD;
    }

    /** What goes to 127.0.0.1 crosses a link of this rate, all else none. */
    private static QosConfig both(long rate) {
        return new QosConfig(
                List.of(
                        new TrafficClass("high", Set.of(0), 1, LIMIT_PACKETS, 1 << 20),
                        new TrafficClass("low", Set.of(1), 1, LIMIT_PACKETS, 1 << 20)),
                "low",
                List.of(),
                new PreProcessing("stfq", Map.of(), 1, Duration.ofMillis(1)),
                List.of(new Link("out", List.of(Prefix.parse("127.0.0.1/32")), rate, 1000, false, "pq", Map.of())));
    }

    private static byte[] packet(UdpFarEnd to, int classOfService, int number) {
        PacketBuilder builder = UdpTestNode.builder(to.address(), NAME, 1).classOfService(classOfService, 0);
        ByteBuffer payload = ByteBuffer.allocate(PACKET_BYTES - builder.headerLength());
        return UdpTestNode.bytes(builder.build(payload.putInt(0, number)));
    }

    private static QosStatus.ClassStatus status(UdpTestNode node, int point, String name) {
        return node.environment.qosStatus().points().get(point).classes().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aClassWhoseLinkIsFullIsNotProcessedAndOthersAre(TransportKind kind) throws Exception {
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd slow = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd fast = new UdpFarEnd(kind, "127.0.0.2");
                UdpTestNode node = UdpTestNode.start(kind)) {
            node.deliver("127.0.0.0/8", Transport.SAME).service(NAME, this::forward);
            node.environment.qos(both(1)); // Once the burst is over, a packet in some minutes.
            int count = 300;
            for (int i = 0; i < count; i++) {
                sender.send(node.udp(), packet(slow, 1, i));
            }
            eventually().until(() -> node.environment.traffic().packetsIn() == count);
            eventually().untilAsserted(() -> {
                QosStatus.ClassStatus low = status(node, 0, "low");
                assertThat(low.waitingTurns()).isEqualTo(1);
                assertThat(low.waitingPackets()).isPositive();
            });
            for (int i = 0; i < 100; i++) {
                sender.send(node.udp(), packet(fast, 0, i));
                assertThat(TestSink.number(UdpTestNode.parsed(fast.next()))).isEqualTo(i);
            }
            // The burst, the link's queue and its head, and what was on its way before the thread looked.
            assertThat(invocations.get(1)).isBetween(LIMIT_PACKETS, 1000 / PACKET_BYTES + LIMIT_PACKETS + 1 + 8);
            node.environment.qos(both(1_000_000_000));
            eventually().until(() -> node.environment.traffic().held() == 0);
            Map<DropReason, Long> drops = node.balanced(count + 100).drops();
            assertThat(drops.keySet()).isSubsetOf(DropReason.TURN_QUEUE_FULL, DropReason.QUEUE_FULL);
            assertThat(invocations.get(1)).isEqualTo(count - drops.getOrDefault(DropReason.TURN_QUEUE_FULL, 0L));
            assertThat(drops.getOrDefault(DropReason.QUEUE_FULL, 0L)).isLessThanOrEqualTo(8);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aServiceSeesItsTurnAndItsLinkWhileThereAreAny(TransportKind kind) throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        try (UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd far = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind)) {
            node.deliver("127.0.0.0/8", Transport.SAME).service(NAME, (service, packet) -> {
                Allotment now = service.look();
                seen.add(now.processors() + " " + now.turnsRunning() + " " + now.due() + " " + now.linkRate());
                return seen.size() < 3 ? Verdict.FORWARD : service.end("seen");
            });
            sender.send(node.udp(), packet(far, 1, 0));
            far.next();
            node.environment.qos(both(1_000_000));
            sender.send(node.udp(), packet(far, 1, 1));
            far.next();
            try (AnepSender stream = AnepSender.tcp(node.tcp())) {
                stream.send(TestServices.packets(NAME).classOfService(1, 0), ByteBuffer.allocate(150));
                stream.finish();
                eventually().until(() -> seen.size() == 3);
            }
            assertThat(seen).containsExactly("0 0 0.0 0", "1 1 0.5 1000000", "1 1 0.5 1000000");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aStreamLosesNothingAndKeepsItsOrder(TransportKind kind) throws Exception {
        int count = 5000;
        try (TestSink sink = TestSink.open();
                UdpTestNode node = UdpTestNode.start(kind)) {
            node.toHost("127.0.0.0/8", sink.address(), Transport.SAME).service(NAME, this::forward);
            node.environment.qos(both(2_000_000));
            try (AnepSender sender = AnepSender.tcp(node.tcp())) {
                PacketBuilder[] builders = {
                    TestServices.packets(NAME).classOfService(0, 0),
                    TestServices.packets(NAME).classOfService(1, 0)
                };
                for (int i = 0; i < count; i++) {
                    sender.send(builders[i / 7 & 1], ByteBuffer.allocate(150).putInt(0, i));
                }
                sender.finish();
                sink.await(count);
            }
            sink.awaitEnds();
            assertThat(sink.numbers())
                    .isEqualTo(IntStream.range(0, count).boxed().toList());
            node.assertDrops(count, Map.of());
            assertThat(invocations.get(0) + invocations.get(1)).isEqualTo(count);
        }
    }
}

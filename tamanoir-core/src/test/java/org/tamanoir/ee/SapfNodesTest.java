package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.sapf.SapfSettings;
import org.tamanoir.sapf.SapfStatistics;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.TransportKind;

/** Two nodes in a row whose link carries SAPF: what comes out of the second is what would without. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class SapfNodesTest {
    private static final String NAME = "org.example.Seen";
    private static final long SEED = Seeds.ofCommit(SapfNodesTest.class);
    private static final SapfSettings ACCEPTS = new SapfSettings(true, List.of(), Duration.ofSeconds(60));

    private final SplittableRandom random = new SplittableRandom(SEED);

    private static UdpTestNode node(TransportKind kind, SapfSettings sapf) throws Exception {
        UdpTestNode node = new UdpTestNode(UdpTestNode.config(kind));
        node.environment.sapf(sapf);
        node.environment.start();
        return node;
    }

    private static SapfStatistics sapf(UdpTestNode node) {
        return Objects.requireNonNull(node.environment.sapfStatistics());
    }

    private static SapfSettings asking(UdpTestNode next) {
        return new SapfSettings(false, List.of(next.udp()), Duration.ofSeconds(60));
    }

    private static PacketBuilder builder(InetSocketAddress destination, int source) {
        return new PacketBuilder()
                .source(UdpTestNode.address("10.0.0." + source))
                .destination(destination.getAddress())
                .destinationPort(destination.getPort())
                .service(NAME)
                .hopBudget(9);
    }

    private byte[] packet(PacketBuilder builder, int payloadBytes) {
        byte[] payload = new byte[payloadBytes];
        random.nextBytes(payload);
        return UdpTestNode.bytes(builder.build(ByteBuffer.wrap(payload)));
    }

    /** The packet as the first node sends it on: with a hop less. */
    private static byte[] oneHopLater(byte[] bytes) {
        Packet packet = UdpTestNode.parsed(bytes.clone());
        NodeOptions.setHopBudget(packet, packet.hopBudget() - 1);
        return UdpTestNode.bytes(packet);
    }

    private static List<byte[]> oneHopLater(List<byte[]> packets) {
        return packets.stream().map(SapfNodesTest::oneHopLater).toList();
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void carriesEveryOctetOfSeveralFlowsAndSizes(TransportKind kind) throws Exception {
        AtomicLong seen = new AtomicLong();
        try (UdpTestNode second = node(kind, ACCEPTS);
                UdpTestNode first = node(kind, asking(second));
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            first.via("127.0.0.1/32", second.udp(), Transport.SAME);
            second.deliver("127.0.0.1/32", Transport.SAME).service(NAME, (service, packet) -> {
                seen.incrementAndGet();
                return Verdict.FORWARD;
            });
            first.service(NAME, (service, packet) -> Verdict.FORWARD);
            List<byte[]> sent = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                int payload = i % 7 < 5 ? 64 : random.nextInt(1_400);
                sent.add(packet(builder(receiver.address(), 1 + i / 8 % 3), payload));
            }
            List<byte[]> received = sender.pump(first.udp(), sent, receiver);
            assertThat(received).as("seed %s", SEED).containsExactlyElementsOf(oneHopLater(sent));
            assertThat(seen).hasValue(sent.size());
            SapfStatistics out = sapf(first);
            SapfStatistics in = sapf(second);
            assertThat(out.packetsOut()).isGreaterThan(2_000).isEqualTo(in.packetsIn());
            assertThat(out.asked()).isEqualTo(3);
            assertThat(in.issued()).isEqualTo(3);
            first.balanced(sent.size());
            second.balanced(sent.size());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void leavesPacketsThatAServiceMarksEachAsAnep(TransportKind kind) throws Exception {
        AtomicLong marks = new AtomicLong();
        try (UdpTestNode second = node(kind, ACCEPTS);
                UdpTestNode first = node(kind, asking(second));
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            first.via("127.0.0.1/32", second.udp(), Transport.SAME).service(NAME, (service, packet) -> {
                packet.setClassOfService((int) marks.getAndIncrement() & 0xFF);
                return Verdict.FORWARD;
            });
            second.deliver("127.0.0.1/32", Transport.SAME).service(NAME, (service, packet) -> Verdict.FORWARD);
            PacketBuilder builder = builder(receiver.address(), 1).classOfService(0, 0);
            List<byte[]> sent = new ArrayList<>();
            List<byte[]> expected = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                sent.add(packet(builder, 100));
                Packet marked = UdpTestNode.parsed(oneHopLater(sent.get(i)));
                marked.setClassOfService(i & 0xFF);
                expected.add(UdpTestNode.bytes(marked));
            }
            assertThat(sender.pump(first.udp(), sent, receiver)).containsExactlyElementsOf(expected);
            assertThat(sapf(first).packetsOut()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void resolvesARouteAnewThatChangesUnderABinding(TransportKind kind) throws Exception {
        try (UdpTestNode second = node(kind, ACCEPTS);
                UdpTestNode first = node(kind, asking(second));
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd old = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd now = new UdpFarEnd(kind, "127.0.0.1")) {
            first.via("127.0.0.1/32", second.udp(), Transport.SAME);
            second.toHost("127.0.0.1/32", old.address(), Transport.SAME);
            PacketBuilder builder = new PacketBuilder()
                    .destination(UdpTestNode.address("127.0.0.1"))
                    .hopBudget(9);
            List<byte[]> sent = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                sent.add(packet(builder, 64));
            }
            assertThat(sender.pump(first.udp(), sent, old)).containsExactlyElementsOf(oneHopLater(sent));
            long before = sapf(second).packetsIn();
            second.toHost("127.0.0.1/32", now.address(), Transport.SAME);
            assertThat(sender.pump(first.udp(), sent, now)).containsExactlyElementsOf(oneHopLater(sent));
            assertThat(sapf(second).packetsIn()).as("with selectors").isEqualTo(before + sent.size());
            assertThat(old.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void goesOnAsAnepWhereTheNextNodeTakesNoSapf(TransportKind kind) throws Exception {
        try (UdpTestNode second = node(kind, SapfSettings.OFF);
                UdpTestNode first = node(kind, asking(second));
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            first.via("127.0.0.1/32", second.udp(), Transport.SAME);
            second.deliver("127.0.0.1/32", Transport.SAME);
            PacketBuilder builder = new PacketBuilder()
                    .destination(receiver.address().getAddress())
                    .destinationPort(receiver.address().getPort())
                    .hopBudget(9);
            List<byte[]> sent = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                sent.add(packet(builder, 64));
            }
            assertThat(sender.pump(first.udp(), sent, receiver)).containsExactlyElementsOf(oneHopLater(sent));
            assertThat(sapf(first).packetsOut()).isZero();
            eventually()
                    .untilAsserted(() -> assertThat(second.environment.traffic().packetsOut())
                            .isEqualTo(sent.size()));
        }
    }
}

package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.NodeOptions;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.Verdict;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** UDP flows through services: whole, in order, and on which threads. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class UdpForwardingTest {
    private static final String MARK = "org.example.Mark";
    private static final String SLOW = "org.example.Slow";

    static Stream<Arguments> sides() {
        return Stream.of(TransportKind.NATIVE, TransportKind.NIO)
                .flatMap(kind -> Stream.of(Arguments.of(kind, "127.0.0.1"), Arguments.of(kind, "::1")));
    }

    private static EeConfig listening(TransportKind kind, String... hosts) {
        return UdpTestNode.config(kind)
                .listening(
                        List.of(),
                        Arrays.stream(hosts)
                                .map(host -> UdpTestNode.at(host, 0))
                                .toList());
    }

    private static Verdict mark(UdpTestNode.Scripted service, Packet packet) {
        packet.setClassOfService(7);
        return Verdict.FORWARD;
    }

    private static void assertSequence(List<byte[]> packets, int stream) {
        Map<Integer, Long> expected = new HashMap<>();
        for (byte[] bytes : packets) {
            Packet packet = UdpTestNode.parsed(bytes);
            if (packet.streamId() == stream) {
                assertThat(packet.sequence()).isEqualTo(expected.getOrDefault(stream, 0L));
                expected.merge(stream, 1L, (a, b) -> packet.sequence() + 1);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void carriesPacketsOfAllSizesWholeAndInOrder(TransportKind kind, String host) throws Exception {
        try (UdpTestNode node = UdpTestNode.start(listening(kind, host));
                UdpFarEnd sender = new UdpFarEnd(kind, host);
                UdpFarEnd receiver = new UdpFarEnd(kind, host)) {
            node.deliver(host + (host.contains(":") ? "/128" : "/32"), Transport.SAME)
                    .service(MARK, UdpForwardingTest::mark);
            PacketBuilder builder =
                    UdpTestNode.builder(receiver.address(), MARK, 1).classOfService(3, 0);
            int largest = host.contains(":") ? 65_487 : 65_507;
            List<byte[]> sent = new ArrayList<>();
            List<byte[]> expected = new ArrayList<>();
            for (int bytes : new int[] {
                80, 81, 100, 199, 200, 200, 200, 576, 1_399, 1_400, 1_472, 1_500, 4_095, 9_000, 32_768, 65_000, largest
            }) {
                sent.add(UdpTestNode.packet(builder, bytes));
                Packet marked = UdpTestNode.parsed(sent.get(sent.size() - 1).clone());
                marked.setClassOfService(7);
                expected.add(UdpTestNode.bytes(marked));
            }
            assertThat(sender.pump(node.udp(), sent, receiver)).containsExactlyElementsOf(expected);
            TrafficSnapshot traffic = node.balanced(sent.size());
            assertThat(traffic.packetsOut()).isEqualTo(sent.size());
            assertThat(traffic.bytesOut()).isEqualTo(traffic.bytesIn());
            assertThat(traffic.drops()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void carriesTheSmallestPackets(TransportKind kind) throws Exception {
        try (UdpTestNode node = UdpTestNode.start(kind);
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.SAME).service(MARK, UdpForwardingTest::mark);
            PacketBuilder builder = UdpTestNode.builder(receiver.address(), MARK, 1);
            List<byte[]> sent = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                sent.add(UdpTestNode.packet(builder, 64));
            }
            assertThat(sender.pump(node.udp(), sent, receiver)).containsExactlyElementsOf(sent);
            assertThat(node.balanced(sent.size()).packetsOut()).isEqualTo(sent.size());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void takesJoinedDatagramsApartAndKeepsOrderBehindTheFirstBatch(TransportKind kind) throws Exception {
        try (UdpTestNode node = UdpTestNode.start(kind);
                UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.SAME);
            for (int round = 0; round < 20; round++) {
                // A service that is new to the node: its first packets come through the inbox, the next from the port.
                String name = "org.example.New" + round;
                node.service(name, UdpForwardingTest::mark);
                PacketBuilder builder = UdpTestNode.builder(receiver.address(), name, round);
                List<byte[]> sent = new ArrayList<>();
                for (int i = 0; i < 600; i++) {
                    sent.add(UdpTestNode.packet(builder, 100));
                }
                sender.send(node.udp(), sent.subList(0, 300));
                sender.send(node.udp(), sent.subList(300, 600));
                List<byte[]> received = new ArrayList<>();
                while (received.size() < sent.size()) {
                    received.add(receiver.next());
                }
                assertThat(received).containsExactlyElementsOf(sent);
            }
            assertThat(node.balanced(12_000).packetsOut()).isEqualTo(12_000);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void keepsOrderWhenAServiceTakesThePortOver(TransportKind kind) throws Exception {
        for (int round = 0; round < 15; round++) {
            try (UdpTestNode node = UdpTestNode.start(kind);
                    UdpFarEnd sender = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                    UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
                node.deliver("127.0.0.1/32", Transport.SAME).service(MARK, UdpForwardingTest::mark);
                PacketBuilder builder = UdpTestNode.builder(receiver.address(), MARK, 1);
                List<byte[]> sent = new ArrayList<>();
                for (int i = 0; i < 1_000; i++) {
                    sent.add(UdpTestNode.packet(builder, 100));
                }
                for (int at = 0; at < sent.size(); at += 50) {
                    sender.send(node.udp(), sent.subList(at, at + 50));
                }
                List<byte[]> received = new ArrayList<>();
                while (received.size() < sent.size()) {
                    received.add(receiver.next());
                }
                assertThat(received).containsExactlyElementsOf(sent);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void chainsTwoNodes(TransportKind kind, String host) throws Exception {
        String prefix = host + (host.contains(":") ? "/128" : "/32");
        try (UdpTestNode first = UdpTestNode.start(listening(kind, host));
                UdpTestNode second = UdpTestNode.start(listening(kind, host));
                UdpFarEnd sender = new UdpFarEnd(kind, host);
                UdpFarEnd receiver = new UdpFarEnd(kind, host)) {
            first.via(prefix, second.udp(), Transport.SAME).service(MARK, UdpForwardingTest::mark);
            second.deliver(prefix, Transport.SAME).service(MARK, UdpForwardingTest::mark);
            PacketBuilder builder = UdpTestNode.builder(receiver.address(), MARK, 1)
                    .hopBudget(0)
                    .checksum();
            List<byte[]> sent = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                sent.add(UdpTestNode.packet(builder, 120 + i));
            }
            List<byte[]> received = sender.pump(first.udp(), sent, receiver);
            for (int i = 0; i < sent.size(); i++) {
                Packet expected = UdpTestNode.parsed(sent.get(i));
                NodeOptions.setHopBudget(expected, 32);
                assertThat(received.get(i)).isEqualTo(UdpTestNode.bytes(expected));
            }
            assertThat(first.balanced(sent.size()).packetsOut()).isEqualTo(sent.size());
            assertThat(second.balanced(sent.size()).packetsOut()).isEqualTo(sent.size());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void servesAllFlowsWithOneThreadForEachService(TransportKind kind) throws Exception {
        List<UdpFarEnd> flows = new ArrayList<>();
        List<String> before = UdpTestNode.nodeThreads();
        try (UdpTestNode node = UdpTestNode.start(kind);
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.SAME)
                    .service(MARK, UdpForwardingTest::mark)
                    .service(SLOW, UdpForwardingTest::mark);
            for (int flow = 0; flow < 24; flow++) {
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                flows.add(sender);
                PacketBuilder builder = UdpTestNode.builder(receiver.address(), flow % 2 == 0 ? MARK : SLOW, flow);
                List<byte[]> sent = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    sent.add(UdpTestNode.packet(builder, 200));
                }
                assertThat(sender.pump(node.udp(), sent, receiver)).containsExactlyElementsOf(sent);
            }
            List<String> threads = new ArrayList<>(UdpTestNode.nodeThreads());
            before.forEach(threads::remove);
            assertThat(threads).containsExactly("reception", "udp " + MARK, "udp " + SLOW);
            assertThat(node.balanced(24 * 50).packetsOut()).isEqualTo(24 * 50);
        } finally {
            flows.forEach(UdpFarEnd::close);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void letsTheServiceOfAPortReadItWithoutAHandOff(TransportKind kind) throws Exception {
        try (UdpTestNode node = UdpTestNode.start(kind);
                UdpFarEnd sender = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            AtomicInteger handedOver = new AtomicInteger();
            node.deliver("127.0.0.1/32", Transport.SAME).service(MARK, (service, packet) -> {
                boolean throughInbox = StackWalker.getInstance()
                        .walk(frames ->
                                frames.anyMatch(frame -> frame.getMethodName().equals("readInbox")));
                handedOver.addAndGet(throughInbox ? 1 : 0);
                return Verdict.FORWARD;
            });
            PacketBuilder builder = UdpTestNode.builder(receiver.address(), MARK, 1);
            for (int i = 0; i < 100; i++) {
                sender.pump(node.udp(), many(builder, 1), receiver);
            }
            node.balanced(100);
            int first = handedOver.get();
            assertThat(first).isLessThan(100);
            sender.pump(node.udp(), many(builder, 500), receiver);
            node.balanced(600);
            assertThat(handedOver).hasValue(first);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void keepsEachFlowWholeWhenASecondServiceMakesTheReceptionReadThePort(TransportKind kind) throws Exception {
        try (UdpTestNode node = UdpTestNode.start(kind);
                UdpFarEnd one = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd other = new UdpFarEnd(TransportKind.AUTO, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd otherReceiver = new UdpFarEnd(kind, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.SAME).service(MARK, UdpForwardingTest::mark);
            PacketBuilder builder = UdpTestNode.builder(receiver.address(), MARK, 1);
            List<byte[]> first = one.pump(node.udp(), many(builder, 200), receiver);
            node.service(SLOW, UdpForwardingTest::mark);
            PacketBuilder second = UdpTestNode.builder(otherReceiver.address(), SLOW, 2);
            List<byte[]> firstBatch = many(builder, 800);
            List<byte[]> secondBatch = many(second, 800);
            List<byte[]> received = new ArrayList<>(first);
            List<byte[]> otherReceived = new ArrayList<>();
            for (int at = 0; at < 800; at += 40) {
                one.send(node.udp(), firstBatch.subList(at, at + 40));
                other.send(node.udp(), secondBatch.subList(at, at + 40));
                for (int i = 0; i < 40; i++) {
                    received.add(receiver.next());
                    otherReceived.add(otherReceiver.next());
                }
            }
            assertThat(received).hasSize(1_000);
            assertThat(otherReceived).hasSize(800);
            assertSequence(received, 1);
            assertSequence(otherReceived, 2);
            assertThat(node.balanced(1_800).drops()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void doesNotHoldOneServiceUpForAnother(TransportKind kind) throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        CountDownLatch blocked = new CountDownLatch(1);
        // Bytes of a record in the inbox, and how many fit: the ring starts empty. The packet that brings the
        // service up waits elsewhere.
        int record = 24 + 104;
        int fit = (1 << 18) / record + 1;
        EeConfig config = UdpTestNode.config(kind, org.tamanoir.service.FailurePolicy.DROP, 1 << 18, 32);
        try (UdpTestNode node = UdpTestNode.start(config);
                UdpFarEnd one = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd other = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd receiver = new UdpFarEnd(kind, "127.0.0.1")) {
            node.deliver("127.0.0.1/32", Transport.SAME)
                    .service(MARK, UdpForwardingTest::mark)
                    .service(SLOW, (service, packet) -> {
                        blocked.countDown();
                        latch.await();
                        return Verdict.CONSUME;
                    });
            PacketBuilder builder = UdpTestNode.builder(receiver.address(), MARK, 1);
            PacketBuilder slow = UdpTestNode.builder(receiver.address(), SLOW, 2);
            List<byte[]> received = one.pump(node.udp(), many(builder, 10), receiver);
            other.send(node.udp(), UdpTestNode.packet(slow, 100));
            blocked.await();
            int surplus = 500;
            int sent = 1;
            while (sent < fit + surplus) {
                int more = Math.min(50, fit + surplus - sent);
                other.send(node.udp(), many(slow, more));
                sent += more;
                // The answer to a packet behind them shows that the node has read them.
                received.addAll(one.pump(node.udp(), many(builder, 1), receiver));
            }
            assertSequence(received, 1);
            long total = sent + received.size();
            eventually().untilAsserted(() -> {
                TrafficSnapshot now = node.environment.traffic();
                assertThat(now.drops()).isEqualTo(Map.of(DropReason.INBOX_FULL, (long) surplus));
                assertThat(now.held()).as("all but the one in hand").isEqualTo(fit - 1);
            });
            latch.countDown();
            node.assertDrops(total, Map.of(DropReason.INBOX_FULL, (long) surplus, DropReason.CONSUMED, (long) fit));
        } finally {
            latch.countDown();
        }
    }

    private static List<byte[]> many(PacketBuilder builder, int count) {
        List<byte[]> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(UdpTestNode.packet(builder, 100));
        }
        return packets;
    }

    @ParameterizedTest
    @EnumSource(
            value = TransportKind.class,
            names = {"NATIVE", "NIO"})
    void answersThroughThePortThatAPacketCameIn(TransportKind kind) throws Exception {
        EeConfig config = listening(kind, "127.0.0.1", "::1", "127.0.0.1");
        try (UdpTestNode node = UdpTestNode.start(config)) {
            node.service(MARK, UdpTestNode.Scripted::answer).service(SLOW, UdpTestNode.Scripted::answer);
            for (int round = 0; round < 4; round++) {
                for (InetSocketAddress port : node.environment.udpAddresses()) {
                    // The second service makes the reception read: packets then come through the inbox.
                    for (String service : List.of(MARK, SLOW, MARK)) {
                        String host = port.getAddress().getHostAddress();
                        try (UdpFarEnd sender = new UdpFarEnd(kind, host)) {
                            byte[] packet = UdpTestNode.packet(UdpTestNode.builder(port, service, 1), 100);
                            sender.send(port, packet);
                            assertThat(sender.next()).isEqualTo(packet);
                            assertThat(sender.lastPort()).isEqualTo(port.getPort());
                        }
                    }
                }
            }
            assertThat(node.balanced(36).packetsOut()).isEqualTo(36);
        }
    }
}

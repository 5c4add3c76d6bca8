package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.tamanoir.support.Waiting.eventually;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.InstanceStatus;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.Verdict;
import org.tamanoir.traffic.TrafficSnapshot;
import org.tamanoir.transport.TransportKind;

/** What services make of datagrams. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class UdpServiceTest {
    private static final String NAME = "org.example.Service";
    private static final int PACKETS = 40;
    /** For services that make more of a packet than a node lets them by default. */
    private static final UdpBounds WIDE = new UdpBounds(UdpBounds.MAX_GROWTH, UdpBounds.MAX_BYTES, 3, Map.of());

    /** A node with one service, a sender and a receiver. */
    private static final class Bench implements AutoCloseable {
        final UdpTestNode node;
        final UdpFarEnd sender;
        final UdpFarEnd receiver;

        Bench(TransportKind kind) throws Exception {
            this(UdpTestNode.config(kind));
        }

        Bench(EeConfig config) throws Exception {
            node = UdpTestNode.start(config).deliver("127.0.0.1/32", Transport.SAME);
            sender = new UdpFarEnd(config.transport(), "127.0.0.1");
            receiver = new UdpFarEnd(config.transport(), "127.0.0.1");
        }

        PacketBuilder builder() {
            return UdpTestNode.builder(receiver.address(), NAME, 1);
        }

        List<byte[]> packets(PacketBuilder builder, int bytes) {
            List<byte[]> packets = new ArrayList<>();
            for (int i = 0; i < PACKETS; i++) {
                packets.add(UdpTestNode.packet(builder, bytes));
            }
            return packets;
        }

        void send(List<byte[]> packets) {
            sender.send(node.udp(), packets);
        }

        @Override
        public void close() {
            sender.close();
            receiver.close();
            node.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void answersGoBackToTheSender(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            bench.node.service(NAME, UdpTestNode.Scripted::answer);
            PacketBuilder builder = bench.builder().source(UdpTestNode.address("127.0.0.9"));
            List<byte[]> sent = bench.packets(builder, 150);
            List<byte[]> answers = bench.sender.pump(bench.node.udp(), sent, bench.sender);
            for (int i = 0; i < sent.size(); i++) {
                Packet expected = UdpTestNode.parsed(sent.get(i));
                assertThat(expected.swapEnds()).isTrue();
                assertThat(answers.get(i)).isEqualTo(UdpTestNode.bytes(expected));
            }
            assertThat(bench.node.balanced(PACKETS).packetsOut()).isEqualTo(PACKETS);
            assertThat(bench.receiver.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void payloadsCanBecomeShorterAndLonger(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(UdpTestNode.config(kind).bounding(WIDE))) {
            AtomicInteger next = new AtomicInteger();
            int[] lengths = {0, 1, 99, 100, 101, 1_000, 9_000, 65_507 - 64};
            bench.node.service(NAME, (service, packet) -> {
                byte[] payload = new byte[lengths[next.getAndIncrement() % lengths.length]];
                java.util.Arrays.fill(payload, (byte) packet.sequence());
                packet.setPayload(ByteBuffer.wrap(payload));
                return Verdict.FORWARD;
            });
            PacketBuilder builder = bench.builder().checksum();
            List<byte[]> sent = bench.packets(builder, 100 + builder.headerLength());
            for (int i = 0; i < sent.size(); i++) {
                byte[] received = bench.sender
                        .pump(bench.node.udp(), List.of(sent.get(i)), bench.receiver)
                        .get(0);
                Packet packet = UdpTestNode.parsed(received);
                assertThat(packet.sequence()).isEqualTo(i);
                assertThat(packet.payloadLength()).isEqualTo(lengths[i % lengths.length]);
                ByteBuffer payload = packet.payload();
                while (payload.hasRemaining()) {
                    assertThat(payload.get()).isEqualTo((byte) i);
                }
            }
            assertThat(bench.node.balanced(PACKETS).packetsOut()).isEqualTo(PACKETS);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aBatchThatGrowsBeyondItsMemoryLeavesWholeAndInOrder(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(UdpTestNode.config(kind).bounding(WIDE))) {
            bench.node.service(NAME, (service, packet) -> {
                ByteBuffer longer = packet.newPayload(30_000);
                for (int i = 0; i < 30_000; i++) {
                    longer.put((byte) (packet.sequence() + i));
                }
                packet.commitPayload(30_000);
                return Verdict.FORWARD;
            });
            List<byte[]> sent = bench.packets(bench.builder(), 100);
            bench.send(sent);
            for (int i = 0; i < sent.size(); i++) {
                Packet packet = UdpTestNode.parsed(bench.receiver.next());
                assertThat(packet.sequence()).isEqualTo(i);
                assertThat(packet.payloadLength()).isEqualTo(30_000);
                assertThat(packet.payload().get(packet.payloadOffset() + 29_999))
                        .isEqualTo((byte) (i + 29_999));
            }
            assertThat(bench.node.balanced(PACKETS).packetsOut()).isEqualTo(PACKETS);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void emittedPacketsLeaveBehindThoseBefore(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            PacketBuilder own = UdpTestNode.builder(bench.receiver.address(), "", 99);
            bench.node.service(NAME, (service, packet) -> {
                service.send(own.build(ByteBuffer.wrap(new byte[] {(byte) packet.sequence()})));
                service.send(packet.copy());
                return packet.sequence() % 2 == 0 ? Verdict.FORWARD : Verdict.CONSUME;
            });
            List<byte[]> sent = bench.packets(bench.builder(), 100);
            bench.send(sent);
            for (int i = 0; i < PACKETS; i++) {
                Packet made = UdpTestNode.parsed(bench.receiver.next());
                assertThat(made.streamId()).isEqualTo(99);
                assertThat(made.payload().get()).isEqualTo((byte) i);
                assertThat(bench.receiver.next()).isEqualTo(sent.get(i));
                if (i % 2 == 0) {
                    assertThat(bench.receiver.next()).isEqualTo(sent.get(i));
                }
            }
            TrafficSnapshot traffic = bench.node.balanced(PACKETS);
            assertThat(traffic.packetsMade()).isEqualTo(2 * PACKETS);
            assertThat(traffic.packetsOut()).isEqualTo(2 * PACKETS + PACKETS / 2);
            assertThat(traffic.drops()).isEqualTo(Map.of(DropReason.CONSUMED, PACKETS / 2L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsCanGoElsewhereIfRoutesAllow(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind);
                UdpFarEnd third = new UdpFarEnd(kind, "127.0.0.1")) {
            bench.node.service(NAME, (service, packet) -> switch ((int) packet.sequence() % 3) {
                case 0 -> service.elsewhere(third.address());
                case 1 -> service.elsewhere(UdpTestNode.at("10.9.8.7", 4));
                default -> Verdict.FORWARD_ELSEWHERE; // without saying where
            });
            List<byte[]> sent = bench.packets(bench.builder(), 100).subList(0, 30);
            bench.send(sent);
            for (int i = 0; i < 30; i += 3) {
                assertThat(third.next()).isEqualTo(sent.get(i));
            }
            bench.node.assertDrops(30, Map.of(DropReason.NO_ROUTE, 20L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void onePacketGoesToManyAsItCameIfRoutesAllow(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind);
                UdpFarEnd third = new UdpFarEnd(kind, "127.0.0.1")) {
            bench.node.service(NAME, (service, packet) -> {
                service.sendTo(third.address(), packet);
                service.sendTo(UdpTestNode.at("10.9.8.7", 4), packet);
                return Verdict.FORWARD;
            });
            List<byte[]> sent = bench.packets(bench.builder(), 100).subList(0, 30);
            bench.send(sent);
            for (byte[] packet : sent) {
                assertThat(third.next()).isEqualTo(packet);
                assertThat(bench.receiver.next()).isEqualTo(packet);
            }
            bench.node.assertDrops(30, Map.of(DropReason.NO_ROUTE, 30L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void dropsAreCountedUnderTheServicesOwnReasons(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            bench.node.service(NAME, (service, packet) -> {
                service.count("seen").add(1);
                return packet.sequence() % 4 == 0 ? Verdict.CONSUME : service.end("rule " + packet.sequence() % 4);
            });
            bench.send(bench.packets(bench.builder(), 100));
            bench.node.assertDrops(
                    PACKETS, Map.of(DropReason.CONSUMED, PACKETS / 4L, DropReason.SERVICE, PACKETS * 3L / 4));
            InstanceStatus status = bench.node.instance(NAME);
            assertThat(status.thread()).isEqualTo("udp " + NAME);
            assertThat(status.counters()).isEqualTo(Map.of("seen", (long) PACKETS));
            long each = PACKETS / 4;
            assertThat(status.dropReasons()).isEqualTo(Map.of("rule 1", each, "rule 2", each, "rule 3", each));
        }
    }

    static Stream<Arguments> failures() {
        return Stream.of(TransportKind.NATIVE, TransportKind.NIO)
                .flatMap(kind -> Stream.of(FailurePolicy.values()).map(policy -> arguments(kind, policy)));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void exceptionsFollowTheFailurePolicyAndHarmNoOtherPacket(TransportKind kind, FailurePolicy policy)
            throws Exception {
        try (Bench bench = new Bench(kind)) {
            bench.node.service(
                    NAME,
                    policy,
                    () -> new UdpTestNode.Scripted((service, packet) -> switch ((int) packet.sequence() % 4) {
                        case 0 -> throw new IllegalStateException("no");
                        case 1 -> throw new StackOverflowError();
                        case 2 -> nothing();
                        default -> Verdict.FORWARD;
                    }));
            List<byte[]> sent = bench.packets(bench.builder(), 100);
            bench.send(sent);
            boolean pass = policy == FailurePolicy.PASS;
            for (int i = 0; i < PACKETS; i++) {
                if (pass || i % 4 == 3) {
                    assertThat(bench.receiver.next()).isEqualTo(sent.get(i));
                }
            }
            bench.node.assertDrops(PACKETS, pass ? Map.of() : Map.of(DropReason.SERVICE_FAILURE, PACKETS * 3L / 4));
            assertThat(bench.node.instance(NAME).counters()).containsEntry("failures", PACKETS * 3L / 4);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aPacketThatAServiceFailsToProcessPassesAsItCame(TransportKind kind) throws Exception {
        List<Consumer<Packet>> changes = List.of(
                packet -> packet.setClassOfService(9),
                packet -> packet.setServiceKey(1),
                packet -> packet.payload().put(0, (byte) 99),
                packet -> packet.setPayload(ByteBuffer.allocate(3)),
                packet -> packet.setPayload(ByteBuffer.allocate(3000)),
                packet -> packet.addOption(Option.HOP_BUDGET),
                packet -> {
                    packet.newPayload(700).putLong(7);
                    packet.commitPayload(8);
                    packet.swapEnds();
                },
                packet -> packet.parse(ByteBuffer.allocate(10), 0, 10));
        try (Bench bench = new Bench(kind)) {
            bench.node.service(
                    NAME,
                    FailurePolicy.PASS,
                    () -> new UdpTestNode.Scripted((service, packet) -> {
                        changes.get((int) packet.sequence() % changes.size()).accept(packet);
                        throw new IllegalStateException("no");
                    }));
            PacketBuilder builder = bench.builder()
                    .source(UdpTestNode.address("127.0.0.9"))
                    .classOfService(1, 2)
                    .checksum();
            List<byte[]> sent = bench.packets(builder, 200);
            bench.send(sent);
            for (byte[] each : sent) {
                assertThat(bench.receiver.next()).isEqualTo(each);
            }
            bench.node.assertDrops(PACKETS, Map.of());
        }
    }

    @SuppressWarnings({"NullAway", "DataFlowIssue"})
    private static Verdict nothing() {
        return null;
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aPacketThatAServiceLeavesUnfitToSendHarmsNoOther(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            UdpTestNode.Step astray = (service, packet) -> {
                if (packet.sequence() % 2 == 0) {
                    // The view now lies in memory that the system cannot read from.
                    packet.parse(ByteBuffer.wrap(UdpTestNode.bytes(packet)), 0, packet.length());
                }
                return Verdict.FORWARD;
            };
            bench.node.service(NAME, astray).service("org.example.Other", astray);
            for (String service : List.of(NAME, "org.example.Other", NAME)) {
                List<byte[]> sent = bench.packets(UdpTestNode.builder(bench.receiver.address(), service, 1), 100);
                bench.send(sent);
                for (int i = 1; i < PACKETS; i += 2) {
                    assertThat(bench.receiver.next()).isEqualTo(sent.get(i));
                }
            }
            bench.node.assertDrops(3L * PACKETS, Map.of(DropReason.SERVICE_FAILURE, 3L * PACKETS / 2));
        }
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aServiceThatCannotStartFollowsTheFailurePolicy(TransportKind kind, FailurePolicy policy) throws Exception {
        try (Bench bench = new Bench(kind)) {
            bench.node.service(NAME, policy, () -> new UdpTestNode.Scripted((service, packet) -> Verdict.CONSUME) {
                @Override
                public void init(ServiceConfig config) {
                    throw new IllegalArgumentException("does not fit");
                }
            });
            List<byte[]> sent = bench.packets(bench.builder(), 100);
            bench.send(sent);
            boolean pass = policy == FailurePolicy.PASS;
            for (int i = 0; pass && i < PACKETS; i++) {
                assertThat(bench.receiver.next()).isEqualTo(sent.get(i));
            }
            bench.node.assertDrops(PACKETS, pass ? Map.of() : Map.of(DropReason.SERVICE_FAILURE, (long) PACKETS));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aConstructorThatThrowsHarmsNoOtherService(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            bench.node
                    .service(NAME, (service, packet) -> Verdict.FORWARD)
                    .service("org.example.Broken", FailurePolicy.DROP, () -> {
                        throw new IllegalStateException("no instance");
                    });
            bench.send(bench.packets(UdpTestNode.builder(bench.receiver.address(), "org.example.Broken", 2), 100));
            List<byte[]> sent = bench.packets(bench.builder(), 100);
            assertThat(bench.sender.pump(bench.node.udp(), sent, bench.receiver))
                    .containsExactlyElementsOf(sent);
            TrafficSnapshot traffic = bench.node.balanced(2 * PACKETS);
            assertThat(traffic.dropped()).isEqualTo(PACKETS);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void timersFireOnTheServicesOwnThread(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            ConcurrentLinkedQueue<String> threads = new ConcurrentLinkedQueue<>();
            AtomicInteger periods = new AtomicInteger();
            PacketBuilder own = UdpTestNode.builder(bench.receiver.address(), "", 99);
            bench.node.service(NAME, (service, packet) -> {
                if (packet.sequence() == 0) {
                    service.later(Duration.ofMillis(1), () -> {
                        threads.add(Thread.currentThread().getName());
                        service.send(own.build(ByteBuffer.allocate(5)));
                    });
                    service.again(Duration.ofMillis(1), () -> {
                        periods.incrementAndGet();
                        throw new IllegalStateException("a timer's own fault");
                    });
                }
                return Verdict.CONSUME;
            });
            bench.send(bench.packets(bench.builder(), 100));
            assertThat(UdpTestNode.parsed(bench.receiver.next()).streamId()).isEqualTo(99);
            assertThat(threads).containsExactly("udp " + NAME);
            eventually().untilAtomic(periods, org.hamcrest.Matchers.greaterThan(5));
            TrafficSnapshot traffic = bench.node.balanced(PACKETS);
            assertThat(traffic.packetsMade()).isEqualTo(1);
            assertThat(traffic.packetsOut()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void timersFollowRoutesThatChangeWhileNothingComesIn(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            PacketBuilder own = UdpTestNode.builder(UdpTestNode.at("10.7.7.7", 7), "", 99);
            bench.node.service(NAME, (service, packet) -> {
                service.again(Duration.ofMillis(1), () -> service.send(own.build(ByteBuffer.allocate(5))));
                return Verdict.CONSUME;
            });
            bench.send(bench.packets(bench.builder(), 100).subList(0, 1));
            eventually().until(() -> bench.node.environment.traffic().drops().containsKey(DropReason.NO_ROUTE));
            bench.node.toHost("10.7.0.0/16", bench.receiver.address(), Transport.UDP);
            assertThat(UdpTestNode.parsed(bench.receiver.next()).streamId()).isEqualTo(99);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsForNoServiceAndOfOtherTypesPassByteForByte(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind)) {
            bench.node.service(NAME, (service, packet) -> Verdict.DROP);
            List<byte[]> sent = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                sent.add(UdpTestNode.packet(UdpTestNode.builder(bench.receiver.address(), "", 1), 100));
                // The default port is where packets go that cannot name one: a route of its own holds the real one.
                sent.add(UdpTestNode.packet(
                        new PacketBuilder()
                                .typeId(0x4A4E)
                                .source(UdpTestNode.address("10.0.1.2"))
                                .destination(UdpTestNode.address("10.0.2.7"))
                                .option(0x9234, new byte[] {1, 2, 3, 4})
                                .checksum(),
                        200));
            }
            bench.node.via("10.0.2.0/24", bench.receiver.address(), Transport.SAME);
            List<byte[]> keyed = bench.packets(bench.builder(), 100);
            bench.send(keyed);
            List<byte[]> received = bench.sender.pump(bench.node.udp(), sent, bench.receiver);
            assertThat(received).containsExactlyInAnyOrderElementsOf(sent);
            byte[] discard = UdpTestNode.packet(
                    new PacketBuilder()
                            .typeId(0x4A4E)
                            .discardIfUnknownType(true)
                            .destination(UdpTestNode.address("10.0.2.7")),
                    60);
            bench.send(List.of(discard, discard));
            bench.node.assertDrops(
                    PACKETS + sent.size() + 2L, Map.of(DropReason.SERVICE, (long) PACKETS, DropReason.TYPE_ID, 2L));
        }
    }

    @ParameterizedTest
    @MethodSource("failures")
    void packetsForAServiceThatTheNodeLacksFollowItsPolicy(TransportKind kind, FailurePolicy policy) throws Exception {
        try (Bench bench = new Bench(UdpTestNode.config(kind, policy, 1 << 20, 32))) {
            List<byte[]> sent = bench.packets(bench.builder(), 100);
            bench.send(sent);
            boolean pass = policy == FailurePolicy.PASS;
            for (int i = 0; pass && i < PACKETS; i++) {
                assertThat(bench.receiver.next()).isEqualTo(sent.get(i));
            }
            bench.node.assertDrops(PACKETS, pass ? Map.of() : Map.of(DropReason.UNKNOWN_SERVICE, (long) PACKETS));
            // The same once a service reads the port.
            bench.node.service("org.example.Known", (service, packet) -> Verdict.CONSUME);
            bench.send(bench.packets(UdpTestNode.builder(bench.receiver.address(), "org.example.Known", 2), 100));
            bench.node.balanced(2L * PACKETS);
            bench.send(sent);
            for (int i = 0; pass && i < PACKETS; i++) {
                assertThat(bench.receiver.next()).isEqualTo(sent.get(i));
            }
            bench.node.assertDrops(
                    3L * PACKETS,
                    pass
                            ? Map.of(DropReason.CONSUMED, (long) PACKETS)
                            : Map.of(DropReason.CONSUMED, (long) PACKETS, DropReason.UNKNOWN_SERVICE, 2L * PACKETS));
        }
    }

    static Stream<Arguments> vectors() {
        String v4 =
                "0100 4a4e 000a 002d 0001 0003 0000 0001 0a00 0102 0002 0003 0000 0001 0a00 0207 0003 0002 598f 0000"
                        + " 6865 6c6c";
        return Stream.of(
                        arguments("M1", "0200 4a4e 0002 0008", DropReason.VERSION),
                        arguments("M2", "0100 4a4e 0002 00", DropReason.SHORT),
                        arguments("nothing", "", DropReason.SHORT),
                        arguments("M3", "0100 4a4e 0001 0008", DropReason.HEADER_LENGTH),
                        arguments("M4", "0100 4a4e 0002 0007 6162 6364", DropReason.HEADER_LENGTH),
                        arguments("M5", "0100 4a4e 0002 0040 6162 6364", DropReason.TRUNCATED),
                        arguments("M6", "0100 4a4e 0003 000c 0001 0000", DropReason.OPTION_LENGTH),
                        arguments("M7", "0100 4a4e 0005 0014 0001 0004 0000 0001 0a00 0102", DropReason.OPTION_LENGTH),
                        arguments("M8", v4 + "6e", DropReason.CHECKSUM),
                        arguments("M9", "0100 4a4e 0004 0010 0001 0002 0000 0001", DropReason.OPTION_FORMAT),
                        arguments("V8", "0100 4a4e 0003 0010 4777 0001 6461 7461", DropReason.OPTION),
                        arguments("V1", "0100 0012 0002 0008", DropReason.NO_ROUTE),
                        arguments("V2", "0180 4a4e 0002 000c 5049 4e47", DropReason.TYPE_ID))
                .flatMap(vector -> Stream.of(TransportKind.NATIVE, TransportKind.NIO)
                        .map(kind -> arguments(kind, vector.get()[0], vector.get()[1], vector.get()[2])));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("vectors")
    void malformedPacketsEndUnderTheirReason(TransportKind kind, String id, String hex, DropReason reason)
            throws Exception {
        byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
        try (Bench bench = new Bench(kind)) {
            bench.node.service(NAME, (service, packet) -> Verdict.FORWARD);
            bench.send(List.of(bytes)); // to the reception
            List<byte[]> good = bench.packets(bench.builder(), 100);
            assertThat(bench.sender.pump(bench.node.udp(), good, bench.receiver))
                    .containsExactlyElementsOf(good);
            bench.send(List.of(bytes)); // to the service's thread
            assertThat(bench.sender.pump(bench.node.udp(), good, bench.receiver))
                    .containsExactlyElementsOf(good);
            bench.node.assertDrops(2L + 2 * PACKETS, Map.of(reason, 2L));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void trailersAreCutOffAndCounted(TransportKind kind) throws Exception {
        assertTrailersAreCutOffAndCounted(kind, false);
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aPacketWithATrailerAndARepeatedOptionIsOneAnomaly(TransportKind kind) throws Exception {
        assertTrailersAreCutOffAndCounted(kind, true);
    }

    private static void assertTrailersAreCutOffAndCounted(TransportKind kind, boolean repeatsAnOption)
            throws Exception {
        try (Bench bench = new Bench(kind)) {
            bench.node.service(NAME, (service, packet) -> Verdict.FORWARD);
            PacketBuilder builder = bench.builder();
            if (repeatsAnOption) {
                int type = Option.CLASS_OF_SERVICE.wireType();
                builder.option(type, new byte[4]).option(type, new byte[4]);
            }
            List<byte[]> sent = bench.packets(builder, 100);
            List<byte[]> longer = new ArrayList<>();
            for (byte[] packet : sent) {
                longer.add(java.util.Arrays.copyOf(packet, packet.length + 7));
            }
            assertThat(bench.sender.pump(bench.node.udp(), longer, bench.receiver))
                    .containsExactlyElementsOf(sent);
            TrafficSnapshot traffic = bench.node.balanced(PACKETS);
            assertThat(traffic.anomalies()).isEqualTo(PACKETS);
            assertThat(traffic.packetsOut()).isEqualTo(PACKETS);
            assertThat(traffic.bytesOut()).isEqualTo(100L * PACKETS);
        }
    }
}

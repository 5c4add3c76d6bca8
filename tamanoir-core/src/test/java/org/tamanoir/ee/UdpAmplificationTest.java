package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.UdpTestNode.bytes;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.UdpBounds;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.Amplifier;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** How much one datagram may cause, as its far ends get it. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class UdpAmplificationTest {
    private static final String NAME = "org.example.Service";
    /** Of IPv4 and UDP, which count for each packet. */
    private static final int HEADERS = 28;

    /** A node with one service, a sender whose address could be forged, and a receiver that it names. */
    private static final class Bench implements AutoCloseable {
        final UdpTestNode node;
        final UdpFarEnd sender;
        final UdpFarEnd receiver;

        Bench(TransportKind kind, UdpBounds bounds) throws Exception {
            node = UdpTestNode.start(UdpTestNode.config(kind).bounding(bounds)).deliver("127.0.0.1/32", Transport.SAME);
            sender = new UdpFarEnd(kind, "127.0.0.1");
            receiver = new UdpFarEnd(kind, "127.0.0.1");
        }

        byte[] packet(int bytes) {
            return UdpTestNode.packet(builder(), bytes);
        }

        PacketBuilder builder() {
            return UdpTestNode.builder(receiver.address(), NAME, 1);
        }

        void send(byte[] packet) {
            sender.send(node.udp(), packet);
        }

        @Override
        public void close() {
            node.close();
            sender.close();
            receiver.close();
        }
    }

    private static void grow(Packet packet, int bytes) {
        int payload = bytes - (packet.length() - packet.payloadLength());
        packet.setPayload(ByteBuffer.allocate(payload));
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aDatagramThatGrowsBeyondTheRatioEndsAndOneThatDoesNotLeaves(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind, UdpBounds.DEFAULT)) {
            AtomicInteger wanted = new AtomicInteger();
            bench.node.service(NAME, (service, packet) -> {
                grow(packet, wanted.get());
                return Verdict.FORWARD;
            });
            int most = 4 * (200 + HEADERS) - HEADERS;
            wanted.set(most / 4 * 4);
            bench.send(bench.packet(200));
            assertThat(bench.receiver.next()).hasSize(wanted.get());
            wanted.addAndGet(4);
            bench.send(bench.packet(200));
            bench.node.assertDrops(2, Map.of(DropReason.AMPLIFICATION, 1L));
            assertThat(bench.receiver.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void whatAServiceEmitsForOneDatagramIsBoundedInBytesAndPackets(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind, UdpBounds.DEFAULT)) {
            bench.node.service(NAME, (service, packet) -> {
                Packet copy = packet.copy();
                for (int i = 0; i < 1032; i++) {
                    service.send(copy);
                }
                return Verdict.FORWARD;
            });
            byte[] sent = bench.packet(100);
            bench.send(sent);
            for (int i = 0; i < 4; i++) {
                assertThat(bench.receiver.next()).isEqualTo(sent);
            }
            bench.node.assertDrops(1, Map.of(DropReason.AMPLIFICATION, 1032L - 4 + 1));
            assertThat(bench.receiver.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void whatAServiceSendsToOthersIsBoundedAlike(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind, UdpBounds.DEFAULT);
                UdpFarEnd third = new UdpFarEnd(kind, "127.0.0.1")) {
            bench.node.service(NAME, (service, packet) -> {
                for (int i = 0; i < 10; i++) {
                    service.sendTo(third.address(), packet);
                }
                return Verdict.CONSUME;
            });
            byte[] sent = bench.packet(100);
            bench.send(sent);
            for (int i = 0; i < 4; i++) {
                assertThat(third.next()).isEqualTo(sent);
            }
            bench.node.assertDrops(1, Map.of(DropReason.AMPLIFICATION, 6L, DropReason.CONSUMED, 1L));
            assertThat(third.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void bytesAreBoundedWhateverTheRatio(TransportKind kind) throws Exception {
        UdpBounds bounds = new UdpBounds(UdpBounds.MAX_GROWTH, 64 << 10, 3, Map.of());
        try (Bench bench = new Bench(kind, bounds)) {
            bench.node.service(NAME, (service, packet) -> {
                Packet copy = packet.copy();
                grow(copy, 16_000);
                for (int i = 0; i < 100; i++) {
                    service.send(copy);
                }
                return Verdict.CONSUME;
            });
            bench.send(bench.packet(100));
            for (int i = 0; i < 4; i++) {
                assertThat(bench.receiver.next()).hasSize(16_000);
            }
            bench.node.assertDrops(1, Map.of(DropReason.AMPLIFICATION, 96L, DropReason.CONSUMED, 1L));
            assertThat(bench.receiver.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void answersToTheClaimedSourceAreBoundedTighter(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind, UdpBounds.DEFAULT)) {
            AtomicInteger wanted = new AtomicInteger();
            bench.node.service(NAME, (service, packet) -> {
                grow(packet, wanted.get());
                return Verdict.REPLY;
            });
            int most = 3 * (200 + HEADERS) - HEADERS;
            wanted.set(most / 4 * 4);
            bench.send(bench.packet(200));
            assertThat(bench.sender.next()).hasSize(wanted.get());
            wanted.addAndGet(4);
            bench.send(bench.packet(200));
            bench.node.assertDrops(2, Map.of(DropReason.AMPLIFICATION, 1L));
            assertThat(bench.sender.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void packetsThatAServiceEmitsToTheClaimedSourceAreAnswers(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind, UdpBounds.DEFAULT)) {
            byte[] answer = UdpTestNode.packet(UdpTestNode.builder(bench.sender.address(), "", 1), 100);
            bench.node.service(NAME, (service, packet) -> {
                Packet back = UdpTestNode.parsed(answer);
                for (int i = 0; i < 10; i++) {
                    service.send(back);
                }
                return Verdict.FORWARD;
            });
            byte[] sent = bench.packet(100);
            bench.send(sent);
            for (int i = 0; i < 3; i++) {
                assertThat(bench.sender.next()).isEqualTo(answer);
            }
            assertThat(bench.receiver.next()).isEqualTo(sent);
            bench.node.assertDrops(1, Map.of(DropReason.AMPLIFICATION, 7L));
            assertThat(bench.sender.isQuiet()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aDuplicatorHasRoom(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind, UdpBounds.DEFAULT)) {
            bench.node.service(NAME, (service, packet) -> {
                service.send(packet.copy());
                return Verdict.FORWARD;
            });
            for (int bytes : new int[] {60, 1400, 60_000}) {
                byte[] sent = bench.packet(bytes);
                bench.send(sent);
                assertThat(bench.receiver.next()).isEqualTo(sent);
                assertThat(bench.receiver.next()).isEqualTo(sent);
            }
            bench.node.assertDrops(3, Map.of());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void onePacketMadeOfManyThatWereConsumedLeaves(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind, UdpBounds.DEFAULT)) {
            List<byte[]> collected = new ArrayList<>();
            bench.node.service(NAME, (service, packet) -> {
                collected.add(bytes(packet));
                if (collected.size() < 20) {
                    return Verdict.CONSUME;
                }
                Packet copy = packet.copy();
                grow(copy, 2000);
                service.send(copy);
                return Verdict.CONSUME;
            });
            for (int i = 0; i < 20; i++) {
                bench.send(bench.packet(100));
            }
            assertThat(bench.receiver.next()).hasSize(2000);
            bench.node.assertDrops(20, Map.of(DropReason.CONSUMED, 20L));
        }
    }

    /** Makes a hundred bytes of one. */
    private static final class Unpack extends UdpTestNode.Scripted implements Amplifier {
        Unpack() {
            super((service, packet) -> {
                grow(packet, packet.length() * 100);
                return Verdict.FORWARD;
            });
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aServiceThatAmplifiesIsNotOfferedUnlessConfigured(TransportKind kind) throws Exception {
        AtomicInteger made = new AtomicInteger();
        try (Bench bench = new Bench(kind, UdpBounds.DEFAULT)) {
            bench.node.service(NAME, FailurePolicy.PASS, () -> {
                made.incrementAndGet();
                return new Unpack();
            });
            for (int i = 1; i <= 20; i++) {
                bench.send(bench.packet(100));
                bench.node.assertDrops(i, Map.of(DropReason.AMPLIFICATION, (long) i));
            }
            assertThat(bench.receiver.isQuiet()).isTrue();
            assertThat(made).as("instances made to find out").hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void aServiceThatAmplifiesRunsWithinItsOwnRatioWhereConfigured(TransportKind kind) throws Exception {
        try (Bench bench = new Bench(kind, new UdpBounds(4, 64 << 10, 3, Map.of(NAME, 100)))) {
            bench.node.service(NAME, FailurePolicy.DROP, Unpack::new);
            bench.send(bench.packet(100));
            assertThat(bench.receiver.next()).hasSize(10_000);
            bench.send(bench.packet(652));
            assertThat(bench.receiver.next()).hasSize(65_200);
            bench.node.assertDrops(2, Map.of());
        }
    }
}

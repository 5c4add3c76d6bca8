package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.ee.AuthTcpTest.BETWEEN;
import static org.tamanoir.ee.AuthTcpTest.LAST;
import static org.tamanoir.ee.AuthTcpTest.SENDER;
import static org.tamanoir.ee.AuthTcpTest.guard;
import static org.tamanoir.ee.AuthTcpTest.holder;
import static org.tamanoir.ee.AuthTcpTest.signer;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Option;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.auth.AuthKey;
import org.tamanoir.auth.PacketGuard;
import org.tamanoir.auth.PacketSigner;
import org.tamanoir.routing.NextHop.Transport;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.trace.TraceResult;
import org.tamanoir.transport.TransportKind;

/** Datagrams through nodes that authenticate packets. */
@ExtendWith(UdpTestNode.NoLeaks.class)
class AuthUdpTest {
    private static final int BYTES = 200;

    private static byte[] signed(PacketBuilder builder, AuthKey key) {
        byte[] bytes = UdpTestNode.packet(builder, BYTES);
        new PacketSigner(key).sign(UdpTestNode.parsed(bytes));
        return bytes;
    }

    private static List<byte[]> signed(PacketBuilder builder, AuthKey key, int count) {
        List<byte[]> packets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            packets.add(signed(builder, key));
        }
        return packets;
    }

    private static byte[] payload(byte[] packet) {
        return Arrays.copyOfRange(packet, UdpTestNode.parsed(packet).payloadOffset(), packet.length);
    }

    @ParameterizedTest
    @EnumSource(names = {"NATIVE", "NIO"})
    void eachNodeOfAChainChecksAndSignsAnew(TransportKind kind) throws IOException {
        try (UdpFarEnd from = new UdpFarEnd(kind, "127.0.0.1");
                UdpFarEnd to = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode second = UdpTestNode.start(kind).deliver("127.0.0.0/8", Transport.UDP);
                UdpTestNode first = UdpTestNode.start(kind).via("127.0.0.0/8", second.udp(), Transport.UDP)) {
            for (UdpTestNode node : List.of(first, second)) {
                node.service("mark", (service, packet) -> {
                    packet.setClassOfService(packet.classOfService() + 1);
                    return Verdict.FORWARD;
                });
            }
            guard(first.environment, signer(BETWEEN), SENDER, BETWEEN);
            guard(second.environment, signer(LAST), BETWEEN, LAST);
            PacketBuilder builder = UdpTestNode.builder(to.address(), "mark", 5)
                    .classOfService(0, 0)
                    .authentication()
                    .checksum();
            List<byte[]> sent = signed(builder, SENDER, 300);
            List<byte[]> received = from.pump(first.udp(), sent, to);
            PacketGuard far = holder(LAST);
            for (int i = 0; i < sent.size(); i++) {
                Packet packet = UdpTestNode.parsed(received.get(i));
                assertThat(far.check(packet)).isNull();
                assertThat(packet.classOfService()).isEqualTo(2);
                assertThat(packet.sequence()).isEqualTo(i);
                assertThat(payload(received.get(i))).isEqualTo(payload(sent.get(i)));
            }
            first.assertDrops(300, Map.of());
            second.assertDrops(300, Map.of());
        }
    }

    @Test
    void whatIsNotSignedFetchesNothingWhoeverReadsThePort() throws IOException {
        TestSource source = new TestSource();
        TransportKind kind = TransportKind.AUTO;
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(UdpTestNode.config(kind), source)) {
            node.service("echo", (service, packet) -> Verdict.REPLY);
            guard(node.environment, null, SENDER);
            byte[] unsigned = UdpTestNode.packet(UdpTestNode.builder(end.address(), "org.example.Late", 1), BYTES);
            byte[] forged = signed(
                    UdpTestNode.builder(end.address(), "org.example.Late", 1).authentication(),
                    AuthKey.of(7, "cc".repeat(32)));
            PacketBuilder good = UdpTestNode.builder(end.address(), "echo", 1).authentication();
            end.send(node.udp(), List.of(unsigned, forged));
            eventually().until(() -> node.environment.traffic().dropped() == 2);
            for (int i = 0; i < 20; i++) { // The service's thread reads the port from the first of them on.
                end.send(node.udp(), signed(good, SENDER));
                end.next();
            }
            end.send(node.udp(), List.of(unsigned, forged));
            node.assertDrops(24, Map.of(DropReason.AUTH_MISSING, 2L, DropReason.AUTH_MAC, 2L));
            assertThat(source.requests()).isEmpty();
            assertThat(node.environment.waitingForCode()).isZero();
        }
    }

    /** It was nobody's to check, so nobody vouches for it. */
    @Test
    void whatIsHeldFromBeforePacketsWereCheckedIsNotSigned() throws IOException {
        TransportKind kind = TransportKind.AUTO;
        AtomicReference<@Nullable Suspension> held = new AtomicReference<>();
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind).deliver("127.0.0.0/8", Transport.UDP)) {
            node.service("holds", (service, packet) -> {
                if (packet.has(Option.AUTHENTICATION)) {
                    return Verdict.FORWARD;
                }
                held.set(service.suspend(packet, Duration.ofMinutes(1)));
                return Verdict.HELD;
            });
            end.send(node.udp(), List.of(UdpTestNode.packet(UdpTestNode.builder(end.address(), "holds", 1), BYTES)));
            eventually().until(() -> held.get() != null);
            guard(node.environment, signer(LAST), SENDER, LAST);
            PacketGuard far = holder(LAST);
            PacketBuilder good = UdpTestNode.builder(end.address(), "holds", 2).authentication();
            end.send(node.udp(), signed(good, SENDER));
            assertThat(far.check(UdpTestNode.parsed(end.next()))).isNull();
            Objects.requireNonNull(held.get()).resume(Verdict.FORWARD);
            assertThat(far.check(UdpTestNode.parsed(end.next()))).isEqualTo(DropReason.AUTH_MISSING);
        }
    }

    @Test
    void aDatagramThatComesTwiceIsTakenOnce() throws IOException {
        TransportKind kind = TransportKind.AUTO;
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                UdpTestNode node = UdpTestNode.start(kind).deliver("127.0.0.0/8", Transport.UDP)) {
            guard(node.environment, null, SENDER);
            PacketBuilder builder = UdpTestNode.builder(end.address(), "", 1).authentication();
            List<byte[]> sent = signed(builder, SENDER, 50);
            List<byte[]> twice = new ArrayList<>(sent);
            byte[] withTrailer = Arrays.copyOf(sent.get(0), BYTES + 9);
            twice.add(withTrailer);
            twice.addAll(sent);
            end.send(node.udp(), twice);
            for (int i = 0; i < 50; i++) {
                assertThat(UdpTestNode.parsed(end.next()).sequence()).isEqualTo(i);
            }
            node.assertDrops(101, Map.of(DropReason.AUTH_REPLAY, 51L));
            assertThat(end.isQuiet()).isTrue();
        }
    }

    @Test
    void whatATcpNextHopSendsBackIsChecked() throws IOException {
        TransportKind kind = TransportKind.AUTO;
        try (UdpFarEnd end = new UdpFarEnd(kind, "127.0.0.1");
                TestSink sink = TestSink.openEcho();
                UdpTestNode node = UdpTestNode.start(kind).toHost("127.0.0.0/8", sink.address(), Transport.TCP)) {
            guard(node.environment, null, SENDER);
            PacketBuilder builder = UdpTestNode.builder(end.address(), "", 1)
                    .source(end.address().getAddress())
                    .authentication();
            end.send(node.udp(), signed(builder, SENDER));
            sink.await(1);
            node.assertDrops(2, Map.of(DropReason.AUTH_MISSING, 1L));
        }
    }

    @Test
    void levelsBelowTheJvmAreRefused() {
        try (UdpTestNode node = new UdpTestNode(UdpTestNode.config(TransportKind.AUTO))) {
            node.environment.levels(new TestLevels());
            guard(node.environment, null, SENDER);
            assertThatThrownBy(node.environment::start)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("levels below the JVM let packets by that nobody checks");
        }
    }

    @Test
    void aTraceTellsTheRefusal() throws IOException, InterruptedException {
        try (UdpTestNode node = UdpTestNode.start(TransportKind.AUTO)) {
            node.service("echo", (service, packet) -> Verdict.REPLY);
            guard(node.environment, null, SENDER);
            Packet packet = UdpTestNode.parsed(UdpTestNode.packet(UdpTestNode.builder(node.udp(), "echo", 1), BYTES));
            TraceResult told = node.environment.trace(packet, null, UdpTestNode.PATIENCE);
            assertThat(told.toString()).contains("AUTH_MISSING");
            assertThat(node.environment.traffic().drops()).isEqualTo(Map.of(DropReason.AUTH_MISSING, 1L));
        }
    }
}

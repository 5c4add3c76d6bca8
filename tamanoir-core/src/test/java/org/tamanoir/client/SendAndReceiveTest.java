package org.tamanoir.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.ParseFault;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Tiers;

@Timeout(240)
class SendAndReceiveTest {
    private static final Duration BOUND = Duration.ofSeconds(40);

    private static InetSocketAddress free(String host) throws IOException {
        return new InetSocketAddress(InetAddress.getByName(host), 0);
    }

    private static AnepReceiver listen(PacketHandler handler) throws IOException {
        return AnepReceiver.on(free("127.0.0.1")).tcp().udp().start(() -> handler);
    }

    enum Transport {
        TCP,
        UDP
    }

    private static AnepSender connect(Transport transport, InetSocketAddress node) throws IOException {
        return transport == Transport.TCP ? AnepSender.tcp(node) : AnepSender.udp(node);
    }

    @ParameterizedTest
    @CsvSource({"TCP,127.0.0.1", "UDP,127.0.0.1", "TCP,::1", "UDP,::1"})
    void packetsArriveInOrderWithTheirSender(Transport transport, String host) throws Exception {
        if (host.contains(":")) {
            Tiers.requireIpv6();
        }
        Collected collected = new Collected(false);
        try (AnepReceiver receiver = AnepReceiver.on(free(host)).tcp().udp().start(() -> collected);
                AnepSender sender = connect(transport, receiver.address())) {
            PacketBuilder builder = new PacketBuilder().stream(7);
            for (int i = 0; i < 20; i++) {
                sender.send(builder, ByteBuffer.wrap(new byte[] {(byte) i, 2, 3}));
            }
            sender.flush();
            await().atMost(BOUND).until(() -> collected.packets().size() == 20);
            for (int i = 0; i < 20; i++) {
                assertThat(collected.packets().get(i).sequence()).isEqualTo(i);
                assertThat(collected.packets().get(i).payload().get()).isEqualTo((byte) i);
            }
            String port = ":" + sender.localAddress().getPort();
            assertThat(collected.peers()).allMatch(peer -> peer.startsWith(transport + " ") && peer.endsWith(port));
            assertThat(sender.sentPackets()).isEqualTo(20);
            await().atMost(BOUND).until(() -> receiver.statistics().bytes() == sender.sentBytes());
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void theWildcardOfIpv4TakesIpv4ByBothTransportsOfAPort(Transport transport) throws Exception {
        Collected collected = new Collected(false);
        try (AnepReceiver receiver =
                        AnepReceiver.on(free("0.0.0.0")).tcp().udp().start(() -> collected);
                AnepSender sender = connect(
                        transport,
                        new InetSocketAddress("127.0.0.1", receiver.address().getPort()))) {
            sender.send(new PacketBuilder().stream(1), ByteBuffer.allocate(1));
            sender.flush();
            await().atMost(BOUND).until(() -> collected.packets().size() == 1);
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void theLargestPacketsOfTheTransportArriveWhole(Transport transport) throws Exception {
        Collected collected = new Collected(false);
        try (AnepReceiver receiver = listen(collected);
                AnepSender sender = connect(transport, receiver.address())) {
            int largest = transport == Transport.TCP ? Anep.MAX_PACKET_OCTETS : Anep.MAX_DATAGRAM_OCTETS;
            PacketBuilder builder = new PacketBuilder().stream(1);
            LoadPattern pattern = new LoadPattern();
            for (int i = 0; i < 5; i++) {
                sender.send(builder, pattern.payload(i, largest - builder.headerLength()));
                sender.flush();
                int packets = i + 1;
                await().atMost(BOUND).until(() -> collected.packets().size() == packets);
            }
            assertThat(collected.packets()).allMatch(packet -> packet.length() == largest && pattern.matches(packet));
            assertThatThrownBy(() -> sender.send(builder, ByteBuffer.allocate(largest)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("" + largest);
        }
    }

    @Test
    void aStreamSplitAtEveryByteIsTheSameStream() throws Exception {
        Collected collected = new Collected(false);
        try (AnepReceiver receiver = listen(collected);
                Socket socket = new Socket(
                        receiver.address().getAddress(), receiver.address().getPort())) {
            socket.setTcpNoDelay(true);
            ByteBuffer bytes = ByteBuffer.allocate(1000);
            PacketBuilder builder = new PacketBuilder().stream(3).checksum();
            for (int i = 0; i < 5; i++) {
                builder.write(bytes, ByteBuffer.allocate(i));
            }
            for (int i = 0; i < bytes.position(); i++) {
                socket.getOutputStream().write(bytes.get(i));
            }
            socket.shutdownOutput();
            await().atMost(BOUND).until(() -> collected.ends().size() == 1);
            assertThat(collected.packets()).extracting(Packet::payloadLength).containsExactly(0, 1, 2, 3, 4);
            assertThat(collected.ends()).containsExactly("end");
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void answersComeBackToTheSender(Transport transport) throws Exception {
        try (AnepReceiver receiver = listen(new Collected(true));
                AnepSender sender = connect(transport, receiver.address())) {
            PacketBuilder builder = new PacketBuilder().stream(9);
            Packet answer = new Packet();
            for (int i = 0; i < 10; i++) {
                sender.send(builder, ByteBuffer.allocate(100));
                sender.flush();
                assertThat(sender.poll(answer, BOUND)).isTrue();
                assertThat(answer.sequence()).isEqualTo(i);
            }
            assertThat(sender.poll(answer, Duration.ofMillis(1))).isFalse();
            assertThat(sender.ended()).isFalse();
        }
    }

    @Test
    void afterAHalfCloseTheAnswersStillComeAndThenTheEnd() throws Exception {
        try (AnepReceiver receiver = listen(new Collected(true));
                AnepSender sender = AnepSender.tcp(receiver.address())) {
            PacketBuilder builder = new PacketBuilder().stream(9);
            for (int i = 0; i < 50; i++) {
                sender.send(builder, ByteBuffer.allocate(1000));
            }
            sender.finish();
            Packet answer = new Packet();
            for (int i = 0; i < 50; i++) {
                assertThat(sender.poll(answer, BOUND)).isTrue();
            }
            assertThat(sender.poll(answer, BOUND)).isFalse();
            assertThat(sender.ended()).isTrue();
        }
    }

    @Test
    void aSenderThatTakesAnswersWhileItSendsIsNotBlockedByThem() throws Exception {
        AtomicLong answers = new AtomicLong();
        try (AnepReceiver receiver = listen(new PacketHandlerThatAnswers());
                AnepSender sender = AnepSender.to(receiver.address())
                        .onReply(packet -> answers.incrementAndGet())
                        .tcp()) {
            LoadBatch load = new LoadBatch(new PacketBuilder().stream(1), 32 * 1024, 256 * 1024);
            int sent = 0;
            while (sent < 3000) {
                sent += sender.send(load, 3000 - sent);
            }
            sender.finish();
            Packet answer = new Packet();
            while (sender.poll(answer, BOUND)) {
                answers.incrementAndGet();
            }
            assertThat(sender.ended()).isTrue();
            assertThat(answers).hasValue(3000);
        }
    }

    private static final class PacketHandlerThatAnswers implements PacketHandler {
        @Override
        public void packet(Packet packet, Peer peer) throws IOException {
            peer.reply(packet);
        }
    }

    @Test
    void aPeerThatTakesNothingEndsTheWriteWithAClearError() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                AnepSender sender = AnepSender.to(new InetSocketAddress(silent.getInetAddress(), silent.getLocalPort()))
                        .stallTimeout(Duration.ofMillis(200))
                        .tcp()) {
            LoadBatch load = new LoadBatch(new PacketBuilder().stream(1), 32 * 1024, 256 * 1024);
            Throwable thrown = catchThrowable(() -> {
                for (int i = 0; i < 10_000; i++) {
                    sender.send(load, load.packets());
                }
            });
            assertThat(thrown)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("took nothing for 200 ms")
                    .hasMessageContaining(":" + silent.getLocalPort());
        }
    }

    @Test
    void aReceiverThatIsGoneEndsTheWriteWithAClearError() throws Exception {
        AnepReceiver receiver = listen(new Collected(false));
        try (AnepSender sender = AnepSender.tcp(receiver.address())) {
            LoadBatch load = new LoadBatch(new PacketBuilder().stream(1), 1000, 64 * 1024);
            sender.send(load, load.packets());
            receiver.close();
            Throwable thrown = catchThrowable(() -> {
                for (int i = 0; i < 10_000; i++) {
                    sender.send(load, load.packets());
                }
            });
            assertThat(thrown).isInstanceOf(IOException.class).hasMessageContaining("broke");
        } finally {
            receiver.close();
        }
    }

    @Test
    void aNodeThatIsNotThereIsNamed() throws Exception {
        InetSocketAddress node = new InetSocketAddress("127.0.0.1", Ports.free());
        assertThatThrownBy(() -> AnepSender.tcp(node))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot connect to 127.0.0.1:" + node.getPort());
    }

    @Test
    void aTakenPortIsNamed() throws Exception {
        try (AnepReceiver receiver = listen(new Collected(false))) {
            assertThatThrownBy(() -> AnepReceiver.on(receiver.address()).tcp().start(() -> new Collected(false)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("cannot listen on 127.0.0.1:");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0200544d00020008:VERSION", "0100544d00010008:HEADER_LENGTH", "0100544d0002:TRUNCATED"})
    void malformedFramingEndsTheTcpConnectionWithItsReason(String input) throws Exception {
        String[] parts = input.split(":");
        Collected collected = new Collected(false);
        try (AnepReceiver receiver = listen(collected);
                Socket socket = new Socket(
                        receiver.address().getAddress(), receiver.address().getPort())) {
            socket.getOutputStream().write(java.util.HexFormat.of().parseHex(parts[0]));
            socket.shutdownOutput();
            await().atMost(BOUND).until(() -> collected.ends().size() == 1);
            assertThat(receiver.statistics().malformed()).isEqualTo(Map.of(ParseFault.valueOf(parts[1]), 1L));
            assertThat(collected.ends().get(0)).isNotEqualTo("end");
            await().atMost(BOUND).until(() -> receiver.openConnections() == 0);
        }
    }

    @Test
    void aMalformedPacketInsideTheFramingIsCountedAndTheNextOneIsGood() throws Exception {
        Collected collected = new Collected(false);
        try (AnepReceiver receiver = listen(collected);
                Socket socket = new Socket(
                        receiver.address().getAddress(), receiver.address().getPort())) {
            socket.getOutputStream().write(java.util.HexFormat.of().parseHex("0100544d0003000c00010000"));
            socket.getOutputStream().write(java.util.HexFormat.of().parseHex("0100544d00020008"));
            await().atMost(BOUND).until(() -> collected.packets().size() == 1);
            assertThat(receiver.statistics().malformed()).isEqualTo(Map.of(ParseFault.OPTION_LENGTH, 1L));
        }
    }

    @Test
    void connectionsBeyondTheLimitAreClosedAndCounted() throws Exception {
        try (AnepReceiver receiver = AnepReceiver.on(free("127.0.0.1"))
                        .tcp()
                        .maxConnections(1)
                        .start(() -> new Collected(false));
                AnepSender first = AnepSender.tcp(receiver.address());
                AnepSender second = AnepSender.tcp(receiver.address())) {
            await().atMost(BOUND).until(() -> receiver.statistics().refusedConnections() == 1);
            assertThat(second.poll(new Packet(), BOUND)).isFalse();
            assertThat(second.ended()).isTrue();
            assertThat(first.ended()).isFalse();
        }
    }

    @Test
    void closingAReceiverEndsItsThreads() throws Exception {
        AnepReceiver receiver = listen(new Collected(false));
        try (AnepSender sender = AnepSender.tcp(receiver.address())) {
            await().atMost(BOUND).until(() -> receiver.openConnections() == 1);
            String port = ":" + receiver.address().getPort();
            String peerPort = ":" + sender.localAddress().getPort();
            receiver.close();
            assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .noneMatch(name ->
                            name.startsWith("anep-receive") && (name.endsWith(port) || name.endsWith(peerPort)));
        } finally {
            receiver.close();
        }
    }
}

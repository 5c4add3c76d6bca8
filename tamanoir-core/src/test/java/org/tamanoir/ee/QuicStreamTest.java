package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop;
import org.tamanoir.service.Service;
import org.tamanoir.service.StreamInfo;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.LossyUdp;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.TransportKind;

/** What crosses nodes over QUIC crosses them as it does over TCP, whatever the network does to datagrams. */
class QuicStreamTest extends TcpNodeTesting {
    @TempDir
    private Path folder;

    private final long seed = Seeds.ofCommit(QuicStreamTest.class);
    private TestAuthority authority;
    private TlsFiles files;

    @BeforeEach
    void makeFiles() {
        authority = new TestAuthority(folder, "authority");
        files = authority.files("node");
        settings.tls = files;
        settings.quic = true;
    }

    private AnepSender quicSender(InetSocketAddress to) throws IOException {
        return keep(AnepSender.to(to).tls(authority.trusting()).quic());
    }

    private TestSink quicSink(boolean echo) throws IOException {
        return keep(TestSink.openQuic(files, echo));
    }

    private InetSocketAddress lossyWayTo(InetSocketAddress address) throws IOException {
        return keep(new LossyUdp(address, 0.02, 0.02, seed)).address();
    }

    private static Packet newView() {
        return new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
    }

    private List<byte[]> payloads(int count) {
        Random random = new Random(seed);
        int most = Anep.MAX_PACKET_OCTETS - packets("mark").headerLength() - 8;
        List<byte[]> payloads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] payload =
                    new byte[i % 3 == 0 ? most - random.nextInt(40) : random.nextInt(i % 3 == 1 ? 40 : 20_000)];
            random.nextBytes(payload);
            payloads.add(payload);
        }
        return payloads;
    }

    private void assertSame(List<Packet> arrived, List<byte[]> sent) {
        assertThat(arrived).hasSameSizeAs(sent);
        for (int i = 0; i < sent.size(); i++) {
            assertThat(Arrays.equals(TestSink.bytes(arrived.get(i)).array(), sent.get(i)))
                    .describedAs("payload %s, seed %s", i, seed)
                    .isTrue();
        }
    }

    private static void send(AnepSender sender, List<byte[]> payloads) throws IOException {
        PacketBuilder builder = packets("mark");
        for (byte[] payload : payloads) {
            sender.send(builder, ByteBuffer.wrap(payload));
        }
        sender.finish();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void packetsOfAllSizesCrossTwoNodesOverWaysThatLose(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = quicSink(false);
        TestNode last = node(MARK).overQuic(lossyWayTo(sink.address()), NextHop.Kind.HOST);
        TestNode first = node(MARK).overQuic(lossyWayTo(last.quicAddress()), NextHop.Kind.ACTIVE_NODE);
        List<byte[]> payloads = payloads(60);

        AnepSender sender = quicSender(lossyWayTo(first.quicAddress()));
        send(sender, payloads);

        sink.await(payloads.size());
        sink.awaitEnds();
        assertSame(sink.packets(), payloads);
        eventually().until(() -> !sender.poll(newView(), Duration.ofMillis(10)) && sender.ended());
        first.assertDrops(Map.of());
        last.assertDrops(Map.of());
    }

    @Test
    void answersComeBackAfterTheSendersEnd() throws Exception {
        TestSink sink = quicSink(true);
        TestNode last = node(MARK).overQuic(sink.address(), NextHop.Kind.HOST);
        TestNode first = node(MARK).overQuic(last.quicAddress(), NextHop.Kind.ACTIVE_NODE);
        List<byte[]> payloads = payloads(40);
        List<Packet> answers = new ArrayList<>();

        AnepSender sender = keep(AnepSender.to(first.quicAddress())
                .tls(authority.trusting())
                .onReply(answer -> answers.add(answer.copy()))
                .quic());
        send(sender, payloads);
        Packet view = newView();
        eventually().until(() -> {
            while (sender.poll(view, Duration.ofMillis(10))) {
                answers.add(view.copy());
            }
            return sender.ended();
        });

        assertSame(answers, payloads);
        first.assertDrops(Map.of());
    }

    /** The far side does not end: over TCP the sender stands still then, and here it is told to stop. */
    @ParameterizedTest
    @MethodSource("kinds")
    void whoseStreamAServiceHasClosedIsToldToStop(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.lingerTimeout = Duration.ofHours(1);
        try (ServerSocket far = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            TestNode node = node(TestServices.define("judge", () -> new Service() {
                        @Override
                        public Verdict process(Packet packet) {
                            return packet.payloadOctet(0) == 'C' ? closeStream("unwanted") : Verdict.FORWARD;
                        }
                    }))
                    .toHost((InetSocketAddress) far.getLocalSocketAddress());
            AnepSender sender = quicSender(node.quicAddress());
            sender.send(packets("judge"), ByteBuffer.wrap(new byte[] {'F'}));
            sender.send(packets("judge"), ByteBuffer.wrap(new byte[] {'C'}));
            sender.flush();
            try (Socket server = far.accept()) {
                server.getInputStream().readAllBytes(); // To the end, in order.
                ByteBuffer more = ByteBuffer.wrap(new byte[1000]);
                long endNs = System.nanoTime() + Waiting.PATIENCE.toNanos();
                Throwable end = catchThrowable(() -> {
                    while (System.nanoTime() - endNs < 0) {
                        sender.send(packets("judge"), more.duplicate());
                        sender.flush();
                    }
                });
                assertThat(end)
                        .as(() -> sender.sentPackets() + " packets were sent; node: " + node.traffic())
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("broke: ");
            }
            node.settle().assertConserved();
            assertThat(node.dropped(DropReason.SERVICE)).isEqualTo(1);
            assertThat(Set.of(DropReason.SERVICE, DropReason.SERVICE_CLOSED, DropReason.TRUNCATED))
                    .containsAll(node.traffic().drops().keySet());
        }
    }

    /** TLS can use a key of Ed25519, and QUIC's library cannot. */
    @Test
    void aCertificateThatQuicCannotUseIsTakenByNeither() throws Exception {
        TestNode node = node(MARK).toHost(sink().address());
        byte[] certificate = Files.readAllBytes(files.certificate());
        byte[] key = Files.readAllBytes(files.key());
        TlsFiles other = authority.withKey("other", "Ed25519");
        Files.copy(other.certificate(), files.certificate(), StandardCopyOption.REPLACE_EXISTING);
        Files.copy(other.key(), files.key(), StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(() -> node.environment.renewTls())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is none of EC and RSA");
        Files.write(files.certificate(), certificate);
        Files.write(files.key(), key);
        assertThat(node.environment.renewTls()).as("whether it is another one").isFalse();

        TlsFiles renewed = authority.withKey("renewed", "EC");
        Files.copy(renewed.certificate(), files.certificate(), StandardCopyOption.REPLACE_EXISTING);
        Files.copy(renewed.key(), files.key(), StandardCopyOption.REPLACE_EXISTING);
        assertThat(node.environment.renewTls()).isTrue();
    }

    @Test
    void streamsThatGoOnBelieveWhatWasReadLast() throws Exception {
        Path trust = Files.copy(files.trust(), folder.resolve("trust.pem"));
        Path strangers = new TestAuthority(folder, "stranger").certificate();
        settings.tls = new TlsFiles(files.certificate(), files.key(), trust, false);
        TestSink sink = quicSink(false);
        TestNode node = node(MARK).overQuic(sink.address(), NextHop.Kind.HOST);

        Files.copy(strangers, trust, StandardCopyOption.REPLACE_EXISTING);
        sendOne(node).finish();
        sink.await(1); // It is not read again before it is said.

        assertThat(node.environment.renewTls()).isFalse();
        sendOne(node);
        eventually().until(() -> node.dropped(DropReason.NEXT_HOP_UNREACHABLE) == 1);

        Files.copy(files.trust(), trust, StandardCopyOption.REPLACE_EXISTING);
        assertThat(node.environment.renewTls()).isFalse();
        sendOne(node).finish();
        sink.await(2);
        node.assertDrops(Map.of(DropReason.NEXT_HOP_UNREACHABLE, 1L));
    }

    private AnepSender sendOne(TestNode node) throws IOException {
        AnepSender sender = quicSender(node.quicAddress());
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.flush();
        return sender;
    }

    @Test
    void quicAndTcpMeetInANode() throws Exception {
        TestSink sink = sink();
        TestNode last = node(MARK).toHost(sink.address());
        TestNode first = node(MARK).overQuic(last.quicAddress(), NextHop.Kind.ACTIVE_NODE);
        List<byte[]> payloads = payloads(20);

        send(sender(first), payloads);

        sink.await(payloads.size());
        sink.awaitEnds();
        assertSame(sink.packets(), payloads);
        first.assertDrops(Map.of());
    }

    @Test
    void aStreamIsOfItsFarEndAndOfTheAddressThatItCameTo() throws Exception {
        TestNode node = node(MARK).toHost(sink().address());
        AnepSender sender = quicSender(node.quicAddress());
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.flush();

        eventually().until(() -> !node.environment.instances().isEmpty());
        StreamInfo stream = node.environment.instances().get(0).stream();
        sender.finish();

        assertThat(stream.local()).isEqualTo(node.quicAddress());
        assertThat(stream.peer()).isNotNull().isNotEqualTo(sender.localAddress());
        node.settle();
    }

    @Test
    void aSenderThatIsCutOffIsNoEnd() throws Exception {
        TestSink sink = quicSink(false);
        TestNode node = node(MARK).overQuic(sink.address(), NextHop.Kind.HOST);
        AnepSender sender = quicSender(node.quicAddress());
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.flush();
        sink.await(1);

        sender.close();

        eventually().until(() -> sink.connections().get(0).fault() != null);
        node.settle();
    }

    @Test
    void nobodyAtTheNextHopEndsPacketsAsUnreachable() throws Exception {
        settings.connectTimeout = Duration.ofMillis(500);
        TestNode node = node(MARK).overQuic(nobody(), NextHop.Kind.HOST);
        AnepSender sender = quicSender(node.quicAddress());
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.flush();

        node.assertDrops(Map.of(DropReason.NEXT_HOP_UNREACHABLE, 1L));
    }

    @Test
    void aNextHopWithACertificateOfAStrangerIsUnreachableAtOnce() throws Exception {
        TestSink stranger = keep(TestSink.openQuic(new TestAuthority(folder, "other").files("stranger"), false));
        settings.connectTimeout = Duration.ofMinutes(10); // Longer than a test waits.
        TestNode node = node(MARK).overQuic(stranger.address(), NextHop.Kind.HOST);
        AnepSender sender = quicSender(node.quicAddress());
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.flush();

        node.assertDrops(Map.of(DropReason.NEXT_HOP_UNREACHABLE, 1L));
        assertThat(stranger.packets()).isEmpty();
    }

    @Test
    void datagramsGoOnByQuic() throws Exception {
        settings.udp = List.of(new InetSocketAddress("127.0.0.1", 0));
        TestSink sink = quicSink(false);
        TestNode node = node(MARK).overQuic(sink.address(), NextHop.Kind.HOST);
        AnepSender sender = keep(AnepSender.udp(node.environment.udpAddresses().get(0)));
        for (int i = 0; i < 20; i++) {
            sender.send(packets("mark"), ByteBuffer.allocate(100));
        }
        sender.flush();

        sink.await(20);
        node.assertDrops(Map.of());
    }

    @Test
    void aStreamToItselfEndsHere() throws Exception {
        TestNode node = node(MARK);
        node.overQuic(node.quicAddress(), NextHop.Kind.ACTIVE_NODE);
        AnepSender sender = quicSender(node.quicAddress());
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.finish();

        node.assertDrops(Map.of(DropReason.LOCAL, 1L));
    }
}

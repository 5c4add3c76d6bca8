package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.anep.PacketSpace;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.Addresses;
import org.tamanoir.routing.NextHop;
import org.tamanoir.support.Seeds;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.TransportKind;

/** What crosses nodes inside TLS crosses them as it does over plain TCP. */
class TlsStreamTest extends TcpNodeTesting {
    private static final long SEED = Seeds.ofCommit(TlsStreamTest.class);

    @TempDir
    private Path folder;

    private TestAuthority authority;
    private TlsFiles files;

    private static Logger nodes() {
        return (Logger) LoggerFactory.getLogger("org.tamanoir");
    }

    @BeforeAll
    static void listenToDetails() {
        nodes().setLevel(Level.INFO);
    }

    @AfterAll
    static void listenNoMore() {
        nodes().setLevel(null);
    }

    @BeforeEach
    void makeFiles() {
        authority = new TestAuthority(folder, "authority");
        files = authority.files("node");
        settings.tls = files;
    }

    private AnepSender tlsSender(TestNode node, TlsFiles tls) throws IOException {
        return keep(AnepSender.to(node.tlsAddress()).tls(tls).tcp());
    }

    private TestSink tlsSink(boolean echo) throws IOException {
        return keep(TestSink.openTls(files, echo));
    }

    /** Payloads from nothing to the most that fits, and what they were. */
    private static List<byte[]> payloads(int count) {
        Random random = new Random(SEED);
        int most = Anep.MAX_PACKET_OCTETS - packets("mark").headerLength() - 8;
        List<byte[]> payloads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int bytes = i % 3 == 0 ? most - random.nextInt(40) : random.nextInt(i % 3 == 1 ? 40 : 20_000);
            byte[] payload = new byte[bytes];
            random.nextBytes(payload);
            payloads.add(payload);
        }
        return payloads;
    }

    private static void assertSame(List<Packet> arrived, List<byte[]> sent) {
        assertThat(arrived.size()).isEqualTo(sent.size());
        for (int i = 0; i < sent.size(); i++) {
            assertThat(Arrays.equals(TestSink.bytes(arrived.get(i)).array(), sent.get(i)))
                    .describedAs("payload %s, seed %s", i, SEED)
                    .isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void packetsOfAllSizesCrossTwoNodes(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = tlsSink(false);
        TestNode last = node(MARK).overTls(sink.address(), NextHop.Kind.HOST);
        TestNode first = node(MARK).overTls(last.tlsAddress(), NextHop.Kind.ACTIVE_NODE);
        List<byte[]> payloads = payloads(120);

        PacketBuilder builder = packets("mark");
        AnepSender sender = tlsSender(first, authority.trusting());
        for (byte[] payload : payloads) {
            sender.send(builder, ByteBuffer.wrap(payload));
        }
        sender.finish();

        sink.await(payloads.size());
        sink.awaitEnds();
        assertSame(sink.packets(), payloads);
        eventually().until(() -> !sender.poll(newView(), Duration.ofMillis(10)) && sender.ended());
        first.assertDrops(Map.of());
        last.assertDrops(Map.of());
    }

    private static Packet newView() {
        return new Packet(Anep.DEFAULT_TYPE_ID, PacketSpace.HEAP);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void answersComeBackAfterTheSendersEnd(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = tlsSink(true);
        TestNode last = node(MARK).overTls(sink.address(), NextHop.Kind.HOST);
        TestNode first = node(MARK).overTls(last.tlsAddress(), NextHop.Kind.ACTIVE_NODE);
        List<byte[]> payloads = payloads(60);
        List<Packet> answers = new ArrayList<>();

        PacketBuilder builder = packets("mark");
        AnepSender sender = keep(AnepSender.to(first.tlsAddress())
                .tls(authority.trusting())
                .onReply(answer -> answers.add(answer.copy()))
                .tcp());
        for (byte[] payload : payloads) {
            sender.send(builder, ByteBuffer.wrap(payload));
        }
        sender.finish();
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

    @ParameterizedTest
    @MethodSource("kinds")
    void singlePacketsArriveAtOnce(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestNode node = node(MARK).overTls(tlsSink(true).address(), NextHop.Kind.HOST);
        AnepSender sender = tlsSender(node, authority.trusting());
        PacketBuilder builder = packets("mark");
        Packet view = newView();

        for (int i = 0; i < 50; i++) {
            sender.send(builder, ByteBuffer.allocate(i));
            sender.flush();
            assertThat(sender.poll(view, TestServices.PATIENCE)).isTrue();
            assertThat(view.payloadLength()).isEqualTo(i);
        }
        sender.finish();

        assertThat(sender.poll(view, TestServices.PATIENCE)).isFalse();
        assertThat(sender.ended()).isTrue();
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void plainAndTlsMeetInANode(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode last = node(MARK).toHost(sink.address());
        TestNode first = node(MARK).overTls(last.tlsAddress(), NextHop.Kind.ACTIVE_NODE);

        AnepSender sender = sender(first);
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.finish();

        sink.await(1);
        sink.awaitEnds();
        first.settle();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aSenderThatIsCutOffIsNoEnd(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink plain = sink();
        TestSink secure = tlsSink(false);
        for (TestSink sink : List.of(plain, secure)) {
            TestNode node = node(MARK);
            if (sink == plain) {
                node.toHost(sink.address());
            } else {
                node.overTls(sink.address(), NextHop.Kind.HOST);
            }
            AnepSender sender = tlsSender(node, authority.trusting());
            sender.send(packets("mark"), ByteBuffer.allocate(3));
            sender.flush();
            sink.await(1);
            sender.close(); // FIN, as anybody on the way could send.

            eventually().until(() -> sink.connections().get(0).fault() != null);
            node.settle();
        }
        assertThat(log()).anyMatch(line -> line.contains("cut off"));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aClientMustShowACertificateWhereThatIsRequired(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.tls = authority.files("strict", true, "127.0.0.1");
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());

        AnepSender known = tlsSender(node, authority.files("known"));
        known.send(packets("mark"), ByteBuffer.allocate(3));
        known.finish();
        sink.await(1);

        try (AnepSender unknown =
                AnepSender.to(node.tlsAddress()).tls(authority.trusting()).tcp()) {
            unknown.send(packets("mark"), ByteBuffer.allocate(3));
            unknown.flush();
        } catch (IOException e) {
            assertThat(e.getMessage()).containsAnyOf("refused by the other side", "broke");
        }
        eventually().until(() -> log().stream().anyMatch(line -> line.contains("the other side shows no certificate")));
        assertThat(sink.packets()).hasSize(1);
        node.settle();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void nodesShowEachOtherTheirCertificates(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        settings.tls = authority.files("strict", true, "127.0.0.1");
        TestNode last = node(MARK).toHost(sink.address());
        TestNode first = node(MARK).overTls(last.tlsAddress(), NextHop.Kind.ACTIVE_NODE);

        AnepSender sender = sender(first);
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.finish();

        sink.await(1);
        first.settle();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aNextHopThatIsAnotherGetsNothing(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestAuthority other = new TestAuthority(folder, "other");
        assertUnreachable(other.files("stranger"), "no trusted authority");
        assertUnreachable(authority.files("elsewhere", false, "10.0.0.1"), "127.0.0.1");
        assertUnreachable(authority.expired("late"), "NotAfter");
    }

    private void assertUnreachable(TlsFiles nextHop, String words) throws Exception {
        TestSink sink = keep(TestSink.openTls(nextHop, false));
        TestNode node = node(MARK).overTls(sink.address(), NextHop.Kind.HOST);
        AnepSender sender = sender(node);
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.finish();

        node.settleAfterDrop(DropReason.NEXT_HOP_UNREACHABLE);
        String line = "next hop " + Addresses.text(sink.address()) + " not reached: TLS handshake: ";
        assertThat(log())
                .filteredOn(each -> each.contains(line))
                .singleElement()
                .asString()
                .contains(words);
        assertThat(sink.packets()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aPlainNextHopIsRefused(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestNode node = node(MARK).overTls(sink().address(), NextHop.Kind.HOST);
        AnepSender sender = sender(node);
        sender.send(packets("mark"), ByteBuffer.allocate(3));
        sender.finish();

        node.settleAfterDrop(DropReason.NEXT_HOP_UNREACHABLE);
        assertThat(log()).anyMatch(line -> line.contains("does it speak TLS?"));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void plainSendersAtATlsPortAreRefused(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestNode node = node(MARK);
        AnepSender sender = keep(AnepSender.tcp(node.tlsAddress()));
        sender.send(packets("mark"), ByteBuffer.allocate(300));
        sender.flush();

        node.settle();
        eventually().until(() -> log().stream().anyMatch(line -> line.contains("does not speak TLS")));
        assertThat(log()).filteredOn(line -> line.contains("refused")).hasSize(1);
        assertThat(node.traffic().packetsIn()).isZero();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void tlsSendersAtAPlainPortAreRefused(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestNode node = node(MARK);

        try (AnepSender sender =
                AnepSender.to(node.address()).tls(authority.trusting()).tcp()) {
            throw new AssertionError("no node speaks TLS there, but " + sender.localAddress() + " is connected");
        } catch (IOException e) {
            assertThat(e.getMessage()).contains("127.0.0.1:" + node.address().getPort());
        }
        eventually().until(() -> log().stream().anyMatch(line -> line.contains("it begins TLS")));
        node.settle();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aHandshakeThatDoesNotEndIsEnded(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.firstPacketTimeout = Duration.ofMillis(300);
        TestNode node = node(MARK);
        var channel = keep(java.nio.channels.SocketChannel.open(node.tlsAddress()));
        channel.write(ByteBuffer.wrap(new byte[] {22, 3, 1, 2}));

        assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        node.settle();
        assertThat(log()).anyMatch(line -> line.contains("TLS handshake: not over in time"));
    }
}

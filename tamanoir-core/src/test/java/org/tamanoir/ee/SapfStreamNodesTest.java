package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.anonymous;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop;
import org.tamanoir.sapf.SapfSettings;
import org.tamanoir.sapf.SapfStatistics;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Seeds;
import org.tamanoir.transport.TransportKind;

/** Nodes in a row between which streams go by selectors: what comes out at the end is what would without. */
class SapfStreamNodesTest extends TcpNodeTesting {
    private static final long SEED = Seeds.ofCommit(SapfStreamNodesTest.class);
    private static final SapfSettings ACCEPTS = new SapfSettings(true, List.of(), Duration.ofSeconds(60));
    private static final byte[] OPENING = {'S', 'A', 'P', '1'};

    private final SplittableRandom random = new SplittableRandom(SEED);

    private TestNode accepting(InetSocketAddress to) throws IOException {
        settings.sapf = ACCEPTS;
        return node(MARK).toHost(to);
    }

    private TestNode asking(InetSocketAddress next) throws IOException {
        settings.sapf = new SapfSettings(false, List.of(next), Duration.ofSeconds(60));
        return node(MARK).route("0.0.0.0/0", next, NextHop.Kind.ACTIVE_NODE);
    }

    private static SapfStatistics sapf(TestNode node) {
        return Objects.requireNonNull(node.environment.sapfStatistics());
    }

    private static PacketBuilder flow(int number) throws IOException {
        return anonymous()
                .source(InetAddress.getByAddress(new byte[] {10, 0, (byte) (number >> 8), (byte) number}))
                .service("mark");
    }

    private static List<ByteBuffer> octets(List<Packet> packets) {
        return packets.stream()
                .map(each -> each.buffer().slice(each.offset(), each.length()))
                .toList();
    }

    /** Sends packets of random flows and sizes through these nodes; returns what came out. */
    private List<ByteBuffer> octetsBehind(TestNode first, TestSink sink, long seed, int packets) throws IOException {
        SplittableRandom sizes = new SplittableRandom(seed);
        AnepSender sender = sender(first);
        for (int i = 0; i < packets; i++) {
            byte[] payload = new byte[sizes.nextInt(50) == 0 ? sizes.nextInt(60_000) : sizes.nextInt(200)];
            sizes.nextBytes(payload);
            sender.send(flow(sizes.nextInt(sizes.nextInt(2) == 0 ? 3 : 100)), ByteBuffer.wrap(payload));
            if (i % 100 == 0) {
                sender.flush();
                sink.await(i + 1); // So that answers come before the next ones go.
            }
        }
        sender.finish();
        eventually().until(() -> sink.packets().size() == packets);
        sink.awaitEnds();
        return octets(sink.packets());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void carriesEveryOctetThatAnepDoes(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink plainSink = sink();
        TestNode plainSecond = node(MARK).toHost(plainSink.address());
        TestNode plainFirst = node(MARK).toNode(plainSecond);
        List<ByteBuffer> expected = octetsBehind(plainFirst, plainSink, SEED, 5_000);
        TestSink sink = sink();
        TestNode second = accepting(sink.address());
        TestNode first = asking(second.address());
        assertThat(octetsBehind(first, sink, SEED, 5_000)).as("seed %s", SEED).isEqualTo(expected);
        assertThat(sapf(first).packetsOut())
                .as("with selectors")
                .isGreaterThan(3_000)
                .isEqualTo(sapf(second).packetsIn());
        first.assertDrops(Map.of());
        second.assertDrops(Map.of());
        eventually().until(() -> sapf(first).asked() == 0 && sapf(second).issued() == 0);
        assertThat(second.traffic().packetsIn()).isEqualTo(5_000);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void fallsBackToAnepWhereTheNextNodeKnowsNoSapf(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode second = node(MARK).toHost(sink.address());
        TestNode first = asking(second.address());
        for (int stream = 0; stream < 3; stream++) {
            AnepSender sender = sender(first);
            for (int i = 0; i < 1_000; i++) {
                sender.send(flow(1), number(1_000 * stream + i));
            }
            sender.finish();
            sink.await(1_000 * (stream + 1));
        }
        assertThat(sink.awaitEnds().numbers())
                .containsExactlyElementsOf(IntStream.range(0, 3_000).boxed().toList());
        assertThat(log().stream().filter(line -> line.contains("it gets ANEP for 60 s")))
                .as("asked once")
                .hasSize(1);
        first.assertDrops(Map.of());
        assertThat(second.dropped(DropReason.VERSION)).isOne(); // What it was asked with.
    }

    @Test
    void fallsBackToAnepWhereNobodyAnswers() throws Exception {
        settings.connectTimeout = Duration.ofMillis(400);
        try (ServerSocketChannel host = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0))) {
            TestNode first = asking((InetSocketAddress) host.getLocalAddress());
            AnepSender sender = sender(first);
            sender.send(flow(1), number(1));
            sender.finish();
            try (SocketChannel silent = host.accept();
                    SocketChannel anep = host.accept()) {
                assertThat(read(silent, 4)).containsExactly(OPENING);
                assertThat(read(anep, 1)).containsExactly((byte) 1);
            }
            first.settle();
        }
    }

    private static byte[] read(SocketChannel channel, int octets) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(octets);
        while (bytes.hasRemaining()) {
            assertThat(channel.read(bytes)).isPositive();
        }
        return bytes.array();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void goesOnWithANeighbourThatBeginsAnew(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode second = accepting(sink.address());
        InetSocketAddress address = second.address();
        TestNode first = asking(address);
        goOn(first, sink, 100);
        assertThat(sapf(first).packetsOut()).isPositive();
        assertThat(second.environment.stop(TestServices.PATIENCE)).isZero();
        settings.listen = address;
        TestNode anew = accepting(sink.address());
        goOn(first, sink, 200);
        assertThat(sapf(anew).packetsIn()).isPositive();
        anew.assertDrops(Map.of());
        first.assertDrops(Map.of());
    }

    /** Sends a stream of one flow, until so many packets have come from all streams. */
    private void goOn(TestNode first, TestSink sink, int packets) throws IOException {
        AnepSender sender = sender(first);
        for (int come = packets - 99; come <= packets; come++) {
            sender.send(flow(1), number(come));
            sender.flush();
            sink.await(come);
        }
        sender.finish();
        first.settle();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void holdsTheSenderBackWhileTheReceiverDoesNotRead(TransportKind kind) throws Exception {
        settings.transport = kind;
        int packets = 60_000;
        try (ServerSocketChannel host = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0))) {
            TestNode second = accepting((InetSocketAddress) host.getLocalAddress());
            TestNode first = asking(second.address());
            AnepSender sender = sender(first);
            Thread writer = new Thread(() -> {
                try {
                    for (int i = 0; i < packets; i++) {
                        sender.send(flow(i % 3), ByteBuffer.allocate(1_000).putInt(0, i));
                    }
                    sender.finish();
                } catch (IOException e) {
                    // The receiver misses the rest.
                }
            });
            long before = directBytes();
            writer.start();
            try (SocketChannel accepted = host.accept()) {
                long[] last = {-1};
                eventually().pollInterval(Duration.ofMillis(100)).until(() -> {
                    long in = first.traffic().packetsIn();
                    boolean stands = in == last[0] && first.traffic().held() > 0;
                    last[0] = in;
                    return stands;
                });
                assertThat(last[0]).isLessThan(packets);
                assertThat(directBytes() - before).isLessThan(8_000_000);
                int header = flow(0).headerLength();
                for (int i = 0; i < packets; i++) {
                    ByteBuffer packet = ByteBuffer.wrap(read(accepted, header + 1_000));
                    if (packet.getInt(header) != i) {
                        assertThat(packet.getInt(header)).isEqualTo(i);
                    }
                }
                assertThat(accepted.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            }
            writer.join();
            assertThat(sapf(second).packetsIn()).isPositive();
            first.assertDrops(Map.of());
            second.assertDrops(Map.of());
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void takesPacketsOfASenderAndAnswersIt(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = keep(TestSink.openEcho());
        TestNode node = accepting(sink.address());
        AtomicLong replies = new AtomicLong();
        AnepSender sender = keep(AnepSender.to(node.address())
                .batchBytes(10_000)
                .onReply(reply -> assertThat(TestSink.number(reply)).isEqualTo((int) replies.getAndIncrement()))
                .sapfOverTcp());
        for (int i = 0; i < 5_000; i++) {
            sender.send(
                    flow(i % 2), ByteBuffer.allocate(random.nextInt(4, 3_000)).putInt(0, i));
            if (i % 100 == 0) {
                sender.flush();
                sink.await(i + 1);
            }
        }
        sender.finish();
        Packet reply = new Packet();
        while (sender.poll(reply, TestServices.PATIENCE)) {
            assertThat(TestSink.number(reply)).isEqualTo((int) replies.getAndIncrement());
        }
        assertThat(sender.ended()).isTrue();
        assertThat(replies).as("seed %s", SEED).hasValue(5_000);

        assertThat(sapf(node).packetsIn()).isGreaterThan(4_000);
        node.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aSenderThatReadsNothingAndClosesHasSentAll(TransportKind kind) throws Exception {
        settings.transport = kind;
        int packets = 3_000;
        try (ServerSocketChannel host = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0))) {
            TestNode node = accepting((InetSocketAddress) host.getLocalAddress());
            // All in one batch: the node's answers to its beginning are there before its end has left.
            try (AnepSender sender = AnepSender.to(node.address())
                    .batchBytes(2 * packets * 1_000)
                    .sapfOverTcp()) {
                for (int i = 0; i < packets; i++) {
                    sender.send(flow(1), ByteBuffer.allocate(1_000).putInt(0, i));
                }
                sender.finish();
            }
            readAll(host, packets);
            node.assertDrops(Map.of());
        }
    }

    /** Holds its stream up. */
    private static final class Late extends Service {
        private final CountDownLatch goesOn;

        Late(CountDownLatch goesOn) {
            this.goesOn = goesOn;
        }

        @Override
        public Verdict process(Packet packet) throws InterruptedException {
            goesOn.await();
            return Verdict.FORWARD;
        }
    }

    /** The first node has no more to do when all has left, and the second one has not read what it is to answer. */
    @ParameterizedTest
    @MethodSource("kinds")
    void whatHasLeftArrivesThoughItsSenderBroke(TransportKind kind) throws Exception {
        settings.transport = kind;
        int packets = 1_000;
        CountDownLatch goesOn = new CountDownLatch(1);
        try (ServerSocketChannel host = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0))) {
            settings.sapf = ACCEPTS;
            TestNode second = node(TestServices.define("mark", () -> new Late(goesOn)))
                    .toHost((InetSocketAddress) host.getLocalAddress());
            TestNode first = asking(second.address());
            SocketChannel sender = connect(first);
            ByteBuffer packet = ByteBuffer.allocate(1_200);
            for (int i = 0; i < packets; i++) {
                flow(i / 2).write(packet.clear(), ByteBuffer.allocate(1_000).putInt(0, i));
                sender.write(packet.flip());
            }
            sender.write(ByteBuffer.allocate(8));
            eventually().until(() -> first.dropped(DropReason.VERSION) == 1);
            Thread.sleep(200); // It may close meanwhile, and must not.
            goesOn.countDown();
            readAll(host, packets);
            second.assertDrops(Map.of());
        }
    }

    private static void readAll(ServerSocketChannel host, int packets) throws IOException {
        try (SocketChannel accepted = host.accept()) {
            int header = flow(1).headerLength();
            for (int i = 0; i < packets; i++) {
                assertThat(ByteBuffer.wrap(read(accepted, header + 1_000)).getInt(header))
                        .isEqualTo(i);
            }
            assertThat(accepted.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aSenderEndsThoughAnswersStandBehindReplies(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = keep(TestSink.openEcho());
        TestNode node = accepting(sink.address());
        AnepSender sender = keep(AnepSender.to(node.address())
                .stallTimeout(Duration.ofMinutes(10))
                .sapfOverTcp());
        sender.send(flow(1), number(0));
        sender.flush();
        eventually().until(() -> node.traffic().packetsOut() == 2); // The reply is before the answer to what follows.
        sender.send(flow(1), number(1));
        sender.finish();
        Packet reply = new Packet();
        for (int i = 0; i < 2; i++) {
            assertThat(sender.poll(reply, TestServices.PATIENCE)).isTrue();
            assertThat(TestSink.number(reply)).isEqualTo(i);
        }
        assertThat(sender.poll(reply, TestServices.PATIENCE)).isFalse();
        assertThat(sender.ended()).isTrue();
        node.assertDrops(Map.of());
    }

    @Test
    void aSenderGoesOnWithoutSelectorsWhereTheNodeKnowsNone() throws Exception {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        AnepSender sender = keep(AnepSender.to(node.address()).sapfOverTcp());
        for (int i = 0; i < 100; i++) {
            sender.send(flow(1), number(i));
        }
        sender.finish();
        sink.await(100);
        assertThat(sink.awaitEnds().numbers())
                .containsExactlyElementsOf(IntStream.range(0, 100).boxed().toList());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void bringsRepliesBackBehindTheSendersEnd(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = keep(TestSink.openEcho());
        TestNode second = accepting(sink.address());
        TestNode first = asking(second.address());
        AnepSender sender = sender(first);
        for (int i = 0; i < 500; i++) {
            sender.send(flow(1), number(i));
            if (i == 100) {
                sender.flush();
                sink.await(i);
            }
        }
        sender.finish();
        Packet reply = new Packet();
        for (int i = 0; i < 500; i++) {
            assertThat(sender.poll(reply, TestServices.PATIENCE))
                    .as("reply %s", i)
                    .isTrue();
            assertThat(TestSink.number(reply)).isEqualTo(i);
        }
        assertThat(sender.poll(reply, TestServices.PATIENCE)).isFalse();
        assertThat(sender.ended()).isTrue();
        first.assertDrops(Map.of());
        second.assertDrops(Map.of());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void endsAStreamBehindALengthThatCannotBe(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = accepting(sink.address());
        SocketChannel channel = connect(node);
        channel.write(ByteBuffer.wrap(OPENING));
        channel.write(tunnelled(flow(1), 1));
        channel.write(ByteBuffer.allocate(8).putInt(0, 0x7FFF_FFFF));
        assertThat(read(channel, 4)).containsExactly(OPENING);
        assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        node.assertDrops(Map.of(DropReason.HEADER_LENGTH, 1L));
        assertThat(sink.awaitEnds().numbers()).containsExactly(1);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void takesAnOpeningThatComesOctetByOctetAndAnEndInAPacket(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = accepting(sink.address());
        SocketChannel channel = connect(node);
        ByteBuffer units = ByteBuffer.allocate(1_024);
        units.put(OPENING).put(tunnelled(flow(1), 1)).put(tunnelled(flow(1), 2)).flip();
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        while (units.remaining() > 1) {
            channel.write(units.slice(units.position(), 1));
            units.get();
        }
        sink.await(1);
        channel.shutdownOutput();
        node.assertDrops(Map.of(DropReason.TRUNCATED, 1L));
        assertThat(sink.awaitEnds().numbers()).containsExactly(1);
    }

    private static ByteBuffer tunnelled(PacketBuilder builder, int number) {
        ByteBuffer unit = ByteBuffer.allocate(12 + builder.headerLength() + 4);
        unit.putInt(unit.capacity() - 4).putLong(2);
        builder.write(unit, number(number));
        return unit.flip();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void takesAnepAndSapfSideBySide(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        TestNode node = accepting(sink.address());
        AnepSender anep = sender(node);
        anep.send(flow(1), number(1));
        anep.finish();
        sink.await(1);
        SocketChannel sapf = connect(node);
        sapf.write(ByteBuffer.wrap(OPENING));
        sapf.write(tunnelled(flow(1), 2));
        sapf.shutdownOutput();
        sink.await(2);
        SocketChannel neither = connect(node);
        neither.write(ByteBuffer.wrap(new byte[] {'S', 'A', 'P', '2', 0, 0, 0, 0}));
        node.assertDrops(Map.of(DropReason.VERSION, 1L));
        assertThat(sink.awaitEnds().numbers()).containsExactly(1, 2);
    }

    @Test
    void carriesManyStreamsOfMoreFlowsThanThereAreSelectors() throws Exception {
        int streams = 12;
        int packets = 2_000;
        TestSink sink = sink();
        TestNode second = accepting(sink.address());
        TestNode first = asking(second.address());
        List<AnepSender> senders = new ArrayList<>();
        for (int stream = 0; stream < streams; stream++) {
            senders.add(sender(first));
        }
        for (int i = 0; i < packets; i++) {
            for (int stream = 0; stream < streams; stream++) {
                ByteBuffer payload = ByteBuffer.allocate(8).putInt(0, i).putInt(4, stream);
                senders.get(stream).send(flow(i < 1_000 ? random.nextInt(500) : i / 2 % 10), payload);
            }
            if (i % 100 == 0) {
                for (AnepSender each : senders) {
                    each.flush();
                }
                sink.await((i + 1) * streams);
                assertThat(sapf(second).issued()).isLessThanOrEqualTo(64 * streams);
            }
        }
        for (AnepSender each : senders) {
            each.finish();
        }
        sink.await(streams * packets);
        assertThat(sink.awaitEnds().connections())
                .hasSize(streams)
                .allSatisfy(each -> assertThat(each.packets().stream().map(TestSink::number))
                        .as("seed %s", SEED)
                        .containsExactlyElementsOf(
                                IntStream.range(0, packets).boxed().toList()));
        assertThat(sapf(second).packetsIn())
                .isGreaterThan(streams * 500L)
                .isEqualTo(sapf(first).packetsOut());
        first.assertDrops(Map.of());
        second.assertDrops(Map.of());
        eventually().until(() -> sapf(second).issued() == 0);
    }
}

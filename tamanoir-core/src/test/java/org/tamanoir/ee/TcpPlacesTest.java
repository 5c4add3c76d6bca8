package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.admission.StreamLimits;
import org.tamanoir.admission.StreamRefusal;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.traffic.StreamRecord;

/** What one sender may take of a node: connections, further services of a connection, time without bytes. */
class TcpPlacesTest extends TcpNodeTesting {
    private static final long REPLY_INTERVAL_NS = 20_000_000;

    private final List<StreamRecord> records = new CopyOnWriteArrayList<>();

    private static ServiceDefinition[] services(int number) {
        ServiceDefinition[] services = new ServiceDefinition[number];
        for (int i = 0; i < number; i++) {
            services[i] = new ServiceDefinition("mark" + i, MARK.factory(), MARK.config(), FailurePolicy.DROP);
        }
        return services;
    }

    private TestNode recording(ServiceDefinition... services) throws IOException {
        TestNode node = node(services);
        node.environment.onStreamEnd(records::add);
        return node;
    }

    private Socket connectFrom(String address, TestNode node) throws IOException {
        Socket socket = keep(new Socket());
        socket.setSoTimeout((int) TestServices.PATIENCE.toMillis());
        socket.bind(new InetSocketAddress(address, 0));
        socket.connect(node.address());
        return socket;
    }

    /** Reads the end of a connection that the node closes. */
    private static void awaitClosed(Socket socket) throws IOException {
        try {
            assertThat(socket.getInputStream().read()).isNegative();
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }

    @Test
    void sendersThatGoAwayBeforeTheirInstanceIsMadeLeaveNoThread() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger constructed = new AtomicInteger();
        ServiceDefinition slow = new ServiceDefinition(
                "reluctant",
                () -> {
                    constructed.incrementAndGet();
                    boolean ignored = Uninterruptibles.awaitUninterruptibly(release, TestServices.PATIENCE);
                    return MARK.factory().get();
                },
                MARK.config(),
                FailurePolicy.DROP);
        TestNode node = node(slow).toHost(sink().address());
        for (int i = 0; i < 20; i++) {
            try (Socket socket = connectFrom("127.0.0.1", node)) {
                socket.getOutputStream().write(UdpTestNode.packet(packets("reluctant"), 100));
                eventually()
                        .untilAsserted(() ->
                                assertThat(node.environment.places().taken()).isPositive());
                socket.setSoLinger(true, 0);
            }
            eventually()
                    .untilAsserted(
                            () -> assertThat(node.environment.places().taken()).isZero());
        }
        release.countDown();
        eventually()
                .untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                        .noneMatch(thread -> thread.getName().equals("service reluctant")));
        assertThat(constructed).hasValue(1);
    }

    // ---- branches -------------------------------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource(FailurePolicy.class)
    void aConnectionHasNoMoreBranchesThanItMayAndThePolicySaysWhatBecomesOfThePacket(FailurePolicy policy)
            throws IOException {
        settings.streamLimits = new StreamLimits(StreamLimits.AUTOMATIC, 2, Duration.ZERO);
        settings.unknownService = policy;
        TestSink sink = sink();
        TestNode node = node(services(4)).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            for (int i = 0; i < 3; i++) {
                sender.send(packets("mark" + i), number(i));
                sender.flush();
                sink.await(i + 1);
            }
            assertThat(node.environment.places().taken()).isEqualTo(3);
            assertThat(node.environment.places().branches()).isEqualTo(2);
            sender.send(packets("mark3"), number(3));
            sender.flush();
            if (policy != FailurePolicy.CLOSE) {
                sender.send(packets("mark0"), number(4));
                sender.finish();
                sink.await(policy == FailurePolicy.PASS ? 5 : 4);
            } else {
                node.settleAfterDrop(DropReason.STREAM_LIMIT);
            }
        }
        node.assertDrops(policy == FailurePolicy.PASS ? Map.of() : Map.of(DropReason.STREAM_LIMIT, 1L));
        assertThat(node.environment.places().refused()).isEqualTo(Map.of(StreamRefusal.BRANCHES, 1L));
        assertThat(node.environment.places().taken()).isZero();
        assertThat(node.environment.places().branches()).isZero();
    }

    @Test
    void branchesTakePlacesOfTheNode() throws IOException {
        settings.maxStreams = 3;
        TestSink sink = sink();
        TestNode node = node(services(4)).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            for (int i = 0; i < 3; i++) {
                sender.send(packets("mark" + i), number(i));
                sender.flush();
                sink.await(i + 1);
            }
            sender.send(packets("mark3"), number(3));
            sender.flush();
            eventually().until(() -> node.dropped(DropReason.STREAM_LIMIT) == 1);
            awaitClosed(connectFrom("127.0.0.2", node));
            assertThat(node.environment.places().refused()).isEqualTo(Map.of(StreamRefusal.MAX_STREAMS, 2L));
            sender.finish();
        }
        node.settle();
        try (AnepSender late = sender(node)) {
            late.send(packets("mark3"), number(5));
            late.finish();
            sink.await(4);
        }
        node.assertDrops(Map.of(DropReason.STREAM_LIMIT, 1L));
    }

    @Test
    void branchesThatCarryLittleHoldLittleMemory() throws IOException {
        TestSink sink = sink();
        TestNode node = node(services(9)).toHost(sink.address());
        int streams = 20;
        List<AnepSender> senders = new ArrayList<>();
        for (int s = 0; s < streams; s++) {
            AnepSender sender = sender(node);
            senders.add(sender);
            for (int i = 0; i < 9; i++) {
                sender.send(packets("mark" + i), number(i));
            }
            sender.flush();
        }
        sink.await(9 * streams);
        assertThat(node.environment.places().branches()).isEqualTo(8 * streams);
        // Two small rings each, and what lies ready for the next ones.
        long held = node.environment.context.pool().usedBytes();
        assertThat(held).isLessThan(8L * streams * (64 << 10));
        for (AnepSender sender : senders) {
            sender.finish();
        }
        node.assertDrops(Map.of());
    }

    @Test
    void aBranchThatTakesLongerGetsALargerQueueAndKeepsEveryByte() throws IOException {
        TestSink sink = echoSink();
        TestNode node = node(services(2)).toHost(sink.address());
        int number = 300;
        try (AnepSender sender = sender(node)) {
            sender.send(packets("mark0"), number(-1));
            for (int i = 0; i < number; i++) {
                sender.send(packets("mark1"), payload(i, 1 + i * 211 % 60_000));
                sender.flush();
            }
            sink.await(number + 1);
            sender.finish();
            Packet answer = new Packet();
            List<ByteBuffer> answers = new ArrayList<>();
            eventually().until(() -> {
                while (sender.poll(answer, Duration.ZERO)) {
                    if (answer.payloadLength() != 4 || TestSink.number(answer) != -1) {
                        answers.add(TestSink.bytes(answer));
                    }
                }
                return sender.ended();
            });
            assertThat(answers).hasSize(number);
            for (int i = 0; i < number; i++) {
                assertThat(answers.get(i)).isEqualTo(payload(i, 1 + i * 211 % 60_000));
            }
        }
        node.assertDrops(Map.of());
    }

    // ---- peers ----------------------------------------------------------------------------------------------------

    @Test
    void anAddressHasNoMoreConnectionsThanItMayEvenBeforeTheirFirstHeader() throws IOException {
        settings.streamLimits = new StreamLimits(3, 8, Duration.ZERO);
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            silent.add(connectFrom("127.0.0.2", node));
        }
        eventually().until(() -> node.environment.places().taken() == 3);
        for (int i = 0; i < 50; i++) {
            awaitClosed(connectFrom("127.0.0.2", node));
        }
        assertThat(node.environment.places().refused()).isEqualTo(Map.of(StreamRefusal.PEER, 50L));
        assertThat(node.environment.streams().refused()).isEqualTo(50);
        assertThat(log().stream().filter(line -> line.contains("max-streams-per-peer")))
                .hasSizeBetween(0, 10);
        try (AnepSender other = sender(node)) { // From 127.0.0.1.
            other.send(packets("mark"), number(1));
            other.finish();
            sink.await(1);
        }
        for (Socket socket : silent) {
            socket.close();
        }
        eventually().until(() -> node.environment.places().taken() == 0);
        connectFrom("127.0.0.2", node);
        eventually().until(() -> node.environment.places().taken() == 1);
    }

    @Test
    void branchesTakePlacesOfTheirPeer() throws IOException {
        settings.streamLimits = new StreamLimits(2, 8, Duration.ZERO);
        TestSink sink = sink();
        TestNode node = node(services(3)).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("mark0"), number(0));
            sender.send(packets("mark1"), number(1));
            sender.send(packets("mark2"), number(2));
            sender.finish();
            sink.await(2);
        }
        node.assertDrops(Map.of(DropReason.STREAM_LIMIT, 1L));
        assertThat(node.environment.places().refused()).isEqualTo(Map.of(StreamRefusal.PEER, 1L));
    }

    // ---- idle -----------------------------------------------------------------------------------------------------

    @Test
    void aStreamWithoutBytesFromEitherSideEndsWithTheReasonInItsRecord() throws IOException {
        settings.streamLimits = new StreamLimits(StreamLimits.AUTOMATIC, 8, Duration.ofMillis(200));
        TestSink sink = sink();
        TestNode node = recording(MARK).toHost(sink.address());
        try (Socket socket = connectFrom("127.0.0.2", node)) {
            ByteBuffer bytes = ByteBuffer.allocate(200);
            packets("mark").write(bytes, number(1));
            socket.getOutputStream().write(bytes.array(), 0, bytes.position());
            awaitClosed(socket);
        }
        sink.await(1);
        node.assertDrops(Map.of());
        assertThat(records).hasSize(1);
        assertThat(records.get(0).end()).startsWith("IDLE: no whole packet came from either side");
        assertThat(node.environment.places().aborted()).isEqualTo(Map.of(DropReason.IDLE, 1L));
    }

    @Test
    void aStreamWhoseRepliesAloneMoveIsNotIdle() throws IOException {
        Duration idle = Duration.ofSeconds(1);
        settings.streamLimits = new StreamLimits(StreamLimits.AUTOMATIC, 8, idle);
        TestNode node = recording(MARK);
        try (ServerSocket host = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            node.toHost((InetSocketAddress) host.getLocalSocketAddress());
            ByteBuffer bytes = ByteBuffer.allocate(200);
            packets("mark").write(bytes, number(1));
            try (Socket sender = connectFrom("127.0.0.2", node)) {
                sender.getOutputStream().write(bytes.array(), 0, bytes.position());
                try (Socket far = host.accept()) {
                    long end = System.nanoTime() + idle.multipliedBy(3).toNanos();
                    while (System.nanoTime() < end) {
                        LockSupport.parkNanos(REPLY_INTERVAL_NS); // Many to the idle time, and a processor rests.
                        far.getOutputStream().write(bytes.array(), 0, bytes.position());
                        assertThat(sender.getInputStream().readNBytes(bytes.position()))
                                .hasSize(bytes.position());
                    }
                    assertThat(node.environment.places().aborted()).isEmpty();
                    sender.shutdownOutput();
                    far.getInputStream().readAllBytes();
                }
                awaitClosed(sender);
            }
        }
        node.assertDrops(Map.of());
        assertThat(records).hasSize(1).allMatch(record -> record.end().equals("finished"));
    }
}

package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.number;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Waiting;
import org.tamanoir.transport.TransportKind;

/** Nodes that start, fail to start, and stop while streams run. */
class TcpLifecycleTest extends TcpNodeTesting {
    @Test
    void streamsFinishBeforeTheDeadline() throws Exception {
        TestSink sink = sink();
        TestNode node = node(MARK).toHost(sink.address());
        try (AnepSender sender = sender(node)) {
            sender.send(packets("mark"), number(0));
            sender.flush();
            sink.await(1);
            CompletableFuture<Integer> cut = Waiting.async(() -> node.environment.stop(TestServices.PATIENCE));
            eventually().until(() -> refusesConnections(node));
            for (int i = 1; i < 1000; i++) {
                sender.send(packets("mark"), number(i));
            }
            sender.finish();
            assertThat(cut.get(40, TimeUnit.SECONDS)).isZero();
        }
        assertThat(sink.await(1000)).hasSize(1000);
        node.assertConserved();
        assertThat(node.traffic().dropped()).isZero();
    }

    private static boolean refusesConnections(TestNode node) {
        try (SocketChannel channel = SocketChannel.open(node.address())) {
            return !channel.isOpen();
        } catch (IOException e) {
            return true;
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void streamsThatDoNotFinishAreCutAndWhatTheyHeldIsCounted(TransportKind kind) throws Exception {
        settings.transport = kind;
        try (ServerSocketChannel hop = ServerSocketChannel.open()) {
            hop.bind(new InetSocketAddress("127.0.0.1", 0));
            TestNode node = node(MARK).toHost((InetSocketAddress) hop.getLocalAddress());
            SocketChannel idle = connect(node);
            SocketChannel held = connect(node);
            idle.write(whole());
            Thread writer = new Thread(() -> flood(held));
            writer.start();
            eventually()
                    .until(() -> node.traffic().held() > 0
                            && node.environment.instances().size() == 2);
            assertThat(node.environment.stop(Duration.ofMillis(50))).isEqualTo(2);
            writer.join();
            node.assertConserved();
            assertThat(node.dropped(DropReason.SHUTDOWN)).isPositive();
        }
    }

    private static ByteBuffer whole() {
        ByteBuffer bytes = ByteBuffer.allocate(200);
        packets("mark").write(bytes, number(1));
        return bytes.flip();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void whoSentNoWholeFirstPacketIsToldOfNoOrderlyEnd(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestNode node = node(MARK);
        SocketChannel silent = connect(node);
        SocketChannel part = connect(node);
        part.write(whole().limit(5));
        eventually().until(() -> node.environment.streams().open() == 2);
        assertThat(node.environment.stop(TestServices.PATIENCE)).isZero();
        for (SocketChannel each : List.of(silent, part)) {
            assertThatThrownBy(() -> each.read(ByteBuffer.allocate(1)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("reset");
        }
        node.assertConserved();
    }

    private static void flood(SocketChannel channel) {
        ByteBuffer bytes = ByteBuffer.allocate(100_000);
        PacketBuilder builder = packets("mark");
        while (bytes.remaining() > 2000) {
            builder.write(bytes, ByteBuffer.allocate(1000));
        }
        bytes.flip();
        try {
            while (true) {
                channel.write(bytes.rewind());
            }
        } catch (IOException e) {
            // So it ends.
        }
    }

    @Test
    void aServiceThatDoesNotReturnDoesNotHoldTheStopUp() throws Exception {
        CountDownLatch inside = new CountDownLatch(2);
        CountDownLatch release = new CountDownLatch(1);
        ServiceDefinition stuck = define("stuck", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws Exception {
                inside.countDown();
                release.await();
                return Verdict.FORWARD;
            }
        });
        TestSink sink = sink();
        TestNode node = node(stuck, MARK).toHost(sink.address());
        AnepSender trunk = sender(node);
        trunk.send(packets("stuck"), number(1));
        trunk.flush();
        AnepSender branch = sender(node);
        branch.send(packets("mark"), number(2));
        branch.send(packets("stuck"), number(3));
        branch.flush();
        try {
            assertThat(inside.await(40, TimeUnit.SECONDS)).isTrue();
            assertThat(node.environment.stop(Duration.ZERO)).isEqualTo(2);
        } finally {
            release.countDown();
        }
        eventually().until(() -> node.environment.instances().isEmpty());
        node.assertConserved();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aTakenPortIsSaidInOneLine(TransportKind kind) throws IOException {
        settings.transport = kind;
        TestNode node = node(MARK);
        settings.listen = node.address();
        assertThatThrownBy(() -> TestNode.start(settings, MARK))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(
                        "cannot listen on TCP 127.0.0.1:" + node.address().getPort())
                .message()
                .hasLineCount(1);
        assertThat(threads()).containsExactly("reception");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void startingAndStoppingLeavesNothing(TransportKind kind) throws Exception {
        settings.transport = kind;
        TestSink sink = sink();
        for (int i = 0; i < 50; i++) {
            TestNode node = TestNode.start(settings, MARK).toHost(sink.address());
            try (AnepSender sender = AnepSender.tcp(node.address())) {
                sender.send(packets("mark"), number(i));
                sender.finish();
                sink.await(i + 1);
                assertThat(node.environment.stop(TestServices.PATIENCE)).isZero();
            }
            node.assertConserved();
            node.environment.close();
        }
    }
}

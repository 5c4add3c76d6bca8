package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.routing.NextHop;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.transport.TransportKind;

/** A stream whose way breaks is reset for everybody on it, also for those who have all that was sent to them. */
@Timeout(240)
class WholeOrClosedTest extends TcpNodeTesting {
    @SuppressWarnings("NullAway.Init")
    private TestSink sink;

    @SuppressWarnings("NullAway.Init")
    private ServerSocketChannel hop;

    @SuppressWarnings("NullAway.Init")
    private TestNode node;

    @SuppressWarnings("NullAway.Init")
    private SocketChannel sender;

    @BeforeEach
    void open() throws IOException {
        sink = sink();
        hop = keep(ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0)));
    }

    private void start(TransportKind kind) throws IOException {
        settings.transport = kind;
        node = node(MARK)
                .route("10.1.0.0/16", sink.address(), NextHop.Kind.HOST)
                .route("10.2.0.0/16", (InetSocketAddress) hop.getLocalAddress(), NextHop.Kind.HOST);
        sender = connect(node);
        send(1);
        sink.await(1);
    }

    private void send(int network) throws IOException {
        Packet packet = packets("mark")
                .destination(InetAddress.getByName("10." + network + ".0.1"))
                .build(payload(1, 100));
        ByteBuffer bytes = ByteBuffer.allocate(packet.length());
        sender.write(bytes.put(0, packet.buffer(), packet.offset(), packet.length()));
    }

    private static void reset(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        channel.close();
    }

    private void assertSinkIsReset() {
        eventually().until(() -> sink.connections().get(0).fault() != null);
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aSenderThatIsResetResetsItsNextHops(TransportKind kind) throws IOException {
        start(kind);
        reset(sender);
        assertSinkIsReset();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aNextHopThatIsResetResetsSenderAndOtherHopsThoughNothingIsHeldForIt(TransportKind kind) throws IOException {
        start(kind);
        send(2);
        try (SocketChannel accepted = hop.accept()) {
            assertThat(accepted.read(ByteBuffer.allocate(1000))).isPositive();
            eventually().until(() -> node.traffic().packetsOut() == 2);
            reset(accepted);
        }
        assertSinkIsReset();
        sender.configureBlocking(false);
        eventually().until(() -> {
            try {
                return sender.read(ByteBuffer.allocate(1)) < 0;
            } catch (IOException e) {
                return true;
            }
        });
    }

    /**
     * Its next hops are not connected yet when the last packet ends it, and its sender has ended too: both could be told
     * of an orderly end.
     */
    @ParameterizedTest
    @MethodSource("kinds")
    void aStreamThatItsLastPacketClosesResetsAllItsHops(TransportKind kind) throws IOException {
        settings.transport = kind;
        ServiceDefinition picky = TestServices.define("picky", FailurePolicy.CLOSE, () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                if (packet.payloadLength() == 1) {
                    throw new IllegalStateException("on purpose");
                }
                return Verdict.FORWARD;
            }
        });
        TestSink other = sink();
        node = node(picky)
                .route("10.1.0.0/16", sink.address(), NextHop.Kind.HOST)
                .route("10.2.0.0/16", other.address(), NextHop.Kind.HOST);
        ByteBuffer burst = ByteBuffer.allocate(11 * 200);
        for (int i = 0; i <= 10; i++) {
            Packet packet = packets("picky")
                    .destination(InetAddress.getByName("10." + (1 + i % 2) + ".0.1"))
                    .build(payload(1, i == 10 ? 1 : 100));
            burst.put(packet.buffer().slice(packet.offset(), packet.length()));
        }
        for (int round = 1; round <= 5; round++) {
            sender = connect(node);
            sender.write(burst.flip());
            sender.shutdownOutput();
            int streams = round;
            eventually().until(() -> node.environment.streams().accepted() == streams);
            eventually().until(() -> node.environment.streams().open() == 0);
        }
        for (TestSink each : List.of(sink, other)) {
            eventually()
                    .untilAsserted(() -> assertThat(each.connections())
                            .allMatch(connection -> connection.fault() != null && !connection.endedWell()));
        }
        node.settle().assertConserved();
    }

    /** A hop that has said that it sends no more has broken nothing. */
    @ParameterizedTest
    @MethodSource("kinds")
    void aNextHopThatEndsItsSideEndsNothing(TransportKind kind) throws IOException {
        start(kind);
        send(2);
        try (SocketChannel accepted = hop.accept()) {
            assertThat(accepted.read(ByteBuffer.allocate(1000))).isPositive();
            accepted.shutdownOutput();
            send(1);
            sink.await(2);
            send(2);
            assertThat(accepted.read(ByteBuffer.allocate(1000))).isPositive();
            sender.shutdownOutput();
            assertThat(accepted.read(ByteBuffer.allocate(1000))).isNegative();
        }
        sink.awaitEnds();
        node.settle().assertConserved();
    }
}

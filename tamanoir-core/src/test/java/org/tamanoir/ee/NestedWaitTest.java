package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.ee.TestServices.ECHO;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.define;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.ee.TestServices.payload;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Framing;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.tls.TestAuthority;
import org.tamanoir.tls.TlsFiles;
import org.tamanoir.transport.TransportKind;

/**
 * A stream that has to wait in the midst of a batch, here for a connection to a second next hop, while packets for the
 * first one are on their way. What the far ends receive is compared byte by byte.
 */
@Timeout(240)
class NestedWaitTest extends TcpNodeTesting {
    private static final int BYTES = 100;
    private static final int BEHIND = 40;

    @TempDir
    private Path folder;

    /** A host that lets nobody in before it is opened: its kernel has as many connections as it takes. */
    private static final class Gate implements AutoCloseable {
        private final ServerSocketChannel server = ServerSocketChannel.open();
        private final List<SocketChannel> others = new ArrayList<>();
        private final List<Integer> numbers = new ArrayList<>();
        private final List<Packet> packets = new ArrayList<>();

        Gate() throws IOException {
            server.bind(new InetSocketAddress("127.0.0.1", 0), 1);
            boolean full = false;
            while (!full) {
                SocketChannel other = SocketChannel.open();
                others.add(other);
                try {
                    other.socket().connect(server.getLocalAddress(), 200);
                } catch (IOException e) {
                    full = true;
                }
            }
        }

        InetSocketAddress address() {
            try {
                return (InetSocketAddress) server.getLocalAddress();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Lets everybody in, and reads from whoever sends until he ends. */
        void open() throws IOException {
            for (int i = 0; i < others.size() - 1; i++) {
                server.accept().close();
            }
            ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 20); // Of others the JDK keeps a copy for its thread.
            try (SocketChannel connection = server.accept()) {
                while (connection.read(bytes) >= 0) {
                    assertThat(bytes.hasRemaining()).isTrue();
                }
            }
            int at = 0;
            int length;
            while ((length = Framing.next(bytes, at, bytes.position())) > 0) {
                Packet packet = new Packet();
                assertThat(packet.parse(bytes, at, length)).isNull();
                packets.add(packet);
                numbers.add(TestSink.number(packet));
                at += length;
            }
        }

        @Override
        public void close() throws IOException {
            for (SocketChannel other : others) {
                other.close();
            }
            server.close();
        }
    }

    private static PacketBuilder to(String service, int network) throws IOException {
        return packets(service).destination(InetAddress.getByName("10." + network + ".0.1"));
    }

    private static ByteBuffer bytes(PacketBuilder builder, int number) {
        Packet packet = builder.build(payload(number, BYTES));
        ByteBuffer bytes = ByteBuffer.allocate(packet.length());
        return bytes.put(0, packet.buffer(), packet.offset(), packet.length());
    }

    private static void write(SocketChannel to, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            to.write(bytes);
        }
    }

    /** Packets of these numbers, each as it was sent but for what nodes change. */
    private static void assertWhole(List<Packet> packets, IntStream numbers) {
        List<ByteBuffer> expected =
                numbers.mapToObj(number -> payload(number, BYTES)).toList();
        assertThat(packets.stream().map(TestSink::bytes).toList()).isEqualTo(expected);
    }

    /**
     * Sends packets 0 to 6 for the first hop and 7 for the second in one piece, of which 0 goes before so that part of
     * 1 arms the stream's timers; then, when the second has let the node in, more for the first.
     */
    private void cross(TestNode node, Gate gate, PacketBuilder first, PacketBuilder second, @Nullable TestSink sink)
            throws Exception {
        SocketChannel sender = connect(node);
        ByteBuffer head = bytes(first, 1);
        write(sender, bytes(first, 0));
        int half = head.capacity() / 2;
        write(sender, head.duplicate().limit(half));
        eventually().until(() -> node.traffic().packetsOut() == 1);
        ByteBuffer batch = ByteBuffer.allocate(1 << 14).put(head.position(half));
        for (int i = 2; i < 7; i++) {
            batch.put(bytes(first, i));
        }
        write(sender, batch.put(bytes(second, 7)).flip());
        // The timers run while it waits, and the sender goes on.
        eventually().until(() -> node.traffic().packetsIn() == 8);
        ByteBuffer behind = ByteBuffer.allocate(1 << 15);
        for (int i = 8; i < 8 + BEHIND; i++) {
            behind.put(bytes(first, i));
        }
        write(sender, behind.flip());
        if (sink != null) {
            sink.await(7); // They did not wait for the other hop.
        }
        sender.shutdownOutput();
        gate.open();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void whatStandsBeforeASecondHopLeavesAsItIs(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.firstPacketTimeout = Duration.ofMillis(300);
        TestSink sink = sink();
        Gate gate = keep(new Gate());
        TestNode node = node(MARK)
                .route("10.1.0.0/16", sink.address(), NextHop.Kind.HOST)
                .route("10.2.0.0/16", gate.address(), NextHop.Kind.HOST);
        cross(node, gate, to("mark", 1), to("mark", 2), sink);
        node.assertDrops(Map.of());
        assertWhole(sink.awaitEnds().packets(), IntStream.range(0, 8 + BEHIND).filter(i -> i != 7));
        assertWhole(gate.packets, IntStream.of(7));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void soItIsInsideTls(TransportKind kind) throws Exception {
        TestAuthority authority = new TestAuthority(folder, "authority");
        TlsFiles files = authority.files("node");
        settings.transport = kind;
        settings.tls = new TlsFiles(null, null, files.trust(), false);
        settings.firstPacketTimeout = Duration.ofMillis(300);
        TestSink sink = keep(TestSink.openTls(files, false));
        Gate gate = keep(new Gate());
        TestNode node = node(MARK).route("10.2.0.0/16", gate.address(), NextHop.Kind.HOST);
        node.routes.add(new Route(
                Prefix.parse("10.1.0.0/16"),
                new NextHop(
                        sink.address().getAddress(),
                        sink.address().getPort(),
                        NextHop.Transport.TLS,
                        NextHop.Kind.HOST)));
        cross(node, gate, to("mark", 1), to("mark", 2), sink);
        node.assertDrops(Map.of());
        assertWhole(sink.awaitEnds().packets(), IntStream.range(0, 8 + BEHIND).filter(i -> i != 7));
        assertWhole(gate.packets, IntStream.of(7));
    }

    /** Both services forward; the second one's packets go through its ring. */
    @ParameterizedTest
    @MethodSource("kinds")
    void soItIsInABranch(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.firstPacketTimeout = Duration.ofMillis(300);
        TestSink sink = sink();
        Gate gate = keep(new Gate());
        ServiceDefinition other = define("other", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                return Verdict.FORWARD;
            }
        });
        TestNode node = node(MARK, other)
                .route("10.1.0.0/16", sink.address(), NextHop.Kind.HOST)
                .route("10.2.0.0/16", gate.address(), NextHop.Kind.HOST);
        SocketChannel sender = connect(node);
        write(sender, bytes(to("mark", 1), 100));
        sink.await(1);
        ByteBuffer batch = ByteBuffer.allocate(1 << 15);
        for (int i = 0; i < 7; i++) {
            batch.put(bytes(to("other", 1), i));
        }
        batch.put(bytes(to("other", 2), 7));
        for (int i = 8; i < 8 + BEHIND; i++) {
            batch.put(bytes(to("other", 1), i));
        }
        write(sender, batch.flip());
        sink.await(8);
        sender.shutdownOutput();
        gate.open();
        node.assertDrops(Map.of());
        sink.awaitEnds();
        assertWhole(sink.connections().get(0).packets(), IntStream.of(100));
        assertWhole(
                sink.connections().get(1).packets(),
                IntStream.range(0, 8 + BEHIND).filter(i -> i != 7));
        assertWhole(gate.packets, IntStream.of(7));
    }

    /** What a service makes lies in memory that is given back when it has made more. */
    @ParameterizedTest
    @MethodSource("kinds")
    void soIsWhatAServiceMakes(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.firstPacketTimeout = Duration.ofMillis(300);
        TestSink sink = sink();
        Gate gate = keep(new Gate());
        ServiceDefinition maker = define("maker", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws IOException {
                for (int i = 0; i < 8 + BEHIND; i++) {
                    emit(to("mark", i == 7 ? 2 : 1).build(payload(i, BYTES)));
                }
                return Verdict.CONSUME;
            }
        });
        TestNode node = node(maker)
                .route("10.1.0.0/16", sink.address(), NextHop.Kind.HOST)
                .route("10.2.0.0/16", gate.address(), NextHop.Kind.HOST);
        SocketChannel sender = connect(node);
        write(sender, bytes(to("maker", 1), 0));
        sink.await(7);
        sender.shutdownOutput();
        gate.open();
        node.settle().assertConserved();
        assertWhole(sink.awaitEnds().packets(), IntStream.range(0, 8 + BEHIND).filter(i -> i != 7));
        assertWhole(gate.packets, IntStream.of(7));
    }

    /** A service's answers, while packets of the same batch go elsewhere. */
    @ParameterizedTest
    @MethodSource("kinds")
    void soAreAnswers(TransportKind kind) throws Exception {
        settings.transport = kind;
        settings.firstPacketTimeout = Duration.ofMillis(300);
        Gate gate = keep(new Gate());
        ServiceDefinition some = define("some", () -> new Service() {
            @Override
            public Verdict process(Packet packet) {
                return TestSink.number(packet) == payload(7, BYTES).getInt(0) ? Verdict.FORWARD : Verdict.REPLY;
            }
        });
        TestNode node = node(some).route("10.2.0.0/16", gate.address(), NextHop.Kind.HOST);
        try (AnepSender sender = sender(node)) {
            List<Packet> answers = new ArrayList<>();
            for (int i = 0; i < 8 + BEHIND; i++) {
                sender.send(to("some", 2), payload(i, BYTES));
            }
            sender.flush();
            poll(sender, answers, 7);
            sender.finish();
            gate.open();
            poll(sender, answers, 7 + BEHIND);
            assertWhole(answers, IntStream.range(0, 8 + BEHIND).filter(i -> i != 7));
            assertWhole(gate.packets, IntStream.of(7));
            node.assertDrops(Map.of());
        }
    }

    private static void poll(AnepSender sender, List<Packet> into, int count) {
        Packet view = new Packet();
        eventually().until(() -> {
            while (sender.poll(view, Duration.ofMillis(1))) {
                into.add(view.copy());
            }
            return into.size() >= count;
        });
    }

    /** A service may go on making packets when its stream has ended: they go nowhere, and fill nothing. */
    @Test
    void whatIsMadeAfterTheEndIsDropped() throws Exception {
        TestSink sink = sink();
        ServiceDefinition maker = define("maker", () -> new Service() {
            @Override
            public Verdict process(Packet packet) throws IOException {
                for (int i = 0; i < 3; i++) {
                    emit(to("mark", 9).build(payload(i, BYTES)));
                }
                return Verdict.CONSUME;
            }
        });
        InetSocketAddress nobody = nobody();
        settings.connectTimeout = Duration.ofMillis(50);
        TestNode node = node(maker, ECHO)
                .route("10.1.0.0/16", sink.address(), NextHop.Kind.HOST)
                .route("10.9.0.0/16", nobody, NextHop.Kind.HOST);
        SocketChannel sender = connect(node);
        write(sender, bytes(to("maker", 1), 0));
        node.settleAfterDrop(DropReason.NEXT_HOP_UNREACHABLE);
        assertThat(node.dropped(DropReason.NEXT_HOP_UNREACHABLE)).isEqualTo(3);
        node.assertConserved();
    }
}

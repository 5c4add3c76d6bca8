package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.support.Waiting.eventually;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.gateway.LengthPrefixed;
import org.tamanoir.gateway.Octets;
import org.tamanoir.gateway.StreamFormat;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.Ports;
import org.tamanoir.transport.TransportKind;

/** Connections that speak no ANEP through a service to a far side that does not either. */
class GatewayTest extends TcpNodeTesting {
    private static final int PATIENCE_MS = 40_000;
    private static final InetSocketAddress FREE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** Payloads' lengths, as the service has seen them. */
    private final List<Integer> seen = new CopyOnWriteArrayList<>();

    private final ServiceDefinition flip = TestServices.define("flip", () -> new Service() {
        @Override
        public Verdict process(Packet packet) {
            seen.add(packet.payloadLength());
            int at = packet.payloadOffset();
            for (int i = 0; i < packet.payloadLength(); i++) {
                packet.buffer().put(at + i, (byte) ~packet.buffer().get(at + i));
            }
            return Verdict.FORWARD;
        }
    });

    private ServerSocket far;

    static Stream<TransportKind> transports() {
        return kinds();
    }

    @BeforeEach
    void openFarSide() throws IOException {
        far = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        far.setSoTimeout(PATIENCE_MS);
    }

    @AfterEach
    void closeFarSide() throws IOException {
        far.close();
    }

    private TestNode start(TransportKind kind, StreamFormat format, String service) throws IOException {
        return start(kind, format, service, (InetSocketAddress) far.getLocalSocketAddress());
    }

    private TestNode start(TransportKind kind, StreamFormat format, String service, InetSocketAddress to)
            throws IOException {
        settings.transport = kind;
        long key = service.isEmpty() ? ServiceKey.NONE : ServiceKey.of(service);
        settings.gateways = List.of(new Gateway(FREE, to, format, key, 0, Anep.DEFAULT_TYPE_ID));
        return node(flip);
    }

    private static Socket open(TestNode node) throws IOException {
        InetSocketAddress gateway = node.environment.gatewayAddresses().get(0);
        Socket socket = new Socket(gateway.getAddress(), gateway.getPort());
        socket.setSoTimeout(PATIENCE_MS);
        return socket;
    }

    private Socket accept() throws IOException {
        Socket socket = far.accept();
        socket.setSoTimeout(PATIENCE_MS);
        return socket;
    }

    private static byte[] random(long seed, int octets) {
        byte[] bytes = new byte[octets];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static byte[] flipped(byte[] bytes) {
        byte[] flipped = bytes.clone();
        for (int i = 0; i < flipped.length; i++) {
            flipped[i] = (byte) ~flipped[i];
        }
        return flipped;
    }

    /** The common pool has one thread where there are two processors, and each of these waits for another. */
    private static void ofItsOwn(Runnable task) {
        Thread thread = new Thread(task, "far end");
        thread.setDaemon(true);
        thread.start();
    }

    private static CompletableFuture<byte[]> readAll(Socket socket) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return socket.getInputStream().readAllBytes();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                },
                GatewayTest::ofItsOwn);
    }

    private static byte[] await(CompletableFuture<byte[]> bytes) throws Exception {
        return bytes.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
    }

    private static void writeInPieces(OutputStream out, byte[] bytes, Random random, int most) throws IOException {
        int at = 0;
        while (at < bytes.length) {
            int piece = Math.min(bytes.length - at, 1 + random.nextInt(most));
            out.write(bytes, at, piece);
            at += piece;
        }
    }

    @ParameterizedTest
    @MethodSource("transports")
    void octetsCrossTheServiceAndAnswersComeBackAsTheyAre(TransportKind kind) throws Exception {
        TestNode node = start(kind, new Octets(), "flip");
        byte[] there = random(1, 3_000_000);
        byte[] back = random(2, 3_000_000);
        try (Socket client = open(node);
                Socket server = accept()) {
            CompletableFuture<byte[]> arrived = readAll(server);
            CompletableFuture<byte[]> answered = readAll(client);
            CompletableFuture<Void> answering = CompletableFuture.runAsync(
                    () -> {
                        try {
                            writeInPieces(server.getOutputStream(), back, new Random(3), 70_000);
                            server.shutdownOutput();
                        } catch (IOException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    GatewayTest::ofItsOwn);
            writeInPieces(client.getOutputStream(), there, new Random(4), 70_000);
            client.shutdownOutput();
            assertThat(await(arrived)).isEqualTo(flipped(there));
            assertThat(await(answered)).isEqualTo(back);
            answering.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
        }
        node.settle().assertConserved();
        assertThat(node.traffic().dropped()).isZero();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aFarSideThatSpeaksFirstIsHeard(TransportKind kind) throws Exception {
        TestNode node = start(kind, new Octets(), "flip");
        try (Socket client = open(node);
                Socket server = accept()) {
            server.getOutputStream().write("220 ready\r\n".getBytes());
            assertThat(client.getInputStream().readNBytes(11)).isEqualTo("220 ready\r\n".getBytes());
            client.getOutputStream().write(~'Q');
            assertThat(server.getInputStream().read()).isEqualTo('Q');
        }
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aSenderLearnsThatTheFarSideHasEnded(TransportKind kind) throws Exception {
        TestNode node = start(kind, new Octets(), "");
        try (Socket client = open(node)) {
            try (Socket server = accept()) {
                server.getOutputStream().write(new byte[100]);
            }
            assertThat(client.getInputStream().readAllBytes()).hasSize(100);
        }
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void eachMessageIsAPacketHoweverItComes(TransportKind kind) throws Exception {
        TestNode node = start(kind, new LengthPrefixed(), "flip");
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        List<Integer> lengths = List.of(1, 0, 3, 65_000, 17, 4_096, 0, 1_500, 65_000, 65_000, 2);
        for (int i = 0; i < lengths.size(); i++) {
            byte[] message = random(i, lengths.get(i));
            put(sent, message);
            put(expected, flipped(message));
        }
        try (Socket client = open(node)) {
            client.setTcpNoDelay(true);
            writeInPieces(client.getOutputStream(), sent.toByteArray(), new Random(5), 5_000);
            try (Socket server = accept()) {
                CompletableFuture<byte[]> arrived = readAll(server);
                byte[] answer = {0, 0, 0, 2, 'o', 'k'};
                server.getOutputStream().write(answer);
                assertThat(client.getInputStream().readNBytes(6)).isEqualTo(answer);
                client.shutdownOutput();
                assertThat(await(arrived)).isEqualTo(expected.toByteArray());
            }
        }
        assertThat(seen).isEqualTo(lengths);
        node.settle().assertConserved();
        assertThat(node.traffic().dropped()).isZero();
    }

    private static void put(ByteArrayOutputStream out, byte[] message) throws IOException {
        DataOutputStream data = new DataOutputStream(out);
        data.writeInt(message.length);
        data.write(message);
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aMessageThatFitsNoPacketEndsItsConnectionAloneAndFirstOnesArrive(TransportKind kind) throws Exception {
        TestNode node = start(kind, new LengthPrefixed(), "");
        try (Socket client = open(node);
                Socket other = open(node)) {
            client.getOutputStream().write(new byte[] {0, 0, 0, 1, 7});
            try (Socket server = accept()) {
                assertThat(server.getInputStream().readNBytes(5)).isEqualTo(new byte[] {0, 0, 0, 1, 7});
                client.getOutputStream().write(new byte[] {-1, -1, -1, -1, 1});
                assertThatThrownBy(() -> {
                            if (client.getInputStream().read() < 0) {
                                throw new IOException("ended");
                            }
                        })
                        .isInstanceOf(IOException.class);
            }
            other.getOutputStream().write(new byte[] {0, 0, 0, 1, 8});
            try (Socket server = accept()) {
                assertThat(server.getInputStream().readNBytes(5)).isEqualTo(new byte[] {0, 0, 0, 1, 8});
            }
        }
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aConnectionThatEndsInsideAMessageIsCutAtTheFarSideToo(TransportKind kind) throws Exception {
        TestNode node = start(kind, new LengthPrefixed(), "");
        try (Socket client = open(node)) {
            client.getOutputStream().write(new byte[] {0, 0, 0, 1, 7, 0, 0, 0, 9, 1});
            try (Socket server = accept()) {
                assertThat(server.getInputStream().readNBytes(5)).isEqualTo(new byte[] {0, 0, 0, 1, 7});
                client.shutdownOutput();
                assertThatThrownBy(() -> server.getInputStream().read()).hasMessageContaining("reset");
            }
        }
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aFarSideThatCannotBeReachedEndsTheConnectionAndIsCounted(TransportKind kind) throws Exception {
        far.close();
        settings.connectTimeout = Duration.ofMillis(300);
        TestNode node = start(kind, new Octets(), "");
        try (Socket client = open(node)) {
            assertThatThrownBy(() -> {
                        if (client.getInputStream().read() < 0) {
                            throw new IOException("ended");
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
        node.settleAfterDrop(DropReason.NEXT_HOP_UNREACHABLE);
        node.assertConserved();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aGatewayThatLeadsToTheNodeItselfSendsNothing(TransportKind kind) throws Exception {
        InetSocketAddress own = new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free());
        settings.transport = kind;
        settings.gateways = List.of(new Gateway(own, own, new Octets(), ServiceKey.NONE, 0, Anep.DEFAULT_TYPE_ID));
        TestNode node = node();
        eventually().until(() -> {
            try (Socket client = open(node)) {
                client.getOutputStream().write(1);
            } catch (SocketException e) {
                // The node may have found that out, and reset the connection, before the octet was written.
            }
            return node.dropped(DropReason.LOCAL) > 0;
        });
        node.settle().assertConserved();
    }

    private static void awaitReset(Socket socket) {
        assertThatThrownBy(() -> {
                    byte[] rest = socket.getInputStream().readAllBytes();
                    throw new AssertionError("an orderly end behind " + rest.length + " octets");
                })
                .isInstanceOf(IOException.class)
                .hasMessageContaining("reset");
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aSenderThatDoesNotReadHoldsTheFarSideUpAndThenGetsAll(TransportKind kind) throws Exception {
        TestNode node = start(kind, new LengthPrefixed(), "");
        byte[] message = random(9, 60_000);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < 1_000; i++) {
            put(all, message);
        }
        try (Socket client = open(node)) {
            client.getOutputStream().write(new byte[] {0, 0, 0, 1, 7});
            try (Socket server = accept()) {
                CompletableFuture<Void> answering = CompletableFuture.runAsync(
                        () -> {
                            try {
                                server.getOutputStream().write(all.toByteArray());
                                server.shutdownOutput();
                            } catch (IOException e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        GatewayTest::ofItsOwn);
                AtomicLong before = new AtomicLong();
                // Buffers on the way are full, or nearly: what follows holds either way, since all of it exceeds them.
                eventually().until(() -> {
                    long now = node.traffic().packetsIn();
                    return before.getAndSet(now) == now && now > 1;
                });
                assertThat(answering).isNotDone();
                CompletableFuture<byte[]> answered = readAll(client);
                assertThat(await(answered)).isEqualTo(all.toByteArray());
                answering.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
            }
        }
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aFarSideThatIsSilentForTooLongAfterTheSendersEndLeavesNoOrderlyEnd(TransportKind kind) throws Exception {
        settings.lingerTimeout = Duration.ofMillis(400);
        TestNode node = start(kind, new Octets(), "");
        try (Socket client = open(node);
                Socket server = accept()) {
            client.getOutputStream().write(1);
            client.shutdownOutput();
            assertThat(server.getInputStream().readAllBytes()).hasSize(1);
            server.getOutputStream().write(2);
            assertThat(client.getInputStream().read()).isEqualTo(2);
            awaitReset(client);
        }
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aMessageThatIsNotWholeInTimeIsCutAtTheFarSideToo(TransportKind kind) throws Exception {
        settings.firstPacketTimeout = Duration.ofMillis(600);
        TestNode node = start(kind, new LengthPrefixed(), "");
        try (Socket client = open(node)) {
            client.getOutputStream().write(new byte[] {0, 0, 0, 1, 7, 0, 0, 0, 9, 1});
            try (Socket server = accept()) {
                assertThat(server.getInputStream().readNBytes(5)).isEqualTo(new byte[] {0, 0, 0, 1, 7});
                awaitReset(server);
            }
        }
        node.settle().assertConserved();
        assertThat(node.dropped(DropReason.TRUNCATED)).isOne();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aFirstMessageThatIsNotWholeInTimeBreaksItsConnection(TransportKind kind) throws Exception {
        settings.firstPacketTimeout = Duration.ofMillis(300);
        TestNode node = start(kind, new LengthPrefixed(), "");
        try (Socket client = open(node)) {
            client.getOutputStream().write(new byte[] {0, 0, 0, 9, 1});
            awaitReset(client);
        }
        node.settle().assertConserved();
        assertThat(node.dropped(DropReason.TRUNCATED)).isOne();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aFirstMessageThatIsNotWholeWhenTheNodeStopsBreaksItsConnection(TransportKind kind) throws Exception {
        TestNode node = start(kind, new LengthPrefixed(), "");
        try (Socket client = open(node)) {
            client.getOutputStream().write(new byte[] {0, 0, 0, 9, 1});
            eventually().until(() -> node.environment.streams().open() == 1);
            assertThat(node.environment.stop(TestServices.PATIENCE)).isZero();
            awaitReset(client);
        }
        node.assertConserved();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aFarSideThatEndsInsideAMessageBreaksTheSendersConnection(TransportKind kind) throws Exception {
        TestNode node = start(kind, new LengthPrefixed(), "");
        try (Socket client = open(node)) {
            client.getOutputStream().write(new byte[] {0, 0, 0, 1, 7});
            try (Socket server = accept()) {
                server.getOutputStream().write(new byte[] {0, 0, 0, 2, 1});
                server.shutdownOutput();
                awaitReset(client);
            }
        }
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("transports")
    void withoutItsServiceAConnectionEndsWholly(TransportKind kind) throws Exception {
        settings.unknownService = FailurePolicy.PASS;
        TestNode node = start(kind, new Octets(), "absent");
        try (Socket client = open(node)) {
            awaitReset(client);
        }
        node.settle().assertConserved();
        assertThat(node.dropped(DropReason.UNKNOWN_SERVICE)).isOne();
    }

    /** A format of a user's own that does as it is told. */
    private record Wilful(ToLongFunction<Integer> lengths) implements StreamFormat {
        @Override
        public String name() {
            return "wilful";
        }

        @Override
        public int prefixOctets() {
            return 1;
        }

        @Override
        public long unitOctets(ByteBuffer units, int start, int end) {
            units.position(units.limit()); // It is not to be, and harms nobody.
            return lengths.applyAsLong(end - start);
        }

        @Override
        public void putPrefix(ByteBuffer units, int at, int payloadOctets) {
            units.put(at, (byte) payloadOctets).position(at);
        }
    }

    @ParameterizedTest
    @MethodSource("transports")
    void aFormatThatIsWrongEndsItsConnectionsAlone(TransportKind kind) throws Exception {
        List<ToLongFunction<Integer>> wrong = List.of(octets -> 0, octets -> -1, octets -> Long.MAX_VALUE, octets -> {
            throw new IllegalStateException("a fault of the format");
        });
        settings.transport = kind;
        InetSocketAddress to = (InetSocketAddress) far.getLocalSocketAddress();
        List<Gateway> gateways = new ArrayList<>();
        wrong.forEach(each ->
                gateways.add(new Gateway(FREE, to, new Wilful(each), ServiceKey.NONE, 0, Anep.DEFAULT_TYPE_ID)));
        gateways.add(new Gateway(FREE, to, new Wilful(octets -> 2), ServiceKey.NONE, 0, Anep.DEFAULT_TYPE_ID));
        settings.gateways = List.copyOf(gateways);
        TestNode node = node();
        for (int i = 0; i < wrong.size(); i++) {
            InetSocketAddress at = node.environment.gatewayAddresses().get(i);
            try (Socket client = new Socket(at.getAddress(), at.getPort())) {
                client.setSoTimeout(PATIENCE_MS);
                assertThatThrownBy(() -> {
                            client.getOutputStream().write(new byte[300_000]);
                            if (client.getInputStream().read() < 0) {
                                throw new IOException("ended");
                            }
                        })
                        .as("format %s", i)
                        .isInstanceOf(IOException.class)
                        .isNotInstanceOf(SocketTimeoutException.class);
            }
        }
        InetSocketAddress at = node.environment.gatewayAddresses().get(wrong.size());
        try (Socket client = new Socket(at.getAddress(), at.getPort())) {
            client.getOutputStream().write(new byte[] {5, 6, 5, 7});
            try (Socket server = accept()) {
                assertThat(server.getInputStream().readNBytes(4)).isEqualTo(new byte[] {1, 6, 1, 7});
            }
        }
        node.settle().assertConserved();
    }
}

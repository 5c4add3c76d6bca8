package org.tamanoir.ee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.ee.TestServices.MARK;
import static org.tamanoir.ee.TestServices.packets;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tamanoir.accounting.DropReason;
import org.tamanoir.anep.Anep;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.client.AnepSender;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.gateway.LengthPrefixed;
import org.tamanoir.gateway.Octets;
import org.tamanoir.gateway.StreamFormat;
import org.tamanoir.service.Service;
import org.tamanoir.service.Suspension;
import org.tamanoir.service.Verdict;
import org.tamanoir.traffic.StreamRecord;
import org.tamanoir.transport.TransportKind;

/** Verdicts that end a stream: both sides see it, and each packet has a name for its end. */
class EndedStreamTest extends TcpNodeTesting {
    private static final int PATIENCE_MS = 40_000;
    private static final InetSocketAddress FREE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Set<DropReason> BY_VERDICT = Set.of(DropReason.SERVICE, DropReason.SERVICE_CLOSED);

    /** Does what the first octet of the payload says; without one, as its name. */
    private static ServiceDefinition judge(String name) {
        return TestServices.define(name, () -> new Service() {
            private final List<Packet> kept = new ArrayList<>();

            @Override
            public Verdict process(Packet packet) {
                int first = packet.payloadLength() == 0 ? name.charAt(0) : packet.payloadOctet(0);
                return switch (first) {
                    case 'C' -> closeStream("unwanted");
                    case 'R' -> resetStream("unwanted");
                    case 'H' -> {
                        Suspension held = hold(packet, Duration.ofMinutes(1));
                        new Thread(() -> held.resume(Verdict.CLOSE)).start();
                        yield Verdict.HELD;
                    }
                    case 'K' -> {
                        kept.add(packet.copy());
                        yield Verdict.CONSUME;
                    }
                    default -> Verdict.FORWARD;
                };
            }

            @Override
            public void endOfStream() {
                kept.forEach(this::emit);
            }
        });
    }

    private ServerSocket far;

    @BeforeEach
    void openFarSide() throws IOException {
        far = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        far.setSoTimeout(PATIENCE_MS);
    }

    @AfterEach
    void closeFarSide() throws IOException {
        far.close();
    }

    private TestNode gateway(TransportKind kind, StreamFormat format, String service) throws IOException {
        settings.transport = kind;
        settings.gateways = List.of(new Gateway(
                FREE,
                (InetSocketAddress) far.getLocalSocketAddress(),
                format,
                ServiceKey.of(service),
                0,
                Anep.DEFAULT_TYPE_ID));
        return node(judge(service));
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

    private static byte[] messages(String... messages) {
        ByteBuffer octets = ByteBuffer.allocate(1000);
        for (String message : messages) {
            octets.putInt(message.length()).put(message.getBytes(StandardCharsets.US_ASCII));
        }
        return Arrays.copyOf(octets.array(), octets.position());
    }

    private static void awaitReset(Socket socket) {
        assertThatThrownBy(() -> {
                    byte[] rest = socket.getInputStream().readAllBytes();
                    throw new AssertionError("an orderly end behind " + rest.length + " octets");
                })
                .isInstanceOf(IOException.class)
                .hasMessageContaining("reset");
    }

    private static ByteBuffer ascii(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void assertNamed(TestNode node) {
        node.settle().assertConserved();
        assertThat(BY_VERDICT).containsAll(node.traffic().drops().keySet());
        assertThat(node.dropped(DropReason.SERVICE)).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aClosedConnectionEndsInOrderOnBothSidesBehindWhatCameBefore(TransportKind kind) throws Exception {
        TestNode node = gateway(kind, new LengthPrefixed(), "judge");
        for (String last : List.of("Close", "Hold, and close")) {
            try (Socket client = open(node)) {
                client.getOutputStream().write(messages("question"));
                try (Socket server = accept()) {
                    byte[] question = messages("question");
                    assertThat(server.getInputStream().readNBytes(question.length))
                            .isEqualTo(question);
                    client.getOutputStream().write(messages(last, "never", "and never"));
                    assertThat(server.getInputStream().read()).isEqualTo(-1);
                    server.getOutputStream().write(messages("answer"));
                    byte[] answer = messages("answer");
                    assertThat(client.getInputStream().readNBytes(answer.length))
                            .isEqualTo(answer);
                }
                assertThat(client.getInputStream().read()).isEqualTo(-1);
            }
        }
        node.settle().assertConserved();
        assertThat(BY_VERDICT).containsAll(node.traffic().drops().keySet());
        assertThat(node.dropped(DropReason.SERVICE)).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aClosedConnectionEndsInOrderThoughTheFarSideDoesNotEnd(TransportKind kind) throws Exception {
        settings.lingerTimeout = Duration.ofMillis(1);
        TestNode node = gateway(kind, new LengthPrefixed(), "judge");
        List<StreamRecord> records = new CopyOnWriteArrayList<>();
        node.environment.onStreamEnd(records::add);
        try (Socket client = open(node)) {
            client.getOutputStream().write(messages("question"));
            try (Socket server = accept()) {
                client.getOutputStream().write(messages("Close"));
                assertThat(server.getInputStream().readAllBytes()).isEqualTo(messages("question"));
                assertThat(client.getInputStream().read()).isEqualTo(-1);
            }
        }
        node.settle().assertConserved();
        eventually().until(() -> records.size() == 1);
        assertThat(records.get(0).end()).startsWith(DropReason.SERVICE_CLOSED + ": ");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void whatTheServiceKeptLeavesBeforeTheEnd(TransportKind kind) throws Exception {
        TestNode node = gateway(kind, new LengthPrefixed(), "judge");
        try (Socket client = open(node)) {
            client.getOutputStream().write(messages("Keep", "Close"));
            try (Socket server = accept()) {
                assertThat(server.getInputStream().readAllBytes()).isEqualTo(messages("Keep"));
            }
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
        node.settle().assertConserved();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aResetConnectionIsBrokenOnBothSides(TransportKind kind) throws Exception {
        TestNode node = gateway(kind, new LengthPrefixed(), "judge");
        try (Socket client = open(node)) {
            byte[] question = messages("question");
            client.getOutputStream().write(question);
            try (Socket server = accept()) {
                assertThat(server.getInputStream().readNBytes(question.length)).isEqualTo(question);
                client.getOutputStream().write(messages("Reset"));
                awaitReset(server);
                awaitReset(client);
            }
        }
        assertNamed(node);
    }

    /** The first packet of octets has no payload, and the far side is connected to for it. */
    @ParameterizedTest
    @MethodSource("kinds")
    void whoIsRefusedAtOnceLearnsItAndTheFarSideHearsNothing(TransportKind kind) throws Exception {
        TestNode node = gateway(kind, new Octets(), "Reset");
        try (Socket client = open(node)) {
            awaitReset(client);
        }
        assertNamed(node);
        far.setSoTimeout(1);
        assertThatThrownBy(() -> far.accept()).hasMessageContaining("timed out");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void whoIsClosedAtOnceSeesAnEndInOrder(TransportKind kind) throws Exception {
        TestNode node = gateway(kind, new Octets(), "Close");
        try (Socket client = open(node)) {
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
        assertNamed(node);
    }

    /** The second service of a stream ends all of it. */
    @ParameterizedTest
    @MethodSource("kinds")
    void aBranchEndsTheWholeStream(TransportKind kind) throws Exception {
        settings.transport = kind;
        for (String how : List.of("Close", "Reset")) {
            TestSink sink = sink();
            TestNode node = node(MARK, judge("judge")).toHost(sink.address());
            try (AnepSender sender = sender(node)) {
                sender.send(packets("mark"), ascii("first"));
                sender.send(packets("judge"), ascii("second"));
                sender.flush();
                sink.await(2);
                sender.send(packets("judge"), ascii(how));
                sender.flush();
                Packet answer = new Packet();
                boolean isClosed = how.equals("Close");
                if (isClosed) {
                    eventually().until(() -> !sender.poll(answer, Duration.ZERO) && sender.ended());
                } else {
                    assertThatThrownBy(() -> eventually().until(() -> sender.poll(answer, Duration.ZERO)))
                            .hasStackTraceContaining("reset");
                }
                assertThat(sink.connections())
                        .hasSize(2)
                        .allSatisfy(connection -> eventually()
                                .until(() -> isClosed ? connection.endedWell() : connection.fault() != null));
            }
            assertNamed(node);
        }
    }
}

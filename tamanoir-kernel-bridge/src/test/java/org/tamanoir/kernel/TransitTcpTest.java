package org.tamanoir.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.kernel.TransitNode.PORT;
import static org.tamanoir.kernel.TransitNode.at;
import static org.tamanoir.kernel.TransitNode.packet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.service.Verdict;
import org.tamanoir.support.TestNet;
import org.tamanoir.support.Waiting;
import org.tamanoir.traffic.Tap;

/** Connections to another host are accepted by a node on their way, and go on. */
@Tag("namespace")
class TransitTcpTest {
    private static final String NAME = "org.example.Service";
    private static final String OTHER = "org.example.Other";
    private static final int PACKETS = 200;
    private static final int TIMEOUT_MS = (int) Waiting.PATIENCE.toMillis();

    private static TestNet net;

    @BeforeAll
    static void link() {
        TransitNode.require();
        net = new TestNet("tcp");
        TransitNode.sendUp(net);
    }

    @AfterAll
    static void unlink() {
        if (net != null) {
            net.close();
        }
    }

    private static byte[] stream(int packets) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < packets; i++) {
            bytes.writeBytes(packet(i % 3 == 2 ? OTHER : NAME, i, 400));
        }
        return bytes.toByteArray();
    }

    private static ServerSocket listen(String address, int port) throws Exception {
        return net.namespaces().in(net.server(), () -> {
            ServerSocket server = new ServerSocket();
            server.setReuseAddress(true);
            server.bind(at(address, port));
            server.setSoTimeout(TIMEOUT_MS);
            return server;
        });
    }

    private static Socket connect(InetSocketAddress to) throws Exception {
        return net.namespaces().in(net.client(), () -> {
            Socket client = new Socket();
            client.connect(to, TIMEOUT_MS);
            client.setSoTimeout(TIMEOUT_MS);
            return client;
        });
    }

    /** What one connection brought, and from where; its bytes are sent back, then it ends. */
    private record Brought(byte[] bytes, InetSocketAddress from) {}

    private static CompletableFuture<Brought> echo(ServerSocket server) {
        return Waiting.async(() -> {
            try (Socket accepted = server.accept()) {
                accepted.setSoTimeout(TIMEOUT_MS);
                byte[] bytes = accepted.getInputStream().readAllBytes();
                accepted.getOutputStream().write(bytes);
                return new Brought(bytes, (InetSocketAddress) accepted.getRemoteSocketAddress());
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
    }

    private static byte[] exchange(Socket client, byte[] bytes) throws IOException {
        client.getOutputStream().write(bytes);
        client.shutdownOutput();
        return client.getInputStream().readAllBytes();
    }

    @ParameterizedTest
    @CsvSource({"10.71.2.2, 10.71.2.1", "fd71:2::2, fd71:2::1"})
    void aStreamToAnotherHostGoesStraightOnToItAndItsAnswersComeBack(String server, String router) throws Exception {
        byte[] bytes = packet(NAME, 0, 400);
        try (ServerSocket listener = listen(server, PORT);
                TransitNode node =
                        new TransitNode(net).service(NAME, p -> Verdict.FORWARD).start();
                Tap.View<Tap.Captured> arrivals = node.environment.tap().arrivals(1)) {
            CompletableFuture<Brought> brought = echo(listener);
            try (Socket client = connect(at(server, PORT))) {
                assertThat(exchange(client, bytes)).isEqualTo(bytes);
                Tap.Captured seen = Objects.requireNonNull(arrivals.take(Waiting.PATIENCE));
                assertThat(seen.local()).isEqualTo(at(server, PORT));
                assertThat(seen.peer()).isEqualTo(client.getLocalSocketAddress());
            }
            assertThat(brought.join().from().getAddress())
                    .isEqualTo(at(router, 0).getAddress());
            assertThat(node.levels.tcp).hasSize(1);
            assertThat(node.balanced(2).drops()).isEmpty();
        }
    }

    @Test
    void packetsOfTwoServicesGoOnOverOneConnectionEach() throws Exception {
        byte[] bytes = stream(PACKETS);
        try (ServerSocket listener = listen(TestNet.SERVER4, PORT);
                TransitNode node = new TransitNode(net)
                        .service(NAME, p -> Verdict.FORWARD)
                        .service(OTHER, p -> Verdict.FORWARD)
                        .start()) {
            CompletableFuture<Brought> first = echo(listener);
            CompletableFuture<Brought> second = echo(listener);
            try (Socket client = connect(at(TestNet.SERVER4, PORT))) {
                assertThat(exchange(client, bytes)).hasSize(bytes.length);
            }
            assertThat(first.join().bytes().length + second.join().bytes().length)
                    .isEqualTo(bytes.length);
            assertThat(node.balanced(2 * PACKETS).drops()).isEmpty();
        }
    }

    @Test
    void aStreamToTheNodeItselfGoesByRoute() throws Exception {
        byte[] bytes = packet(NAME, 0, 400);
        try (ServerSocket listener = listen(TestNet.SERVER4, 4000);
                TransitNode node = new TransitNode(net)
                        .route("203.0.113.0/24", at(TestNet.SERVER4, 4000))
                        .service(NAME, p -> Verdict.FORWARD)
                        .start()) {
            CompletableFuture<Brought> brought = echo(listener);
            try (Socket client = connect(at(TestNet.ROUTER4, PORT))) {
                assertThat(exchange(client, bytes)).isEqualTo(bytes);
            }
            assertThat(brought.join().bytes()).isEqualTo(bytes);
            node.balanced(2);
        }
    }

    @Test
    void whatAServiceSendsElsewhereGoesByRoute() throws Exception {
        byte[] bytes = packet(NAME, 0, 400);
        try (ServerSocket listener = listen(TestNet.SERVER4, 4000);
                TransitNode node = new TransitNode(net)
                        .route("203.0.113.0/24", at(TestNet.SERVER4, 4000))
                        .elsewhere(NAME, at("203.0.113.9", 9))
                        .start()) {
            CompletableFuture<Brought> brought = echo(listener);
            try (Socket client = connect(at(TestNet.SERVER4, PORT))) {
                assertThat(exchange(client, bytes)).isEqualTo(bytes);
            }
            assertThat(brought.join().bytes()).isEqualTo(bytes);
            node.balanced(2);
        }
    }
}

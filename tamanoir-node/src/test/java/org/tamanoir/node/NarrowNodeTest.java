package org.tamanoir.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.Packet;
import org.tamanoir.anep.PacketBuilder;
import org.tamanoir.client.AnepReceiver;
import org.tamanoir.client.PacketHandler;
import org.tamanoir.client.Peer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A node whose JVM has less memory than its streams would like, as a process of its own. */
@Tag("process")
@Timeout(240)
class NarrowNodeTest {
    private static final int STREAMS = 500;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    private String get(String admin, String path) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create(admin + path))
                    .timeout(PATIENCE)
                    .build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).describedAs(path).isEqualTo(200);
            return answer.body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(path, e);
        }
    }

    private long metric(String admin, String name) {
        return get(admin, "/metrics")
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(name.length() + 1)))
                .findFirst()
                .orElse(-1);
    }

    @Test
    void fiveHundredStreamsOfLongestPacketsGetThroughOrAreRefusedByNameAndTheApiAnswers() throws Exception {
        Path log = folder.resolve("log");
        try (AnepReceiver receiver = AnepReceiver.on(new InetSocketAddress("127.0.0.1", 0))
                .tcp()
                .start(() -> new PacketHandler() {
                    @Override
                    public void packet(Packet packet, Peer peer) {
                        // The receiver counts.
                    }
                })) {
            // However slow this host is, no packet is late.
            Path patient = Files.writeString(folder.resolve("node.yaml"), "timeouts: {first-packet: 10m}\n");
            ProcessBuilder builder = Program.builder(
                    "node",
                    "-c",
                    patient.toString(),
                    "--tcp",
                    "0",
                    "--admin",
                    "127.0.0.1:0",
                    "--json",
                    "--route",
                    "0.0.0.0/0=127.0.0.1:" + receiver.address().getPort() + ",tcp,host");
            builder.command().add(1, "-Xmx64m");
            Process node = builder.redirectError(log.toFile()).start();
            try (BufferedReader out = node.inputReader()) {
                JsonNode started = new JsonMapper().readTree(out.readLine());
                String admin = started.get("servers").get("admin API").asString();
                long places = metric(admin, "tamanoir_stream_places");
                assertThat(places).isBetween(100L, (long) STREAMS - 1);
                long refused = useAll(started.get("tcp").get(0).asString(), admin, places);
                assertThat(refused).isEqualTo(STREAMS - places);
                eventually()
                        .untilAsserted(() ->
                                assertThat(receiver.statistics().packets()).isEqualTo(2 * places));
                assertThat(metric(admin, "tamanoir_stream_places_refused_total{reason=\"MEMORY\"}"))
                        .isEqualTo(refused);
                assertThat(metric(admin, "tamanoir_streams_aborted_total{reason=\"NO_MEMORY\"}"))
                        .isZero();
            } finally {
                node.toHandle().destroy();
                assertThat(node.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            }
        }
        assertThat(Files.readAllLines(log))
                .anyMatch(line -> line.contains(" streams at once, not 4096 (limits.max-streams)"))
                .anyMatch(line -> line.contains("refused: the JVM has no memory for more"))
                .noneMatch(line -> line.contains("OutOfMemory"));
    }

    /** Has each stream hold most of a packet, then end it and send another; returns how many were refused. */
    private long useAll(String address, String admin, long places) throws Exception {
        PacketBuilder builder = new PacketBuilder().destination(InetAddress.getLoopbackAddress());
        int length = 65_535;
        ByteBuffer bytes = ByteBuffer.allocate(length);
        int header = builder.build(ByteBuffer.allocate(0)).length();
        builder.write(bytes, ByteBuffer.allocate(length - header));
        int colon = address.lastIndexOf(':');
        InetSocketAddress node =
                new InetSocketAddress(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < STREAMS; i++) {
                Socket socket = new Socket();
                sockets.add(socket);
                socket.setSoTimeout((int) PATIENCE.toMillis());
                socket.connect(node);
                try {
                    socket.getOutputStream().write(bytes.array(), 0, 60_000);
                } catch (IOException e) {
                    // Refused.
                }
            }
            eventually()
                    .atMost(PATIENCE)
                    .until(() -> metric(admin, "tamanoir_streams_refused_total") == STREAMS - places);
            get(admin, "/health");
            long refused = 0;
            for (Socket socket : sockets) {
                try {
                    socket.getOutputStream().write(bytes.array(), 60_000, length - 60_000);
                    socket.getOutputStream().write(bytes.array(), 0, length);
                    socket.shutdownOutput();
                    assertThat(socket.getInputStream().read()).isNegative();
                } catch (IOException e) {
                    refused++;
                }
            }
            get(admin, "/health");
            return refused;
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }
}

package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(120)
class AdminLiveTest {
    /** Tamanoir's Type ID, destination 10.0.2.7, payload "hello". */
    private static final byte[] PACKET =
            HexFormat.of().parseHex("0100544d00050019" + "00020003000000010a000207" + "68656c6c6f");

    private static final JsonMapper MAPPER = new JsonMapper();

    private TestAdmin node;

    @BeforeEach
    void start() throws IOException {
        node = TestAdmin.start();
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private InputStream open(HttpRequest.Builder request) throws Exception {
        HttpResponse<InputStream> response =
                node.client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        assertThat(response.statusCode()).isEqualTo(200);
        return response.body();
    }

    private BufferedReader events(String path) throws Exception {
        InputStream in = open(node.request(path).header("Accept", "text/event-stream"));
        return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    }

    /** The lines of the next event; comments are skipped. */
    private static List<String> next(BufferedReader in) throws IOException {
        List<String> lines = new ArrayList<>();
        String line;
        while ((line = in.readLine()) != null) {
            if (!line.isEmpty() && !line.startsWith(":")) {
                lines.add(line);
            } else if (line.isEmpty() && !lines.isEmpty()) {
                return lines;
            }
        }
        throw new IOException("the stream of events has ended");
    }

    private void sendOverUdp(byte[] packet) throws IOException {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            socket.send(new DatagramPacket(
                    packet, packet.length, node.environment.udpAddresses().get(0)));
        }
    }

    @Test
    void eventsComeAsTheyHappen() throws Exception {
        try (BufferedReader in = events("/v1/events")) {
            node.put("/v1/routes/10.0.0.0%2F8", "{}");
            List<String> event = next(in);
            long change = node.manager.events().catchUp(); // The record of who did it, behind the route.
            assertThat(event.get(0)).isEqualTo("id: " + (change - 1));
            assertThat(event.get(1)).isEqualTo("event: route");
            JsonNode data = MAPPER.readTree(event.get(2).substring("data: ".length()));
            assertThat(data.get("details").get("prefix").asString()).isEqualTo("10.0.0.0/8");
        }
    }

    @Test
    void aClientThatComesBackGetsTheEventsItMissed() throws Exception {
        long seen = node.manager.events().catchUp();
        node.put("/v1/routes/10.0.0.0%2F8", "{}");
        node.put("/v1/routes/10.1.0.0%2F16", "{}");
        HttpRequest.Builder request = node.request("/v1/events")
                .header("Accept", "text/event-stream")
                .header("Last-Event-ID", Long.toString(seen));
        try (BufferedReader in = new BufferedReader(new InputStreamReader(open(request), StandardCharsets.UTF_8))) {
            assertThat(next(in).get(0)).isEqualTo("id: " + (seen + 1));
            assertThat(next(in).get(0)).isEqualTo("id: " + (seen + 2));
        }
        try (BufferedReader in = events("/v1/events?after=" + (seen + 1))) {
            assertThat(next(in).get(0)).isEqualTo("id: " + (seen + 2));
        }
    }

    @Test
    void aDropIsToldWithItsReason() throws Exception {
        try (BufferedReader in = events("/v1/drops")) {
            assertThat(in.readLine()).startsWith(":"); // It looks from here on.
            sendOverUdp(PACKET);
            List<String> event = next(in);
            assertThat(event.get(0)).isEqualTo("event: drop");
            JsonNode drop = MAPPER.readTree(event.get(1).substring("data: ".length()));
            assertThat(drop.get("reason").asString()).isEqualTo("NO_ROUTE");
            assertThat(drop.get("bytes").asInt()).isEqualTo(PACKET.length);
            assertThat(drop.get("packets").asInt()).isOne();
            assertThat(drop.get("peer").asString()).startsWith("127.0.0.1:");
        }
    }

    @Test
    void whoAsksForFewDropsASecondIsToldHowManyElseThereWere() throws Exception {
        assertThat(node.get("/v1/drops?perSecond=0").status()).isEqualTo(400);
        try (BufferedReader in = events("/v1/drops?perSecond=1")) {
            in.readLine();
            for (int i = 0; i < 50; i++) {
                sendOverUdp(PACKET);
            }
            int shown = 0;
            long missed = 0;
            while (shown + missed < 50) {
                List<String> event = next(in);
                JsonNode data = MAPPER.readTree(event.get(1).substring("data: ".length()));
                if (event.get(0).equals("event: drop")) {
                    shown++;
                } else {
                    missed += data.get("missed").asLong();
                }
            }
            assertThat(shown).isPositive();
            assertThat(missed).isPositive();
            assertThat(shown + missed).isEqualTo(50);
        }
    }

    @Test
    void capturedPacketsAreAPcapFile() throws Exception {
        HttpRequest.Builder request =
                node.request("/v1/capture?packets=2").header("Authorization", "Bearer " + TestAdmin.TOKEN);
        try (InputStream in = open(request)) {
            byte[] head = in.readNBytes(24);
            assertThat(HexFormat.of().formatHex(head)).startsWith("a1b23c4d");
            sendOverUdp(PACKET);
            sendOverUdp(PACKET);
            String rest = HexFormat.of().formatHex(in.readAllBytes());
            String packet = HexFormat.of().formatHex(PACKET);
            assertThat(rest.split(packet, -1)).hasSize(3);
            assertThat(rest).endsWith(packet);
        }
    }

    @Test
    void aCaptureNeedsTheTokenAndEndsWithItsTime() throws Exception {
        assertThat(node.get("/v1/capture?packets=1&seconds=1").status()).isEqualTo(401);
        HttpRequest.Builder request = node.request("/v1/capture?packets=65536&seconds=1")
                .header("Authorization", "Bearer " + TestAdmin.TOKEN);
        try (InputStream in = open(request)) {
            assertThat(in.readAllBytes()).hasSize(24);
        }
        for (String query : List.of("packets=0", "packets=65537", "seconds=0", "seconds=x")) {
            TestAdmin.Reply reply = node.send(
                    node.request("/v1/capture?" + query).header("Authorization", "Bearer " + TestAdmin.TOKEN));
            assertThat(reply.status()).as(query).isEqualTo(400);
        }
    }

    @Test
    void liveAnswersAreBoundedAndEndWithTheirClients() throws Exception {
        List<InputStream> open = new ArrayList<>();
        for (int i = 0; i < AdminServer.MAX_LIVE; i++) {
            open.add(open(node.request("/v1/drops")));
        }
        TestAdmin.Reply refused = node.get("/v1/drops");
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.error()).contains("too many live answers");
        assertThat(node.get("/v1/node").status()).isEqualTo(200);
        for (InputStream in : open) {
            in.close();
        }
        eventually().untilAsserted(() -> {
            HttpResponse<InputStream> response =
                    node.client.send(node.request("/v1/drops").build(), HttpResponse.BodyHandlers.ofInputStream());
            response.body().close();
            assertThat(response.statusCode()).isEqualTo(200);
        });
    }

    @Test
    void oneAddressDoesNotGetAllLiveAnswers() throws Exception {
        List<Socket> open = new ArrayList<>();
        for (int i = 0; i < StrangerPlaces.MAX_OF_EACH; i++) {
            open.add(drops("127.0.0.2", "200"));
        }
        open.add(drops("127.0.0.2", "503"));
        open.add(drops("127.0.0.3", "200"));
        for (Socket socket : open) {
            socket.close();
        }
        eventually().untilAsserted(() -> drops("127.0.0.2", "200").close());
    }

    private Socket drops(String from, String status) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
        socket.setSoTimeout((int) Waiting.PATIENCE.toMillis());
        socket.connect(node.server.address());
        socket.getOutputStream()
                .write("GET /v1/drops HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        byte[] line = socket.getInputStream().readNBytes("HTTP/1.1 200".length());
        assertThat(new String(line, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 " + status);
        return socket;
    }

    @Test
    void theServerEndsWithLiveAnswersOpen() throws Exception {
        try (BufferedReader in = events("/v1/events")) {
            in.readLine();
            node.server.close();
            assertThat(in.lines().filter(line -> line.startsWith("event")).toList())
                    .isEmpty();
        } catch (IOException | java.io.UncheckedIOException e) {
            // As good an end.
        }
        eventually()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith("admin-live-") && thread.isAlive()));
    }
}

package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Waiting;

class NodeQuestionsTest {
    private static final Duration LONG = Waiting.PATIENCE;
    private static final Duration SHORT = Duration.ofMillis(200);

    private final CountDownLatch ended = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpServer server;
    private NodeQuestions questions;
    private URI admin;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
        admin = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        questions = new NodeQuestions("test", null);
    }

    @AfterEach
    void stop() {
        ended.countDown();
        questions.close();
        server.stop(0);
        threads.shutdownNow();
    }

    private void answer(String path, int status, String body) {
        answer(path, exchange -> send(exchange, status, body));
    }

    private void answer(String path, HttpHandler handler) {
        server.createContext(path, handler);
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }

    private void never() throws IOException {
        try {
            assertThat(ended.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Test
    void aTokenIsShownToTheAdminApiThatItIsForAlone() throws Exception {
        answer(
                "/v1/load",
                exchange -> send(
                        exchange,
                        200,
                        String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"))));
        URI sameServer = URI.create("http://localhost:" + admin.getPort());
        try (NodeQuestions withToken =
                new NodeQuestions("test", null, asked -> asked.equals(admin) ? "Bearer 0123456789abcdef" : null)) {
            assertThat(withToken.get(admin, "/v1/load", LONG, 1000).get().body())
                    .isEqualTo("Bearer 0123456789abcdef");
            assertThat(withToken.get(sameServer, "/v1/load", LONG, 1000).get().body())
                    .isEqualTo("null");
        }
    }

    private NodeQuestions.Answer ask(URI where, String path, Duration timeout) throws Exception {
        return questions.get(where, path, timeout, 1000).get(60, TimeUnit.SECONDS);
    }

    private void assertNoAnswer(URI where, String path, Duration timeout, String why) {
        assertThatThrownBy(() -> ask(where, path, timeout))
                .cause()
                .isInstanceOf(NodeQuestions.NoAnswerException.class)
                .hasMessageContaining(why);
    }

    @Test
    void readinessIsReadWithItsReason() throws Exception {
        answer("/ready", 200, "{\"ready\":true}");
        assertThat(NodeAnswers.notReady(ask(admin, "/ready", LONG))).isNull();
        server.removeContext("/ready");
        answer("/ready", 503, "{\"ready\":false,\"reason\":\"no\\nport\"}");
        assertThat(NodeAnswers.notReady(ask(admin, "/ready", LONG))).isEqualTo("no port");
        server.removeContext("/ready");
        answer("/ready", 503, "busy");
        assertThat(NodeAnswers.notReady(ask(admin, "/ready", LONG))).isEqualTo("is not ready");
        server.removeContext("/ready");
        answer("/ready", 404, "");
        assertThat(NodeAnswers.notReady(ask(admin, "/ready", LONG))).contains("404", "admin API");
    }

    @Test
    void loadsAreReadAndNonsenseIsNot() throws Exception {
        String traffic = "{\"packetsIn\":1,\"bytesIn\":2,\"packetsMade\":3,\"packetsOut\":4,\"bytesOut\":5,"
                + "\"dropped\":6,\"held\":7}";
        String good = "{\"instance\":\"x\",\"uptimeSeconds\":1.5,\"processors\":2,\"processorSeconds\":0.5,"
                + "\"hostBusySeconds\":null,\"streams\":3,\"maxStreams\":100,\"traffic\":" + traffic + ",\"later\":1}";
        answer("/v1/load", 200, good);
        assertThat(NodeAnswers.load(ask(admin, "/v1/load", LONG)))
                .isEqualTo(new Load("x", 1.5, 2, 0.5, null, 3, 100, new Load.Traffic(1, 2, 3, 4, 5, 6, 7)));
        for (String bad : List.of(
                "",
                "{}",
                "[]",
                "null",
                good.replace("\"x\"", "null"),
                good.replace(traffic, "null"),
                good.replace("\"processors\":2", "\"processors\":0"),
                good.replace("1.5", "-1"),
                good.replace("1.5", "\"NaN\""))) {
            assertThatThrownBy(() -> NodeAnswers.load(new NodeQuestions.Answer(200, bad)))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("answers no load");
        }
        assertThatThrownBy(() -> NodeAnswers.load(new NodeQuestions.Answer(404, good)))
                .hasMessageContaining("404");
    }

    @Test
    void servicesAreReadWithTrafficBesideTheirOwnCounters() {
        assertThat(NodeAnswers.services(new NodeQuestions.Answer(
                        200,
                        "{\"services\":[{\"name\":\"Monitor\",\"version\":\"1.0\",\"traffic\":{\"packetsIn\":5,"
                                + "\"packetsOut\":4,\"bytesIn\":50,\"bytesOut\":40,\"dropped\":1,\"held\":0,\"drops\":{}},"
                                + "\"counters\":{\"marks\":3}},{\"name\":\"Gzip\",\"version\":\"\",\"traffic\":null,"
                                + "\"counters\":{}}],\"total\":2}")))
                .containsOnlyKeys("Monitor 1.0", "Gzip ")
                .hasEntrySatisfying(
                        "Monitor 1.0",
                        counters -> assertThat(counters)
                                .containsOnly(
                                        java.util.Map.entry("marks", 3L),
                                        java.util.Map.entry("packetsIn", 5L),
                                        java.util.Map.entry("packetsOut", 4L),
                                        java.util.Map.entry("bytesIn", 50L),
                                        java.util.Map.entry("bytesOut", 40L),
                                        java.util.Map.entry("dropped", 1L)));
    }

    @Test
    void aNodeThatDoesNotAnswerInTimeGivesNone() {
        answer("/ready", exchange -> never());
        assertNoAnswer(admin, "/ready", SHORT, "no answer within 200 ms");
    }

    @Test
    void aNodeThatBeginsToAnswerAndHangsGivesNone() {
        answer("/ready", exchange -> {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write('{');
            exchange.getResponseBody().flush();
            never();
        });
        assertNoAnswer(admin, "/ready", SHORT, "no answer within 200 ms");
    }

    @Test
    void anAnswerWithoutEndIsCutOff() {
        answer("/ready", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] bytes = new byte[256];
            for (int i = 0; i < 1_000_000; i++) {
                exchange.getResponseBody().write(bytes);
            }
        });
        assertNoAnswer(admin, "/ready", LONG, "more than 1000 bytes");
    }

    @Test
    void nobodyThereIsSaidAtOnce() throws Exception {
        int free = Ports.free();
        assertNoAnswer(URI.create("http://127.0.0.1:" + free), "/ready", LONG, "takes no connection");
    }

    @Test
    void nodesThatHangDoNotKeepOthersWaiting() throws Exception {
        answer("/hangs", exchange -> never());
        answer("/ready", 200, "{}");
        List<CompletableFuture<NodeQuestions.Answer>> hanging = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            hanging.add(questions.get(admin, "/hangs", LONG, 1000));
        }
        assertThat(ask(admin, "/ready", LONG).status()).isEqualTo(200);
        assertThat(hanging).noneMatch(CompletableFuture::isDone);
    }
}

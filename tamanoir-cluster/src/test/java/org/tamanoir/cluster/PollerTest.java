package org.tamanoir.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.support.Ports;
import org.tamanoir.support.Waiting;

class PollerTest {
    private static final Duration PATIENCE = Waiting.PATIENCE;

    private final ReentrantLock lock = new ReentrantLock();
    private final ClusterTotals totals = new ClusterTotals();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private HttpServer server;
    private NodeQuestions questions;
    private Roster roster;
    private Member member;
    private Poller poller;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free()), 0);
        server.createContext("/", exchange -> {
            String answer = answers.getOrDefault(exchange.getRequestURI().getPath(), "404 {}");
            byte[] body = answer.substring(4).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(Integer.parseInt(answer.substring(0, 3)), body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        BackEnd backEnd = new BackEnd(
                "b1",
                Configs.address("10.99.1.1"),
                URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
                null);
        DirectorConfig config = Configs.director(Path.of("unused"), Configs.WEIGHTS, Configs.REGISTRATION, backEnd);
        roster = new Roster(config, DirectorState.EMPTY, at -> -1, System.nanoTime(), Instant.now());
        member = roster.member("b1");
        questions = new NodeQuestions("test", null);
        poller = new Poller(config, questions, lock, () -> {}, roster::has, totals);
        answers.put("/ready", "200 {\"ready\":true}");
        answers.put("/v1/load", "200 " + load("one", 2, 3));
        answers.put("/v1/services", "200 " + services(3));
    }

    @AfterEach
    void stop() {
        questions.close();
        server.stop(0);
    }

    private static String load(String instance, int processors, long packets) {
        return "{\"instance\":\"" + instance + "\",\"uptimeSeconds\":5,\"processors\":" + processors
                + ",\"processorSeconds\":1,\"hostBusySeconds\":2,\"streams\":0,\"maxStreams\":100,\"traffic\":{"
                + "\"packetsIn\":" + packets + ",\"bytesIn\":0,\"packetsMade\":0,\"packetsOut\":0,\"bytesOut\":0,"
                + "\"dropped\":0,\"held\":0}}";
    }

    private static String services(long packets) {
        return "{\"services\":[{\"name\":\"Monitor\",\"version\":\"1\",\"traffic\":null,\"counters\":{\"marks\":"
                + packets + "}}]}";
    }

    private void awaitMember(Predicate<Member> condition) {
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(10)).until(() -> {
            lock.lock();
            try {
                poller.ask(roster.members(), System.nanoTime());
                return condition.test(member);
            } finally {
                lock.unlock();
            }
        });
    }

    private void awaitState(BackEndState state) {
        awaitMember(any -> any.health.state() == state);
    }

    @Test
    void aNodeComesInGoesOutAndComesBack() throws IOException {
        awaitState(BackEndState.UP);
        answers.put("/ready", "503 {\"ready\":false,\"reason\":\"no port is open\"}");
        awaitState(BackEndState.DOWN);
        assertThat(member.health.reason()).isEqualTo("no port is open");
        answers.put("/ready", "200 {}");
        awaitState(BackEndState.UP);
        server.stop(0);
        awaitState(BackEndState.DOWN);
        assertThat(member.health.reason()).contains("takes no connection");
    }

    @Test
    void aNodeThatStopsIsDrained() {
        awaitState(BackEndState.UP);
        answers.put("/ready", "503 {\"ready\":false,\"reason\":\"the node stops\"}");
        awaitState(BackEndState.DRAINING);
        assertThat(member.drainUntil).isNotNull();
    }

    @Test
    void weightsAndTotalsComeFromItsLoad() {
        awaitMember(any -> totals.services().equals(Configs.counters("Monitor", "marks", 3)));
        assertThat(member.capacity.weight()).isEqualTo(200);
        assertThat(member.noLoad).isNull();
        answers.put("/v1/load", "200 " + load("two", 1, 4));
        awaitMember(any -> any.capacity.weight() == 100); // What services tell from now on is the new instance's.
        answers.put("/v1/services", "200 " + services(4));
        awaitMember(any -> totals.services().equals(Configs.counters("Monitor", "marks", 7)));
        assertThat(totals.traffic().packetsIn()).isEqualTo(7);
    }

    @Test
    void aNodeWithoutLoadIsUpAllTheSame() {
        answers.remove("/v1/load");
        awaitState(BackEndState.UP);
        awaitMember(any -> String.valueOf(any.noLoad).contains("404 for /v1/load"));
        assertThat(totals.has("b1")).isFalse();
        assertThat(roster.places()).containsExactly(new WantedTable.Place(Configs.address("10.99.1.1"), 100));
    }

    @Test
    void totalsKeepTheLastOfANodeThatIsGone() {
        awaitMember(any -> totals.traffic().packetsIn() == 3);
        server.stop(0);
        awaitMember(any -> any.noLoad != null);
        assertThat(StatusView.totals(roster, totals).unreachable()).isEqualTo(List.of("b1"));
        assertThat(StatusView.totals(roster, totals).traffic().packetsIn()).isEqualTo(3);
    }
}

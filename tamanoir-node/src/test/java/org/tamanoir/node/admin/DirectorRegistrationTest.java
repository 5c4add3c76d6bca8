package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tamanoir.cluster.Director;
import org.tamanoir.cluster.config.BackEnd;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.HealthPolicy;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.Scheduler;
import org.tamanoir.node.SmallTable;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.node.ui.Browser;
import org.tamanoir.repository.Token;
import org.tamanoir.routing.Prefix;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A director at work, over real HTTP: nodes ask from 127.0.0.2 and up. Every one of them has the token of all nodes;
 * {@code own} is listed with a token of its own, {@code listed} without.
 */
@Timeout(120)
class DirectorRegistrationTest {
    private static final String NODES = "0123456789abcdef-nodes";
    private static final String OWN = "0123456789abcdef-own";
    private static final String NODE = "127.0.0.2";
    private static final String OTHER = "127.0.0.3";
    private static final Duration NEVER = Duration.ofHours(1);
    private static final JsonMapper MAPPER = new JsonMapper();

    @TempDir
    Path folder;

    private SmallTable table;
    private Director director;
    private DirectorServer server;

    @BeforeEach
    void start() throws Exception {
        table = new SmallTable(folder);
        DirectorConfig config = new DirectorConfig(
                "front1",
                folder.resolve("state"),
                null,
                List.of(new ClusterService(
                        "anep",
                        InetAddress.getByName("192.0.2.100"),
                        3322,
                        3322,
                        Set.of(Protocol.TCP, Protocol.UDP),
                        Forwarding.DIRECT,
                        Scheduler.WLC,
                        List.of(),
                        0,
                        32,
                        false)),
                List.of(
                        new BackEnd("listed", InetAddress.getByName("127.0.0.7"), URI.create("http://127.0.0.7:1"), 9),
                        new BackEnd("own", InetAddress.getByName("127.0.0.8"), URI.create("http://127.0.0.8:1"), 9)),
                new HealthPolicy(Duration.ofMillis(100), Duration.ofSeconds(1), 3, 2, 0),
                WeightPolicy.DEFAULT,
                Duration.ofSeconds(60),
                false,
                Map.of(),
                new RegistrationPolicy(List.of(Prefix.parse("127.0.0.0/8")), Duration.ofSeconds(2), NEVER, 16),
                null,
                CodeSources.NONE,
                null);
        director = new Director(config, table.open());
        server = new DirectorServer(
                director,
                config,
                new AdminSettings(TestAdmin.ANY, TestAdmin.SECRET, false, null),
                null,
                Token.of(NODES, "this test"),
                Map.of("own", Token.of(OWN, "this test")));
        server.start();
        director.start();
        server.open();
    }

    @AfterEach
    void stop() {
        server.close();
        director.close();
        table.close();
    }

    private record Reply(int status, String body) {}

    private Reply send(String from, String request) throws IOException {
        try (Socket socket = new Socket()) {
            socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
            socket.setSoTimeout((int) Waiting.PATIENCE.toMillis());
            socket.connect(server.address());
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Reply(Integer.parseInt(answer.split(" ", 3)[1]), answer.split("\r\n\r\n", 2)[1]);
        }
    }

    private Reply get(String path) throws IOException {
        return send("127.0.0.1", "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    }

    private Reply register(String from, String name, String token, String body) throws IOException {
        return send(
                from,
                "PUT /v1/back-ends/" + name + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        + "Content-Type: application/json\r\nAuthorization: Bearer " + token + "\r\nContent-Length: "
                        + body.length() + "\r\n\r\n" + body);
    }

    private static String body(@Nullable String address, String admin, String more) {
        return "{" + (address == null ? "" : "\"address\": \"" + address + "\", ") + "\"admin\": \"" + admin + "\""
                + more + "}";
    }

    private JsonNode backEnd(String name) throws IOException {
        for (JsonNode each : MAPPER.readTree(get("/v1/back-ends").body()).get("backEnds")) {
            if (each.get("name").asString().equals(name)) {
                return each;
            }
        }
        throw new AssertionError("there is no back-end " + name);
    }

    @Test
    @Tag("process")
    @Tag("once")
    void anOperatorDrainsABackEndOnThePage(@TempDir Path profile) throws Exception {
        try (Browser browser = Browser.open("http://" + Endpoint.toString(server.address()), profile)) {
            browser.untilShown("front1, stand-by"); // The virtual address is not on this host.
            browser.until(() -> browser.all("main tbody tr").size() >= 2);
            browser.assertAccessible("director");
            browser.picture("director-1280");
            browser.width(390);
            browser.assertFits("director");
            browser.width(1280);
            browser.click("button[aria-label='Drain listed']");
            browser.until(() -> browser.all("#token-input").get(0).isDisplayed());
            browser.type("#token-input", TestAdmin.TOKEN);
            browser.click("#token-form [type=submit]");
            browser.untilShown("listed drains.");
            assertThat(backEnd("listed").get("state").asString()).startsWith("drain"); // Nothing is there to wait for.
            browser.click("button[aria-label='Join listed']");
            browser.untilShown("listed joins again.");
            assertThat(backEnd("listed").get("state").asString()).doesNotStartWith("drain");
            browser.assertQuiet();
        }
    }

    @Test
    void aNodeRegistersTheAddressThatItAsksFrom() throws Exception {
        Reply reply = register(NODE, "n1", NODES, body(null, "http://127.0.0.2:1", ", \"weight\": 7"));
        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        assertThat(backEnd("n1").get("address").asString()).isEqualTo(NODE);
        assertThat(register(NODE, "n1", NODES, body(NODE, "http://127.0.0.2:1", ""))
                        .status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "n1     | 127.0.0.2 | http://127.0.0.2:1 | , 'leaving': true",
                "n1     | 127.0.0.2 | http://127.0.0.3:1 | ",
                "n1     | 127.0.0.2 | http://127.0.0.2:1 | , 'weight': 1",
                "n1     |           | http://127.0.0.3:1 | , 'leaving': true",
                "n2     | 127.0.0.2 | http://127.0.0.2:1 | ",
                "n2     | 127.0.0.9 | http://127.0.0.9:1 | ",
                "listed | 127.0.0.7 | http://127.0.0.7:1 | , 'leaving': true",
                "listed |           | http://127.0.0.3:1 | , 'leaving': true",
            })
    void nobodySpeaksForAnotherNode(String name, @Nullable String address, String admin, @Nullable String more)
            throws Exception {
        Reply registered = register(NODE, "n1", NODES, body(NODE, "http://127.0.0.2:1", ", \"weight\": 7"));
        assertThat(registered.status()).as(registered.body()).isEqualTo(200);
        String before = who();

        Reply reply = register(OTHER, name, NODES, body(address, admin, more == null ? "" : more.replace('\'', '"')));
        assertThat(reply.status()).as(reply.body()).isEqualTo(422);
        assertThat(who()).isEqualTo(before);
    }

    /** Who is a back-end, where, with which weight, and what it was told. */
    private String who() throws IOException {
        StringBuilder all = new StringBuilder();
        for (JsonNode each : MAPPER.readTree(get("/v1/back-ends").body()).get("backEnds")) {
            String state = each.get("state").asString();
            all.append(each.get("name")).append(each.get("address")).append(each.get("admin"));
            all.append(state.startsWith("drain") ? state : "").append('\n');
        }
        return all.toString();
    }

    @Test
    void theDirectorAsksNoHostThatIsNotTheNodesOwn() throws Exception {
        try (ServerSocket inside = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"));
                ServerSocket own = new ServerSocket(0, 5, InetAddress.getByName(NODE))) {
            for (String host : List.of("127.0.0.1", "localhost", "192.0.2.1", "[::1]", "169.254.169.254")) {
                Reply reply =
                        register(NODE, "n1", NODES, body(NODE, "http://" + host + ":" + inside.getLocalPort(), ""));
                assertThat(reply.status()).as(host).isEqualTo(422);
                assertThat(reply.body()).contains("is not at its address, 127.0.0.2");
            }
            Reply reply = register(NODE, "n1", NODES, body(NODE, "http://127.0.0.2:" + own.getLocalPort(), ""));
            assertThat(reply.status()).as(reply.body()).isEqualTo(200);
            own.setSoTimeout((int) Waiting.PATIENCE.toMillis());
            own.accept().close();
        }
    }

    @Test
    void whoHasATokenOfItsOwnIsKnownByItFromAnywhereAndByNothingElse() throws Exception {
        String leaving = body("127.0.0.8", "http://10.0.0.1:1", ", \"leaving\": true");
        Reply shared = register("127.0.0.8", "own", NODES, leaving);
        assertThat(shared.status()).isEqualTo(401);
        assertThat(shared.body()).contains("back-ends.token-file of this back-end");
        assertThat(backEnd("own").get("state").asString()).isNotIn("draining", "drained");

        assertThat(register(OTHER, "n1", OWN, body(null, "http://127.0.0.3:1", ""))
                        .status())
                .isEqualTo(401);
        assertThat(register(OTHER, "listed", OWN, leaving).status()).isEqualTo(401);
        assertThat(register(OTHER, "own", OWN, body("127.0.0.3", "http://127.0.0.3:1", ""))
                        .body())
                .contains("is listed with address 127.0.0.8");

        Reply reply = register(OTHER, "own", OWN, leaving);
        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        assertThat(backEnd("own").get("state").asString()).isEqualTo("drained");
        assertThat(backEnd("own").get("admin").asString()).isEqualTo("http://127.0.0.8:1");
    }

    @Test
    void aQuestionForThePlanRunsNoProgram() throws Exception {
        director.close(); // Its own looks have ended.
        List<String> before = table.runs();
        Reply reply = get("/v1/plan");
        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        assertThat(reply.body()).isEqualTo("{\"lines\":[]}");
        assertThat(table.runs()).isEqualTo(before);
    }
}

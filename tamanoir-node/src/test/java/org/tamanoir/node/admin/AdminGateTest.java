package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.node.config.Endpoint;

@Timeout(120)
class AdminGateTest {
    private static final String ROUTE = "{\"address\": \"127.0.0.1\", \"port\": 3322}";
    private static final String PATH = "/v1/routes/10.0.0.0%2F8";

    @Test
    void withoutATokenOfItsOwnTheNodeCannotBeChanged() throws Exception {
        try (TestAdmin node = TestAdmin.start(new AdminSettings(TestAdmin.ANY, null, false, null))) {
            TestAdmin.Reply reply = node.put(PATH, ROUTE);
            assertThat(reply.status()).isEqualTo(403);
            assertThat(reply.error()).contains("admin.token-file");
            assertThat(node.manager.routes()).isEmpty();
            assertThat(node.get("/v1/node").json().get("changes").asBoolean()).isFalse();
        }
    }

    @Test
    void aReadOnlyNodeCannotBeChangedEvenWithTheToken() throws Exception {
        try (TestAdmin node = TestAdmin.start(new AdminSettings(TestAdmin.ANY, TestAdmin.SECRET, true, null))) {
            TestAdmin.Reply reply = node.put(PATH, ROUTE);
            assertThat(reply.status()).isEqualTo(403);
            assertThat(reply.error()).contains("read-only");
            assertThat(node.manager.routes()).isEmpty();
        }
    }

    @Test
    void onlyTheTokenOpensTheWayToChanges() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            List<String> wrong = List.of(
                    "Bearer " + TestAdmin.TOKEN.substring(1),
                    "Bearer " + TestAdmin.TOKEN + "x",
                    "Bearer",
                    "Bearer ",
                    "Basic " + TestAdmin.TOKEN,
                    TestAdmin.TOKEN);
            for (String header : wrong) {
                TestAdmin.Reply reply =
                        node.send(node.change("PUT", PATH, ROUTE).setHeader("Authorization", header));
                assertThat(reply.status()).as(header).isEqualTo(401);
                assertThat(reply.error()).contains("token").doesNotContain(TestAdmin.TOKEN);
                assertThat(reply.headers()).containsKey("www-authenticate");
            }
            HttpRequest.Builder without = node.request(PATH)
                    .PUT(HttpRequest.BodyPublishers.ofString(ROUTE))
                    .header("Content-Type", "application/json");
            assertThat(node.send(without).status()).isEqualTo(401);
            assertThat(node.manager.routes()).isEmpty();

            assertThat(node.put(PATH, ROUTE).status()).isEqualTo(200);
            assertThat(node.manager.routes()).hasSize(1);
        }
    }

    @Test
    void noGetChangesAnything() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            long events = node.manager.events().catchUp();
            for (String operation : node.server.operations()) {
                String[] parts = operation.split(" ");
                String path = parts[1].replace("{name}", TestAdmin.MONITOR)
                        .replace("{version}", "-")
                        .replace("{operation}", "set")
                        .replace("{id}", "1")
                        .replace("{prefix}", "10.0.0.0%2F8");
                if (parts[0].equals("GET")) {
                    continue; // OpenApiTest asks them all.
                }
                HttpRequest.Builder get = node.request(path).header("Authorization", "Bearer " + TestAdmin.TOKEN);
                assertThat(node.send(get).status()).as("GET %s", path).isIn(200, 404, 405, 422);
            }
            assertThat(node.manager.events().catchUp()).isEqualTo(events);
        }
    }

    @Test
    void theServersOwnPageMaySendTheToken() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            String own = "http://" + Endpoint.toString(node.server.address());
            assertThat(node.send(node.change("PUT", PATH, ROUTE).header("Origin", own))
                            .status())
                    .isEqualTo(200);
            HttpRequest.Builder without = node.change("PUT", PATH, ROUTE)
                    .setHeader("Authorization", "Bearer of nothing")
                    .header("Origin", own);
            assertThat(node.send(without).status()).isEqualTo(401);
        }
    }

    @Test
    void aRequestThatAWebPageCanSendIsRefused() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            for (String origin : List.of("http://evil.example", "null", "http://127.0.0.1:3324")) {
                TestAdmin.Reply reply =
                        node.send(node.change("PUT", PATH, ROUTE).header("Origin", origin));
                assertThat(reply.status()).isEqualTo(403);
                assertThat(reply.error()).contains("web pages");
                assertThat(node.send(node.request("/v1/node").header("Origin", origin))
                                .status())
                        .isEqualTo(403);
            }
            for (String type :
                    List.of("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x")) {
                TestAdmin.Reply reply =
                        node.send(node.change("PUT", PATH, ROUTE).setHeader("Content-Type", type));
                assertThat(reply.status()).as(type).isEqualTo(415);
                assertThat(reply.error()).contains("application/json");
            }
            assertThat(node.manager.routes()).isEmpty();
        }
    }

    /** As HAProxy's {@code option httpchk GET /health} asks, and what else it may. */
    @Test
    void loadBalancersAskWithoutAHostHowTheNodeIsAndNothingElse() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            for (String path : List.of("/health", "/ready")) {
                assertThat(node.raw("GET " + path + " HTTP/1.0\r\n\r\n"))
                        .startsWith("HTTP/1.0 200 ")
                        .endsWith("}");
                assertThat(node.raw("HEAD " + path + " HTTP/1.0\r\n\r\n"))
                        .startsWith("HTTP/1.0 200 ")
                        .endsWith("\r\n\r\n");
                assertThat(node.raw("GET " + path + " HTTP/1.0\r\nHost: evil.example\r\nConnection: close\r\n\r\n"))
                        .startsWith("HTTP/1.0 403 ");
                assertThat(node.raw("GET " + path + " HTTP/1.0\r\nOrigin: http://evil.example\r\n\r\n"))
                        .startsWith("HTTP/1.0 403 ");
            }
            assertThat(node.raw("GET /metrics HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.0 400 ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost.", "LOCALHOST.:3324", "Localhost", "127.0.0.1", "[::1]:1", "[FE80::1]"})
    void theServersOwnNamesAreTakenHoweverTheyAreWritten(String host) throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            String head = "GET /v1/node HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n";
            assertThat(node.raw(head + "\r\n")).startsWith("HTTP/1.1 200 ");
            String origin = "http://" + host.toLowerCase(Locale.ROOT);
            assertThat(node.raw(head + "Origin: " + origin + "\r\n\r\n")).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void whatGetAnswersHeadAnswersWithoutItsBody() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            List<String> paths = new ArrayList<>(List.of("/ui"));
            for (String operation : node.server.operations()) {
                if (operation.startsWith("GET ")) {
                    paths.add(operation
                            .substring(4)
                            .replace("{name}", TestAdmin.MONITOR)
                            .replace("{version}", "-")
                            .replace("{prefix}", "10.0.0.0%2F8"));
                }
            }
            Set<String> endless = Set.of("/v1/live", "/v1/events", "/v1/drops", "/v1/capture");
            assertThat(paths).containsAll(endless).contains("/health", "/ready", "/metrics", "/v1/node");
            for (String path : paths) {
                String end = " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + TestAdmin.TOKEN
                        + "\r\nConnection: close\r\n\r\n";
                String head = node.raw("HEAD " + path + end);
                assertThat(head).as(path).doesNotStartWith("HTTP/1.1 405").endsWith("\r\n\r\n");
                assertThat(head.indexOf("\r\n\r\n")).as(path).isEqualTo(head.length() - 4);
                if (!endless.contains(path)) {
                    String get = node.raw("GET " + path + end);
                    assertThat(status(head)).as(path).isEqualTo(status(get));
                    assertThat(type(head)).as(path).isEqualTo(type(get));
                } else {
                    assertThat(status(head)).as(path).isEqualTo("HTTP/1.1 200 OK");
                    assertThat(type(head)).as(path).isNotEmpty();
                }
            }
        }
    }

    private static String status(String answer) {
        return answer.lines().findFirst().orElse("");
    }

    private static String type(String answer) {
        return answer.lines()
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("content-type:"))
                .findFirst()
                .orElse("");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "evil.example:3324",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "evil.example.",
                "",
                "1"
            })
    void aNameThatWasReboundToThisHostIsRefused(String host) throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            String reply = node.raw("GET /v1/node HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
            assertThat(reply).startsWith("HTTP/1.1 403").contains("admin.hosts");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"localhost\r\nHost: evil.example", "evil.example\r\nHost: localhost", "localhost\r\n .example"})
    void aRequestThatNamesItsHostInTwoWaysIsRefused(String hosts) throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            String reply = node.raw("GET /v1/node HTTP/1.1\r\nHost: " + hosts + "\r\nConnection: close\r\n\r\n");
            assertThat(reply).startsWith("HTTP/1.1 400").doesNotContain("uptime");
        }
    }

    @Test
    void addressesLocalhostAndConfiguredNamesAreTheServersOwn() throws Exception {
        AdminSettings settings = new AdminSettings(TestAdmin.ANY, List.of(), false, Set.of("Node1.example"), null);
        try (TestAdmin node = TestAdmin.start(settings)) {
            for (String host : List.of("localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:3324", "node1.example:80")) {
                assertThat(node.raw("GET /health HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"))
                        .as(host)
                        .startsWith("HTTP/1.1 200");
            }
        }
    }

    @Test
    void aBodyThatIsTooLargeIsRefusedAndNotReadToItsEnd() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            TestAdmin.Reply reply = node.put("/v1/routes", " ".repeat(Api.MAX_BODY_BYTES + 1));
            assertThat(reply.status()).isEqualTo(413);
            assertThat(reply.error()).contains("65536");
            assertThat(node.put("/v1/routes", "{\"routes\": []" + " ".repeat(60_000) + "}")
                            .status())
                    .isEqualTo(200);

            String endless = "PUT /v1/routes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Authorization: Bearer wrong\r\nTransfer-Encoding: chunked\r\n\r\n";
            try (Socket socket = node.connect()) {
                socket.getOutputStream().write(endless.getBytes(StandardCharsets.ISO_8859_1));
                byte[] chunk = ("1000\r\n" + " ".repeat(0x1000) + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
                assertThatThrownBy(() -> {
                            while (true) {
                                socket.getOutputStream().write(chunk);
                            }
                        })
                        .as("the connection is closed although the body goes on")
                        .isInstanceOf(SocketException.class);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{", "[]", "\"x\"", "1", "null", "{\"routes\": []} x", "{\"routes\": [], \"routes\": []}", "\0"})
    void aBodyThatIsNoJsonObjectIsRefused(String body) throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            TestAdmin.Reply reply = node.put("/v1/routes", body);
            assertThat(reply.status()).isEqualTo(400);
            assertThat(reply.error())
                    .startsWith("the body is no JSON")
                    .doesNotContain("\n", "Feature", "JsonToken", "(code");
        }
    }

    @Test
    void deeplyNestedJsonIsRefused() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            String deep = "{\"routes\": " + "[".repeat(30_000) + "]".repeat(30_000) + "}";
            assertThat(node.put("/v1/routes", deep).status()).isEqualTo(400);
        }
    }

    /** The times that it has are the listener's, which has tests of its own. */
    @Test
    void aClientThatSendsItsRequestByteByByteKeepsNobodyWaiting() throws Exception {
        try (TestAdmin node = TestAdmin.start()) {
            List<Socket> slow = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                Socket socket = node.connect();
                socket.getOutputStream().write("GET /v1/no".getBytes(StandardCharsets.ISO_8859_1));
                slow.add(socket);
            }
            assertThat(node.get("/health").status()).isEqualTo(200);
            assertThat(node.put(PATH, ROUTE).status()).isEqualTo(200);
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    @Test
    void settingsAreShownWithoutTheToken() {
        assertThat(new AdminSettings(TestAdmin.ANY, TestAdmin.SECRET, false, null).toString())
                .contains("token")
                .doesNotContain(TestAdmin.TOKEN);
    }
}

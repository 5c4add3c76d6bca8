package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.manager.Event;
import org.tamanoir.repository.Token;

/** Who may read and change what beyond loopback, and what is recorded of it. */
@Timeout(120)
class AdminTokensTest {
    private static final InetSocketAddress ANYWHERE = new InetSocketAddress("0.0.0.0", 0);
    private static final String READ = "read-0123456789abcdef";
    private static final String ALICE = "alice-0123456789abcdef";
    private static final List<AdminToken> TOKENS = List.of(
            new AdminToken("admin", TestAdmin.SECRET, AdminToken.Right.CHANGE),
            new AdminToken("read", Token.of(READ, "this test"), AdminToken.Right.READ),
            new AdminToken("alice", Token.of(ALICE, "this test"), AdminToken.Right.CHANGE));
    private static final String PATH = "/v1/routes/10.0.0.0%2F8";
    private static final String ROUTE = "{\"address\": \"127.0.0.1\", \"port\": 3322}";
    private static final Set<String> OPEN = Set.of("/health", "/ready", "/metrics");

    private static AdminSettings at(InetSocketAddress address, List<AdminToken> tokens) {
        return new AdminSettings(address, tokens, false, Set.of(), null);
    }

    private static List<String> questions(TestAdmin node) {
        List<String> paths = new ArrayList<>(List.of("/ui", "/nothing"));
        for (String operation : node.server.operations()) {
            if (operation.startsWith("GET ")) {
                paths.add(operation
                        .substring("GET ".length())
                        .replace("{name}", TestAdmin.MONITOR)
                        .replace("{version}", "-")
                        .replace("{prefix}", "10.0.0.0%2F8"));
            }
        }
        return paths;
    }

    private static HttpRequest.Builder asked(TestAdmin node, String path, String authorization) {
        return node.request(path).header("Authorization", authorization);
    }

    private static String basic(String token) {
        byte[] pair = ("anybody:" + token).getBytes(StandardCharsets.UTF_8);
        return "Basic " + Base64.getEncoder().encodeToString(pair);
    }

    @Test
    void beyondLoopbackNothingButHealthAndMetricsAnswersWithoutAToken() throws Exception {
        try (TestAdmin node = TestAdmin.start(at(ANYWHERE, List.of()))) {
            for (String path : questions(node)) {
                String answer = node.raw("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                if (OPEN.contains(path)) {
                    assertThat(answer).as(path).startsWith("HTTP/1.1 200");
                } else {
                    assertThat(answer)
                            .as(path)
                            .startsWith("HTTP/1.1 403")
                            .contains("/health, /ready and /metrics", "admin.read-token-file");
                }
            }
            assertThat(node.send(asked(node, "/v1/node", "Bearer " + READ)).status())
                    .isEqualTo(403);
        }
    }

    @Test
    void onLoopbackQuestionsWantATokenOnlyWhereThereIsOneForThem() throws Exception {
        try (TestAdmin open = TestAdmin.start();
                TestAdmin guarded = TestAdmin.start(at(TestAdmin.ANY, TOKENS))) {
            assertThat(open.get("/v1/node").status()).isEqualTo(200);
            assertThat(guarded.get("/v1/node").status()).isEqualTo(401);
            assertThat(guarded.get("/health").status()).isEqualTo(200);
        }
    }

    @Test
    void eachTokenOpensWhatItIsFor() throws Exception {
        try (TestAdmin node = TestAdmin.start(at(ANYWHERE, TOKENS))) {
            TestAdmin.Reply without = node.get("/v1/node");
            assertThat(without.status()).isEqualTo(401);
            assertThat(without.error()).contains("Authorization: Bearer TOKEN", "admin.read-token-file");
            assertThat(without.headers().get("www-authenticate").toString()).contains("Basic", "Bearer");

            for (String token : List.of(READ, ALICE, TestAdmin.TOKEN)) {
                for (String shown : List.of("Bearer " + token, basic(token))) {
                    assertThat(node.send(asked(node, "/v1/node", shown)).status())
                            .as(shown)
                            .isEqualTo(200);
                    assertThat(node.send(asked(node, "/ui", shown)).status())
                            .as(shown)
                            .isEqualTo(200);
                }
            }
            for (String wrong :
                    List.of("Bearer " + READ + "x", basic("x" + READ), "Basic !", "Basic", "Bearer ", READ)) {
                assertThat(node.send(asked(node, "/v1/node", wrong)).status())
                        .as(wrong)
                        .isEqualTo(401);
            }

            TestAdmin.Reply refused =
                    node.send(node.change("PUT", PATH, ROUTE).setHeader("Authorization", "Bearer " + READ));
            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.error()).contains("token read is not for that", "admin.token-file");
            assertThat(node.send(node.change("PUT", PATH, ROUTE).setHeader("Authorization", basic(TestAdmin.TOKEN)))
                            .status())
                    .as("browsers send basic credentials for pages of others, too")
                    .isEqualTo(401);
            assertThat(node.send(asked(node, "/v1/capture", "Bearer " + READ)).status())
                    .as("packets are no question about the node")
                    .isEqualTo(403);
            assertThat(node.manager.routes()).isEmpty();
        }
    }

    @Test
    void aRefusalNamesATokenThatTheNodeHas() throws Exception {
        try (TestAdmin node = TestAdmin.start(at(ANYWHERE, TOKENS.subList(0, 1)))) {
            for (String shown : List.of("Bearer ", "Bearer " + READ)) {
                TestAdmin.Reply refused = node.send(asked(node, "/v1/node", shown));
                assertThat(refused.status()).isEqualTo(401);
                assertThat(refused.error()).contains("admin.token-file").doesNotContain("read-token-file");
            }
        }
    }

    @Test
    void directorsAskForLoadWithoutAToken() throws Exception {
        try (TestAdmin node = TestAdmin.start(at(ANYWHERE, List.of()))) {
            AdminServer other = new AdminServer(node.manager, at(ANYWHERE, List.of()), () -> TestAdmin.CONFIG);
            try (other) {
                other.cluster(() -> null, from -> true);
                other.start();
                for (String path : List.of("/v1/load", "/v1/services")) {
                    assertThat(node.get(path).status()).isEqualTo(403);
                    assertThat(node.at(other, path).status()).isEqualTo(200);
                }
                assertThat(node.at(other, "/v1/node").status()).isEqualTo(403);
            }
        }
    }

    @Test
    void eachChangeIsAnEventWithPeerTokenOperationAndOutcome() throws Exception {
        try (TestAdmin node = TestAdmin.start(at(TestAdmin.ANY, TOKENS))) {
            HttpRequest.Builder byAlice = node.change("PUT", PATH, ROUTE).setHeader("Authorization", "Bearer " + ALICE);
            assertThat(node.send(byAlice).status()).isEqualTo(200);
            assertThat(node.put(PATH, "{\"address\": \"nowhere\"}").status()).isEqualTo(422);
            HttpRequest.Builder stranger =
                    node.change("DELETE", PATH, null).setHeader("Authorization", "Bearer of nothing");
            assertThat(node.send(stranger).status()).isEqualTo(401);

            List<Event> changes = events(node, "change");
            assertThat(changes).hasSize(2);
            Map<String, String> done = changes.get(0).details();
            assertThat(done)
                    .containsEntry("token", "alice")
                    .containsEntry("operation", "PUT " + PATH)
                    .containsEntry("outcome", "done");
            assertThat(done.get("peer")).startsWith("127.0.0.1:");
            Map<String, String> failed = changes.get(1).details();
            assertThat(failed).containsEntry("token", "admin");
            assertThat(failed.get("outcome")).contains("nowhere");
            assertThat(events(node, "change-refused"))
                    .singleElement()
                    .satisfies(refused -> assertThat(refused.details())
                            .containsEntry("token", "none")
                            .containsEntry("operation", "DELETE " + PATH)
                            .hasEntrySatisfying(
                                    "outcome", why -> assertThat(why).contains("token is wrong")));
            assertThat(node.manager.events().after(0).toString()).doesNotContain(ALICE, TestAdmin.TOKEN);
        }
    }

    @Test
    void eachChangeThatIsNotMadeNamesTheTokenThatWasShownAndWhatBecameOfIt() throws Exception {
        try (TestAdmin node = TestAdmin.start(at(TestAdmin.ANY, TOKENS))) {
            HttpRequest.Builder byReader =
                    node.change("DELETE", PATH, null).setHeader("Authorization", "Bearer " + READ);
            assertThat(node.send(byReader).status()).isEqualTo(403);
            HttpRequest.Builder byBrowser = node.change("DELETE", PATH, null).setHeader("Authorization", basic(ALICE));
            assertThat(node.send(byBrowser).status()).isEqualTo(401);
            HttpRequest.Builder text = node.change("PUT", PATH, ROUTE)
                    .setHeader("Authorization", "Bearer " + ALICE)
                    .setHeader("Content-Type", "text/plain");
            assertThat(node.send(text).status()).isEqualTo(415);
            HttpRequest.Builder query =
                    node.change("PUT", PATH + "?x=1", ROUTE).setHeader("Authorization", "Bearer " + ALICE);
            assertThat(node.send(query).status()).isEqualTo(400);
            assertThat(node.put(PATH, "{\"address\": \"nowhere\"}").status()).isEqualTo(422);
            assertThat(node.post("/v1/services/org.example.Foo/release", "{}").status())
                    .isEqualTo(404);

            assertThat(events(node, "change-refused"))
                    .extracting(event -> event.details().get("token"))
                    .containsExactly("read", "alice", "alice", "alice");
            assertThat(events(node, "change"))
                    .extracting(event -> event.details().get("outcome"))
                    .hasSize(2)
                    .allSatisfy(outcome -> assertThat(outcome).startsWith("refused: "));
        }
    }

    private static List<Event> events(TestAdmin node, String kind) {
        return node.manager.events().after(0).stream()
                .filter(event -> event.kind().equals(kind))
                .toList();
    }
}

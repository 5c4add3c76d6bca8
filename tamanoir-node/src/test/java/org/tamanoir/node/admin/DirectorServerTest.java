package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.RecordComponent;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.tamanoir.cluster.Director;
import org.tamanoir.cluster.DirectorStatus;
import org.tamanoir.cluster.Load.Traffic;
import org.tamanoir.cluster.Registration;
import org.tamanoir.cluster.config.ClusterService;
import org.tamanoir.cluster.config.CodeSources;
import org.tamanoir.cluster.config.DirectorConfig;
import org.tamanoir.cluster.config.HealthPolicy;
import org.tamanoir.cluster.config.RegistrationPolicy;
import org.tamanoir.cluster.config.WeightPolicy;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.cluster.lvs.Counters;
import org.tamanoir.cluster.lvs.Forwarding;
import org.tamanoir.cluster.lvs.Protocol;
import org.tamanoir.cluster.lvs.Scheduler;
import org.tamanoir.node.EmptyTable;
import org.tamanoir.node.LostOutput;
import org.tamanoir.node.Main;
import org.tamanoir.node.cli.ExitCode;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.repository.Token;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The API over real HTTP, in front of a director that has not started: on the host there is no table to steer. */
@Tag("once")
@Timeout(120)
class DirectorServerTest {
    private static final String ADMIN = "0123456789abcdef-admin";
    private static final String NODES = "0123456789abcdef-nodes";
    private static final String BODY = "{\"admin\": \"http://127.0.0.1:3324\"}";
    private static final Duration PATIENCE = Waiting.PATIENCE;
    private static final JsonMapper MAPPER = new JsonMapper();

    @TempDir
    Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private EmptyTable table;
    private DirectorServer server;

    @BeforeEach
    void start() throws Exception {
        table = new EmptyTable(folder);
        server = server(
                new AdminSettings(TestAdmin.ANY, Token.of(ADMIN, "this test"), false, null),
                Token.of(NODES, "this test"));
        server.open();
    }

    @AfterEach
    void stop() {
        server.close();
        table.close();
    }

    private DirectorServer server(AdminSettings settings, @Nullable Token registration) throws Exception {
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
                List.of(),
                HealthPolicy.DEFAULT,
                WeightPolicy.DEFAULT,
                Duration.ofSeconds(60),
                false,
                Map.of(),
                RegistrationPolicy.DEFAULT,
                null,
                CodeSources.NONE,
                null);
        DirectorServer made = new DirectorServer(
                new Director(config, table.open()), config, settings, TestAdmin.ANY, registration, Map.of());
        made.start();
        return made;
    }

    private record Reply(int status, String body) {
        JsonNode json() {
            return MAPPER.readTree(body);
        }

        String error() {
            return json().path("error").asString();
        }
    }

    private Reply send(HttpRequest.Builder request) throws Exception {
        HttpResponse<String> response =
                client.send(request.timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofString());
        return new Reply(response.statusCode(), response.body());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://" + Endpoint.toString(server.address()) + path));
    }

    private Reply get(String path) throws Exception {
        return send(request(path).GET());
    }

    private Reply change(String method, String path, @Nullable String body, @Nullable String token) throws Exception {
        HttpRequest.Builder request = request(path)
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        return send(token == null ? request : request.header("Authorization", "Bearer " + token));
    }

    @Test
    void beforeTheDirectorHasStartedItIsAliveAndEveryOtherAnswerIsThatItStarts() throws Exception {
        try (DirectorServer early = server(new AdminSettings(TestAdmin.ANY, null, false, null), null)) {
            String at = "http://" + Endpoint.toString(early.address());
            for (String path : List.of("/v1/status", "/ready", "/metrics")) {
                Reply reply = send(HttpRequest.newBuilder(URI.create(at + path)));
                assertThat(reply.status()).as(path).isEqualTo(503);
                assertThat(reply.body()).contains("the director starts: ask again in a moment");
            }
            Reply health = send(HttpRequest.newBuilder(URI.create(at + "/health")));
            assertThat(health.status()).isEqualTo(200);
            assertThat(health.body()).isEqualTo("{\"status\":\"up\"}");
        }
    }

    @Test
    void watchingADirectorEndsWhereNobodyReads() {
        String[] watching = {"director", "status", "--watch", "--director", Endpoint.toString(server.address())};
        StringWriter err = new StringWriter();
        assertThat(Main.run(LostOutput.writer(), new PrintWriter(err, true), watching))
                .isEqualTo(ExitCode.FAILED);
        assertThat(err.toString()).startsWith("tamanoir: standard output cannot be written");
    }

    @Test
    void readinessIsToldBesideTheApiAndNothingElse() throws Exception {
        String beside = "http://" + Endpoint.toString(Objects.requireNonNull(server.readyAddress()));
        Reply ready = send(HttpRequest.newBuilder(URI.create(beside + "/ready")));
        assertThat(ready.status()).isEqualTo(503);
        assertThat(ready.json().get("reason").asString()).isEqualTo("the director has not started");
        assertThat(send(HttpRequest.newBuilder(URI.create(beside + "/v1/status")))
                        .status())
                .isEqualTo(404);
    }

    @Test
    void questionsAreAnsweredWithoutAToken() throws Exception {
        assertThat(get("/health").body()).isEqualTo("{\"status\":\"up\"}");
        Reply ready = get("/ready");
        assertThat(ready.status()).isEqualTo(503);
        assertThat(ready.json().get("reason").asString()).isEqualTo("the director has not started");
        assertThat(get("/v1/status").json().get("name").asString()).isEqualTo("front1");
        assertThat(get("/v1/back-ends").body()).isEqualTo("{\"backEnds\":[]}");
        assertThat(get("/cluster")).isEqualTo(get("/v1/cluster"));
        assertThat(get("/cluster").json().get("nodes").asInt()).isZero();
        assertThat(get("/metrics").body())
                .contains("tamanoir_director_ready 0.0", "tamanoir_cluster_packets_in_total 0.0", "jvm_memory");
    }

    @Test
    void aRegistrationTakesItsOwnTokenAndNoOther() throws Exception {
        assertThat(change("PUT", "/v1/back-ends/n1", BODY, null).status()).isEqualTo(401);
        Reply wrong = change("PUT", "/v1/back-ends/n1", BODY, ADMIN);
        assertThat(wrong.status()).isEqualTo(401);
        assertThat(wrong.error()).isEqualTo("the token is wrong: send that of the director's registration.token-file");
        Reply right = change("PUT", "/v1/back-ends/n1", BODY, NODES);
        assertThat(right.status()).isEqualTo(422);
        assertThat(right.error()).isEqualTo("director front1 has not started yet: try again");
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /v1/back-ends/n1/drain",
        "POST, /v1/back-ends/n1/join",
        "DELETE, /v1/back-ends/n1",
        "POST, /v1/services/org.example.Foo/deploy",
        "POST, /v1/services/org.example.Foo/undeploy"
    })
    void aChangeTakesTheAdminsTokenAndNoOther(String method, String path) throws Exception {
        String body = method.equals("POST") ? "{}" : null;
        assertThat(change(method, path, body, null).status()).isEqualTo(401);
        Reply wrong = change(method, path, body, NODES);
        assertThat(wrong.status()).isEqualTo(401);
        assertThat(wrong.error()).isEqualTo("the token is wrong: send that of the director's admin.token-file");
        Reply right = change(method, path, body, ADMIN);
        assertThat(right.status()).isIn(404, 422);
        assertThat(right.error()).isEqualTo("director front1 has not started yet: try again");
    }

    @Test
    void withoutTokensNobodyMayRegisterOrChange() throws Exception {
        server.close();
        server = server(new AdminSettings(TestAdmin.ANY, null, false, null), null);
        server.open();
        Reply register = change("PUT", "/v1/back-ends/n1", BODY, NODES);
        assertThat(register.status()).isEqualTo(403);
        assertThat(register.error()).startsWith("nobody may register with this director: list the back-end, or");
        Reply drain = change("POST", "/v1/back-ends/n1/drain", "{}", ADMIN);
        assertThat(drain.status()).isEqualTo(403);
        assertThat(drain.error())
                .isEqualTo("changes need a token and the director has none: give it one with admin.token-file");
        server.close();
        server = server(new AdminSettings(TestAdmin.ANY, Token.of(ADMIN, "x"), true, null), null);
        server.open();
        assertThat(change("POST", "/v1/back-ends/n1/drain", "{}", ADMIN).error())
                .isEqualTo("the admin API is read-only: start the director without admin.read-only");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "PUT | /v1/back-ends/n1 | {} | 422 | admin is missing: the base address of the node's admin API is wanted",
                "PUT | /v1/back-ends/n1 | {\"admin\": 1} | 422 | admin 1: a text is wanted; admin is missing",
                "PUT | /v1/back-ends/n1 | {\"admin\": \"http://a:1\", \"wieght\": 1} | 422 | field 'wieght' is unknown: address, admin, weight, leaving, findings, services can be given",
                "PUT | /v1/back-ends/n1 | {\"admin\": \"http://a:1\", \"weight\": 0} | 422 | weight 0: a whole number from 1 to 65535 is wanted",
                "PUT | /v1/back-ends/n1 | {\"admin\": \"http://a:1\", \"findings\": [1]} | 422 | findings 1: a text of at most 500 characters is wanted",
                "PUT | /v1/back-ends/n1 | {\"admin\": \"http://a:1\", \"services\": 1} | 422 | services 1: a list of at most 256 texts is wanted",
                "PUT | /v1/back-ends/-n1 | {\"admin\": \"http://a:1\"} | 422 | back-end '-n1': its name must be 1 to 63 letters",
                "PUT | /v1/back-ends/n1 | {\"admin\" | 400 | the body is no JSON",
                "POST | /v1/back-ends/n1/drain | {\"deadlineSeconds\": 86401} | 422 | deadlineSeconds 86401: a number of seconds from 0 to 86400 is wanted",
                "POST | /v1/back-ends/n1/join | {\"x\": 1} | 422 | field 'x' is unknown: there are none can be given",
                "POST | /v1/services/9/deploy | {} | 422 | service name",
                "POST | /v1/services/org.example.Foo/deploy | {\"version\": \"x\"} | 422 | version",
                "POST | /v1/nothing | {} | 404 | there is no /v1/nothing",
                "PUT | /v1/status | {} | 405 | PUT is not for /v1/status",
            })
    void aWrongRequestIsOneLine(String method, String path, String body, int status, String error) throws Exception {
        Reply reply = change(method, path, body, path.endsWith("n1") ? NODES : ADMIN);
        assertThat(reply.status()).as(reply.body()).isEqualTo(status);
        assertThat(reply.error()).startsWith(error).doesNotContain("\n");
    }

    @Test
    void aBodyIsBoundedAndJson() throws Exception {
        Reply large = change("PUT", "/v1/back-ends/n1", " ".repeat(Api.MAX_BODY_BYTES + 1), NODES);
        assertThat(large.status()).isEqualTo(413);
        Reply plain = send(request("/v1/back-ends/n1")
                .PUT(HttpRequest.BodyPublishers.ofString(BODY))
                .header("Authorization", "Bearer " + NODES));
        assertThat(plain.status()).isEqualTo(415);
    }

    @Test
    void webPagesAreRefused() throws Exception {
        Reply page = send(request("/v1/status").header("Origin", "http://example.net"));
        assertThat(page.status()).isEqualTo(403);
    }

    // ---- the document ----------------------------------------------------------------------------------------------

    @Test
    void everyOperationOfTheServerIsDescribedAndNoOther() throws Exception {
        Set<String> described = new TreeSet<>();
        map(document(), "paths")
                .forEach((path, operations) -> ((Map<?, ?>) operations)
                        .keySet()
                        .forEach(method -> described.add(method.toString().toUpperCase(Locale.ROOT) + " " + path)));
        assertThat(described).isEqualTo(new TreeSet<>(server.operations()));
        assertThat(described).hasSize(server.operations().size());
    }

    @Test
    void whoMayDoWhatStandsInTheDocument() throws Exception {
        map(document(), "paths")
                .forEach((path, operations) -> ((Map<?, ?>) operations).forEach((method, operation) -> {
                    Object security = ((Map<?, ?>) operation).get("security");
                    if (method.equals("get")) {
                        assertThat(security).as("%s", path).isNull();
                    } else {
                        String scheme = method.equals("put") ? "registration" : "token";
                        assertThat(security).as("%s", path).isEqualTo(List.of(Map.of(scheme, List.of())));
                    }
                }));
    }

    @Test
    void theDashboardIsServedAndToldWhatChanges() throws Exception {
        assertThat(get("/ui").body()).contains("data-server=\"director\"");
        HttpResponse<Stream<String>> stream =
                client.send(request("/v1/live").GET().build(), HttpResponse.BodyHandlers.ofLines());
        List<String> lines = stream.body()
                .filter(line -> line.startsWith("event:") || line.startsWith("data:"))
                .limit(3)
                .toList();
        stream.body().close();
        assertThat(lines.get(0)).isEqualTo("event: state");
        assertThat(lines.get(1)).contains("\"name\":\"front1\"", "\"backEnds\":{}", "the director has not started");
        assertThat(lines.get(2)).isEqualTo("event: delta");
    }

    @Test
    void everyViewHasTheFieldsOfItsSchema() throws Exception {
        Map<String, Class<? extends Record>> views = Map.ofEntries(
                Map.entry("Status", DirectorStatus.class),
                Map.entry("VirtualService", DirectorStatus.Service.class),
                Map.entry("Server", DirectorStatus.Server.class),
                Map.entry("Counters", Counters.class),
                Map.entry("BackEnd", DirectorStatus.Member.class),
                Map.entry("Totals", DirectorStatus.Totals.class),
                Map.entry("LiveCluster", LiveViews.LiveCluster.class),
                Map.entry("Load", org.tamanoir.cluster.Load.class),
                Map.entry("Traffic", Traffic.class),
                Map.entry("Registration", Registration.class),
                Map.entry("Welcome", Welcome.class),
                Map.entry("Served", Welcome.Served.class),
                Map.entry("Code", Welcome.Code.class),
                Map.entry("Publisher", CodeSources.Publisher.class),
                Map.entry("BackEnds", DirectorViews.BackEnds.class),
                Map.entry("Plan", DirectorViews.Planned.class),
                Map.entry("BackEndTold", DirectorViews.BackEnd.class),
                Map.entry("ServiceTold", DirectorViews.Service.class),
                Map.entry("Readiness", Views.Readiness.class),
                Map.entry("Health", Views.Health.class),
                Map.entry("Error", Views.Failure.class));
        Map<?, ?> schemas = map(map(document(), "components"), "schemas");
        for (Map.Entry<String, Class<? extends Record>> view : views.entrySet()) {
            List<String> fields = Arrays.stream(view.getValue().getRecordComponents())
                    .map(RecordComponent::getName)
                    .toList();
            Map<?, ?> properties = map(map(schemas, view.getKey()), "properties");
            assertThat(properties.keySet().stream().map(Object::toString).toList())
                    .as(view.getKey())
                    .isEqualTo(fields);
        }
        assertThat(schemas.keySet().stream().map(Object::toString).toList())
                .containsAll(views.keySet())
                .hasSize(views.size()
                        + List.of("DrainRequest", "VersionRequest", "Nothing").size());
    }

    @Test
    void everyReferenceOfTheDocumentLeadsSomewhere() throws Exception {
        String text = resource();
        for (String line : text.lines().toList()) {
            int at = line.indexOf("$ref:");
            while (at >= 0) {
                String path = line.substring(at).replaceFirst("\\$ref: ['\"]#/([^'\"]+)['\"].*", "$1");
                Map<?, ?> found = document();
                for (String step : path.split("/")) {
                    found = map(found, step);
                }
                at = line.indexOf("$ref:", at + 1);
            }
        }
        assertThat(get("/openapi.yaml").body()).isEqualTo(text);
    }

    private static String resource() throws IOException {
        try (InputStream in = DirectorServerTest.class.getResourceAsStream("/director-openapi.yaml")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static Map<?, ?> document() throws IOException {
        return (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(resource());
    }

    private static Map<?, ?> map(Map<?, ?> parent, String name) {
        Object child = parent.get(name);
        assertThat(child).as(name).isInstanceOf(Map.class);
        return (Map<?, ?>) Objects.requireNonNull(child);
    }
}

package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.anep.Packet;
import org.tamanoir.catalog.DefinedControl;
import org.tamanoir.catalog.Placement;
import org.tamanoir.catalog.ServiceDefinition;
import org.tamanoir.catalog.ServiceHealth;
import org.tamanoir.manager.Event;
import org.tamanoir.repository.Token;
import org.tamanoir.service.ControlHost;
import org.tamanoir.service.FailurePolicy;
import org.tamanoir.service.Service;
import org.tamanoir.service.ServiceConfig;
import org.tamanoir.service.ServiceControl;
import org.tamanoir.service.Verdict;

/** Controls of services, over HTTP. */
@Timeout(120)
class AdminControlTest {
    private static final String APPLICATION = "fedcba9876543210-token";
    private static final String TOLD = "org.example.Told";

    private static TestAdmin node;

    /** Shows what it was told last. */
    private static final class Knob implements ServiceControl {
        private final Map<String, Object> told = new LinkedHashMap<>();

        @Override
        public void init(ServiceConfig config, ControlHost host) {
            told.put("name", host.serviceName());
        }

        @Override
        public synchronized Map<String, Object> view() {
            return new LinkedHashMap<>(told);
        }

        @Override
        public synchronized Map<String, Object> change(String operation, Map<String, Object> arguments) {
            switch (operation) {
                case "note" -> told.put("note", arguments);
                case "fail" -> throw new IllegalStateException("as told");
                default -> throw new IllegalArgumentException("operation '" + operation + "': there is note\nand fail");
            }
            return Map.of("noted", arguments.size());
        }
    }

    private static final class Told extends Service {
        @Override
        public Verdict process(Packet packet) {
            return Verdict.FORWARD;
        }
    }

    @BeforeAll
    static void start() throws Exception {
        node = TestAdmin.with(settings(false, Set.of(TOLD, "org.example.Missing")), told());
    }

    private static AdminSettings settings(boolean readOnly, Set<String> services) {
        AdminToken all = new AdminToken("admin", TestAdmin.SECRET, AdminToken.Right.CHANGE);
        AdminToken application =
                new AdminToken("application", Token.of(APPLICATION, "this test"), AdminToken.Right.CONTROL, services);
        return new AdminSettings(TestAdmin.ANY, List.of(all, application), readOnly, Set.of(), null);
    }

    private static ServiceDefinition told() {
        return new ServiceDefinition(
                TOLD,
                "",
                Told::new,
                ServiceConfig.EMPTY,
                FailurePolicy.DROP,
                new ServiceHealth(),
                new Placement(),
                DefinedControl.of(Knob::new));
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    private static String path(String service, String operation) {
        return "/v1/services/" + service + "/control/" + operation;
    }

    private static TestAdmin.Reply asApplication(String method, String path, String body) throws Exception {
        return node.send(node.change(method, path, body).setHeader("Authorization", "Bearer " + APPLICATION));
    }

    @Test
    void whatItIsToldIsShownAndAnEvent() throws Exception {
        String body = "{\"list\": [1, 2.5, \"three\", true, null, {\"deep\": {}}]}";
        TestAdmin.Reply done = node.post(path(TOLD, "note"), body);
        assertThat(done.body()).isEqualTo("{\"noted\":1}");
        assertThat(node.get("/v1/services/" + TOLD + "/control").body())
                .isEqualTo("{\"name\":\"" + TOLD + "\",\"note\":" + body.replace(" ", "") + "}");
        assertThat(node.manager.events().after(0).stream()
                        .filter(event -> event.kind().equals("control"))
                        .map(Event::text))
                .contains("service " + TOLD + ": note");
    }

    @Test
    void aRefusalHasItsLines() throws Exception {
        TestAdmin.Reply refused = node.post(path(TOLD, "forget"), "{}");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.error()).isEqualTo("refused, and nothing is changed; 2 things are wrong");
        assertThat(refused.body()).contains("[\"operation 'forget': there is note\",\"and fail\"]");
    }

    @Test
    void aControlThatFailsIsNotTheCallersFault() throws Exception {
        TestAdmin.Reply failed = node.post(path(TOLD, "fail"), "{}");
        assertThat(failed.status()).isEqualTo(503);
        assertThat(failed.error())
                .isEqualTo("the control of service " + TOLD + ": it failed: java.lang.IllegalStateException: as told");
    }

    @Test
    void aServiceThatHasNoneAndOneThatIsNotThereAreToldApart() throws Exception {
        String ofMonitor = "/v1/services/" + TestAdmin.MONITOR + "/control";
        assertThat(node.get(ofMonitor).status()).isEqualTo(409);
        assertThat(node.get(ofMonitor).error()).contains("has no control");
        assertThat(node.post(ofMonitor + "/note", "{}").status()).isEqualTo(409);
        assertThat(node.get("/v1/services/org.example.Missing/control").status())
                .isEqualTo(404);
    }

    @Test
    void bodiesMayHaveAMebibyteAndNoMore() throws Exception {
        int around = "{\"text\":\"\"}".length();
        String most = "{\"text\":\"" + "x".repeat((1 << 20) - around) + "\"}";
        assertThat(node.post(path(TOLD, "note"), most).status()).isEqualTo(200);
        TestAdmin.Reply refused = node.post(path(TOLD, "note"), most + " ");
        assertThat(refused.status()).isEqualTo(413);
        assertThat(refused.error()).isEqualTo("the body is too large: 1048576 bytes are allowed");
        assertThat(changes(node, "change"))
                .as("what was admitted and not made is recorded, too")
                .anySatisfy(change -> assertThat(change.details())
                        .containsEntry("token", "admin")
                        .containsEntry("operation", "POST " + path(TOLD, "note"))
                        .containsEntry("outcome", "refused: " + refused.error()));
    }

    @Test
    void anOperationIsAWord() throws Exception {
        assertThat(node.post(path(TOLD, "No%20te"), "{}").status()).isEqualTo(422);
    }

    @Test
    void withoutATokenNothingIsChanged() throws Exception {
        TestAdmin.Reply refused = node.send(
                node.change("POST", path(TOLD, "note"), "{}").setHeader("Authorization", "Bearer of-somebody-else-0"));
        assertThat(refused.status()).isEqualTo(401);
    }

    // ---- tokens for applications -----------------------------------------------------------------------------------

    @Test
    void anApplicationChangesTheServicesOfItsRight() throws Exception {
        assertThat(asApplication("POST", path(TOLD, "note"), "{}").status()).isEqualTo(200);
        assertThat(asApplication("POST", path("org.example.Missing", "note"), "{}")
                        .status())
                .isEqualTo(404);
    }

    @Test
    void anApplicationChangesNoOtherService() throws Exception {
        TestAdmin.Reply refused = asApplication("POST", path(TestAdmin.MONITOR, "note"), "{}");
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.error()).contains("the token is not for service " + TestAdmin.MONITOR);
    }

    @Test
    void anEndOfANameIsTheServiceThatItFinds() throws Exception {
        assertThat(asApplication("POST", path("Told", "note"), "{\"by\": \"end\"}")
                        .status())
                .isEqualTo(200);
        assertThat(node.get("/v1/services/" + TOLD + "/control").body()).contains("{\"by\":\"end\"}");
        assertThat(changes(node, "change-control"))
                .anySatisfy(change -> assertThat(change.details())
                        .containsEntry("operation", "POST " + path(TOLD, "note"))
                        .containsEntry("token", "application")
                        .containsEntry("outcome", "done"));
    }

    /** The name that is typed is the right's, the service that it finds is not. */
    @Test
    void aRightForAnAbsentServiceChangesNoneWhoseNameEndsLikeIt() throws Exception {
        try (TestAdmin other = TestAdmin.with(settings(false, Set.of("example.Told")), told())) {
            TestAdmin.Reply refused = other.send(other.change("POST", path("example.Told", "note"), "{}")
                    .setHeader("Authorization", "Bearer " + APPLICATION));
            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.error()).contains("the token is not for service " + TOLD);
        }
    }

    @Test
    void anApplicationReadsItsOwnServicesAlone() throws Exception {
        AdminSettings beyond = new AdminSettings(
                new InetSocketAddress("0.0.0.0", 0),
                settings(false, Set.of(TOLD)).tokens(),
                false,
                Set.of(),
                null);
        try (TestAdmin other = TestAdmin.with(beyond, told())) {
            for (String own : List.of(TOLD, "Told", TOLD + "/control", TOLD + "/settings")) {
                assertThat(other.send(other.request("/v1/services/" + own)
                                        .header("Authorization", "Bearer " + APPLICATION))
                                .status())
                        .as(own)
                        .isEqualTo(200);
            }
            for (String path : List.of(
                    "/v1/services",
                    "/v1/services/" + TestAdmin.MONITOR,
                    "/v1/services/Monitor/control",
                    "/v1/config",
                    "/v1/events",
                    "/ui")) {
                TestAdmin.Reply refused =
                        other.send(other.request(path).header("Authorization", "Bearer " + APPLICATION));
                assertThat(refused.status()).as(path).isEqualTo(403);
                assertThat(refused.error()).contains("token application reads its own services alone");
            }
        }
    }

    /** Events and lines of one kind are bounded: what an application does must not push an operator's changes out. */
    @Test
    void whatAnOperatorDoesBehindManyCallsOfAnApplicationIsRecorded() throws Exception {
        String route = "/v1/routes/10.9.0.0%2F16";
        try (TestAdmin other = TestAdmin.with(settings(false, Set.of(TOLD)), told())) {
            for (int i = 0; i < 140; i++) {
                TestAdmin.Reply refused = other.send(other.change("POST", path(TOLD, "forget"), "{}")
                        .setHeader("Authorization", "Bearer " + APPLICATION));
                assertThat(refused.status()).isEqualTo(422);
            }
            assertThat(other.put(route, "{\"address\": \"127.0.0.1\", \"port\": 3322}")
                            .status())
                    .isEqualTo(200);
            assertThat(other.change("DELETE", route).status()).isEqualTo(200);
            assertThat(changes(other, "change"))
                    .extracting(change -> change.details().get("operation"))
                    .containsExactly("PUT " + route, "DELETE " + route);
        }
    }

    private static List<Event> changes(TestAdmin of, String kind) {
        return of.manager.events().after(0).stream()
                .filter(event -> event.kind().equals(kind))
                .toList();
    }

    @Test
    void anApplicationChangesNothingElse() throws Exception {
        assertThat(asApplication("PUT", "/v1/routes", "{\"routes\": []}").status())
                .isEqualTo(401);
        assertThat(asApplication("POST", "/v1/services/" + TOLD + "/release", "{}")
                        .status())
                .isEqualTo(401);
    }

    @Test
    void readOnlyRefusesApplicationsToo() throws Exception {
        try (TestAdmin other = TestAdmin.with(settings(true, Set.of(TOLD)), told())) {
            for (String token : List.of(APPLICATION, TestAdmin.TOKEN)) {
                TestAdmin.Reply refused = other.send(
                        other.change("POST", path(TOLD, "note"), "{}").setHeader("Authorization", "Bearer " + token));
                assertThat(refused.status()).isEqualTo(403);
                assertThat(refused.error()).contains("read-only");
            }
        }
    }
}

package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.cluster.MembershipStatus;
import org.tamanoir.cluster.config.Welcome;
import org.tamanoir.gateway.Gateway;
import org.tamanoir.gateway.Octets;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import tools.jackson.databind.JsonNode;

/** The document and the server say the same: every operation is called, and its answer held against its schema. */
@Timeout(120)
class OpenApiTest {
    private static final Route ROUTE = new Route(
            Prefix.parse("10.0.0.0/8"),
            new NextHop(TestAdmin.ANY.getAddress(), 1, NextHop.Transport.SAME, NextHop.Kind.HOST));

    private static TestAdmin node;
    private static Map<?, ?> document;

    @BeforeAll
    static void start() throws Exception {
        node = TestAdmin.start(new AdminSettings(TestAdmin.ANY, TestAdmin.SECRET, false, null), ROUTE);
        node.manager.feed(node.table.feed(Map.of("default", ROUTE.nextHop())));
        String served = node.get("/openapi.yaml").body();
        document = (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(served);
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    @Test
    void everyOperationOfTheServerIsDescribedAndNoOther() {
        Set<String> described = new TreeSet<>();
        map(document, "paths")
                .forEach((path, operations) -> ((Map<?, ?>) operations)
                        .keySet()
                        .forEach(method -> described.add(method.toString().toUpperCase(Locale.ROOT) + " " + path)));
        assertThat(described).isEqualTo(new TreeSet<>(node.server.operations()));
        assertThat(described).hasSize(node.server.operations().size());
    }

    @Test
    void everyQuestionIsAnsweredAsDescribed() throws Exception {
        int answered = 0;
        for (Map.Entry<?, ?> path : map(document, "paths").entrySet()) {
            Map<?, ?> operation = (Map<?, ?>) ((Map<?, ?>) path.getValue()).get("get");
            if (operation == null || List.of("drops", "capture", "live").contains(operation.get("operationId"))) {
                continue; // AdminLiveTest and DashboardTest ask these: they do not end.
            }
            TestAdmin.Reply reply = node.get(concrete(path.getKey().toString()));
            assertAsDescribed(operation, reply);
            answered++;
        }
        assertThat(answered).isGreaterThan(15);
    }

    @Test
    void aQueryHasTheNamesThatAreDescribedEachOnceAndNoOther() throws Exception {
        for (Map.Entry<?, ?> path : map(document, "paths").entrySet()) {
            for (Map.Entry<?, ?> method : ((Map<?, ?>) path.getValue()).entrySet()) {
                Map<?, ?> operation = (Map<?, ?>) method.getValue();
                String asked = concrete(path.getKey().toString());
                assertQueryIsRefused(operation, method.getKey(), asked + "?nosuch=1", "'nosuch'");
                for (String name : queryNames(operation)) {
                    assertQueryIsRefused(
                            operation,
                            method.getKey(),
                            asked + "?" + name + "=1&" + name + "=1",
                            "'" + name + "' is given 2 times: give it once");
                }
            }
        }
        assertThat(node.get("/v1/services?limti=5").error())
                .isEqualTo("query parameter 'limti' is not known here: there are match, limit, offset; "
                        + "did you mean limit?");
        assertThat(node.get("/v1/node?limit=5").error()).endsWith("leave it out");
        assertThat(node.get("/v1/services?" + "x".repeat(3000)).error().length())
                .isLessThan(300);
    }

    private static void assertQueryIsRefused(Map<?, ?> operation, Object method, String path, String part)
            throws Exception {
        TestAdmin.Reply refused = node.send(node.change(method.toString().toUpperCase(Locale.ROOT), path, "{}"));
        assertThat(refused.status()).as("%s %s", method, path).isEqualTo(400);
        assertThat(refused.error()).contains("query parameter ", part);
        assertAsDescribed(operation, refused);
    }

    private static List<String> queryNames(Map<?, ?> operation) {
        List<String> names = new ArrayList<>();
        for (Object each : operation.get("parameters") instanceof List<?> all ? all : List.of()) {
            Map<?, ?> parameter = resolved((Map<?, ?>) each);
            if ("query".equals(parameter.get("in"))) {
                names.add(parameter.get("name").toString());
            }
        }
        return names;
    }

    @Test
    void everyChangeIsAnsweredAsDescribed() throws Exception {
        Map<String, String> bodies = Map.of(
                "putRoute", "{\"address\": \"127.0.0.1\", \"port\": 3322}",
                "replaceRoutes", "{\"routes\": [{\"prefix\": \"10.0.0.0/8\"}, {\"prefix\": \"::/0\"}]}",
                "place", "{\"level\": \"jvm\"}",
                "changeQos", "{\"classes\": [{\"name\": \"video\", \"class-of-service\": [0, \"4-7\"]}]}",
                "trace", "{\"destination\": \"192.0.2.1\", \"timeoutSeconds\": 20}",
                "addKey", "{\"secret\": \"" + "5a".repeat(32) + "\"}",
                "revoke", "{\"key\": \"0123456789abcdef\"}");
        Set<Object> succeeded = new HashSet<>();
        TestAdmin.quarantine(node);
        for (Map.Entry<?, ?> path : map(document, "paths").entrySet()) {
            for (String method : List.of("put", "post", "delete")) {
                Map<?, ?> operation = (Map<?, ?>) ((Map<?, ?>) path.getValue()).get(method);
                if (operation != null) {
                    String body = bodies.getOrDefault(
                            String.valueOf(operation.get("operationId")), method.equals("delete") ? "" : "{}");
                    TestAdmin.Reply reply = node.send(node.change(
                            method.toUpperCase(Locale.ROOT),
                            concrete(path.getKey().toString()),
                            body));
                    assertAsDescribed(operation, reply);
                    if (reply.status() == 200) {
                        succeeded.add(operation.get("operationId"));
                    }
                }
            }
        }
        assertThat(succeeded)
                .contains(
                        "addKey",
                        "removeKey",
                        "putRoute",
                        "replaceRoutes",
                        "removeRoute",
                        "release",
                        "place",
                        "changeQos",
                        "qosOff",
                        "trace");
    }

    @Test
    void schedulingIsAnsweredAsDescribed() throws Exception {
        String qos = "{\"classes\": [{\"name\": \"a\", \"class-of-service\": [0, \"4-7\"]}], "
                + "\"rules\": [{\"stream\": 1, \"class\": \"a\"}], \"pre\": {\"options\": {}}, "
                + "\"links\": [{\"name\": \"b\", \"rate\": 1, \"discipline\": \"pq\", \"options\": {\"top-rate\": \"8kbit/s\", \"top-burst\": 256}}]}";
        assertThat(node.put("/v1/qos", qos).status()).isEqualTo(200);
        for (String path : List.of("/v1/qos", "/v1/qos/status")) {
            Map<?, ?> operation = map(map(map(document, "paths"), path), "get");
            TestAdmin.Reply reply = node.get(path);
            assertAsDescribed(operation, reply);
            assertThat(reply.body()).contains("\"b\"");
        }
        TestAdmin.Reply refused = node.put("/v1/qos", "{\"classes\": 1}");
        assertAsDescribed(map(map(map(document, "paths"), "/v1/qos"), "put"), refused);
        node.change("DELETE", "/v1/qos");
    }

    @Test
    void aGatewayIsAnsweredAsDescribed() throws Exception {
        Gateway gateway =
                new Gateway(TestAdmin.ANY, TestAdmin.ANY, new Octets(), ServiceKey.of(TestAdmin.MONITOR), 3, 1);
        try (TestAdmin carrying = TestAdmin.carrying(gateway)) {
            TestAdmin.Reply reply = carrying.get("/v1/gateways");
            assertAsDescribed(map(map(map(document, "paths"), "/v1/gateways"), "get"), reply);
            assertThat(reply.body())
                    .contains("\"service\":\"" + TestAdmin.MONITOR + "\"", "\"classOfService\":3", "\"total\":1");
        }
    }

    @Test
    void whatChangesNeedsATokenInTheDocumentAndWhatAsksDoesNot() {
        map(document, "paths")
                .forEach((path, operations) -> ((Map<?, ?>) operations).forEach((method, operation) -> {
                    Object security = ((Map<?, ?>) operation).get("security");
                    if (!method.equals("get")) {
                        assertThat(security).as("%s %s", method, path).isEqualTo(List.of(Map.of("token", List.of())));
                    } else if (!path.equals("/v1/capture")) {
                        assertThat(security).as("%s %s", method, path).isNull();
                    }
                }));
    }

    @Test
    void viewsThatAreOnlyStreamedHaveTheFieldsOfTheirSchemas() {
        assertThat(fields(Views.Drop.class)).isEqualTo(propertyNames("Drop"));
        assertThat(fields(Views.Missed.class)).isEqualTo(propertyNames("Missed"));
        assertThat(fields(LiveViews.Live.class)).isEqualTo(propertyNames("Live"));
        assertThat(fields(LiveViews.Busy.class)).isEqualTo(propertyNames("Busy"));
        assertThat(fields(Views.Service.class)).isEqualTo(propertyNames("Service"));
        assertThat(fields(Views.Instance.class)).isEqualTo(propertyNames("Instance"));
        assertThat(fields(Views.Stream.class)).isEqualTo(propertyNames("Stream"));
        assertThat(fields(Views.Revoked.class)).isEqualTo(propertyNames("Revoked"));
        assertThat(fields(Views.RouteCount.class)).isEqualTo(propertyNames("RouteCount"));
        assertThat(fields(LevelViews.OneOffload.class)).isEqualTo(propertyNames("Offload"));
        assertThat(fields(LevelViews.OnePolicy.class)).isEqualTo(propertyNames("Policy"));
        assertThat(fields(LevelViews.Below.class)).isEqualTo(propertyNames("Below"));
        assertThat(fields(QosViews.Dropped.class)).isEqualTo(propertyNames("QosDropped"));
        assertThat(fields(MembershipStatus.class)).isEqualTo(propertyNames("Cluster"));
        assertThat(fields(MembershipStatus.DirectorLink.class)).isEqualTo(propertyNames("ClusterDirector"));
        assertThat(fields(MembershipStatus.HostState.class)).isEqualTo(propertyNames("ClusterHost"));
        assertThat(fields(MembershipStatus.Wanted.class)).isEqualTo(propertyNames("ClusterWanted"));
        assertThat(fields(MembershipStatus.Code.class)).isEqualTo(propertyNames("ClusterCode"));
        assertThat(fields(Welcome.Served.class)).isEqualTo(propertyNames("ClusterServed"));
    }

    private static List<String> fields(Class<? extends Record> view) {
        return java.util.Arrays.stream(view.getRecordComponents())
                .map(java.lang.reflect.RecordComponent::getName)
                .toList();
    }

    private static List<String> propertyNames(String schema) {
        return map(map(map(document, "components"), "schemas"), schema).get("properties") instanceof Map<?, ?> map
                ? map.keySet().stream().map(Object::toString).toList()
                : List.of();
    }

    private static String concrete(String path) {
        return path.replace("{name}", TestAdmin.MONITOR)
                .replace("{id}", "7")
                .replace("{operation}", "note")
                .replace("{version}", Queries.NO_VERSION)
                .replace("{prefix}", "10.0.0.0%2F8");
    }

    private static void assertAsDescribed(Map<?, ?> operation, TestAdmin.Reply reply) throws IOException {
        String id = String.valueOf(operation.get("operationId"));
        Map<?, ?> response = resolved(map(operation, "responses").get(Integer.toString(reply.status())));
        assertThat(response)
                .as("%s answers %d: %s", id, reply.status(), reply.body())
                .isNotNull();
        String type = reply.contentType().split(";")[0];
        Map<?, ?> content = map(response, "content");
        assertThat(content.containsKey(type)).as("%s answers with %s", id, type).isTrue();
        if (type.equals("application/json")) {
            assertFits(id, map(map(content, type), "schema"), reply.json());
        } else {
            assertThat(reply.body()).as("%s", id).isNotEmpty();
        }
    }

    /** Every field that is there is described, every described one is there, and has the type that is said. */
    private static void assertFits(String place, Map<?, ?> described, JsonNode value) {
        Map<?, ?> schema = resolved(described);
        if (schema.get("oneOf") instanceof List<?> choices) {
            if (!value.isNull()) {
                assertFits(place, (Map<?, ?>) choices.get(0), value);
            }
            return;
        }
        Object types = schema.get("type");
        List<?> allowed = types instanceof List<?> several ? several : List.of(types);
        assertThat(allowed.contains(type(value))
                        || allowed.contains("number") && type(value).equals("integer"))
                .as("%s is %s, described as %s", place, value, allowed)
                .isTrue();
        if (schema.get("enum") instanceof List<?> words) {
            assertThat(words.contains(value.asString()))
                    .as("%s: %s", place, value)
                    .isTrue();
        }
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            List<String> names = new ArrayList<>(value.propertyNames());
            assertThat(names)
                    .as(place)
                    .containsExactlyInAnyOrderElementsOf(
                            properties.keySet().stream().map(Object::toString).toList());
            assertThat(schema.get("required"))
                    .as("%s: required", place)
                    .isEqualTo(new ArrayList<>(properties.keySet()));
            properties.forEach(
                    (name, field) -> assertFits(place + "." + name, (Map<?, ?>) field, value.get(name.toString())));
        } else if (schema.get("additionalProperties") instanceof Map<?, ?> each) {
            value.forEach(item -> assertFits(place + ".*", each, item));
        } else if (schema.get("items") instanceof Map<?, ?> each) {
            value.forEach(item -> assertFits(place + "[]", each, item));
        }
    }

    private static String type(JsonNode value) {
        return switch (value.getNodeType()) {
            case OBJECT -> "object";
            case ARRAY -> "array";
            case STRING -> "string";
            case BOOLEAN -> "boolean";
            case NULL -> "null";
            default -> value.isIntegralNumber() ? "integer" : "number";
        };
    }

    /** Follows a reference. */
    private static Map<?, ?> resolved(@Nullable Object schema) {
        assertThat(schema).isInstanceOf(Map.class);
        Map<?, ?> found = (Map<?, ?>) Objects.requireNonNull(schema);
        if (found.get("$ref") instanceof String reference) {
            found = document;
            for (String step : reference.substring(2).split("/")) {
                found = map(found, step);
            }
        }
        return found;
    }

    private static Map<?, ?> map(Map<?, ?> parent, String name) {
        Object child = parent.get(name);
        assertThat(child).as(name).isInstanceOf(Map.class);
        return (Map<?, ?>) Objects.requireNonNull(child);
    }

    @Test
    void theServedDocumentIsTheResource() throws Exception {
        HttpResponse<byte[]> served =
                node.client.send(node.request("/openapi.yaml").build(), HttpResponse.BodyHandlers.ofByteArray());
        try (InputStream in = OpenApiTest.class.getResourceAsStream("/openapi.yaml")) {
            assertThat(served.body()).isEqualTo(in.readAllBytes());
        }
    }
}

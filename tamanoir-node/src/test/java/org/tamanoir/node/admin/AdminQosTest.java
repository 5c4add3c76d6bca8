package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.qdisc.QosConfig;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Quality of service through the admin API. */
@Timeout(120)
class AdminQosTest {
    private static final String OFF =
            "{\"classes\":[],\"default-class\":null,\"rules\":[],\"pre\":null,\"links\":[],\"points\":null}";
    private static final String BOTH = """
        {"classes": [
           {"name": "video", "class-of-service": [0, 1, "4-7"], "weight": 70, "limit-bytes": "2MiB"},
           {"name": "rest", "weight": 30, "limit-packets": 500, "limit-bytes": 131072}],
         "rules": [{"source": "10.0.0.0/8", "stream": 17, "class": "video"}],
         "pre": {"processors": 2, "quantum": "250us"},
         "links": [{"name": "uplink", "rate": "10Mbit/s", "discipline": "wfq", "excess": "drop"},
                   {"name": "slow", "next-hops": ["10.0.9.0/24"], "rate": 1500, "options": {}}]}\
        """;

    private TestAdmin node;

    @BeforeEach
    void start() throws IOException {
        node = TestAdmin.start();
    }

    @AfterEach
    void stop() {
        node.close();
    }

    @Test
    void itIsOffUnlessItIsSet() throws Exception {
        assertThat(node.get("/v1/qos").body()).isEqualTo(OFF);
        assertThat(node.get("/v1/qos/status").body()).isEqualTo("{\"points\":[]}");
    }

    @Test
    void whatIsSetIsShownAsItIsTakenAgain() throws Exception {
        TestAdmin.Reply set = node.put("/v1/qos", BOTH);
        assertThat(set.status()).as(set.body()).isEqualTo(200);
        JsonNode shown = node.get("/v1/qos").json();
        assertThat(shown).isEqualTo(set.json());
        assertThat(shown.get("default-class").asString()).isEqualTo("rest");
        assertThat(shown.get("classes").get(0).toString())
                .isEqualTo("{\"name\":\"video\",\"class-of-service\":[0,1,\"4-7\"],\"weight\":70,"
                        + "\"limit-packets\":1000,\"limit-bytes\":\"2MiB\",\"dscp\":0}");
        assertThat(shown.get("links").get(1).toString())
                .isEqualTo("{\"name\":\"slow\",\"next-hops\":[\"10.0.9.0/24\"],\"rate\":\"12kbit/s\","
                        + "\"burst\":\"65535\",\"discipline\":\"wfq\",\"excess\":\"wait\",\"options\":{}}");
        QosConfig before = node.manager.qos();

        ObjectNode edited = (ObjectNode) shown;
        edited.put("default-class", "video");
        assertThat(node.put("/v1/qos", edited.toString()).json()).isEqualTo(edited);
        assertThat(node.put("/v1/qos", shown.toString()).json()).isEqualTo(shown);
        assertThat(node.manager.qos())
                .isEqualTo(new QosConfig(before.classes(), "video", before.rules(), before.pre(), before.links()));
    }

    @Test
    void pointsAndClassesAreShownInTheirOrder() throws Exception {
        node.put("/v1/qos", BOTH);
        List<String> names = new ArrayList<>();
        for (JsonNode point : node.get("/v1/qos/status").json().get("points")) {
            for (JsonNode each : point.get("classes")) {
                names.add(point.get("name").asString() + "/" + each.get("name").asString());
                assertThat(each.get("waiting").get("counts").size()).isEqualTo(24);
                assertThat(each.get("waiting").get("p50Seconds").isNull()).isTrue();
            }
        }
        assertThat(names)
                .containsExactly("pre/video", "pre/rest", "uplink/video", "uplink/rest", "slow/video", "slow/rest");
    }

    @Test
    void itIsTurnedOff() throws Exception {
        node.put("/v1/qos", BOTH);
        TestAdmin.Reply off = node.change("DELETE", "/v1/qos");
        assertThat(off.status()).isEqualTo(200);
        assertThat(off.body()).isEqualTo(OFF);
        assertThat(node.get("/v1/qos").body()).isEqualTo(OFF);
        node.put("/v1/qos", BOTH);
        assertThat(node.put("/v1/qos", "{}").body()).isEqualTo(OFF);
        assertThat(node.manager.qos()).isEqualTo(QosConfig.OFF);
    }

    @Test
    void everyErrorIsNamedAndNothingIsChanged() throws Exception {
        node.put("/v1/qos", BOTH);
        TestAdmin.Reply refused = node.put("/v1/qos", """
            {"classes": [{"name": "a", "weight": 0}, {"name": "b c", "colour": 1}],
             "default-class": "x",
             "pre": {"discipline": "wqf", "quantum": 5},
             "links": [{"name": "l", "rate": true}, 7]}\
            """);
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.error())
                .isEqualTo("the configuration is refused and nothing is changed; 8 things are wrong");
        List<String> problems = new ArrayList<>();
        refused.json().get("problems").forEach(problem -> problems.add(problem.asString()));
        assertThat(problems)
                .contains(
                        "qos.classes[0].weight: 0 is out of bounds: 1 to 1000000 are allowed",
                        "qos.classes[1]: class 'b c': a name has 1 to 63 lower-case letters, digits and hyphens",
                        "qos.default-class: 'x': there is no class of this name, there are [a, b c]",
                        "qos.pre.quantum: '5' is no duration: a whole number with us, ms or s is wanted; add the unit, "
                                + "as in 5ms",
                        "qos.links[1]: '7' stands where a mapping (key: value) is wanted")
                .anyMatch(line -> line.startsWith("qos.pre: "))
                .anyMatch(line -> line.startsWith("qos.classes[1].colour: unknown key; "))
                .anyMatch(line -> line.startsWith("qos.links[0].rate: 'true' is no rate"))
                .hasSize(8);
        assertThat(node.manager.qos().classes().get(0).name()).isEqualTo("video");

        TestAdmin.Reply one = node.put("/v1/qos", "{\"classes\": [{\"name\": \"a\", \"weight\": -1}]}");
        assertThat(one.error()).contains("nothing is changed; qos.classes[0].weight: -1 is out of bounds");
        assertThat(one.error()).doesNotContain("\n");
    }

    /** As in a file. */
    @Test
    void aRuleForAServiceThatNobodyHasIsRefused() throws Exception {
        String rule = "{\"classes\": [{\"name\": \"a\"}], \"default-class\": \"a\", \"rules\": "
                + "[{\"service\": \"org.example.Gone:1.0\", \"class\": \"a\"}]}";
        TestAdmin.Reply refused = node.put("/v1/qos", rule);
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.error())
                .contains("nothing is changed; qos.rules: a rule names service org.example.Gone, which nobody has: ");
        assertThat(node.get("/v1/qos").body()).isEqualTo(OFF);
        String there = rule.replace("org.example.Gone:1.0", AdminQosTest.class.getName());
        assertThat(node.put("/v1/qos", there).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "{\"classes\": [}", "classes: []", "{\"pre\": null, \"pre\": null}", "{} {}"})
    void whatIsNoJsonObjectIsRefused(String body) throws Exception {
        int status = node.put("/v1/qos", body).status();
        assertThat(status).isEqualTo(body.isEmpty() ? 200 : 400);
    }

    @Test
    void whatIsTooLargeOrNestsTooDeepIsRefused() throws Exception {
        String large = "{\"default-class\": \"" + "x".repeat(Api.MAX_BODY_BYTES) + "\"}";
        assertThat(node.put("/v1/qos", large).status()).isEqualTo(413);
        String deep = "{\"classes\": " + "[".repeat(30_000) + "]".repeat(30_000) + "}";
        assertThat(node.put("/v1/qos", deep).status()).isEqualTo(400);
        String nested = "{\"classes\": " + "[".repeat(400) + "]".repeat(400) + "}";
        assertThat(node.put("/v1/qos", nested).status()).isEqualTo(422);
    }

    @Test
    void changesNeedTheToken() throws Exception {
        for (String method : List.of("PUT", "DELETE")) {
            TestAdmin.Reply without = node.send(node.request("/v1/qos")
                    .header("Content-Type", "application/json")
                    .method(method, java.net.http.HttpRequest.BodyPublishers.ofString(BOTH)));
            assertThat(without.status()).as(method).isEqualTo(401);
        }
        assertThat(node.send(node.change("PUT", "/v1/qos", BOTH).setHeader("Authorization", "Bearer wrong"))
                        .status())
                .isEqualTo(401);
        assertThat(node.send(node.change("PUT", "/v1/qos", BOTH).setHeader("Content-Type", "text/plain"))
                        .status())
                .isEqualTo(415);
        assertThat(node.manager.qos()).isEqualTo(QosConfig.OFF);
    }

    @Test
    void everyChangeIsAnEvent() throws Exception {
        long before = node.manager.events().catchUp();
        node.put("/v1/qos", BOTH);
        node.put("/v1/qos", "{\"classes\": 1}");
        node.change("DELETE", "/v1/qos");
        JsonNode events = node.get("/v1/events?after=" + before).json().get("events");
        assertThat(events.valueStream()
                        .filter(event -> event.get("kind").asString().equals("qos"))
                        .map(event -> event.get("text").asString()))
                .containsExactly(
                        "qos changed: classes video, rest; before processing wfq on 2 processors; "
                                + "link uplink wfq at 1250000 bytes/s; link slow wfq at 1500 bytes/s",
                        "qos changed: off");
    }

    @Test
    void metricsHaveEveryClassAtEveryPointAndForgetPointsThatAreGone() throws Exception {
        assertThat(node.get("/metrics").body()).doesNotContain("tamanoir_qos_");
        node.put("/v1/qos", BOTH);
        assertThat(node.get("/metrics").body())
                .contains("tamanoir_qos_waiting_packets{class=\"video\",point=\"pre\"} 0.0")
                .contains("tamanoir_qos_waiting_turns{class=\"rest\",point=\"pre\"} 0.0")
                .contains("tamanoir_qos_packets_served_total{class=\"rest\",point=\"uplink\"} 0.0")
                .contains("tamanoir_qos_packets_dropped_total{class=\"rest\",point=\"slow\",reason=\"QUEUE_FULL\"} 0.0")
                .contains("tamanoir_qos_waiting_seconds_bucket{class=\"rest\",point=\"slow\",le=\"+Inf\"} 0");
        node.change("DELETE", "/v1/qos");
        assertThat(node.get("/metrics").body()).doesNotContain("tamanoir_qos_");
    }
}

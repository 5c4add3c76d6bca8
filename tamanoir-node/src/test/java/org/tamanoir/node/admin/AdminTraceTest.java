package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.Route;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;

/** One packet that an operator sends through the node. */
@Timeout(120)
class AdminTraceTest {
    private TestAdmin node;

    @BeforeEach
    void start() throws IOException {
        node = TestAdmin.start(
                new AdminSettings(TestAdmin.ANY, TestAdmin.SECRET, false, null),
                new Route(
                        Prefix.parse("127.0.0.0/8"), new NextHop(null, 0, NextHop.Transport.SAME, NextHop.Kind.HOST)));
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private static List<String> stages(JsonNode trace) {
        List<String> stages = new ArrayList<>();
        trace.get("steps").forEach(step -> stages.add(step.get("stage").asString()));
        return stages;
    }

    @Test
    void aPacketCrossesTheNodeAndItsWayIsTold() throws Exception {
        try (DatagramSocket receiver = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            receiver.setSoTimeout((int) Waiting.PATIENCE.toMillis());
            JsonNode trace = node.post(
                            "/v1/trace",
                            "{\"destination\": \"127.0.0.1\", \"port\": " + receiver.getLocalPort()
                                    + ", \"service\": \""
                                    + TestAdmin.MONITOR + "\", \"classOfService\": 3, \"source\": \"127.0.0.9\","
                                    + " \"payload\": \"68656c6c6f\", \"timeoutSeconds\": 20}")
                    .json();
            assertThat(trace.get("outcome").asString()).as("%s", trace).isEqualTo("sent");
            assertThat(stages(trace))
                    .containsExactly(
                            "reception",
                            "service",
                            "level",
                            "inbox",
                            "turn",
                            "process",
                            "route",
                            "hops",
                            "link",
                            "end");
            DatagramPacket arrived = new DatagramPacket(new byte[200], 200);
            receiver.receive(arrived);
            assertThat(arrived.getLength()).isEqualTo(trace.get("bytes").asInt());
            assertThat(new String(arrived.getData(), 0, arrived.getLength(), StandardCharsets.US_ASCII))
                    .endsWith("hello");
        }
        JsonNode traffic = node.get("/v1/traffic").json();
        assertThat(traffic.get("packetsMade").asInt()).isEqualTo(1);
        assertThat(traffic.get("packetsOut").asInt()).isEqualTo(1);
    }

    @Test
    void aPacketThatEndsHereHasItsReason() throws Exception {
        JsonNode trace = node.post("/v1/trace", "{\"destination\": \"10.0.0.1\", \"timeoutSeconds\": 20}")
                .json();
        assertThat(trace.get("outcome").asString()).as("%s", trace).isEqualTo("dropped");
        assertThat(trace.get("dropReason").asString()).isEqualTo("NO_ROUTE");
        assertThat(trace.get("waits").isNull()).isTrue();
    }

    @Test
    void whatNoPacketCanHaveIsRefusedWithAllThatIsWrong() throws Exception {
        TestAdmin.Reply reply = node.post(
                "/v1/trace",
                "{\"destination\": \"localhost\", \"port\": 0, \"classOfService\": 256, \"payload\": \"6\","
                        + " \"timeoutSeconds\": 61, \"to\": 1}");
        assertThat(reply.status()).isEqualTo(422);
        assertThat(reply.error())
                .contains("destination 'localhost': an IPv4 or IPv6 address is wanted")
                .contains("port 0:", "classOfService 256:", "payload: two hexadecimal digits", "timeoutSeconds 61:")
                .contains("field 'to' is unknown");
        assertThat(node.get("/v1/traffic").json().get("packetsMade").asInt()).isZero();
    }

    @Test
    void nobodyWithoutTheTokenSendsOne() throws Exception {
        TestAdmin.Reply reply = node.send(node.request("/v1/trace")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{}")));
        assertThat(reply.status()).isEqualTo(401);
        assertThat(node.get("/v1/traffic").json().get("packetsMade").asInt()).isZero();
    }
}

package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.IOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.node.config.Endpoint;
import tools.jackson.databind.JsonNode;

@Timeout(120)
class AdminReadTest {
    /** Tamanoir's Type ID, destination 10.0.2.7, no service, payload "hello". */
    private static final byte[] PACKET =
            HexFormat.of().parseHex("0100544d00050019" + "00020003000000010a000207" + "68656c6c6f");

    private static TestAdmin node;

    @BeforeAll
    static void start() throws IOException {
        node = TestAdmin.start();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    @Test
    void theNodeTellsItsAddressesAndThatItIsReady() throws Exception {
        JsonNode answer = node.get("/v1/node").json();
        assertThat(answer.get("tcp").get(0).asString())
                .isEqualTo(Endpoint.toString(node.environment.tcpAddresses().get(0)));
        assertThat(answer.get("udp").size()).isOne();
        assertThat(answer.get("admin").asString()).isEqualTo(Endpoint.toString(node.server.address()));
        assertThat(answer.get("ready").asBoolean()).isTrue();
        assertThat(answer.get("changes").asBoolean()).isTrue();
        assertThat(answer.get("uptimeSeconds").asDouble()).isPositive();
    }

    @Test
    void aServiceOfTheClassPathIsListedByItsNameAndWithoutAVersion() throws Exception {
        assertThat(node.get("/v1/services").json().get("total").asInt()).isOne();
        JsonNode one = node.get("/v1/services/" + TestAdmin.MONITOR + "/-").json();
        assertThat(one.get("name").asString()).isEqualTo(TestAdmin.MONITOR);
        assertThat(one.get("state").asString()).isEqualTo("running");
        assertThat(one.get("current").asBoolean()).isTrue();
        assertThat(one.get("key").asString()).matches("[0-9a-f]{16}");
    }

    @Test
    void whatIsNotThereIsAnErrorOfOneLineThatSaysWhereToLook() throws Exception {
        TestAdmin.Reply unknown = node.get("/v1/services/org.example.None");
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.error()).contains("org.example.None", "GET /v1/services");
        assertThat(node.get("/v1/services/" + TestAdmin.MONITOR + "/1.0").status())
                .isEqualTo(404);
        TestAdmin.Reply path = node.get("/v1/nothing");
        assertThat(path.status()).isEqualTo(404);
        assertThat(path.error()).contains("/v1/nothing", "/openapi.yaml");
        TestAdmin.Reply method = node.change("DELETE", "/v1/node");
        assertThat(method.status()).isEqualTo(405);
        assertThat(method.error()).contains("DELETE");
        assertThat(node.get("/v1/services/not%20a%20name").status()).isEqualTo(422);
    }

    @Test
    void listsHavePagesAndAreLookedThrough() throws Exception {
        List<Socket> open = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                Socket socket = new Socket();
                socket.connect(node.environment.tcpAddresses().get(0));
                socket.getOutputStream().write(PACKET);
                open.add(socket);
            }
            eventually().until(() -> node.get("/v1/streams").json().get("total").asInt() == 3);
            Set<String> peers = new TreeSet<>();
            for (int offset = 0; offset < 4; offset++) {
                JsonNode page = node.get("/v1/streams?limit=1&offset=" + offset).json();
                assertThat(page.get("total").asInt()).isEqualTo(3);
                page.get("streams")
                        .forEach(stream -> peers.add(stream.get("peer").asString()));
                assertThat(page.get("streams").size()).isEqualTo(offset < 3 ? 1 : 0);
            }
            assertThat(peers).hasSize(3);
            String first = peers.iterator().next();
            assertThat(node.get("/v1/streams?match=" + first)
                            .json()
                            .get("total")
                            .asInt())
                    .isOne();
            assertThat(node.get("/v1/instances?match=" + first)
                            .json()
                            .get("total")
                            .asInt())
                    .isOne();
            assertThat(node.get("/v1/services?match=mONITOR")
                            .json()
                            .get("total")
                            .asInt())
                    .isOne();
            assertThat(node.get("/v1/services?match=none").json().get("total").asInt())
                    .isZero();
            assertThat(node.get("/v1/streams?offset=-1").status()).isEqualTo(400);
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }

    @Test
    void aListIsAsLongAsWantedAndSaysHowManyThereAre() throws Exception {
        JsonNode threads = node.get("/v1/threads?limit=2").json();
        assertThat(threads.get("threads").size()).isEqualTo(2);
        assertThat(threads.get("total").asInt()).isGreaterThan(2);
        for (String limit : new String[] {"0", "-1", "x", "100001", ""}) {
            TestAdmin.Reply wrong = node.get("/v1/streams?limit=" + limit);
            assertThat(wrong.status()).as(limit).isEqualTo(400);
            assertThat(wrong.error()).contains("limit=" + limit, "1 to 100000");
        }
    }

    @Test
    void threadsTellTheirProcessorTimeAndAllocation() throws Exception {
        JsonNode threads = node.get("/v1/threads").json().get("threads");
        assertThat(threads).anySatisfy(thread -> {
            assertThat(thread.get("name").asString()).isEqualTo("main");
            assertThat(thread.get("processorSeconds").asDouble()).isPositive();
            assertThat(thread.get("allocatedBytes").asLong()).isPositive();
        });
    }

    @Test
    void theConfigurationInForceIsShownWithoutTheToken() throws Exception {
        TestAdmin.Reply answer = node.get("/v1/config");
        assertThat(answer.json().get("config").asString()).startsWith("listen:").contains("(hidden)");
        assertThat(answer.body()).doesNotContain(TestAdmin.TOKEN);
    }

    @Test
    void eventsAreListedFromAnId() throws Exception {
        JsonNode all = node.get("/v1/events").json();
        long last = all.get("lastId").asLong();
        assertThat(all.get("events"))
                .anySatisfy(event -> assertThat(event.get("kind").asString()).isEqualTo("node"));
        assertThat(node.get("/v1/events?after=" + last).json().get("events").size())
                .isZero();
        assertThat(node.get("/v1/events?after=x").status()).isEqualTo(400);
    }

    @Test
    void aNodeThatDoesNotDoItsWorkIsAliveAndNotReady() throws Exception {
        node.manager.ready("the repository is away");
        try {
            assertThat(node.get("/health").status()).isEqualTo(200);
            TestAdmin.Reply ready = node.get("/ready");
            assertThat(ready.status()).isEqualTo(503);
            assertThat(ready.json().get("reason").asString()).isEqualTo("the repository is away");
        } finally {
            node.manager.ready(null);
        }
        assertThat(node.get("/ready").status()).isEqualTo(200);
    }
}

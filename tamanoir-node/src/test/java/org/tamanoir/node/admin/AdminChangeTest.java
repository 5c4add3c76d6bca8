package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.routing.FeedPath;
import org.tamanoir.routing.NextHop;
import org.tamanoir.routing.Prefix;
import org.tamanoir.routing.RouteFeed;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;

@Timeout(120)
class AdminChangeTest {
    private static final int PATIENCE_MS = (int) Waiting.PATIENCE.toMillis();
    private static final byte[] PAYLOAD = "hello".getBytes(StandardCharsets.US_ASCII);

    /** For the Monitor service, to 10.0.2.7. */
    private static final byte[] PACKET = packet();

    private TestAdmin node;

    private static byte[] packet() {
        byte[] head = HexFormat.of().parseHex("0100544d00080025" + "00020003000000010a000207" + "80010003");
        return ByteBuffer.allocate(head.length + Long.BYTES + PAYLOAD.length)
                .put(head)
                .putLong(ServiceKey.of(TestAdmin.MONITOR))
                .put(PAYLOAD)
                .array();
    }

    @BeforeEach
    void start() throws IOException {
        node = TestAdmin.start();
    }

    @AfterEach
    void stop() {
        node.close();
    }

    @Test
    void aRouteIsAddedReplacedAndRemoved() throws Exception {
        JsonNode added = node.put("/v1/routes/10.0.0.0%2F8", "{\"address\": \"127.0.0.1\", \"port\": 3322}")
                .json();
        assertThat(added.toString())
                .isEqualTo("{\"prefix\":\"10.0.0.0/8\",\"address\":\"127.0.0.1\",\"name\":null,\"port\":3322,"
                        + "\"transport\":\"same\",\"kind\":\"active\",\"origin\":\"operator\"}");
        node.put("/v1/routes/10.0.0.0%2F8", "{\"transport\": \"tcp\"}");
        JsonNode routes = node.get("/v1/routes").json().get("routes");
        assertThat(routes.size()).isOne();
        assertThat(routes.get(0).get("address").isNull()).isTrue();
        assertThat(routes.get(0).get("kind").asString()).isEqualTo("host");

        assertThat(node.put("/v1/routes/2001:db8::%2F32", "{\"address\": \"::1\", \"port\": 1, \"kind\": \"host\"}")
                        .json()
                        .get("prefix")
                        .asString())
                .isEqualTo("2001:db8::/32");
        TestAdmin.Reply removed = node.change("DELETE", "/v1/routes/10.0.0.0%2F8");
        assertThat(removed.json().get("transport").asString()).isEqualTo("tcp");
        TestAdmin.Reply again = node.change("DELETE", "/v1/routes/10.0.0.0%2F8");
        assertThat(again.status()).isEqualTo(404);
        assertThat(again.error()).contains("10.0.0.0/8");
        assertThat(node.manager.routes()).hasSize(1);
    }

    @Test
    void allRoutesAreReplacedAtOnceOrNoneIs() throws Exception {
        TestAdmin.Reply replaced =
                node.put("/v1/routes", "{\"routes\": [{\"prefix\": \"10.0.0.0/8\"}, {\"prefix\": \"10.1.0.0/16\"}]}");
        assertThat(replaced.json().get("total").asInt()).isEqualTo(2);

        TestAdmin.Reply wrong = node.put("/v1/routes", """
                {"routes": [
                  {"prefix": "10.0.0.1/8"},
                  {"prefix": "10.0.0.0/8", "port": 65536, "addres": "127.0.0.1"},
                  {"prefix": "10.0.0.0/8", "address": "localhost"},
                  {"prefix": "10.0.0.0/8", "kind": "active", "transport": "sctp"},
                  7, {}
                ], "more": true}""");
        assertThat(wrong.status()).isEqualTo(422);
        assertThat(wrong.error())
                .contains("route 1: prefix 10.0.0.1/8", "10.0.0.0/8, or 10.0.0.1/32")
                .contains("route 2: port 65536: a whole number from 0 to 65535")
                .contains("route 2: field 'addres' is unknown: prefix, address, name, port, transport, kind, origin")
                .contains("route 3: address 'localhost'")
                .contains("route 3: prefix 10.0.0.0/8 has a route already")
                .contains("route 4: transport 'sctp': one of quic, same, tcp, tls, udp")
                .contains("route 4: direct delivery ends at a host")
                .contains("route 5: an object is wanted")
                .contains("route 6: prefix is missing")
                .contains("field 'more' is unknown: routes")
                .doesNotContain("\n");
        assertThat(node.manager.routes()).hasSize(2);

        assertThat(node.put("/v1/routes", "{}").status()).isEqualTo(422);
        assertThat(node.put("/v1/routes", "{\"routes\": []}").status()).isEqualTo(200);
        assertThat(node.manager.routes()).isEmpty();
    }

    @Test
    void aRouteIsPutAgainAsItIsShown() throws Exception {
        String path = "/v1/routes/10.0.0.0%2F8";
        for (String put : List.of(
                "{\"address\": \"192.0.2.1\", \"name\": \"node.example\", \"port\": 3322, \"transport\": \"tls\"}",
                "{\"address\": \"2001:db8::1\", \"name\": \"a_b\", \"port\": 1, \"transport\": \"quic\", \"kind\": \"host\"}",
                "{\"address\": \"192.0.2.1\", \"port\": 3322, \"transport\": \"tls\"}",
                "{\"address\": \"::1%lo\", \"port\": 3322}",
                "{}")) {
            assertThat(node.put(path, put).status()).as(put).isEqualTo(200);
            String shown = node.get("/v1/routes/10.0.0.1").body();
            NextHop hop = node.table.routes().get(0).nextHop();
            node.put("/v1/routes", "{\"routes\": []}");

            TestAdmin.Reply again = node.put(path, shown);
            assertThat(again.status()).as(again.body()).isEqualTo(200);
            assertThat(again.body()).isEqualTo(shown);
            assertThat(node.table.routes().get(0).nextHop()).isEqualTo(hop);
            assertThat(node.put("/v1/routes", "{\"routes\": [" + shown + "]}").status())
                    .isEqualTo(200);
        }
    }

    @Test
    void theNameOfANextHopIsWhatItsCertificateHasToHold() throws Exception {
        String hop = "\"address\": \"192.0.2.1\", \"port\": 3322, \"transport\": \"tls\"";
        node.put("/v1/routes/10.0.0.0%2F8", "{\"name\": \"node.example\", " + hop + "}");

        assertThat(node.table.routes().get(0).nextHop().name()).isEqualTo("node.example");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"name\": \"node.example\", \"transport\": \"tls\"}",
                "{\"name\": \"node.example\", \"address\": \"192.0.2.1\", \"transport\": \"tcp\"}",
                "{\"name\": \"no name\", \"address\": \"192.0.2.1\", \"transport\": \"tls\"}"
            })
    void aNameOfNoUseIsRefused(String body) throws Exception {
        TestAdmin.Reply reply = node.put("/v1/routes/10.0.0.0%2F8", body);

        assertThat(reply.status()).isEqualTo(422);
        assertThat(reply.error()).contains("name '", "with transport tls or quic");
    }

    @Test
    void aRouteOfAnotherPrefixOrOfTheFeedIsNotPut() throws Exception {
        TestAdmin.Reply reply =
                node.put("/v1/routes/10.0.0.0%2F8", "{\"prefix\": \"11.0.0.0/8\", \"origin\": \"feed\"}");

        assertThat(reply.status()).isEqualTo(422);
        assertThat(reply.error())
                .contains("prefix 11.0.0.0/8 is not that of the path, 10.0.0.0/8", "origin 'feed': only a route of");
        assertThat(node.manager.routes()).isEmpty();
    }

    @Test
    void anEmptyFileIsSaidToBeSo(@TempDir Path folder) throws Exception {
        Path empty = Files.createFile(folder.resolve("empty"));

        assertThat(load("{\"file\": \"" + empty + "\"}").error())
                .isEqualTo("file '" + empty + "': no regular file with something in it on the node's host, or no "
                        + "permission; correct the path");
    }

    private JsonNode stream() throws Exception {
        JsonNode streams = node.get("/v1/streams").json();
        assertThat(streams.get("open").asInt()).isOne();
        return streams.get("streams").get(0);
    }

    /** One TCP stream, whose route changes between two packets; the old far end gets the first, the new one the second. */
    @Test
    void aStreamThatIsUnderWayFollowsAChangedRouteWithoutLoss() throws Exception {
        try (ServerSocket before = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSocket after = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket stream = new Socket()) {
            before.setSoTimeout(PATIENCE_MS);
            after.setSoTimeout(PATIENCE_MS);
            routeTo(before);
            stream.connect(node.environment.tcpAddresses().get(0));
            stream.getOutputStream().write(PACKET);
            try (Socket first = before.accept()) {
                first.setSoTimeout(PATIENCE_MS);
                assertThat(first.getInputStream().readNBytes(PACKET.length)).endsWith(PAYLOAD);
                routeTo(after);
                stream.getOutputStream().write(PACKET);
                try (Socket second = after.accept()) {
                    second.setSoTimeout(PATIENCE_MS);
                    assertThat(second.getInputStream().readNBytes(PACKET.length))
                            .endsWith(PAYLOAD);
                    // A packet counts as out when its write has returned, which the far end does not wait for.
                    Waiting.eventually()
                            .untilAsserted(
                                    () -> assertThat(stream().get("packetsOut").asInt())
                                            .isEqualTo(2));
                    JsonNode shown = stream();
                    assertThat(shown.get("packetsIn").asInt()).isEqualTo(2);
                    assertThat(shown.get("services").get(0).asString()).isEqualTo(TestAdmin.MONITOR);
                    JsonNode instance =
                            node.get("/v1/instances").json().get("instances").get(0);
                    assertThat(instance.get("peer")).isEqualTo(shown.get("peer"));
                    stream.shutdownOutput();
                    assertThat(first.getInputStream().readAllBytes()).isEmpty();
                    assertThat(second.getInputStream().readAllBytes()).isEmpty();
                }
            }
            JsonNode traffic = node.get("/v1/traffic").json();
            assertThat(traffic.get("packetsOut").asInt()).isEqualTo(2);
            assertThat(traffic.get("dropped").asInt()).isZero();
        }
    }

    private void routeTo(ServerSocket far) throws Exception {
        TestAdmin.Reply reply = node.put(
                "/v1/routes/10.0.0.0%2F8",
                "{\"address\": \"127.0.0.1\", \"port\": " + far.getLocalPort() + ", \"kind\": \"host\"}");
        assertThat(reply.status()).isEqualTo(200);
    }

    @Test
    void aPrefixInThePathThatIsNoneIsRefused() throws Exception {
        for (String prefix : new String[] {"10.0.0.1%2F8", "x", "10.0.0.0%2F33", "10.0.1%2F24"}) {
            TestAdmin.Reply reply = node.put("/v1/routes/" + prefix, "{}");
            assertThat(reply.status()).as(prefix).isEqualTo(422);
            assertThat(reply.error()).startsWith("prefix ");
        }
        assertThat(node.put("/v1/routes/..%2F..", "{}").status()).isEqualTo(400);
        assertThat(node.put("/v1/routes/10.0.0.0/8", "{}").status()).isEqualTo(404);
    }

    @Test
    void pagesOfRoutesAreAllOfThemOnce() throws Exception {
        node.put("/v1/routes", """
                {"routes": [{"prefix": "10.0.0.0/8"}, {"prefix": "::/0"}, {"prefix": "10.0.0.0/16"},
                            {"prefix": "0.0.0.0/0"}, {"prefix": "11.0.0.0/8"}]}""");
        List<String> prefixes = new ArrayList<>();
        JsonNode page = node.get("/v1/routes?limit=2").json();
        while (true) {
            page.get("routes").forEach(route -> prefixes.add(route.get("prefix").asString()));
            assertThat(page.get("total").asInt()).isEqualTo(5);
            if (page.get("next").isNull()) {
                break;
            }
            String next = page.get("next").asString().replace("/", "%2F");
            page = node.get("/v1/routes?limit=2&after=" + next).json();
        }

        assertThat(prefixes).containsExactly("0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/16", "11.0.0.0/8", "::/0");
        assertThat(node.get("/v1/routes?within=10.0.0.1/8").status()).isEqualTo(400);
    }

    @Test
    void aFileOfRoutesThatIsWrongChangesNothingAndIsNotShown(@TempDir Path folder) throws Exception {
        node.put("/v1/routes/10.0.0.0%2F8", "{}");
        Path secret = Files.writeString(folder.resolve("secret"), "10.1.0.0/16=127.0.0.1:1\nhush: 1\npassword=2\n");
        TestAdmin.Reply reply = load("{\"file\": \"" + secret + "\"}");

        assertThat(reply.status()).isEqualTo(422);
        assertThat(reply.json().get("problems").size()).isEqualTo(2);
        assertThat(reply.body())
                .contains(secret + ":2: is wrong; ", secret + ":3: is wrong; ")
                .doesNotContain("hush")
                .doesNotContain("password");
        assertThat(node.manager.routes()).hasSize(1);
    }

    @Test
    void moreWrongLinesThanAreNamedAreToldAsMany(@TempDir Path folder) throws Exception {
        Path wrong = Files.writeString(folder.resolve("wrong"), "x\n".repeat(25));
        TestAdmin.Reply reply = load("{\"file\": \"" + wrong + "\"}");

        assertThat(reply.status()).isEqualTo(422);
        assertThat(reply.body()).contains("nothing is changed; at least 20 things are wrong");
    }

    /** A list of one peer, 10.1.0.0/16, and all of IPv4 as IPv6 writes it (RFC 6396, section 4.3). */
    @Test
    void routesOfADumpPackedByBzip2AreLoadedAndPrefixesLeftOutCounted(@TempDir Path folder) throws Exception {
        Path dump = folder.resolve("dump.bz2");
        try (OutputStream out = new BZip2CompressorOutputStream(Files.newOutputStream(dump))) {
            out.write(HexFormat.of()
                    .parseHex("65000000000d000100000013" + "0a000001" + "0000" + "0001" + "00" + "01010101" + "c0000201"
                            + "fde8"
                            + "65000000000d000200000018" + "00000000" + "100a01" + "0001" + "0000" + "65000000" + "0007"
                            + "400304c0000201"
                            + "65000000000d00040000002f" + "00000001" + "6000000000000000000000ffff" + "0001" + "0000"
                            + "65000000" + "0014" + "800e1110" + "20010db8000000000000000000000009"));
        }
        TestAdmin.Reply reply = load("{\"file\": \"" + dump + "\", \"via\": [\"127.0.0.1:1\"]}");

        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        assertThat(reply.json().get("total").asInt()).isOne();
        assertThat(reply.json().get("leftOut").asInt()).isOne();
        assertThat(reply.json().get("withoutNextHop").asInt()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"file\": \"routes\"}",
                "{\"file\": \"/\"}",
                "{\"file\": \"/dev/zero\"}",
                "{\"file\": \"/proc/self/status\"}",
                "{\"file\": \"/\\u0000\"}"
            })
    void onlyARegularFileByItsWholePathIsLoaded(String body) throws Exception {
        TestAdmin.Reply reply = load(body);

        assertThat(reply.status()).isEqualTo(422);
        assertThat(reply.body()).contains("on the node's host").hasLineCount(1);
    }

    private TestAdmin.Reply load(String body) throws Exception {
        return node.send(node.change("POST", "/v1/routes", body));
    }

    @Test
    void routesOfTheFeedAreShownWithItsStateAndNotRemoved() throws Exception {
        InetAddress here = InetAddress.getLoopbackAddress();
        RouteFeed feed = node.table.feed(
                Map.of("192.0.2.1", new NextHop(here, 1, NextHop.Transport.SAME, NextHop.Kind.ACTIVE_NODE)));
        node.manager.feed(feed);
        for (String octet : List.of("1", "2")) {
            FeedPath path = new FeedPath(32, InetAddress.getByName("192.0.2." + octet), "eth0");
            feed.announce(Prefix.parse("10.0." + octet + ".0/24"), List.of(path));
        }
        feed.apply();
        node.put("/v1/routes/10.0.3.0%2F24", "{}");

        JsonNode page = node.get("/v1/routes").json();
        assertThat(page.get("routes").size()).isEqualTo(2);
        assertThat(page.get("routes").get(0).get("origin").asString()).isEqualTo("feed");
        assertThat(page.get("routes").get(1).get("origin").asString()).isEqualTo("operator");
        assertThat(page.get("feed").get("routes").asInt()).isEqualTo(2);
        assertThat(page.get("feed")
                        .get("unmappedGateways")
                        .get("192.0.2.2%eth0")
                        .asInt())
                .isOne();
        assertThat(page.get("feed").get("changes").asInt()).isOne();
        assertThat(node.get("/metrics").body()).contains("tamanoir_feed_routes_unmapped 1");

        TestAdmin.Reply refused = node.change("DELETE", "/v1/routes/10.0.1.0%2F24");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.error()).contains("the route to 10.0.1.0/24 is the feed's");
        assertThat(node.manager.givenRoutes()).hasSize(1);

        node.put("/v1/routes", "{\"routes\": []}");
        assertThat(node.manager.routes()).hasSize(1);
    }

    @Test
    void everyChangeOfRoutesIsAnEvent() throws Exception {
        long before = node.manager.events().catchUp();
        node.put("/v1/routes/10.0.0.0%2F8", "{}");
        node.change("DELETE", "/v1/routes/10.0.0.0%2F8");
        JsonNode events = node.get("/v1/events?after=" + before).json().get("events");
        assertThat(events.size()).isEqualTo(4);
        assertThat(events.get(0).get("kind").asString()).isEqualTo("route");
        assertThat(events.get(1).get("kind").asString()).isEqualTo("change");
        assertThat(events.get(2).get("text").asString()).contains("10.0.0.0/8", "removed");
    }

    @Test
    void whatIsWrongWithADeploymentIsToldTogether() throws Exception {
        TestAdmin.Reply reply = node.post(
                "/v1/services/org.example.Foo/undeploy",
                "{\"version\": \"x y\", \"deadlineSeconds\": -1, \"block\": \"yes\", \"Force\": true}");
        assertThat(reply.status()).isEqualTo(422);
        assertThat(reply.error())
                .contains("version 'x y'")
                .contains("deadlineSeconds -1: a number of seconds from 0 to 86400")
                .contains("block \"yes\": true or false is wanted")
                .contains("field 'Force' is unknown: version, deadlineSeconds, block");
        assertThat(node.post("/v1/services/no%20name/deploy", "{}").status()).isEqualTo(422);
    }

    @Test
    void aNodeThatDeploysNothingSaysSo() throws Exception {
        for (String change : new String[] {"deploy", "undeploy", "drain"}) {
            TestAdmin.Reply reply = node.post("/v1/services/org.example.Foo/" + change, "");
            assertThat(reply.status()).as(change).isEqualTo(409);
            assertThat(reply.error()).contains("repository");
        }
        assertThat(node.post("/v1/revocations", "{\"key\": \"0123456789abcdef\"}")
                        .status())
                .isEqualTo(409);
        assertThat(node.post("/v1/services/org.example.Foo/release", "{}").status())
                .isEqualTo(404);
    }

    @Test
    void aQuarantineIsReleasedAndNothingElse() throws Exception {
        TestAdmin.Reply none = node.post("/v1/services/" + TestAdmin.MONITOR + "/release", "{}");
        assertThat(none.status()).isEqualTo(409);
        assertThat(none.error()).contains(TestAdmin.MONITOR + " is not in quarantine");
        TestAdmin.quarantine(node);
        TestAdmin.Reply released = node.post("/v1/services/" + TestAdmin.MONITOR + "/release", "{}");
        assertThat(released.status()).isEqualTo(200);
        assertThat(released.json()
                        .get("services")
                        .get(0)
                        .get("quarantinedUntil")
                        .isNull())
                .isTrue();
    }

    @Test
    void aRevocationNamesOneKeyOrOneDigest() throws Exception {
        for (String body : new String[] {
            "{}",
            "{\"key\": \"0123456789abcdef\", \"digest\": \"" + "0".repeat(64) + "\"}",
            "{\"key\": \"0123\"}",
            "{\"digest\": \"xyz\"}"
        }) {
            assertThat(node.post("/v1/revocations", body).status()).as(body).isEqualTo(422);
        }
    }
}

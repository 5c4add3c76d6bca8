package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.repository.TestRepository.text;
import static org.tamanoir.support.Waiting.eventually;

import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.anep.ServiceKey;
import org.tamanoir.deploy.SigningKey;
import org.tamanoir.deploy.TrustPolicy;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(120)
class RepositoryServerTest {
    private static final Sample FOO = Sample.of("org.example.Foo:1.0", 300_000);
    private static final int MAX_JAR = 1 << 20;

    @TempDir
    Path root;

    private TestRepository repository;

    @BeforeEach
    void start() throws Exception {
        repository = TestRepository.start(root, TestRepository.maxJarBytes(MAX_JAR));
    }

    @AfterEach
    void stop() throws Exception {
        repository.close();
    }

    private static JsonNode json(HttpResponse<byte[]> answer) {
        return new JsonMapper().readTree(answer.body());
    }

    private static String error(HttpResponse<byte[]> answer) {
        return json(answer).get("error").asString();
    }

    @Test
    void aPublishedVersionCanBeReadAsPlainFiles() throws Exception {
        HttpResponse<byte[]> published = repository.publish(FOO);
        assertThat(published.statusCode()).isEqualTo(201);
        assertThat(json(published).get("service").get("version").asString()).isEqualTo("1.0");
        String folder = "/" + FOO.id().path();
        assertThat(repository.get("/" + FOO.jarPath()).body()).isEqualTo(FOO.jar());
        assertThat(repository.get(folder + "/manifest.json").body()).isEqualTo(FOO.manifestBytes());
        assertThat(repository.get(folder + "/manifest.sig").body()).isEqualTo(FOO.signature());
        for (long key : new long[] {FOO.id().key(), FOO.id().nameKey()}) {
            assertThat(repository.get("/keys/" + ServiceKey.toString(key)).body())
                    .isEqualTo(FOO.manifestBytes());
        }
        assertThat(Index.decode(repository.get("/index.json").body()).services())
                .hasSize(1);
        assertThat(repository.get("/health").body()).asString().contains("\"status\":\"up\",\"versions\":1");
    }

    @Test
    void versionFilesAreImmutableAndTheOthersAreAskedForAnew() throws Exception {
        repository.publish(FOO);
        HttpResponse<byte[]> jar = repository.get("/" + FOO.jarPath());
        assertThat(jar.headers().firstValue("ETag"))
                .contains('"' + FOO.manifest().jarSha256() + '"');
        assertThat(jar.headers().firstValue("Cache-Control")).contains("public, max-age=31536000, immutable");
        for (String path :
                List.of("/index.json", "/keys/" + ServiceKey.toString(FOO.id().nameKey()))) {
            HttpResponse<byte[]> file = repository.get(path);
            assertThat(file.headers().firstValue("Cache-Control")).contains("no-cache");
            String etag = file.headers().firstValue("ETag").orElseThrow();
            HttpResponse<byte[]> again = repository.get(path, "If-None-Match", "\"x\", W/" + etag);
            assertThat(again.statusCode()).isEqualTo(304);
            assertThat(again.body()).isEmpty();
            assertThat(again.headers().firstValue("ETag")).contains(etag);
            repository.publish(Sample.of("org.example.Foo:2." + path.length(), 10));
            assertThat(repository.get(path, "If-None-Match", etag).statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aFileIsSentWholeAlsoWhereAPartIsAskedFor() throws Exception {
        repository.publish(FOO);
        HttpResponse<byte[]> whole = repository.get("/" + FOO.jarPath(), "Range", "bytes=100-199999");
        assertThat(whole.statusCode()).isEqualTo(200);
        assertThat(whole.body()).isEqualTo(FOO.jar());
    }

    @Test
    void headTellsTheSameWithoutTheContent() throws Exception {
        repository.publish(FOO);
        HttpResponse<byte[]> head =
                TestRepository.send(HttpRequest.newBuilder(URI.create(repository.uri() + "/" + FOO.jarPath()))
                        .method("HEAD", BodyPublishers.noBody())
                        .build());
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.headers().firstValue("Content-Length")).contains("300000");
        assertThat(head.headers().firstValue("ETag")).isPresent();
        assertThat(head.body()).isEmpty();
    }

    @Test
    void noPathLeadsToAnythingButTheTreesFiles() throws Exception {
        repository.publish(FOO);
        Files.writeString(root.resolve("secret"), "secret");
        Files.writeString(root.resolve("services/.hidden"), "secret");
        for (String path : List.of(
                "/",
                "/.lock",
                "/secret",
                "/.staging/",
                "/services",
                "/services/",
                "/services/.hidden",
                "/services/org.example.Foo/1.0",
                "/services/org.example.Foo/1.0/",
                "/services/../secret",
                "/services/%2e%2e/secret",
                "/services/org.example.Foo/%2e%2e/%2e%2e/secret",
                "/services/org.example.Foo%2f1.0%2fmanifest.json",
                "/services/org.example.Foo/1.0/..%2f..%2f..%2fsecret",
                "/services/org.example.Foo/1.0/%2e%2e/1.0/manifest.json",
                "/services/org.example.Foo\\1.0\\manifest.json",
                "/services/org.example.Foo/1.0/manifest.json%00",
                "/keys/../secret",
                "/keys/..;/secret",
                "//secret",
                "/%2fetc/passwd",
                "/keys/A5DF6AC8E1B7C3E0",
                "/%",
                "/%zz",
                "http://x",
                "http://x/secret",
                "secret",
                "*")) {
            String answer = repository.raw("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            assertThat(answer).as(path).matches("(?s)HTTP/1\\.1 (404|400) .*\"error\".*");
        }
        HttpResponse<byte[]> wrongMethod =
                TestRepository.send(HttpRequest.newBuilder(URI.create(repository.uri() + "/" + FOO.jarPath()))
                        .DELETE()
                        .build());
        assertThat(wrongMethod.statusCode()).isEqualTo(405);
        assertThat(wrongMethod.headers().firstValue("Allow")).contains("GET, HEAD");
    }

    @Test
    void namesThatAreNoneAreRefusedWhereverTheyStand() throws Exception {
        repository.put(FOO, "Bearer " + TestRepository.TOKEN);
        Map<String, String> before = RepositoryTreeTest.files(root);
        for (String path : List.of(
                "%2e%2e/1.0",
                "..%2f..%2fetc/1.0",
                "org.example.Foo/%2e%2e",
                "org.example.Foo/1.0%2f..",
                "org..Foo/1.0",
                "org.example.Foo/1..0",
                "org.example.Foo%00/1.0",
                "o".repeat(201) + "/1.0",
                "org.example.Foo/1." + "0".repeat(64))) {
            for (String call : List.of("", "/yank", "/unyank")) {
                HttpResponse<byte[]> answer =
                        repository.post("/api/services/" + path + call, "{\"reason\":\"x\",\"manifest\":\"\"}");
                assertThat(answer.statusCode()).as(path + call).isIn(400, 404);
                assertThat(error(answer)).isNotBlank();
            }
        }
        assertThat(RepositoryTreeTest.files(root)).isEqualTo(before);
    }

    @Test
    void theSameAgainIsWellAndOtherContentIsAConflict() throws Exception {
        repository.publish(FOO);
        HttpResponse<byte[]> same = repository.publish(FOO);
        assertThat(same.statusCode()).isEqualTo(200);
        assertThat(json(same).get("outcome").asString()).isEqualTo("unchanged");
        Map<String, String> before = RepositoryTreeTest.files(root);
        HttpResponse<byte[]> other = repository.publish(Sample.of("org.example.Foo:1.0", 20));
        assertThat(other.statusCode()).isEqualTo(409);
        assertThat(error(other))
                .contains("org.example.Foo:1.0 is published already")
                .contains("new version");
        assertThat(RepositoryTreeTest.files(root)).isEqualTo(before);
        assertThat(Disk.list(root.resolve(".staging"))).isEmpty();
    }

    @Test
    void ofTwoPublishersOfOneVersionExactlyOneIsTold201() throws Exception {
        ExecutorService both = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < 10; round++) {
                String id = "org.example.Race:1." + round;
                List<Sample> samples = List.of(Sample.of(id, new byte[] {1}), Sample.of(id, new byte[] {2}));
                for (Sample sample : samples) {
                    repository.put(sample, "Bearer " + TestRepository.TOKEN);
                }
                List<Callable<Integer>> calls = samples.stream()
                        .<Callable<Integer>>map(sample -> () -> repository
                                .post("/api/" + sample.id().path(), sample.body())
                                .statusCode())
                        .toList();
                List<Integer> answers = new ArrayList<>();
                for (Future<Integer> each : both.invokeAll(calls)) {
                    answers.add(each.get());
                }
                assertThat(answers).as(id).containsExactlyInAnyOrder(201, 409);
                Sample winner = samples.get(answers.indexOf(201));
                assertThat(repository.get("/" + winner.jarPath()).body()).isEqualTo(winner.jar());
            }
            assertThat(Disk.list(root.resolve(".staging"))).isEmpty();
        } finally {
            both.shutdownNow();
        }
    }

    @Test
    void withoutTheTokenNothingChanges() throws Exception {
        for (String authorization :
                List.of("Bearer wrong", "Bearer ", "Basic " + TestRepository.TOKEN, TestRepository.TOKEN)) {
            HttpResponse<byte[]> answer = repository.put(FOO, authorization);
            assertThat(answer.statusCode()).isEqualTo(401);
            assertThat(answer.headers().firstValue("WWW-Authenticate")).contains("Bearer");
            assertThat(error(answer)).contains("this token is not the repository's");
        }
        HttpResponse<byte[]> none = repository.put(FOO, null);
        assertThat(none.statusCode()).isEqualTo(401);
        assertThat(error(none)).contains("Authorization: Bearer TOKEN");
        assertThat(RepositoryTreeTest.files(root)).containsOnlyKeys("index.json");
        assertThat(Disk.list(root.resolve(".staging"))).isEmpty();
    }

    @Test
    void withoutAConfiguredTokenPublishingIsOffAndSaysHowToTurnItOn(@TempDir Path other) throws Exception {
        try (TestRepository closed = TestRepository.start(other, settings -> settings.withToken(null))) {
            HttpResponse<byte[]> answer = closed.publish(FOO);
            assertThat(answer.statusCode()).isEqualTo(403);
            assertThat(error(answer)).contains("publishing is off").contains("--token-file");
        }
    }

    /** What a page on another site can make a browser send without being asked for consent. */
    @Test
    void aSimpleRequestOfAWebPageChangesNothing() throws Exception {
        repository.publish(FOO);
        Map<String, String> before = RepositoryTreeTest.files(root);
        for (String type :
                List.of("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x")) {
            String path = "/api/services/org.example.Foo/1.0/yank";
            HttpRequest.Builder page = HttpRequest.newBuilder(URI.create(repository.uri() + path))
                    .header("Content-Type", type)
                    .header("Origin", "https://elsewhere.example")
                    .header("Cookie", "token=" + TestRepository.TOKEN)
                    .POST(BodyPublishers.ofString("{\"reason\":\"x\"}"));
            assertThat(TestRepository.send(page.build()).statusCode()).isEqualTo(401);
            page.header("Authorization", "Bearer " + TestRepository.TOKEN);
            assertThat(TestRepository.send(page.build()).statusCode()).isEqualTo(415);
        }
        for (String path : List.of("/yank", "/unyank", "")) {
            assertThat(repository
                            .get("/api/services/org.example.Foo/1.0" + path)
                            .statusCode())
                    .isEqualTo(404);
        }
        HttpResponse<byte[]> preflight =
                TestRepository.send(HttpRequest.newBuilder(URI.create(repository.uri() + "/api/services/a/1/yank"))
                        .header("Origin", "https://elsewhere.example")
                        .header("Access-Control-Request-Method", "POST")
                        .method("OPTIONS", BodyPublishers.noBody())
                        .build());
        assertThat(preflight.headers().map())
                .doesNotContainKeys("access-control-allow-origin", "access-control-allow-headers");
        assertThat(RepositoryTreeTest.files(root)).isEqualTo(before);
    }

    @Test
    void anUploadThatIsTooLargeOrOfUnknownSizeOrALieIsRefused() throws Exception {
        Sample large = Sample.of("org.example.Large:1.0", MAX_JAR + 1);
        HttpResponse<byte[]> answer = repository.put(large, "Bearer " + TestRepository.TOKEN);
        assertThat(answer.statusCode()).isEqualTo(413);
        assertThat(error(answer))
                .contains("1048577")
                .contains("1048576 at most")
                .contains("--max-jar");

        URI uri = URI.create(repository.uri() + "/api/uploads/" + FOO.manifest().jarSha256());
        HttpResponse<byte[]> unknown = TestRepository.send(HttpRequest.newBuilder(uri)
                .header("Authorization", "Bearer " + TestRepository.TOKEN)
                .PUT(BodyPublishers.ofInputStream(() -> new java.io.ByteArrayInputStream(FOO.jar())))
                .build());
        assertThat(unknown.statusCode()).isEqualTo(411);

        HttpResponse<byte[]> lie = TestRepository.send(HttpRequest.newBuilder(uri)
                .header("Authorization", "Bearer " + TestRepository.TOKEN)
                .PUT(BodyPublishers.ofByteArray(new byte[300_000]))
                .build());
        assertThat(lie.statusCode()).isEqualTo(422);
        assertThat(error(lie)).contains(FOO.manifest().jarSha256());
        HttpResponse<byte[]> missing = repository.post("/api/" + FOO.id().path(), FOO.body());
        assertThat(missing.statusCode()).isEqualTo(404);
        assertThat(error(missing)).contains("uploaded before");
        assertThat(Disk.list(root.resolve(".staging"))).isEmpty();
    }

    @Test
    void aBodyThatCannotBeReadIsRefusedInOneLine() throws Exception {
        String path = "/api/" + FOO.id().path();
        for (String body :
                List.of("", "[]", "{", "{}", "{\"manifest\":1}", "{\"manifest\":\"*\",\"signature\":\"\"}")) {
            HttpResponse<byte[]> answer = repository.post(path, body);
            assertThat(answer.statusCode()).as(body).isEqualTo(400);
            assertThat(error(answer)).isNotBlank().doesNotContain("\n");
        }
        assertThat(repository.post(path, " ".repeat(70_000)).statusCode()).isEqualTo(413);
        HttpResponse<byte[]> malformed = repository.post(path, "{\"manifest\":\"e30=\",\"signature\":\"\"}");
        assertThat(malformed.statusCode()).isEqualTo(422);
        assertThat(json(malformed).get("refusal").asString()).isEqualTo("MALFORMED");
        HttpResponse<byte[]> wrongService = repository.post("/api/services/org.example.Other/1.0", FOO.body());
        assertThat(wrongService.statusCode()).isEqualTo(422);
        assertThat(json(wrongService).get("refusal").asString()).isEqualTo("WRONG_SERVICE");
    }

    @Test
    void withPublishersOnlyTheirSignaturesForTheirNamesAreAccepted(@TempDir Path other) throws Exception {
        SigningKey known = SigningKey.generate();
        TrustPolicy policy = new TrustPolicy(
                List.of(new TrustPolicy.Publisher(known.publisher(), List.of("org.example.*"))),
                Set.of(),
                Set.of(),
                false);
        try (TestRepository strict = TestRepository.start(other, TestRepository.publishers(policy))) {
            assertThat(strict.publish(Sample.of("org.example.Foo:1.0", new byte[] {1}, known))
                            .statusCode())
                    .isEqualTo(201);
            for (Map.Entry<Sample, String> each : Map.of(
                            Sample.of("org.example.Foo:1.1", new byte[] {1}), "UNTRUSTED_KEY",
                            Sample.of("com.example.Foo:1.1", new byte[] {1}, known), "NOT_FOR_THIS_NAME")
                    .entrySet()) {
                HttpResponse<byte[]> answer = strict.publish(each.getKey());
                assertThat(answer.statusCode()).isEqualTo(422);
                assertThat(json(answer).get("refusal").asString()).isEqualTo(each.getValue());
            }
            assertThat(strict.tree.entries()).hasSize(1);
        }
    }

    @Test
    void servicesAreListedAndFoundByNameAndDescription() throws Exception {
        for (String id : List.of("org.example.Foo:1.0", "org.example.Foo:1.1", "org.other.Bar:2")) {
            repository.publish(Sample.of(id, 10));
        }
        JsonNode all = json(repository.get("/api/services"));
        assertThat(all.get("total").asInt()).isEqualTo(3);
        assertThat(all.get("services").get(0).get("version").asString()).isEqualTo("1.0");
        assertThat(json(repository.get("/api/services?q=FOO")).get("total").asInt())
                .isEqualTo(2);
        assertThat(json(repository.get("/api/services?q=sample%20org.other"))
                        .get("total")
                        .asInt())
                .isEqualTo(1);
        JsonNode page = json(repository.get("/api/services?limit=1&offset=2"));
        assertThat(page.get("services")).hasSize(1);
        assertThat(page.get("services").get(0).get("name").asString()).isEqualTo("org.other.Bar");
        assertThat(repository.get("/api/services?limit=1001").statusCode()).isEqualTo(400);
        assertThat(repository.get("/api/services?offset=-1").statusCode()).isEqualTo(400);
        for (String path : List.of(
                "/api/services?limti=1",
                "/api/services?q=a&q=b",
                "/health?x",
                "/keys/0000?x=1",
                "/api/formats/1?q=x")) {
            HttpResponse<byte[]> refused = repository.get(path);
            assertThat(refused.statusCode()).as(path).isEqualTo(400);
            assertThat(json(refused).get("error").asString()).startsWith("query parameter '");
        }
        assertThat(json(repository.get("/api/services?limti=1")).get("error").asString())
                .contains("did you mean limit?");
        assertThat(repository.get("/api/services/").statusCode()).isEqualTo(404);
    }

    @Test
    void aYankedVersionKeepsItsFilesAndLosesTheBareName() throws Exception {
        Sample next = Sample.of("org.example.Foo:1.1", 10);
        repository.publish(FOO);
        repository.publish(next);
        String yank = "/api/" + next.id().path() + "/yank";
        assertThat(repository.post(yank, "{\"reason\":\"a\\nb\"}").statusCode()).isEqualTo(400);
        assertThat(repository.post(yank, "{\"reason\":\"loses packets\"}").statusCode())
                .isEqualTo(200);
        assertThat(text(repository.get("/" + next.id().path() + "/yanked"))).isEqualTo("loses packets\n");
        String name = "/keys/" + ServiceKey.toString(next.id().nameKey());
        assertThat(repository.get(name).body()).isEqualTo(FOO.manifestBytes());
        assertThat(repository
                        .get("/keys/" + ServiceKey.toString(next.id().key()))
                        .body())
                .isEqualTo(next.manifestBytes());
        assertThat(repository.post("/api/" + next.id().path() + "/unyank", "{}").statusCode())
                .isEqualTo(200);
        assertThat(repository.get(name).body()).isEqualTo(next.manifestBytes());
        assertThat(repository
                        .post("/api/services/org.example.Gone/1.0/yank", "{\"reason\":\"x\"}")
                        .statusCode())
                .isEqualTo(404);
    }

    @Test
    void whoReadsTooSlowlyIsCutOff() throws Exception {
        Path file = Files.write(root.resolve("large"), new byte[16 << 20]);
        TreeFile large = new TreeFile(null, file, 16 << 20, "x", true, TreeFile.JAR);
        try (HttpListener listener = HttpListener.start("test", TestRepository.FREE, null, vertx -> {
                    io.vertx.ext.web.Router router = io.vertx.ext.web.Router.router(vertx);
                    router.route().handler(new TreeHandler(path -> large, 300, 1 << 20));
                    return router;
                });
                Socket client = new Socket()) {
            client.setReceiveBufferSize(4_096);
            client.setSoTimeout(TestRepository.PATIENCE_MS);
            client.connect(listener.address());
            client.getOutputStream()
                    .write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            long received = 0;
            byte[] some = new byte[4_096];
            java.util.concurrent.CountDownLatch never = new java.util.concurrent.CountDownLatch(1);
            try {
                for (int n = client.getInputStream().read(some);
                        n >= 0;
                        n = client.getInputStream().read(some)) {
                    received += n;
                    // For two seconds little is read; then what is left in the buffers.
                    assertThat(never.await(received < 100 * 4_096 ? 20 : 0, java.util.concurrent.TimeUnit.MILLISECONDS))
                            .isFalse();
                }
            } catch (java.net.SocketException e) {
                assertThat(e).hasMessageContaining("reset");
            }
            assertThat(received).isBetween(1L, 15L << 20);
        }
    }

    @Test
    void whoMayNotPublishCannotGoOnSending() throws Exception {
        try (Socket client = repository.socket()) {
            client.getOutputStream()
                    .write(("PUT /api/uploads/" + FOO.manifest().jarSha256() + " HTTP/1.1\r\nHost: x\r\n"
                                    + "Authorization: Bearer wrong\r\nTransfer-Encoding: chunked\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            byte[] chunk = ("1000\r\n" + " ".repeat(0x1000) + "\r\n").getBytes(StandardCharsets.US_ASCII);
            org.assertj.core.api.Assertions.assertThatThrownBy(() -> {
                        while (true) {
                            client.getOutputStream().write(chunk);
                        }
                    })
                    .isInstanceOf(java.net.SocketException.class);
        }
    }

    @Test
    void anUploadThatBreaksOffLeavesNothing() throws Exception {
        try (Socket client = repository.socket()) {
            client.getOutputStream()
                    .write(("PUT /api/uploads/" + FOO.manifest().jarSha256() + " HTTP/1.1\r\nHost: x\r\n"
                                    + "Authorization: Bearer " + TestRepository.TOKEN + "\r\n"
                                    + "Content-Length: 300000\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            client.getOutputStream().write(FOO.jar(), 0, 100_000);
            eventually().until(() -> Disk.list(root.resolve(".staging")).size() == 1);
        }
        eventually().until(() -> Disk.list(root.resolve(".staging")).isEmpty());
        assertThat(repository.publish(FOO).statusCode()).isEqualTo(201);
    }

    @Test
    void anUploadMayWaitForTheWordToGoOn() throws Exception {
        try (Socket client = repository.socket()) {
            client.getOutputStream()
                    .write(("PUT /api/uploads/" + FOO.manifest().jarSha256() + " HTTP/1.1\r\nHost: x\r\n"
                                    + "Authorization: Bearer " + TestRepository.TOKEN + "\r\n"
                                    + "Expect: 100-continue\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            byte[] goOn = client.getInputStream().readNBytes("HTTP/1.1 100 ".length());
            assertThat(new String(goOn, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 100 ");
            client.getOutputStream().write(FOO.jar());
            assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .contains("HTTP/1.1 201 ");
        }
    }

    @Test
    void aHundredServicesArePublishedAndListed() throws Exception {
        for (int i = 0; i < 100; i++) {
            assertThat(repository
                            .publish(Sample.of("org.example.S" + i + ":1.0", 1_000))
                            .statusCode())
                    .isEqualTo(201);
        }
        assertThat(json(repository.get("/api/services?limit=1000")).get("services"))
                .hasSize(100);
        assertThat(RepositoryTreeTest.files(root)).hasSize(100 * 5 + 1);
        assertThat(Disk.list(root.resolve(".staging"))).isEmpty();
    }
}

package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tamanoir.repository.TestRepository.text;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.deploy.FormatFile;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.FormatLimits;
import org.tamanoir.format.Layout;

/** A repository as FFS's own format server, and formats as files of its tree. */
@Timeout(120)
class FormatServerTest {
    private static final Format FLIGHT = format("flight");

    @TempDir
    Path root;

    private TestRepository repository;

    @BeforeEach
    void start() throws Exception {
        repository = TestRepository.start(root.resolve("tree"));
    }

    @AfterEach
    void stop() throws Exception {
        repository.close();
    }

    private static Format format(String name) {
        return Format.builder(Layout.X86_64)
                .structure(name)
                .field("delay", "integer", 4)
                .field("hub", "string")
                .build();
    }

    private static String hex(Format format) {
        return HexFormat.of().formatHex(format.description());
    }

    private static String body(Format format) {
        return "{\"format_rep\":\"" + hex(format) + "\"}";
    }

    /** As a C program: no token. */
    private HttpResponse<byte[]> post(String body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(repository.uri() + "/v1/formats"))
                .POST(BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return TestRepository.send(request.build());
    }

    @Test
    void aFormatThatAProgramRegistersCanBeAskedForByOthers() throws Exception {
        HttpResponse<byte[]> answer = post(body(FLIGHT));
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(text(answer).strip()).isEqualTo("{\"server_id\":\"" + FLIGHT.id() + "\"}");
        assertThat(post(body(FLIGHT)).statusCode()).as("the same again").isEqualTo(200);
        HttpResponse<byte[]> asked = repository.get("/v1/formats/" + FLIGHT.id());
        assertThat(asked.statusCode()).isEqualTo(200);
        assertThat(text(asked)).isEqualTo(body(FLIGHT));
        assertThat(repository.get("/formats/" + FLIGHT.id()).body()).isEqualTo(FLIGHT.description());
        assertThat(repository.get("/formats/" + FLIGHT.id() + ".sig").statusCode())
                .isEqualTo(404);
        assertThat(repository.get("/v1/formats/" + format("other").id()).statusCode())
                .isEqualTo(404);
        assertThat(repository.get("/v1/formats/zz").statusCode()).isEqualTo(422);
    }

    /** Bytes as they cross the network: what a C program sends, several requests on one connection. */
    @Test
    void requestsAreAnsweredOnOneConnectionWithALengthOrInChunks() throws Exception {
        String post = "POST /v1/formats HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n";
        String body = body(FLIGHT);
        try (Socket socket = repository.socket()) {
            send(
                    socket,
                    post + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " + body.length()
                            + "\r\n\r\n" + body);
            assertThat(answer(socket)).startsWith("HTTP/1.1 200 ").endsWith(FLIGHT.id() + "\"}\n");
            int half = body.length() / 2;
            send(
                    socket,
                    post + "Transfer-Encoding: chunked\r\n\r\n" + chunk(body.substring(0, half))
                            + chunk(body.substring(half)) + "0\r\n\r\n");
            assertThat(answer(socket)).startsWith("HTTP/1.1 200 ").endsWith(FLIGHT.id() + "\"}\n");
            send(socket, "GET /v1/formats/" + FLIGHT.id() + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertThat(answer(socket)).startsWith("HTTP/1.1 200 ").endsWith(body);
            send(socket, "GET /v1/formats/" + format("other").id() + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertThat(answer(socket)).startsWith("HTTP/1.1 404 ");
        }
    }

    private static String chunk(String text) {
        return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String answer(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int read = in.read();
            assertThat(read).as("connection ended after: " + head).isNotNegative();
            head.append((char) read);
        }
        String length = head.toString().toLowerCase(Locale.ROOT).replaceAll("(?s).*content-length: (\\d+).*", "$1");
        return head + new String(in.readNBytes(Integer.parseInt(length)), StandardCharsets.US_ASCII);
    }

    @Test
    void whatIsNoFormatIsRefusedInOneLine() throws Exception {
        for (String bad : List.of("", "{", "[]", "{\"format_rep\":1}", "{\"format_rep\":\"0x\"}", "{\"rep\":\"00\"}")) {
            assertThat(post(bad).statusCode()).as(bad).isEqualTo(400);
        }
        HttpResponse<byte[]> damaged = post("{\"format_rep\":\"" + hex(FLIGHT).substring(0, 60) + "\"}");
        assertThat(damaged.statusCode()).isEqualTo(422);
        assertThat(text(damaged).strip().lines()).hasSize(1);
        assertThat(repository.tree.formats().entries()).isEmpty();
    }

    @Test
    void aBodyThatIsTooLongIsCutOff() throws Exception {
        try (Socket socket = repository.socket()) {
            send(socket, "POST /v1/formats HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
            String chunk = chunk("0".repeat(1 << 16));
            for (int sent = 0; sent < FormatFile.MAX_JSON_BYTES; sent += 1 << 16) {
                send(socket, chunk);
            }
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .startsWith("HTTP/1.1 413 ");
        }
        assertThat(repository.get("/health").statusCode()).isEqualTo(200);
    }

    @Test
    void programsElsewhereNeedTheToken() throws Exception {
        String[][] elsewhere = {
            {"X-Forwarded-For", "10.1.2.3"},
            {"Forwarded", "for=10.1.2.3"},
            {"Via", "1.1 proxy"},
            {"Origin", "http://example.org"}
        };
        for (String[] header : elsewhere) {
            assertThat(post(body(FLIGHT), header).statusCode()).as(header[0]).isEqualTo(401);
            String[] withToken = {header[0], header[1], "Authorization", "Bearer " + TestRepository.TOKEN};
            assertThat(post(body(FLIGHT), withToken).statusCode()).as(header[0]).isEqualTo(200);
        }
    }

    @Test
    void aSignedFormatStandsBesideItsSignatureAndSurvivesTheServer() throws Exception {
        assertThat(repository.publisher().publish(FLIGHT, Sample.KEY)).isEqualTo(RepositoryTree.Outcome.CREATED);
        assertThat(repository.publisher().publish(FLIGHT, Sample.KEY)).isEqualTo(RepositoryTree.Outcome.SAME);
        repository.close();
        repository = TestRepository.start(root.resolve("tree"));
        byte[] signature = repository.get("/formats/" + FLIGHT.id() + ".sig").body();
        TrustPolicy trust = policy("format.flight");
        trust.verify(FLIGHT, signature);
        assertThat(text(repository.get("/formats.json")))
                .isEqualTo("{\"format\":1,\"formats\":[{\"id\":\"" + FLIGHT.id() + "\",\"name\":\"flight\",\"bytes\":"
                        + FLIGHT.description().length + ",\"publisher\":\""
                        + Sample.KEY.publisher().id() + "\"}]}");
    }

    private static TrustPolicy policy(String... names) {
        return new TrustPolicy(
                List.of(new TrustPolicy.Publisher(Sample.KEY.publisher(), List.of(names))), Set.of(), Set.of(), false);
    }

    @Test
    void aSignatureMayComeLater() throws Exception {
        post(body(FLIGHT));
        assertThat(repository.publisher().publish(FLIGHT, Sample.KEY)).isEqualTo(RepositoryTree.Outcome.CREATED);
        assertThat(repository.get("/formats/" + FLIGHT.id() + ".sig").statusCode())
                .isEqualTo(200);
    }

    @Test
    void whereOnlyPublishersMayNobodyElseDoes() throws Exception {
        repository.close();
        repository = TestRepository.start(root.resolve("other"), TestRepository.publishers(policy("format.flight")));
        assertThat(post(body(FLIGHT)).statusCode()).isEqualTo(403);
        assertThat(post(body(FLIGHT), "Authorization", "Bearer " + TestRepository.TOKEN)
                        .statusCode())
                .isEqualTo(403);
        assertThat(repository.publisher().publish(FLIGHT, Sample.KEY)).isEqualTo(RepositoryTree.Outcome.CREATED);
        assertThatThrownBy(() -> repository.publisher().publish(format("ship"), Sample.KEY))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is trusted for [format.flight] only");
        assertThat(repository.tree.formats().entries()).hasSize(1);
    }

    @Test
    void formatsCanBeSwitchedOff() throws Exception {
        repository.close();
        repository = TestRepository.start(
                root.resolve("other"),
                from -> new RepositoryServer.Settings(
                        from.address(), null, from.token(), from.maxJarBytes(), null, false));
        assertThat(post(body(FLIGHT)).statusCode()).isEqualTo(403);
        assertThat(repository.publisher().publish(FLIGHT, Sample.KEY)).isEqualTo(RepositoryTree.Outcome.CREATED);
        assertThat(repository.get("/v1/formats/" + FLIGHT.id()).statusCode()).isEqualTo(200);
    }

    @Test
    void whatLiesInTheFolderAndIsNoFormatIsNotServed() throws Exception {
        repository.close();
        Path formats = root.resolve("tree").resolve("formats");
        Files.write(formats.resolve(format("ship").id().toString()), FLIGHT.description());
        Files.writeString(formats.resolve("notes.txt"), "mine");
        Files.createSymbolicLink(formats.resolve(FLIGHT.id().toString()), Path.of("/etc/hostname"));
        repository = TestRepository.start(root.resolve("tree"));
        assertThat(repository.tree.formats().entries()).isEmpty();
        for (String path : List.of(
                "/formats/" + format("ship").id(), "/formats/notes.txt", "/formats/" + FLIGHT.id(), "/formats")) {
            assertThat(repository.get(path).statusCode()).as(path).isEqualTo(404);
        }
        assertThat(repository.get("/formats/../index.json").statusCode()).isEqualTo(400);
        assertThat(Files.exists(formats.resolve("notes.txt"))).isTrue();
    }

    @Test
    void aRepositoryHoldsABoundedNumberOfFormats() throws Exception {
        repository.close();
        for (int i = 1; i < FormatFolder.MAX_FORMATS; i++) { // Not one by one: each that comes writes the list anew.
            Format format = format("f" + i);
            Files.write(root.resolve("tree").resolve(FormatFile.path(format.id())), format.description());
        }
        repository = TestRepository.start(root.resolve("tree"));
        assertThat(post(body(format("f0"))).statusCode()).isEqualTo(200);
        HttpResponse<byte[]> answer = post(body(FLIGHT));
        assertThat(answer.statusCode()).isEqualTo(507);
        assertThat(text(answer)).contains("holds 4096 formats");
        assertThat(repository.get("/formats.json").body().length).isLessThan(FormatFolder.MAX_LIST_BYTES);
    }

    @Test
    void aMirrorFollowsFormatsAndSignaturesThatComeLater() throws Exception {
        repository.publisher().publish(FLIGHT, Sample.KEY);
        post(body(format("ship")));
        try (TestRepository mirror = TestRepository.mirror(root.resolve("mirror"), repository.uri())) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(40))
                    .until(() -> mirror.tree.formats().entries().size() == 2);
            repository.publisher().publish(format("ship"), Sample.KEY);
            Awaitility.await()
                    .atMost(Duration.ofSeconds(40))
                    .until(() -> mirror.tree
                            .formats()
                            .entries()
                            .equals(repository.tree.formats().entries()));
            assertThat(RepositoryTreeTest.files(root.resolve("mirror")))
                    .isEqualTo(RepositoryTreeTest.files(root.resolve("tree")));
        }
    }

    private static final class Shelf implements FormatShelf {
        final Map<FormatId, Format> formats = new ConcurrentHashMap<>();

        @Override
        public byte @Nullable [] description(FormatId id) {
            Format format = formats.get(id);
            return format == null ? null : format.description();
        }

        @Override
        public void add(Format format) {
            formats.put(format.id(), format);
        }
    }

    @Test
    void aCodeServerGivesTheNodesFormats() throws Exception {
        Shelf shelf = new Shelf();
        shelf.add(FLIGHT);
        for (boolean takes : new boolean[] {true, false}) {
            try (CodeServer server =
                    CodeServer.start(TestRepository.FREE, null, path -> null, new CodeServer.Formats(shelf, takes))) {
                String base = "http://127.0.0.1:" + server.address().getPort() + "/";
                HttpResponse<byte[]> got =
                        TestRepository.send(HttpRequest.newBuilder(URI.create(base + FormatFile.question(FLIGHT.id())))
                                .build());
                assertThat(FormatFile.ofJson(got.body())).isEqualTo(FLIGHT.description());
                HttpResponse<byte[]> posted =
                        TestRepository.send(HttpRequest.newBuilder(URI.create(base + "v1/formats"))
                                .POST(BodyPublishers.ofString(body(format("ship"))))
                                .build());
                assertThat(posted.statusCode()).isEqualTo(takes ? 200 : 403);
            }
        }
        assertThat(shelf.formats).hasSize(2);
    }

    @Test
    void theLongestDescriptionFitsABody() {
        assertThat(FormatFile.toJson(new byte[FormatLimits.DESCRIPTION_BYTES]).length)
                .isLessThanOrEqualTo(FormatFile.MAX_JSON_BYTES);
    }
}

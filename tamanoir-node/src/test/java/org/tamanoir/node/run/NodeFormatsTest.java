package org.tamanoir.node.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.deploy.FormatFile;
import org.tamanoir.format.FfsWriter;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.Layout;
import org.tamanoir.node.config.Endpoint;

/** Formats between nodes: each gives what it knows to the next one. */
@Timeout(120)
class NodeFormatsTest {
    private static final Format FLIGHT = format("flight");

    @TempDir
    Path folder;

    private static Format format(String name) {
        return Format.builder(Layout.X86_64)
                .structure(name)
                .field("delay", "integer", 4)
                .build();
    }

    private Path file() throws Exception {
        Path file = folder.resolve("flights.ffs");
        try (OutputStream to = Files.newOutputStream(file);
                FfsWriter writer = FfsWriter.ofFile(to)) {
            writer.format(FLIGHT);
        }
        return file;
    }

    private static InetSocketAddress codeServer(LiveNode node) {
        return Endpoint.listening(String.valueOf(node.node.servers().get("code server")), 1);
    }

    private static @Nullable Format ask(LiveNode node, FormatId id, @Nullable InetSocketAddress previous)
            throws Exception {
        CompletableFuture<Optional<Format>> answer = new CompletableFuture<>();
        node.node.environment().formats().request(id, previous, format -> answer.complete(Optional.ofNullable(format)));
        return answer.get(40, TimeUnit.SECONDS).orElse(null);
    }

    private static HttpResponse<String> post(LiveNode node, Format format) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(
                                        URI.create("http://" + Endpoint.toString(codeServer(node)) + "/v1/formats"))
                                .POST(BodyPublishers.ofByteArray(FormatFile.toJson(format.description())))
                                .build(),
                        BodyHandlers.ofString());
    }

    private static String metrics(LiveNode node) throws Exception {
        URI uri = URI.create(node.node.servers().get("admin API") + "/metrics");
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                .body();
    }

    @Test
    void aFormatGoesFromNodeToNode() throws Exception {
        String serves = "deploy: {code-server: \"127.0.0.1:0\"";
        try (LiveNode first = LiveNode.start(folder.resolve("1"), serves + "}\nformats: {files: [" + file() + "]}\n")) {
            InetSocketAddress firstCode = codeServer(first);
            String neighbours = ", neighbours: [\"" + Endpoint.toString(firstCode) + "\"]}\n";
            try (LiveNode second = LiveNode.start(folder.resolve("2"), serves + neighbours);
                    LiveNode third = LiveNode.start(
                            folder.resolve("3"),
                            "formats: {servers: [\"http://" + Endpoint.toString(codeServer(second)) + "\"]}\n")) {
                assertThat(ask(second, FLIGHT.id(), codeServer(second)))
                        .as("no neighbour")
                        .isNull();
                assertThat(ask(second, FLIGHT.id(), firstCode)).isNotNull();
                assertThat(ask(third, FLIGHT.id(), null)).isNotNull();
                assertThat(metrics(third))
                        .contains("tamanoir_formats 1.0\n")
                        .contains("tamanoir_format_requests_total{outcome=\"format-server\"} 1.0\n");
            }
        }
    }

    @Test
    void programsOnThisHostBringFormatsUnlessThatIsOff() throws Exception {
        String serves = "deploy: {code-server: \"127.0.0.1:0\"}\n";
        try (LiveNode node = LiveNode.start(folder.resolve("1"), serves);
                LiveNode closed = LiveNode.start(folder.resolve("2"), serves + "formats: {register: false}\n")) {
            HttpResponse<String> answer = post(node, FLIGHT);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).contains("\"server_id\":\"" + FLIGHT.id() + "\"");
            assertThat(node.node.environment().formats().known().find(FLIGHT.id()))
                    .isNotNull();
            assertThat(post(closed, FLIGHT).statusCode()).isEqualTo(403);
            assertThat(closed.node.environment().formats().known().find(FLIGHT.id()))
                    .isNull();
        }
    }

    @Test
    void withoutCodeToServeNobodyIsServedUnlessTheOperatorSaysWhere() throws Exception {
        try (LiveNode node = LiveNode.start(folder.resolve("1"), "")) {
            assertThat(node.node.servers()).doesNotContainKey("code server");
        }
    }
}

package org.tamanoir.repository;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tamanoir.deploy.TrustPolicy;
import org.tamanoir.support.Waiting;
import org.tamanoir.tls.TlsFiles;

/** A repository on a free port of loopback, with a token. */
final class TestRepository implements AutoCloseable {
    static final String TOKEN = "the-token-of-this-test";
    static final InetSocketAddress FREE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    static final int PATIENCE_MS = (int) Waiting.PATIENCE.toMillis();

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    final RepositoryTree tree;
    final RepositoryServer server;
    private final @Nullable Mirror mirror;

    private TestRepository(RepositoryTree tree, RepositoryServer server, @Nullable Mirror mirror) {
        this.tree = tree;
        this.server = server;
        this.mirror = mirror;
    }

    static TestRepository start(Path root) throws IOException {
        return start(root, settings -> settings);
    }

    static TestRepository start(Path root, UnaryOperator<RepositoryServer.Settings> change) throws IOException {
        RepositoryTree tree = RepositoryTree.open(root);
        RepositoryServer.Settings settings = RepositoryServer.Settings.on(FREE).withToken(Token.of(TOKEN, "this test"));
        return new TestRepository(tree, RepositoryServer.start(change.apply(settings), tree, null), null);
    }

    static UnaryOperator<RepositoryServer.Settings> maxJarBytes(long bytes) {
        return from -> new RepositoryServer.Settings(from.address(), null, from.token(), bytes, null);
    }

    static UnaryOperator<RepositoryServer.Settings> publishers(TrustPolicy policy) {
        return from -> new RepositoryServer.Settings(from.address(), null, from.token(), from.maxJarBytes(), policy);
    }

    static UnaryOperator<RepositoryServer.Settings> tls(TlsFiles files) {
        return from -> new RepositoryServer.Settings(from.address(), files, from.token(), from.maxJarBytes(), null);
    }

    /** On a port that had one before. */
    static TestRepository start(Path root, int port) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        return start(
                root,
                settings ->
                        new RepositoryServer.Settings(address, null, settings.token(), settings.maxJarBytes(), null));
    }

    static TestRepository mirror(Path root, URI source) throws IOException {
        RepositoryTree tree = RepositoryTree.open(root);
        Mirror mirror = Mirror.start(source, null, tree, java.time.Duration.ofMillis(50), 1 << 20, null);
        RepositoryServer.Settings settings = RepositoryServer.Settings.on(FREE).withToken(Token.of(TOKEN, "this test"));
        return new TestRepository(tree, RepositoryServer.start(settings, tree, mirror), mirror);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + server.address().getPort());
    }

    Publisher publisher() {
        return new Publisher(uri(), null, Token.of(TOKEN, "this test"));
    }

    HttpResponse<byte[]> get(String path, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(uri() + path));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(request.build());
    }

    static HttpResponse<byte[]> send(HttpRequest request) throws Exception {
        return CLIENT.send(request, BodyHandlers.ofByteArray());
    }

    HttpResponse<byte[]> put(Sample sample, @Nullable String authorization) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                URI.create(uri() + "/api/uploads/" + sample.manifest().jarSha256()));
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        return send(request.PUT(BodyPublishers.ofByteArray(sample.jar())).build());
    }

    HttpResponse<byte[]> post(String path, String body) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(uri() + path))
                .header("Authorization", "Bearer " + TOKEN)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build());
    }

    /** Uploads and publishes. */
    HttpResponse<byte[]> publish(Sample sample) throws Exception {
        put(sample, "Bearer " + TOKEN);
        return post("/api/" + sample.id().path(), sample.body());
    }

    /** What comes back for bytes that no HTTP client would send, until the server closes. */
    String raw(String request) throws IOException {
        try (Socket socket = socket()) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    Socket socket() throws IOException {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        socket.setSoTimeout(PATIENCE_MS);
        return socket;
    }

    static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        server.close();
        if (mirror != null) {
            mirror.close();
        }
        tree.close();
    }
}

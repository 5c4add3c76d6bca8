package org.tamanoir.cluster;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.tamanoir.cluster.config.Welcome;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An HTTP server that answers registrations as a director does, with what a test wants it to say. */
final class TestDirector implements AutoCloseable {
    static final String TOKEN = "Bearer 0123456789abcdef-registration";
    private static final JsonMapper MAPPER = new JsonMapper();

    /** What is said to a registration. */
    interface Answer {
        byte[] to(JsonNode registration) throws IOException;
    }

    final List<JsonNode> registrations = new CopyOnWriteArrayList<>();
    final List<String> requests = new CopyOnWriteArrayList<>();
    volatile int status = 200;
    volatile Answer answer;
    private final HttpServer server;
    private final boolean isTls;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    TestDirector(Welcome welcome) throws IOException {
        this(registration -> MembershipWelcome.json(welcome));
    }

    TestDirector(Answer answer) throws IOException {
        this(answer, null);
    }

    /** @param tls null = plain HTTP */
    TestDirector(Answer answer, @Nullable SSLContext tls) throws IOException {
        this(answer, tls, InetAddress.getLoopbackAddress());
    }

    TestDirector(Answer answer, @Nullable SSLContext tls, InetAddress at) throws IOException {
        this.answer = answer;
        isTls = tls != null;
        InetSocketAddress any = new InetSocketAddress(at, 0);
        if (tls == null) {
            server = HttpServer.create(any, 0);
        } else {
            HttpsServer secure = HttpsServer.create(any, 0);
            secure.setHttpsConfigurator(new HttpsConfigurator(tls));
            server = secure;
        }
        server.createContext("/", this::serve);
        server.setExecutor(threads);
        server.start();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("Authorization"));
            JsonNode registration = MAPPER.readTree(exchange.getRequestBody().readAllBytes());
            registrations.add(registration);
            byte[] body = answer.to(registration);
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    void says(Welcome welcome) {
        answer = registration -> MembershipWelcome.json(welcome);
    }

    void refuses(int with, String error) {
        status = with;
        answer = registration -> ("{\"error\": \"" + error + "\"}").getBytes(StandardCharsets.UTF_8);
    }

    URI url() {
        return URI.create((isTls ? "https" : "http") + "://"
                + server.getAddress().getAddress().getHostAddress() + ":"
                + server.getAddress().getPort());
    }

    JsonNode last() {
        return registrations.get(registrations.size() - 1);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}

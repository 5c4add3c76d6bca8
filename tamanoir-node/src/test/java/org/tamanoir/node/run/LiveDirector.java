package org.tamanoir.node.run;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.tamanoir.cluster.Registration;
import org.tamanoir.cluster.config.Welcome;
import tools.jackson.databind.json.JsonMapper;

/** An HTTP server that answers registrations as a director does, with what a test wants it to say. */
final class LiveDirector implements AutoCloseable {
    static final String TOKEN = "0123456789abcdef-registration";
    private static final JsonMapper MAPPER = new JsonMapper();

    final List<Registration> registrations = new CopyOnWriteArrayList<>();
    volatile int status = 200;
    volatile Function<Registration, Welcome> answer;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    LiveDirector(Function<Registration, Welcome> answer) throws IOException {
        this.answer = answer;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/back-ends/node-1", this::serve);
        server.setExecutor(threads);
        server.start();
    }

    static Welcome says(String state, Welcome.Code code, Welcome.Served... services) {
        return new Welcome("dir-1", "video", state, 0, 200, List.of(services), code);
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            boolean isKnown =
                    ("Bearer " + TOKEN).equals(exchange.getRequestHeaders().getFirst("Authorization"));
            Registration registration =
                    MAPPER.readValue(exchange.getRequestBody().readAllBytes(), Registration.class);
            byte[] body = MAPPER.writeValueAsBytes(answer.apply(registration));
            registrations.add(registration);
            exchange.sendResponseHeaders(isKnown ? status : 401, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    Registration last() {
        return registrations.get(registrations.size() - 1);
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}

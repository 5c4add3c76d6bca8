package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.Router;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tamanoir.node.config.Endpoint;
import org.tamanoir.repository.HttpListener;
import org.tamanoir.support.Waiting;

class RepliesTest {
    private final Api api =
            new Api(new AdminGate(new AdminSettings(TestAdmin.ANY, TestAdmin.SECRET, false, null), "test"));
    private HttpListener server;

    @BeforeEach
    void start() throws Exception {
        server = HttpListener.start("test", TestAdmin.ANY, null, address -> false, this::router);
    }

    @AfterEach
    void stop() {
        server.close();
        api.close();
    }

    private Router router(Vertx vertx) {
        Router router = api.router(vertx);
        Replies.View full = call -> {
            throw new OutOfMemoryError("on purpose");
        };
        api.get(router, "/full", full);
        api.change(router, HttpMethod.PUT, "/full", full);
        router.post("/full")
                .handler(context -> Waiting.async(() -> Replies.stream(
                        context,
                        (call, answer) -> {
                            throw new OutOfMemoryError("on purpose");
                        },
                        () -> false)));
        return router;
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "PUT", "POST"})
    void aRequestForWhichMemoryDoesNotSufficeIsAnswered(String method) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://" + Endpoint.toString(server.address()) + "/full"))
                .timeout(Duration.ofSeconds(40))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .header("Content-Type", "application/json")
                .header("Authorization", "Bearer " + TestAdmin.TOKEN)
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());

        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).contains("the memory does not suffice for this request", "larger -Xmx than ");
    }
}

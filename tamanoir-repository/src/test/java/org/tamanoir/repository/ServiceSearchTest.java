package org.tamanoir.repository;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tamanoir.support.Waiting;

@Timeout(120)
class ServiceSearchTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir
    Path root;

    private static CompletableFuture<HttpResponse<String>> get(HttpListener listener, String path) {
        return CLIENT.sendAsync(
                HttpRequest.newBuilder(URI.create(
                                "http://127.0.0.1:" + listener.address().getPort() + path))
                        .timeout(Waiting.PATIENCE)
                        .build(),
                BodyHandlers.ofString());
    }

    @Test
    void whileSearchesTakeTheirTimeEverythingElseIsAnswered() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        RepositoryServer.Search slow = (text, offset, limit) -> {
            begun.countDown();
            try {
                assertThat(goOn.await(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return new ServiceSearch.Page(0, List.of());
        };
        try (HttpListener listener =
                HttpListener.start("test", TestRepository.FREE, null, vertx -> routes(vertx, slow))) {
            List<CompletableFuture<HttpResponse<String>>> searches =
                    List.of(get(listener, "/api/services"), get(listener, "/api/services?q=x"));
            assertThat(begun.await(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(get(listener, "/")
                            .get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS)
                            .body())
                    .isEqualTo("hello");
            assertThat(get(listener, "/file")
                            .get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS)
                            .statusCode())
                    .as("workers are free")
                    .isEqualTo(404);
            goOn.countDown();
            for (CompletableFuture<HttpResponse<String>> search : searches) {
                assertThat(search.get(Waiting.PATIENCE.toSeconds(), TimeUnit.SECONDS)
                                .body())
                        .isEqualTo("{\"total\":0,\"services\":[]}\n");
            }
        }
    }

    private static Router routes(Vertx vertx, RepositoryServer.Search search) {
        Router router = Router.router(vertx);
        RepositoryServer.listServices(vertx, router, search);
        router.get("/").handler(context -> context.response().end("hello"));
        router.route().handler(new TreeHandler(path -> null));
        return router;
    }

    @Test
    void aSearchSeesWhatWasPublishedAndYankedBeforeIt() throws Exception {
        try (TestRepository repository = TestRepository.start(root)) {
            ServiceSearch search = new ServiceSearch(repository.tree);
            repository.publish(Sample.of("org.example.Foo:1.0", 10));
            assertThat(search.find("FOO", 0, 10).total()).isEqualTo(1);
            Sample next = Sample.of("org.example.Foo:1.1", 10);
            repository.publish(next);
            assertThat(search.find("foo", 1, 1))
                    .isEqualTo(new ServiceSearch.Page(
                            2, List.of(java.util.Objects.requireNonNull(repository.tree.find(next.id())))));
            repository.post("/api/" + next.id().path() + "/yank", "{\"reason\":\"x\"}");
            assertThat(search.find("foo", 1, 1).services().get(0).yanked()).isEqualTo("x");
            assertThat(repository.tree.size()).isEqualTo(2);
        }
    }

    @Test
    void theTextIsBounded() throws Exception {
        try (TestRepository repository = TestRepository.start(root)) {
            assertThat(repository.get("/api/services?q=" + "x".repeat(256)).statusCode())
                    .isEqualTo(200);
            assertThat(repository.get("/api/services?q=" + "x".repeat(257)).statusCode())
                    .isEqualTo(400);
            assertThat(repository.get("/api/services?q=x%0Ay").statusCode()).isEqualTo(400);
        }
    }
}

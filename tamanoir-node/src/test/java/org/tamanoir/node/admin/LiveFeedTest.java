package org.tamanoir.node.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.repository.HttpListener;
import org.tamanoir.support.Seeds;
import org.tamanoir.support.Waiting;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The feed on a real listener, with views of this test. */
@Timeout(120)
class LiveFeedTest {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final Duration PATIENCE = Waiting.PATIENCE;

    private final AtomicInteger calls = new AtomicInteger();
    private final List<Socket> sockets = new ArrayList<>();
    private @Nullable HttpListener listener;
    private volatile Supplier<Object> view = () -> Map.of("call", calls.incrementAndGet(), "same", "as ever");
    private volatile @Nullable Runnable tick;
    private final LiveFeed feed = new LiveFeed(() -> view.get(), this::begin);

    private Runnable begin(Vertx vertx, Runnable each) {
        Context loop = Objects.requireNonNull(Vertx.currentContext());
        tick = () -> loop.runOnContext(ignored -> each.run());
        return () -> tick = null;
    }

    /** Has the feed sample once more, unless nobody listens or it is at it. */
    private void tick() {
        Runnable now = tick;
        if (now != null) {
            now.run();
        }
    }

    private void start(Supplier<Object> shown) throws IOException {
        view = shown;
        start();
    }

    private void start() throws IOException {
        listener = HttpListener.start("test", TestAdmin.ANY, null, vertx -> {
            Router router = Router.router(vertx);
            router.get("/v1/live").handler(feed::listen);
            return router;
        });
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        if (listener != null) {
            listener.close();
        }
    }

    private Socket connect(String from) throws IOException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
        socket.setSoTimeout((int) PATIENCE.toMillis());
        socket.connect(Objects.requireNonNull(listener).address());
        socket.getOutputStream()
                .write("GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    private BufferedReader listen() throws IOException {
        return reader(connect("127.0.0.1"));
    }

    private static JsonNode next(BufferedReader in, String kind) throws IOException {
        String line;
        while ((line = in.readLine()) != null) {
            if (line.equals("event: " + kind)) {
                return MAPPER.readTree(in.readLine().substring("data: ".length()));
            }
        }
        throw new IOException("the stream has ended");
    }

    @Test
    void allListenersAreToldTheSameSampling() throws Exception {
        start();
        List<BufferedReader> pages = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            pages.add(listen());
        }
        for (BufferedReader page : pages) {
            assertThat(next(page, "state").get("call").asInt()).isOne();
        }
        for (int call = 2; call < 5; call++) {
            tick();
            for (BufferedReader page : pages) {
                JsonNode delta = next(page, "delta");
                assertThat(delta.get("call").asInt()).isEqualTo(call);
                assertThat(delta.has("same"))
                        .as("what has not changed is not told")
                        .isFalse();
            }
        }
    }

    @Test
    void nothingIsSampledWhileNobodyListens() throws Exception {
        start();
        assertThat(feed.isAtRest()).isTrue();
        assertThat(calls).hasValue(0);
        Socket page = connect("127.0.0.1");
        int first = next(reader(page), "state").get("call").asInt();
        assertThat(first).isOne();
        page.close();
        await().atMost(PATIENCE).until(() -> {
            tick();
            return feed.isAtRest();
        });
        int then = calls.get();
        assertThat(next(listen(), "state").get("call").asInt())
                .as("it begins anew, with the next sampling")
                .isEqualTo(then + 1);
    }

    @Test
    void twoHundredThatNeverReadTakeNobodysPlace() throws Exception {
        start();
        for (int i = 0; i < 200; i++) {
            next(listen(), "state"); // It is in; from here on it reads nothing.
        }
        assertThat(feed.status().listeners()).isEqualTo(LiveFeed.MAX_LISTENERS);
        assertThat(feed.status().displaced()).isEqualTo(200 - LiveFeed.MAX_LISTENERS);
        BufferedReader page = listen();
        int state = next(page, "state").get("call").asInt();
        tick();
        assertThat(next(page, "delta").get("call").asInt()).isEqualTo(state + 1);
        assertThat(sockets.get(0).getInputStream().readAllBytes())
                .as("the oldest one is let go")
                .isNotNull();
    }

    @Test
    void oneThatDoesNotReadIsPassedOverThenDroppedAndCounted() throws Exception {
        String much = "x".repeat(256 << 10);
        start(() -> Map.of("much", much + calls.incrementAndGet()));
        connect("127.0.0.1");
        BufferedReader reads = listen();
        next(reads, "state");
        while (feed.status().dropped() == 0) {
            tick();
            next(reads, "delta"); // However long it takes: the next tick comes behind it.
        }
        assertThat(feed.status()).as("the other one is told").isEqualTo(new LiveFeed.Status(1, calls.get(), 0, 1));
    }

    @Test
    void oneStrangerHasFourAtMost() throws Exception {
        start();
        for (int i = 0; i < StrangerPlaces.MAX_OF_EACH; i++) {
            next(reader(connect("127.0.0.2")), "state");
        }
        assertThat(reader(connect("127.0.0.2")).readLine()).startsWith("HTTP/1.1 503");
        next(reader(connect("127.0.0.3")), "state");
        sockets.get(0).close();
        await().atMost(PATIENCE).until(() -> feed.status().listeners() == StrangerPlaces.MAX_OF_EACH);
        next(reader(connect("127.0.0.2")), "state"); // In the place of the one that has gone.
    }

    @Test
    void aViewThatFailsEndsNothing() throws Exception {
        start(() -> {
            if (calls.incrementAndGet() % 2 == 0) {
                throw new IllegalStateException("not now");
            }
            return Map.of("call", calls.get());
        });
        BufferedReader page = listen();
        assertThat(next(page, "state").get("call").asInt()).isOne();
        await().atMost(PATIENCE).until(() -> {
            tick();
            return calls.get() >= 3;
        });
        assertThat(next(page, "delta").get("call").asInt()).isEqualTo(3);
    }

    @Test
    void aPatchMakesOneObjectOfTheOther() {
        long seed = Seeds.ofCommit(LiveFeedTest.class);
        Random random = new Random(seed);
        for (int round = 0; round < Seeds.scaled(2000); round++) {
            ObjectNode before = tree(random, 3);
            ObjectNode after = random.nextBoolean() ? tree(random, 3) : before.deepCopy();
            after.put("b", random.nextInt(3));
            JsonNode patched = patched(before.deepCopy(), LiveFeed.patch(before, after));
            assertThat(patched).as("seed %d, round %d", seed, round).isEqualTo(after);
        }
    }

    private static ObjectNode tree(Random random, int depth) {
        ObjectNode tree = MAPPER.createObjectNode();
        for (String name : List.of("a", "b", "c")) {
            switch (random.nextInt(depth > 0 ? 4 : 3)) {
                case 0 -> tree.put(name, random.nextInt(3));
                case 1 -> tree.putArray(name).add(random.nextInt(2));
                case 3 -> tree.set(name, tree(random, depth - 1));
                default -> {
                    // It is not there.
                }
            }
        }
        return tree;
    }

    /** RFC 7396, section 2. */
    private static JsonNode patched(JsonNode target, JsonNode patch) {
        if (!(patch instanceof ObjectNode fields)) {
            return patch;
        }
        ObjectNode into = target instanceof ObjectNode object ? object : MAPPER.createObjectNode();
        fields.properties().forEach(field -> {
            if (field.getValue().isNull()) {
                into.remove(field.getKey());
            } else {
                JsonNode was = into.get(field.getKey());
                into.set(field.getKey(), patched(was == null ? MAPPER.nullNode() : was, field.getValue()));
            }
        });
        return into;
    }
}

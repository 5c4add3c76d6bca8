package org.tamanoir.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tamanoir.support.Waiting.eventually;

import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tamanoir.format.Format;
import org.tamanoir.format.FormatId;
import org.tamanoir.format.Layout;
import org.tamanoir.support.Seeds;

/** Formats on demand, from servers on real sockets that may do anything. */
@Timeout(240)
class FormatStoreTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Format FLIGHT = Format.builder(Layout.X86_64)
            .structure("flight")
            .field("delay", "integer", 4)
            .field("hub", "string")
            .build();
    private static final Format OTHER = format("other");

    private final Map<String, byte[]> files = new HashMap<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final SigningKey key = SigningKey.generate();
    private CodeFetcherServer server;

    @BeforeEach
    void start() throws Exception {
        server = server(files);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private CodeFetcherServer server(Map<String, byte[]> served) throws Exception {
        CodeFetcherServer made = new CodeFetcherServer(served);
        opened.add(made);
        return made;
    }

    private static Format format(String name) {
        return Format.builder(Layout.X86_64)
                .structure(name)
                .field("delay", "integer", 4)
                .build();
    }

    private static Map<String, byte[]> question(FormatId id, Format answer) {
        return Map.of(FormatFile.question(id), FormatFile.toJson(answer.description()));
    }

    private static FormatStore.Settings settings(List<URI> servers, List<URI> repositories) {
        return new FormatStore.Settings(
                servers,
                repositories,
                any -> false,
                false,
                true,
                false,
                64,
                1 << 20,
                LONG,
                LONG,
                LONG,
                Duration.ofMillis(1),
                LONG,
                null);
    }

    private static FormatStore.Settings idle(FormatStore.Settings from, Duration idle, Duration total) {
        return new FormatStore.Settings(
                from.servers(),
                from.repositories(),
                from.previousNodes(),
                false,
                true,
                from.signed(),
                64,
                1 << 20,
                Duration.ofSeconds(1),
                idle,
                total,
                LONG,
                from.backOffMax(),
                null);
    }

    private FormatStore store(FormatStore.Settings settings) {
        return store(settings, TrustPolicy.NOBODY);
    }

    private FormatStore store(FormatStore.Settings settings, TrustPolicy trust) {
        FormatStore made = new FormatStore(settings, List.of(), () -> trust);
        opened.add(0, made);
        return made;
    }

    private FormatStore ofServer() {
        return store(settings(List.of(server.address()), List.of()));
    }

    private static CompletableFuture<Optional<Format>> ask(
            FormatStore store, FormatId id, @Nullable InetSocketAddress previousNode) {
        CompletableFuture<Optional<Format>> answer = new CompletableFuture<>();
        store.request(id, previousNode, format -> answer.complete(Optional.ofNullable(format)));
        return answer;
    }

    private static Format had(FormatStore store, FormatId id) throws Exception {
        return ask(store, id, null).get(40, TimeUnit.SECONDS).orElseThrow();
    }

    private static @Nullable Format get(FormatStore store, FormatId id) throws Exception {
        return ask(store, id, null).get(40, TimeUnit.SECONDS).orElse(null);
    }

    private static long outcome(FormatStore store, String name) {
        return store.statistics().outcomes().getOrDefault(name, 0L);
    }

    @Test
    void aFormatIsHadFromAFormatServerAndKept() throws Exception {
        files.putAll(question(FLIGHT.id(), FLIGHT));
        FormatStore store = ofServer();
        Format got = had(store, FLIGHT.id());
        assertThat(got.description()).isEqualTo(FLIGHT.description());
        assertThat(get(store, FLIGHT.id())).isSameAs(got).isSameAs(store.known().find(FLIGHT.id()));
        assertThat(server.paths()).containsExactly("v1/formats/" + FLIGHT.id());
        assertThat(outcome(store, "format-server")).isEqualTo(1);
    }

    @Test
    void anAnswerInChunksWithOtherKeysIsTaken() throws Exception {
        String body = " {\"server\":{\"name\":\"C\"},\n\"format_rep\" : \""
                + HexFormat.of().withUpperCase().formatHex(FLIGHT.description()) + "\"}\r\n";
        server.behaviour = (request, out) -> {
            CodeFetcherServer.head(out, "200 OK", "Transfer-Encoding: chunked");
            for (String piece : List.of(body.substring(0, 7), body.substring(7))) {
                out.write((Integer.toHexString(piece.length()) + "\r\n" + piece + "\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
                out.flush();
            }
            out.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return true;
        };
        assertThat(had(ofServer(), FLIGHT.id()).description()).isEqualTo(FLIGHT.description());
    }

    @Test
    void oneSearchServesAllWhoWait() throws Exception {
        files.putAll(question(FLIGHT.id(), FLIGHT));
        CountDownLatch go = new CountDownLatch(1);
        server.behaviour = (request, out) -> {
            await(go);
            return server.serve(request, out);
        };
        FormatStore store = ofServer();
        List<CompletableFuture<Optional<Format>>> waiting = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiting.add(ask(store, FLIGHT.id(), null));
        }
        go.countDown();
        for (CompletableFuture<Optional<Format>> each : waiting) {
            assertThat(each.get(40, TimeUnit.SECONDS)).isPresent();
        }
        assertThat(server.requests).hasSize(1);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(40, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aDescriptionOfAnotherFormatIsRefusedAndTheNextServerAsked() throws Exception {
        files.putAll(question(FLIGHT.id(), OTHER));
        CodeFetcherServer honest = server(question(FLIGHT.id(), FLIGHT));
        FormatStore store = store(settings(List.of(server.address(), honest.address()), List.of()));
        Format got = had(store, FLIGHT.id());
        assertThat(got.name()).isEqualTo("flight");
        assertThat(server.requests).hasSize(1);
        assertThat(store.known().find(OTHER.id())).isNull();
    }

    @Test
    void aWrongDescriptionAloneIsRefusedAndCounted() throws Exception {
        files.putAll(question(FLIGHT.id(), OTHER));
        FormatStore store = ofServer();
        assertThat(get(store, FLIGHT.id())).isNull();
        assertThat(outcome(store, "refused")).isEqualTo(1);
        assertThat(store.known().size()).isZero();
    }

    @Test
    void whatNobodyHasIsNotAskedForAgainAtOnce() throws Exception {
        FormatStore store = store(settings(List.of(server.address()), List.of(server.address())));
        assertThat(get(store, FLIGHT.id())).isNull();
        assertThat(server.paths()).containsExactly("v1/formats/" + FLIGHT.id(), "formats/" + FLIGHT.id());
        assertThat(outcome(store, "unknown")).isEqualTo(1);
        eventually().untilAsserted(() -> {
            long before = outcome(store, "repeated");
            get(store, FLIGHT.id());
            assertThat(outcome(store, "repeated")).isGreaterThan(before);
        });
    }

    @Test
    void badBodiesGiveNoFormat() throws Exception {
        for (String body : List.of(
                "",
                "{",
                "[]",
                "null",
                "{\"format_rep\":5}",
                "{\"format_rep\":\"0g\"}",
                "{\"format_rep\":\"000\"}",
                "{\"other\":\"00\"}",
                "{\"format_rep\":{\"format_rep\":\"00\"}}")) {
            server.behaviour = (request, out) -> server.serve(request, body.getBytes(StandardCharsets.UTF_8), out);
            FormatStore store = ofServer();
            assertThat(get(store, FLIGHT.id())).as(body).isNull();
            assertThat(outcome(store, "refused")).as(body).isEqualTo(1);
        }
    }

    @Test
    void anEndlessBodyIsCutOff() throws Exception {
        CountDownLatch cut = new CountDownLatch(1);
        server.behaviour = (request, out) -> {
            CodeFetcherServer.head(out, "200 OK", "Transfer-Encoding: chunked");
            try {
                for (; ; ) {
                    out.write(("1000\r\n" + "0".repeat(0x1000) + "\r\n").getBytes(StandardCharsets.US_ASCII));
                }
            } finally {
                cut.countDown();
            }
        };
        FormatStore store = ofServer();
        assertThat(get(store, FLIGHT.id())).isNull();
        assertThat(cut.await(40, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aServerThatSendsNothingOrBreaksOffIsLeftAloneAndTheNextOneAsked() throws Exception {
        files.putAll(question(FLIGHT.id(), FLIGHT));
        CodeFetcherServer bad = server(Map.of());
        List<CodeFetcherServer.Behaviour> ways = List.of(
                (request, out) -> {
                    CodeFetcherServer.awaitEnd(request);
                    return false;
                },
                (request, out) -> false,
                (request, out) -> {
                    CodeFetcherServer.head(out, "200 OK", "Content-Length: 5000");
                    out.write('{');
                    return false;
                },
                (request, out) -> {
                    CodeFetcherServer.head(out, "200 OK", "Content-Length: 5000");
                    CodeFetcherServer.awaitEnd(request);
                    return false;
                },
                (request, out) -> status(out, "500 Broken"),
                (request, out) -> status(out, "302 Found"));
        for (CodeFetcherServer.Behaviour way : ways) {
            bad.behaviour = way;
            FormatStore store = store(
                    idle(settings(List.of(bad.address(), server.address()), List.of()), Duration.ofSeconds(2), LONG));
            assertThat(get(store, FLIGHT.id())).isNotNull();
            int asked = bad.requests.size(); // Twice by a client that tries a broken connection again.
            get(store, OTHER.id());
            assertThat(bad.requests).hasSize(asked);
        }
    }

    private static boolean status(OutputStream out, String line) throws java.io.IOException {
        CodeFetcherServer.head(out, line, "Content-Length: 0", "Location: http://127.0.0.1:1/");
        return true;
    }

    @Test
    void aSlowServerIsGivenUpWhenTheTimeIsUp() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        server.behaviour = (request, out) -> {
            CodeFetcherServer.head(out, "200 OK", "Content-Length: 1000000");
            while (end.getCount() > 0) {
                out.write('0');
                out.flush();
            }
            return false;
        };
        FormatStore store = store(idle(settings(List.of(server.address()), List.of()), LONG, Duration.ofMillis(300)));
        assertThat(get(store, FLIGHT.id())).isNull();
        end.countDown();
        assertThat(outcome(store, "unavailable") + outcome(store, "refused")).isEqualTo(1);
    }

    @Test
    void aServerThatIsDownDoesNotKeepTheNextFromBeingAsked() throws Exception {
        CodeFetcherServer down = server(Map.of());
        down.close();
        files.put(FormatFile.path(FLIGHT.id()), FLIGHT.description());
        FormatStore store = store(settings(List.of(down.address()), List.of(server.address())));
        assertThat(get(store, FLIGHT.id())).isNotNull();
        assertThat(outcome(store, "repository")).isEqualTo(1);
    }

    @Test
    void aPreviousNodeIsAskedFirstAndOnlyIfItIsANeighbour() throws Exception {
        files.putAll(question(FLIGHT.id(), FLIGHT));
        CodeFetcherServer previous = server(Map.of());
        previous.behaviour = (request, out) -> previous.serve(request, files.get(request.path()), out);
        CodeFetcherServer stranger = server(files);
        FormatStore.Settings from = settings(List.of(server.address()), List.of());
        FormatStore.Settings settings = new FormatStore.Settings(
                from.servers(),
                List.of(),
                address(previous)::equals,
                false,
                true,
                false,
                64,
                1 << 20,
                LONG,
                LONG,
                LONG,
                LONG,
                LONG,
                null);
        assertThat(ask(store(settings), FLIGHT.id(), address(stranger)).get(40, TimeUnit.SECONDS))
                .isPresent();
        assertThat(stranger.requests).isEmpty();
        assertThat(server.requests).hasSize(1);
        FormatStore store = store(settings);
        assertThat(ask(store, FLIGHT.id(), address(previous)).get(40, TimeUnit.SECONDS))
                .isPresent();
        assertThat(previous.requests).hasSize(1);
        assertThat(server.requests).hasSize(1);
        assertThat(outcome(store, "previous-node")).isEqualTo(1);
    }

    private static InetSocketAddress address(CodeFetcherServer of) {
        return new InetSocketAddress("127.0.0.1", of.address().getPort());
    }

    @Test
    void manyUnknownFormatsCauseFewRequestsAndKeepNothing() throws Exception {
        FormatStore store = ofServer();
        int asked = Seeds.scaled(200_000);
        AtomicInteger answered = new AtomicInteger();
        long startNs = System.nanoTime();
        for (int i = 0; i < asked; i++) {
            FormatId id = FormatId.parse("020000ff%016x".formatted((i + 1) * 0x9E3779B97F4A7C15L));
            store.request(id, null, format -> answered.incrementAndGet());
        }
        eventually().until(() -> answered.get() == asked);
        double seconds = (System.nanoTime() - startNs) / 1e9;
        assertThat(server.requests.size()).isLessThanOrEqualTo((int) ((seconds + 1) * FormatStore.SEARCHES_PER_SECOND));
        FormatStatistics statistics = store.statistics();
        assertThat(statistics.known()).isZero();
        assertThat(statistics.running()).isZero();
        assertThat(outcome(store, "busy") + outcome(store, "unknown")).isEqualTo(asked);
    }

    @Test
    void oneHasSixteenSearchesAtATime() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        server.behaviour = (request, out) -> {
            await(go);
            return server.serve(request, out);
        };
        FormatStore store = ofServer();
        AtomicInteger refused = new AtomicInteger();
        for (int i = 0; i < 50; i++) {
            store.request(format("f" + i).id(), null, format -> refused.incrementAndGet());
        }
        assertThat(refused).hasValue(50 - FormatStore.MAX_SEARCHES_PER_PARTY);
        go.countDown();
        eventually().until(() -> refused.get() == 50);
    }

    @Test
    void whoFailsWhenToldDoesNotKeepOthersFromTheirAnswer() throws Exception {
        files.putAll(question(FLIGHT.id(), FLIGHT));
        CountDownLatch go = new CountDownLatch(1);
        server.behaviour = (request, out) -> {
            await(go);
            return server.serve(request, out);
        };
        FormatStore store = ofServer();
        store.request(FLIGHT.id(), null, format -> {
            throw new IllegalStateException("of this test");
        });
        CompletableFuture<Optional<Format>> second = ask(store, FLIGHT.id(), null);
        go.countDown();
        assertThat(second.get(40, TimeUnit.SECONDS)).isPresent();
    }

    @Test
    void givenFormatsComeBackWhenOthersPushedThemOut() throws Exception {
        FormatStore.Settings small = new FormatStore.Settings(
                List.of(), List.of(), any -> false, false, true, false, 8, 1 << 20, LONG, LONG, LONG, LONG, LONG, null);
        FormatStore store = new FormatStore(small, List.of(FLIGHT), () -> TrustPolicy.NOBODY);
        opened.add(0, store);
        for (int i = 0; i < 100; i++) {
            store.add(format("f" + i));
        }
        assertThat(store.statistics().evicted()).isGreaterThan(90);
        assertThat(get(store, FLIGHT.id())).isSameAs(FLIGHT);
    }

    @Test
    void identifiersThatAServerIssuedAreNotAskedFor() throws Exception {
        FormatStore store = ofServer();
        assertThat(get(store, FormatId.parse("0100112233445566" + "7788"))).isNull();
        assertThat(server.requests).isEmpty();
    }

    @Test
    void searchesAreAnsweredWhenTheNodeEnds() throws Exception {
        server.hangs();
        FormatStore store = ofServer();
        CompletableFuture<Optional<Format>> answer = ask(store, FLIGHT.id(), null);
        eventually().until(() -> !server.requests.isEmpty());
        store.close();
        assertThat(answer.get(40, TimeUnit.SECONDS)).isEmpty();
        assertThat(ask(store, OTHER.id(), null).get(40, TimeUnit.SECONDS)).isEmpty();
    }

    private FormatStore signedStore(String... names) {
        TrustPolicy.Publisher publisher = new TrustPolicy.Publisher(key.publisher(), List.of(names));
        FormatStore.Settings from = settings(List.of(server.address()), List.of(server.address()));
        FormatStore.Settings signed = new FormatStore.Settings(
                from.servers(),
                from.repositories(),
                any -> false,
                false,
                true,
                true,
                64,
                1 << 20,
                LONG,
                LONG,
                LONG,
                LONG,
                LONG,
                null);
        return store(signed, new TrustPolicy(List.of(publisher), Set.of(), Set.of(), false));
    }

    @Test
    void whereSignaturesAreWantedOnlyTheTrustedPublishersFormatsAreTaken() throws Exception {
        files.putAll(question(FLIGHT.id(), FLIGHT));
        files.put(FormatFile.path(FLIGHT.id()), FLIGHT.description());
        assertThat(get(signedStore("*"), FLIGHT.id())).as("unsigned").isNull();
        String path = FormatFile.path(FLIGHT.id()) + ".sig";
        files.put(path, key.sign(FormatFile.signed(FLIGHT)).encode());
        assertThat(get(signedStore("*"), FLIGHT.id())).isNotNull();
        assertThat(get(signedStore("format.flight"), FLIGHT.id())).isNotNull();
        assertThat(get(signedStore("org.example.*"), FLIGHT.id()))
                .as("another name")
                .isNull();
        files.put(path, key.sign(FormatFile.signed(OTHER)).encode());
        assertThat(get(signedStore("*"), FLIGHT.id())).as("of another format").isNull();
        files.put(path, SigningKey.generate().sign(FormatFile.signed(FLIGHT)).encode());
        assertThat(get(signedStore("*"), FLIGHT.id())).as("of a stranger").isNull();
        assertThat(server.paths()).noneMatch(each -> each.startsWith("v1/"));
        assertThat(signedStore("*").takesDescriptions()).as("of packets").isFalse();
    }
}
